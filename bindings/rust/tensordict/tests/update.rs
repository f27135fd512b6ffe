//! Entries of one dictionary into another, and single entries written.

mod common;

use common::{counting, ints, sample};
use tensordict::{i, keys, DType, ErrorKind, Tensor, TensorDict, UpdateMode, UpdateOptions};

fn newer() -> TensorDict {
    let mut td = TensorDict::new([2, 3]).unwrap();
    td.set("a", Tensor::zeros([2, 3], DType::I64).unwrap()).unwrap();
    td.set(("deep", "new"), counting(&[2, 3])).unwrap();
    td
}

#[test]
fn update_merges_dictionaries() {
    let (mut td, source) = (sample(), newer());
    td.update(&source).unwrap();
    assert_eq!(ints(&td, "a"), [0; 6]);
    assert!(td.contains(("deep", "b")) && td.contains(("deep", "new")));
    assert_eq!(
        td.tensor("a").unwrap().data_ptr().unwrap(),
        source.tensor("a").unwrap().data_ptr().unwrap()
    );
    let mut fresh = TensorDict::new([2, 3]).unwrap();
    fresh.update(&source).unwrap();
    fresh.dict_mut("deep").unwrap().remove("new").unwrap(); // a dictionary of its own
    assert!(source.contains(("deep", "new")));
}

#[test]
fn update_in_place_wants_every_entry() {
    let (mut td, source) = (sample(), newer());
    let a = td.tensor("a").unwrap();
    td.lock().unwrap();
    let error = td.update_inplace(&source).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert_eq!(a.to_vec::<i64>().unwrap(), [0, 1, 2, 3, 4, 5]);
    td.update_inplace(source.select(["a"]).unwrap()).unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap(), [0; 6]);
    assert_eq!(td.update(&source).unwrap_err().kind(), ErrorKind::Locked);
}

#[test]
fn update_has_options() {
    let (mut td, source) = (sample(), newer());
    let a = td.tensor("a").unwrap();
    let only = UpdateOptions::new().mode(UpdateMode::InPlace).keys(keys![("deep", "new")]);
    td.update_with(&source, only).unwrap();
    assert_eq!(ints(&td, "a"), [0, 1, 2, 3, 4, 5]);
    assert!(td.contains(("deep", "new")));
    td.update_with(&source, UpdateOptions::new().mode(UpdateMode::InPlace)).unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap(), [0; 6]);
    td.update_with(&source, UpdateOptions::new().clone_values(true).whole_dicts(true)).unwrap();
    assert!(!td.contains(("deep", "b")));
    td.lock().unwrap();
    td.update_with(sample(), UpdateOptions::new().ignore_lock(true)).unwrap();
    assert!(td.contains(("deep", "b")) && td.is_locked());
    let mut small = TensorDict::from_pairs([2], [("a", counting(&[2]))]).unwrap();
    let large = TensorDict::from_pairs([4], [("a", counting(&[4]))]).unwrap();
    assert_eq!(small.update(&large).unwrap_err().kind(), ErrorKind::Shape);
    small.update_with(&large, UpdateOptions::new().update_batch_size(true)).unwrap();
    assert_eq!(small.batch_size(), [4]);
}

#[test]
fn replace_leaves_the_source_alone() {
    let td = sample();
    let replaced = td.replace(newer()).unwrap();
    assert!(replaced.contains(("deep", "new")) && !td.contains(("deep", "new")));
    assert_eq!(ints(&td, "a"), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn parts_are_updated() {
    let mut td = sample();
    let row = TensorDict::from_pairs((), [("a", Tensor::scalar(9i64).unwrap())]).unwrap();
    td.update_at(i![.., 0], &row).unwrap();
    assert_eq!(ints(&td, "a"), [9, 1, 2, 9, 4, 5]);
    assert_eq!(td.copy_at(i![.., 0], &row).unwrap_err().kind(), ErrorKind::Shape);
    td.copy_at(i![0, 1], &row).unwrap();
    assert_eq!(ints(&td, "a"), [9, 9, 2, 9, 4, 5]);
    let other = TensorDict::from_pairs((), [("zz", Tensor::scalar(9i64).unwrap())]).unwrap();
    assert_eq!(td.update_at(0, other).unwrap_err().kind(), ErrorKind::Key);
}

#[test]
fn single_entries_are_written() {
    let mut td = sample();
    let a = td.tensor("a").unwrap();
    td.write("a", &Tensor::zeros([3], DType::F32).unwrap()).unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap(), [0; 6]);
    td.write("new", &counting(&[2, 3])).unwrap();
    assert_eq!(ints(&td, "new"), [0, 1, 2, 3, 4, 5]);
    td.fill_entry("deep", &Tensor::scalar(4i64).unwrap()).unwrap();
    assert_eq!(ints(&td, ("deep", "b")), [4; 12]);
    td.set_tensor_at("new", i![0, ..], &Tensor::scalar(7i64).unwrap()).unwrap();
    assert_eq!(td.tensor_at("new", i![.., 0]).unwrap().to_vec::<i64>().unwrap(), [7, 3]);
}

#[test]
fn get_or_set_makes_what_is_missing() {
    let mut td = sample();
    let value = counting(&[2, 3]);
    let got = td.get_or_set("x", &value).unwrap();
    assert_eq!(got.data_ptr().unwrap(), value.data_ptr().unwrap());
    let got = td.get_or_set_with("x", || panic!("it is there")).unwrap();
    assert_eq!(got.data_ptr().unwrap(), value.data_ptr().unwrap());
    td.get_or_set_with(("y", "z"), || Tensor::zeros([2, 3], DType::U8)).unwrap();
    assert!(td.contains(("y", "z")));
}
