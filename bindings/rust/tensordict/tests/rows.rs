//! Rows that are repeated, turned, picked and added; masks; the same structure with other values.

mod common;

use common::{counting, ints, sample};
use tensordict::{
    CloseOptions, DType, ErrorKind, Fill, FillOptions, Join, PadSequenceOptions, Tensor, TensorDict,
};

#[test]
fn rows_are_repeated() {
    let td = sample();
    assert_eq!(ints(&td.repeat([1, 2]).unwrap(), "a"), [0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5]);
    assert_eq!(td.repeat([2]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(td.tile([2]).unwrap().batch_size(), [2, 6]);
    assert_eq!(td.tile([2, 1, 1]).unwrap().batch_size(), [2, 2, 3]);
    let two = Tensor::scalar(2i64).unwrap();
    assert_eq!(
        ints(&td.repeat_interleave(&two, 1).unwrap(), "a"),
        [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    );
    let each = Tensor::from_slice(&[2i64, 0], [2]).unwrap();
    assert_eq!(ints(&td.repeat_interleave(&each, 0).unwrap(), "a"), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn rows_are_turned() {
    let td = sample();
    assert_eq!(ints(&td.roll([1], [1]).unwrap(), "a"), [2, 0, 1, 5, 3, 4]);
    assert_eq!(ints(&td.roll_flat(1).unwrap(), "a"), [5, 0, 1, 2, 3, 4]);
    assert_eq!(td.roll([1, 2], [0]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(ints(&td.flip([0, 1]).unwrap(), "a"), [5, 4, 3, 2, 1, 0]);
    assert_eq!(ints(&td.fliplr().unwrap(), "a"), [2, 1, 0, 5, 4, 3]);
    assert_eq!(ints(&td.flipud().unwrap(), "a"), [3, 4, 5, 0, 1, 2]);
    assert_eq!(TensorDict::new([2]).unwrap().fliplr().unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(ints(&td.rot90(1, (0, 1)).unwrap(), "a"), [2, 5, 1, 4, 0, 3]);
}

#[test]
fn rows_are_picked_and_added() {
    let td = sample();
    let index = Tensor::from_slice(&[2i64, 0], [2, 1]).unwrap();
    assert_eq!(ints(&td.gather(1, &index).unwrap(), "a"), [2, 3]);
    assert_eq!(td.gather(0, &index).unwrap_err().kind(), ErrorKind::Index); // 2 of 2 rows
    assert_eq!(ints(&td.pad([0, 0, 1, -1], 7.0).unwrap(), "a"), [7, 0, 1, 7, 3, 4]);
    assert_eq!(td.pad([1], 0.0).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn sequences_are_padded_to_the_longest() {
    let run = |n: i64| TensorDict::from_pairs([n], [("x", counting(&[n]))]).unwrap();
    let both = TensorDict::pad_sequence([run(2), run(3)]).unwrap();
    assert_eq!(both.batch_size(), [2, 3]);
    assert_eq!(ints(&both, "x"), [0, 1, 0, 0, 1, 2]);
    let options = PadSequenceOptions::new().dim(-1).value(-1.0).masks(("m", "s"));
    let both = TensorDict::pad_sequence_with(options, [&run(1), &run(2)]).unwrap();
    assert_eq!(both.batch_size(), [2, 2]); // the last dimension of the tensors is that of the batch
    assert_eq!(ints(&both, "x"), [0, -1, 0, 1]);
    let options = PadSequenceOptions::new().value(-1.0).masks(("m", "s"));
    let both = TensorDict::pad_sequence_with(options, [&run(1), &run(2)]).unwrap();
    assert_eq!(ints(&both, "x"), [0, -1, 0, 1]);
    let mask = both.tensor(("m", "s", "x")).unwrap().to_vec::<bool>().unwrap();
    assert_eq!(mask, [true, false, true, true]);
}

#[test]
fn rows_are_grouped() {
    let key = Tensor::from_slice(&[7i64, 3, 7], [3]).unwrap();
    let td = TensorDict::from_pairs([3], [("k", key), ("v", counting(&[3]))]).unwrap();
    let (values, groups) = td.group_by("k").unwrap();
    assert_eq!(ints(&values, "k"), [3, 7]);
    assert_eq!(
        groups.iter().map(|group| ints(group, "v")).collect::<Vec<_>>(),
        [vec![1], vec![0, 2]]
    );
    assert_eq!(td.group_by("none").unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(TensorDict::new(()).unwrap().group_by("k").unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn duplicates_are_found() {
    let key = Tensor::from_slice(&[7i64, 3, 7], [3]).unwrap();
    let td = TensorDict::from_pairs([3], [("k", key), ("v", counting(&[3]))]).unwrap();
    let (kept, positions) = td.remove_duplicates("k", 0).unwrap();
    assert_eq!((ints(&kept, "k"), ints(&kept, "v")), (vec![3, 7], vec![1, 0]));
    assert_eq!(positions.to_vec::<i64>().unwrap(), [1, 0]);
    let reference = kept.at(tensordict::i![1..]).unwrap();
    let mask = td.isin(&reference, "k", 0).unwrap();
    assert_eq!(mask.to_vec::<bool>().unwrap(), [true, false, true]);
    assert_eq!(td.isin(&reference, "none", 0).unwrap_err().kind(), ErrorKind::Key);
}

#[test]
fn masks_decide() {
    let mut td = sample();
    let mask = Tensor::from_slice(&[false, true], [2]).unwrap();
    let nine = Tensor::scalar(9i64).unwrap();
    assert_eq!(ints(&td.masked_select(&mask).unwrap(), "a"), [3, 4, 5]);
    assert_eq!(ints(&td.masked_fill(&mask, &nine).unwrap(), "a"), [0, 1, 2, 9, 9, 9]);
    let zeros = td.zeros_like().unwrap();
    assert_eq!(ints(&td.where_dict(&mask, &zeros, None).unwrap(), "a"), [0, 0, 0, 3, 4, 5]);
    assert_eq!(ints(&td.where_value(&mask, &nine).unwrap(), "a"), [9, 9, 9, 3, 4, 5]);
    let fewer = TensorDict::from_pairs([2, 3], [("a", counting(&[2, 3]))]).unwrap();
    assert_eq!(td.where_dict(&mask, &fewer, None).unwrap_err().kind(), ErrorKind::Key);
    let filled = td.where_dict(&mask, &fewer, Some(&nine)).unwrap();
    assert_eq!(ints(&filled, ("deep", "b")), [9, 9, 9, 9, 9, 9, 6, 7, 8, 9, 10, 11]);
    td.lock().unwrap();
    td.masked_fill_inplace(&mask, &nine).unwrap();
    assert_eq!(ints(&td, "a"), [0, 1, 2, 9, 9, 9]);
    let wide = mask.expand_right([2, 2]).unwrap();
    assert_eq!(wide.to_vec::<bool>().unwrap(), [false, false, true, true]);
    assert_eq!(mask.expand_as_right(&wide).unwrap().shape(), [2, 2]);
    assert_eq!(mask.expand_right([3]).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn the_same_structure_holds_other_values() {
    let td = sample();
    assert_eq!(ints(&td.zeros_like().unwrap(), "a"), [0; 6]);
    assert_eq!(ints(&td.ones_like().unwrap(), "a"), [1; 6]);
    let floats = FillOptions::new().dtype(DType::F64);
    let half = td.like(Fill::Value(0.5), floats).unwrap();
    assert_eq!(half.tensor("a").unwrap().to_vec::<f64>().unwrap(), [0.5; 6]);
    for fill in [Fill::Empty, Fill::Rand, Fill::Randn] {
        assert_eq!(td.like(fill, floats).unwrap().batch_size(), [2, 3]);
    }
    let new = td.new_filled([1], Fill::Zeros, FillOptions::new()).unwrap();
    assert_eq!(new.tensor(("deep", "b")).unwrap().shape(), [1, 2]);
    let none = td.new_filled([-1], Fill::Zeros, FillOptions::new());
    assert_eq!(none.unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn differences_are_told() {
    let td = sample();
    let mut other = td.deep_clone().unwrap();
    assert!(td.all_close(&other).unwrap());
    other.set("more", counting(&[2, 3])).unwrap();
    let text = td.difference(&other, CloseOptions::new()).unwrap().unwrap();
    assert_eq!(text, "\"more\" is in one of the dictionaries only");
    let common = CloseOptions::new().common_keys(true).equal_nan(false);
    assert!(td.difference(&other, common).unwrap().is_none());
    let bad = CloseOptions::new().tolerance(-1.0, 0.0);
    assert_eq!(td.difference(&other, bad).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn joins_have_more_forms() {
    let td = sample();
    let mut both = td.new_filled([2, 2, 3], Fill::Zeros, FillOptions::new()).unwrap();
    both.join_from(Join::Stack, [&td, &td], 0, true).unwrap();
    assert!(both.equal(&TensorDict::stack([&td, &td], 0).unwrap()).unwrap());
    let short = both.join_from(Join::Cat, [&td, &td], 0, true);
    assert_eq!(short.unwrap_err().kind(), ErrorKind::Shape);
    let mut flat = TensorDict::new([2]).unwrap();
    flat.set("x", counting(&[2])).unwrap();
    flat.set("y", counting(&[2])).unwrap();
    assert_eq!(flat.join_tensors(Join::Cat, 0, true).unwrap().shape(), [4]);
    flat.join_entries(Join::Stack, ["x", "y"], ("n", "xy"), 1, false).unwrap();
    assert_eq!(ints(&flat, ("n", "xy")), [0, 0, 1, 1]);
    assert_eq!(flat.keys().collect::<Vec<_>>(), ["n"]);
    let other = TensorDict::from_pairs([2], [("z", counting(&[2]))]).unwrap();
    let lazy = TensorDict::maybe_dense_stack([flat, other], 0).unwrap();
    assert_eq!(lazy.batch_size(), [2, 2]);
}
