//! State dicts and structures as text.

mod common;

use common::{ints, sample};
use tensordict::{
    DType, Device, ErrorKind, LoadStateOptions, SchemaContent, StateOptions, Tensor, TensorDict,
};

#[test]
fn states_are_loaded_again() {
    for nested in [false, true] {
        let mut td = sample();
        let state = td.state_dict_with(StateOptions::new().nested(nested)).unwrap();
        let state = state.deep_clone().unwrap();
        let a = td.tensor("a").unwrap();
        td.fill_at(tensordict::Ellipsis, &Tensor::scalar(0i64).unwrap()).unwrap();
        td.load_state_dict(&state).unwrap();
        assert_eq!(a.to_vec::<i64>().unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(state.contains("deep.b"), !nested);
        let options = LoadStateOptions::new().assign(true).flat(!nested);
        td.load_state_dict_with(&state, options).unwrap();
        let (one, other) = (td.tensor("a").unwrap(), state.tensor("a").unwrap());
        assert_eq!(one.data_ptr().unwrap(), other.data_ptr().unwrap());
    }
}

#[test]
fn keys_must_be_the_same_unless_not_strict() {
    let mut td = sample();
    let mut state = td.state_dict_with(StateOptions::new().keep_vars(true)).unwrap();
    state.remove("deep.b").unwrap();
    let error = td.load_state_dict(&state).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.message().contains("\"deep\"/\"b\""), "{error}");
    td.load_state_dict_with(&state, LoadStateOptions::new().strict(false)).unwrap();
}

#[test]
fn structures_are_written_and_made() {
    let td = sample();
    let text = td.schema().unwrap();
    let zeros = TensorDict::from_schema(&text).unwrap();
    assert_eq!(zeros.schema().unwrap(), text);
    assert_eq!(ints(&zeros, ("deep", "b")), [0; 12]);
    let meta = TensorDict::from_schema_with(&text, SchemaContent::Meta, None).unwrap();
    assert_eq!(meta.tensor("a").unwrap().device(), Device::meta());
    let here =
        TensorDict::from_schema_with(&text, SchemaContent::Uninitialized, Some(Device::cpu()));
    let here = here.unwrap();
    assert_eq!((here.device(), here.batch_size()), (Some(Device::cpu()), vec![2, 3]));
    assert_eq!(here.tensor(("deep", "c")).unwrap().dtype(), DType::F32);
    for text in ["", "{}", "a\0b"] {
        assert_eq!(TensorDict::from_schema(text).unwrap_err().kind(), ErrorKind::Format);
    }
}
