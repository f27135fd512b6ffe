//! NestedTensor tensors: parts of different shapes as one entry; sub-tensordicts in folders.

mod common;

use common::{ints, Scratch};
use tensordict::{
    DictKind, EntryKind, ErrorKind, MemmapOptions, NestedTensor, OwnedValue, Padding, Tensor,
    TensorDict, Value,
};

fn nested_tensor() -> NestedTensor {
    let parts =
        [Tensor::from_slice(&[1i64, 2], [2]).unwrap(), Tensor::from_slice(&[3i64], [1]).unwrap()];
    NestedTensor::from_tensors(&parts).unwrap()
}

fn sample() -> TensorDict {
    let mut td = TensorDict::new([2]).unwrap();
    td.set("r", nested_tensor()).unwrap();
    td.set("x", Tensor::from_slice(&[7i64, 8], [2]).unwrap()).unwrap();
    td
}

#[test]
fn made_and_read() {
    let td = sample();
    assert_eq!(td.kind("r").unwrap(), Some(EntryKind::NestedTensor));
    let Value::NestedTensor(entry) = td.get("r").unwrap() else { panic!() };
    assert_eq!(entry.parts().unwrap(), 2);
    let (values, sizes) = entry.tensors().unwrap();
    assert_eq!(values.to_vec::<i64>().unwrap(), [1, 2, 3]);
    assert_eq!(sizes.to_vec::<i64>().unwrap(), [2, 1]);
    assert_eq!(entry.part(-1).unwrap().to_vec::<i64>().unwrap(), [3]);
    assert_eq!(entry.part(2).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(td.tensor("r").unwrap_err().kind(), ErrorKind::WrongEntry);
    assert_eq!(td.nested_tensor("x").unwrap_err().kind(), ErrorKind::WrongEntry);
    let again = NestedTensor::from_values(&values, &sizes).unwrap();
    let (all, mask) = again.padded(Padding { value: -1.0, left: true }).unwrap();
    assert_eq!(all.to_vec::<i64>().unwrap(), [1, 2, -1, 3]);
    assert_eq!(mask.to_vec::<bool>().unwrap(), [true, true, false, true]);
    assert_eq!(NestedTensor::from_values(&sizes, &sizes).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn it_follows_the_dictionary() {
    let mut td = sample();
    assert_eq!(ints(&td.at(0).unwrap(), "r"), [1, 2]);
    assert_eq!(td.items().count(), 2);
    assert_eq!(td.deep_clone().unwrap().nested_tensor("r").unwrap().parts().unwrap(), 2);
    assert!(td.neg().is_err());
    let OwnedValue::NestedTensor(out) = td.pop("r").unwrap() else { panic!() };
    assert_eq!(out.part(0).unwrap().to_vec::<i64>().unwrap(), [1, 2]);
}

#[test]
fn lazy_stacks_become_nested_tensor() {
    let element = |values: &[i64]| {
        TensorDict::from_pairs((), [("x", Tensor::from_slice(values, [values.len()]).unwrap())])
            .unwrap()
    };
    let lazy = TensorDict::lazy_stack([element(&[1, 2]), element(&[3])], 0).unwrap();
    let dense = lazy.densify_nested_tensor().unwrap();
    assert_eq!(dense.nested_tensor("x").unwrap().parts().unwrap(), 2);
}

#[test]
fn sub_tensordicts_in_folders() {
    let dir = Scratch::new();
    let mut td = TensorDict::new([3]).unwrap();
    td.set("x", Tensor::from_slice(&[0i64, 1, 2], [3]).unwrap()).unwrap();
    let sub_tensordict = td.sub_tensordict(1..3).unwrap();
    let whole = dir.path("whole");
    sub_tensordict.memmap(&whole).unwrap();
    let loaded = TensorDict::load_memmap(&whole).unwrap();
    assert_eq!(loaded.dict_kind().unwrap(), DictKind::SubTensorDict);
    assert_eq!(ints(&loaded, "x"), [1, 2]);
    let dense = dir.path("dense");
    sub_tensordict
        .memmap_with(Some(&dense), MemmapOptions::new().dense_sub_tensordicts(true))
        .unwrap();
    let loaded = TensorDict::load_memmap(&dense).unwrap();
    assert_eq!(loaded.dict_kind().unwrap(), DictKind::Dense);
}
