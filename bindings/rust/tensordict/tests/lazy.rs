//! Lazy stacks and sub-tensordicts.

mod common;

use common::{ints, sample};
use tensordict::{i, DictKind, ErrorKind, Padding, Tensor, TensorDict};

fn element(values: &[i64], own: &str) -> TensorDict {
    let mut td = TensorDict::new(()).unwrap();
    td.set("x", Tensor::from_slice(values, [values.len()]).unwrap()).unwrap();
    td.set(own, Tensor::scalar(1i64).unwrap()).unwrap();
    td
}

fn stack() -> TensorDict {
    TensorDict::lazy_stack([element(&[1, 2], "p"), element(&[3], "q")], 0).unwrap()
}

#[test]
fn shapes_may_differ() {
    let lazy = stack();
    assert_eq!(lazy.dict_kind().unwrap(), DictKind::Lazy);
    assert_eq!(lazy.lazy_info().unwrap(), (0, 2));
    assert_eq!(lazy.tensor("x").unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(ints(&lazy.element(-1).unwrap(), "x"), [3]);
    let left = Padding { value: 9.0, left: true };
    assert_eq!(lazy.padded("x", left).unwrap().to_vec::<i64>().unwrap(), [1, 2, 9, 3]);
    let nested_tensor = lazy.jagged("x").unwrap();
    assert_eq!(nested_tensor.values.to_vec::<i64>().unwrap(), [1, 2, 3]);
    assert_eq!(nested_tensor.offsets.to_vec::<i64>().unwrap(), [0, 2, 3]);
    let exclusive: Vec<_> = lazy.exclusive_keys().unwrap().map(|key| key.to_string()).collect();
    assert_eq!(exclusive.len(), 2);
    assert_eq!(lazy.densify(None).unwrap_err().kind(), ErrorKind::Shape);
    let dense = lazy.densify(Some(Padding::default())).unwrap();
    assert_eq!(dense.dict_kind().unwrap(), DictKind::Dense);
    assert_eq!(ints(&dense, "x"), [1, 2, 3, 0]);
    assert_eq!(sample().lazy_info().unwrap_err().kind(), ErrorKind::WrongEntry);
}

#[test]
fn elements_come_in_and_change() {
    let mut lazy = stack();
    lazy.lazy_insert(0, element(&[7, 8], "p")).unwrap();
    lazy.lazy_extend([element(&[5, 6], "p")]).unwrap();
    assert_eq!(lazy.batch_size(), [4]);
    lazy.element_mut(2).unwrap().set("x", Tensor::from_slice(&[0i64, 0], [2]).unwrap()).unwrap();
    assert_eq!(ints(&lazy, "x"), [7, 8, 1, 2, 0, 0, 5, 6]);
    assert_eq!(lazy.lazy_insert(9, element(&[1], "p")).unwrap_err().kind(), ErrorKind::Index);
}

#[test]
fn parts_have_owners_of_their_own() {
    let mut lazy = stack();
    let mut part = lazy.at(0).unwrap();
    part.set("x", Tensor::scalar(9i64).unwrap()).unwrap();
    assert_eq!(ints(&lazy.element(0).unwrap(), "x"), [1, 2]); // the element is not the part
    let mut parts = lazy.unbind(0).unwrap();
    parts[1].remove("x").unwrap();
    assert!(lazy.element_mut(1).unwrap().contains("x"));
}

#[test]
fn to_lazy_and_back() {
    let td = sample();
    let lazy = td.to_lazy_stack(1).unwrap();
    assert_eq!(lazy.dict_kind().unwrap(), DictKind::Lazy);
    assert!(lazy.equal(&td).unwrap());
    assert!(lazy.densify(None).unwrap().equal(&td).unwrap());
}

#[test]
fn sub_tensordicts_write_through() {
    let mut td = TensorDict::new([4]).unwrap();
    td.set("x", Tensor::from_slice(&[0i64, 1, 2, 3], [4]).unwrap()).unwrap();
    let rows = Tensor::from_slice(&[3i64, 1], [2]).unwrap();
    {
        let mut part = td.sub_tensordict(i![&rows]).unwrap();
        assert_eq!(part.dict_kind().unwrap(), DictKind::SubTensorDict);
        part.set_inplace("x", &Tensor::from_slice(&[30i64, 10], [2]).unwrap()).unwrap();
        part.set("new", Tensor::from_slice(&[1i64, 2], [2]).unwrap()).unwrap();
        assert_eq!(part.sub_tensordict_parent().unwrap().batch_size(), [4]);
        let again = part.set("x", Tensor::scalar(0i64).unwrap());
        assert_eq!(again.unwrap_err().kind(), ErrorKind::KeyExists);
    }
    assert_eq!(ints(&td, "x"), [0, 10, 2, 30]);
    assert_eq!(ints(&td, "new"), [0, 2, 0, 1]);
}
