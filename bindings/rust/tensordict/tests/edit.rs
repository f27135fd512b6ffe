//! Entries taken out, moved and made; what is known of them.

mod common;

use common::{ints, sample};
use tensordict::{DType, ErrorKind, OwnedValue, Tensor, TensorDict};

#[test]
fn entries_are_popped() {
    let mut td = sample();
    let b = td.pop(("deep", "b")).unwrap().into_tensor().unwrap();
    assert_eq!(b.shape(), [2, 3, 2]);
    assert_eq!(td.pop("zz").unwrap_err().kind(), ErrorKind::Key);
    assert!(td.try_pop("zz").unwrap().is_none());
    let deep = td.try_pop("deep").unwrap().unwrap().into_dict().unwrap();
    assert!(deep.contains("c") && !td.contains("deep"));
    td.lock().unwrap();
    assert_eq!(td.pop("a").unwrap_err().kind(), ErrorKind::Locked);
    assert!(td.contains("a"));
}

#[test]
fn the_last_entry_is_popped() {
    let mut td = sample();
    let (key, value) = td.pop_last().unwrap().unwrap();
    assert_eq!(key, "deep");
    assert!(matches!(value, OwnedValue::Dict(_)));
    assert_eq!(td.pop_last().unwrap().unwrap().0, "a");
    assert!(td.pop_last().unwrap().is_none());
}

#[test]
fn entries_are_renamed() {
    let mut td = sample();
    td.rename_key("a", ("new", "x")).unwrap();
    assert_eq!(ints(&td, ("new", "x")), [0, 1, 2, 3, 4, 5]);
    assert_eq!(td.rename_key("a", "b").unwrap_err().kind(), ErrorKind::Key);
    let refused = td.rename_key_safe(("deep", "b"), ("deep", "c")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::KeyExists);
    td.rename_key_safe(("deep", "b"), ("deep", "d")).unwrap();
    assert!(td.contains(("deep", "d")));
}

#[test]
fn dictionaries_are_made_and_cleared() {
    let mut td = sample();
    td.create_nested(("x", "y")).unwrap();
    assert_eq!(td.dict(("x", "y")).unwrap().batch_size(), [2, 3]);
    td.clear().unwrap();
    assert_eq!(td.keys().len(), 0);
    assert_eq!(td.batch_size(), [2, 3]);
}

#[test]
fn entries_have_sizes_and_a_depth() {
    let td = sample();
    assert_eq!(td.depth(), 1);
    assert_eq!(td.entry_shape(("deep", "b")).unwrap(), [2, 3, 2]);
    assert_eq!(td.entry_shape("deep").unwrap(), [2, 3]);
    assert_eq!(td.entry_shape("zz").unwrap_err().kind(), ErrorKind::Key);
}

#[test]
fn the_batch_size_follows_from_the_entries() {
    let mut td = TensorDict::new(()).unwrap();
    td.set("a", Tensor::zeros([3, 4, 5], DType::U8).unwrap()).unwrap();
    td.set(("n", "b"), Tensor::zeros([3, 4, 6], DType::U8).unwrap()).unwrap();
    td.auto_batch_size(None).unwrap();
    assert_eq!((td.batch_size(), td.dict("n").unwrap().batch_size()), (vec![3, 4], vec![3, 4, 6]));
    td.auto_batch_size_keeping(1).unwrap();
    assert_eq!((td.batch_size(), td.dict("n").unwrap().batch_size()), (vec![3], vec![3, 4, 6]));
    td.auto_batch_size(Some(1)).unwrap();
    assert_eq!(td.dict("n").unwrap().batch_size(), [3]);
}
