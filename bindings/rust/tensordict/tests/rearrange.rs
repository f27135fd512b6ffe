//! Batch dimensions made of others, moved, and cut into parts.

mod common;

use common::{ints, sample};
use tensordict::{DType, ErrorKind, Tensor, TensorDict};

#[test]
fn dimensions_are_merged_and_split() {
    let td = sample();
    let flat = td.flatten(0, -1).unwrap();
    assert_eq!(flat.batch_size(), [6]);
    assert_eq!(ints(&flat, "a"), [0, 1, 2, 3, 4, 5]);
    let again = flat.unflatten(0, [2, -1]).unwrap();
    assert!(again.equal(&td).unwrap());
    assert_eq!(td.flatten(1, 0).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(td.flatten(0, 2).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(td.unflatten(0, [5]).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn dimensions_are_moved_and_narrowed() {
    let td = sample();
    assert_eq!(ints(&td.movedim([0], [1]).unwrap(), "a"), [0, 3, 1, 4, 2, 5]);
    assert_eq!(td.movedim([0, 1], [0]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(td.movedim([2], [0]).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(ints(&td.narrow(1, -2, 2).unwrap(), "a"), [1, 2, 4, 5]);
    assert_eq!(td.narrow(1, 2, 2).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(td.atleast(3).unwrap().batch_size(), [1, 2, 3]);
    let wide = sample().unsqueeze(0).unwrap().expand([5, 2, 3]).unwrap();
    assert_eq!(td.expand_as(&wide).unwrap().batch_size(), [5, 2, 3]);
}

#[test]
fn a_dictionary_is_cut_into_parts() {
    let td = sample();
    let parts = td.split(2, 1).unwrap();
    assert_eq!(parts.len(), 2);
    assert_eq!(ints(&parts[1], "a"), [2, 5]);
    assert!(TensorDict::cat(&parts, 1).unwrap().equal(&td).unwrap());
    let sizes = |parts: Vec<TensorDict>| -> Vec<i64> {
        parts.iter().map(|part| part.batch_size()[1]).collect()
    };
    assert_eq!(sizes(td.split_lengths([1, 0, 2], 1).unwrap()), [1, 0, 2]);
    assert_eq!(sizes(td.chunk(2, 1).unwrap()), [2, 1]);
    assert_eq!(sizes(td.tensor_split(4, 1).unwrap()), [1, 1, 1, 0]);
    assert_eq!(sizes(td.split_at([1], 1).unwrap()), [1, 2]);
    assert_eq!(td.split(0, 0).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(td.split_lengths([1, 1], 1).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(td.chunk(1, 2).unwrap_err().kind(), ErrorKind::Index);
}

#[test]
fn how_tensors_lie_can_be_asked_and_changed() {
    let td = sample();
    assert!(td.is_contiguous());
    let turned = td.transpose(0, 1).unwrap();
    assert!(!turned.is_contiguous());
    assert!(turned.contiguous_canonical().unwrap().is_contiguous());
    let one = TensorDict::from_pairs([1], [("x", Tensor::from_slice(&[1.0f32], [1, 1]).unwrap())]);
    let bits = one.unwrap().view_dtype(DType::I32, None).unwrap();
    assert_eq!(bits.tensor("x").unwrap().to_vec::<i32>().unwrap(), [0x3f80_0000]);
    assert_eq!(bits.view_dtype(DType::U8, Some(&[1, 4])).unwrap().batch_size(), [1, 4]);
    assert_eq!(bits.view_dtype(DType::U8, Some(&[1, 1])).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn any_operation_works_in_place() {
    let mut td = sample();
    let flat = td.reshape([6]).unwrap();
    td.become_other(flat).unwrap();
    assert_eq!(td.batch_size(), [6]);
    assert_eq!(ints(&td, "a"), [0, 1, 2, 3, 4, 5]);
    td.lock().unwrap();
    assert_eq!(td.become_other(sample()).unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(td.batch_size(), [6]);
}
