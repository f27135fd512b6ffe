//! Samples of different lengths, packed tensors, several keys renamed, some tensors converted.

mod common;

use common::ints;
use tensordict::{
    keys, CollateOptions, DType, DTypeKinds, DictKind, EntryKind, ErrorKind, Masks, PackLayout,
    PadSequenceOptions, Tensor, TensorDict, ToOptions,
};

fn run(batch: &[i64], values: &[i64]) -> TensorDict {
    let tensor = Tensor::from_slice(values, [values.len()]).unwrap();
    TensorDict::from_pairs(batch.to_vec(), [("a", tensor)]).unwrap()
}

#[test]
fn padding_comes_and_goes() {
    let runs = [run(&[1], &[5]), run(&[2], &[6, 7])];
    let options = PadSequenceOptions::new().left(true).value_of("a", 9.0).masks("masks");
    let both = TensorDict::pad_sequence_with(options, &runs).unwrap();
    assert_eq!(ints(&both, "a"), [9, 5, 6, 7]);
    let mask = both.tensor(("masks", "a")).unwrap();
    assert_eq!(mask.to_vec::<bool>().unwrap(), [false, true, true, true]);
    assert_eq!(both.unpad_sequence(Masks::Entry, 0).unwrap().batch_size(), [2, -1]);
    let bare = both.exclude(["masks"]).unwrap();
    let masks = both.dict("masks").unwrap();
    for masks in [Masks::Tensor(&mask), Masks::Dict(&masks)] {
        let first = bare.unpad_sequence(masks, 0).unwrap().unbind(0).unwrap();
        assert_eq!(ints(&first[0], "a"), [5]);
    }
    assert_eq!(bare.unpad_sequence(Masks::Entry, 0).unwrap_err().kind(), ErrorKind::Key);
    let unknown = PadSequenceOptions::new().value_of("x", 1.0);
    let error = TensorDict::pad_sequence_with(unknown, &runs).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
}

#[test]
fn samples_are_collated() {
    let samples = [run(&[], &[5]), run(&[], &[6, 7])];
    let lazy = TensorDict::collate(&samples).unwrap();
    assert_eq!(lazy.dict_kind().unwrap(), DictKind::Lazy);
    let options = CollateOptions::new().pad("a", 9.0).masks("m");
    let dense = TensorDict::collate_with(options, &samples).unwrap();
    assert_eq!(ints(&dense, "a"), [5, 9, 6, 7]);
    let nested = TensorDict::collate_with(CollateOptions::new().nest("a"), &samples).unwrap();
    assert_eq!(nested.kind("a").unwrap(), Some(EntryKind::NestedTensor));
}

#[test]
fn tensors_are_packed() {
    let td = run(&[2], &[5, 6]);
    let (packed, layout) = td.pack(-1).unwrap();
    assert_eq!(packed.shape(), [2, 1]);
    assert_eq!(ints(&layout.unpack(&packed).unwrap(), "a"), [5, 6]);
    assert_eq!(td.pack_layout(-1).unwrap(), layout);
    let by_hand = PackLayout::from_json(r#"{"keys": [["a"]], "shapes": [[]]}"#).unwrap();
    assert_eq!(td.pack_as(&by_hand, -1).unwrap().to_vec::<i64>().unwrap(), [5, 6]);
    assert_eq!(td.pack(2).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(PackLayout::from_json("\0").unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn keys_are_exchanged() {
    let mut td = run(&[], &[1]);
    td.set("b", Tensor::from_slice(&[2i64, 3], [2]).unwrap()).unwrap();
    let other = td.rename_keys([("a", "b"), ("b", "a")], true).unwrap();
    assert_eq!(ints(&other, "a"), [2, 3]);
    assert_eq!(td.rename_keys([("x", "y")], true).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(ints(&td.rename_keys([("x", "y")], false).unwrap(), "b"), [2, 3]);
}

#[test]
fn some_tensors_are_converted() {
    let mut td = run(&[], &[1]);
    td.set("f", Tensor::scalar(1f32).unwrap()).unwrap();
    let half = td.to_with(DType::F16, &ToOptions::new().kinds(DTypeKinds::FLOATING)).unwrap();
    assert_eq!(half.tensor("f").unwrap().dtype(), DType::F16);
    assert_eq!(half.tensor("a").unwrap().dtype(), DType::I64);
    let wanted = keys!["a"];
    let one = td.to_with(DType::F64, &ToOptions::new().keys(&wanted)).unwrap();
    assert_eq!(one.tensor("a").unwrap().dtype(), DType::F64);
    assert_eq!(one.tensor("f").unwrap().dtype(), DType::F32);
}
