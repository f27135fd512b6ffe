//! Batch dimensions, and several dictionaries at once.

mod common;

use common::{counting, ints, sample};
use tensordict::{ErrorKind, TensorDict};

#[test]
fn views_and_reshapes_keep_the_elements() {
    let td = sample();
    let flat = td.view([-1]).unwrap();
    assert_eq!(flat.batch_size(), [6]);
    assert_eq!(flat.tensor(("deep", "b")).unwrap().shape(), [6, 2]);
    assert_eq!(td.view([3, 2]).unwrap().batch_size(), [3, 2]);
    assert_eq!(td.view([4]).unwrap_err().kind(), ErrorKind::Shape);
    let turned = td.transpose(0, 1).unwrap();
    assert_eq!(turned.view([-1]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(ints(&turned.reshape(vec![6i64]).unwrap(), "a"), [0, 3, 1, 4, 2, 5]);
}

#[test]
fn dimensions_change_places() {
    let td = sample();
    assert_eq!(td.permute([1, 0]).unwrap().batch_size(), [3, 2]);
    assert_eq!(td.permute([-1, 0]).unwrap().tensor(("deep", "b")).unwrap().shape(), [3, 2, 2]);
    assert_eq!(td.permute([0, 0]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(ints(&td.transpose(0, -1).unwrap(), "a"), [0, 3, 1, 4, 2, 5]);
    assert_eq!(td.transpose(0, 5).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(ints(&td.transpose(0, 1).unwrap().contiguous().unwrap(), "a"), [0, 3, 1, 4, 2, 5]);
}

#[test]
fn dimensions_of_size_one_come_and_go() {
    let td = sample().unsqueeze(1).unwrap();
    assert_eq!(td.batch_size(), [2, 1, 3]);
    assert_eq!(td.unsqueeze(-1).unwrap().batch_size(), [2, 1, 3, 1]);
    assert_eq!(td.squeeze(1).unwrap().batch_size(), [2, 3]);
    assert_eq!(td.squeeze(0).unwrap().batch_size(), [2, 1, 3]);
    assert_eq!(td.unsqueeze(0).unwrap().squeeze_all().unwrap().batch_size(), [2, 3]);
    assert_eq!(td.squeeze(7).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(td.unsqueeze(9).unwrap_err().kind(), ErrorKind::Index);
}

#[test]
fn expanding_uses_no_memory() {
    let td = TensorDict::from_pairs([1], [("x", counting(&[1, 2]))]).unwrap();
    let wide = td.expand([3, 4]).unwrap();
    assert_eq!(wide.batch_size(), [3, 4]);
    let x = wide.tensor("x").unwrap();
    assert_eq!((x.shape(), x.strides()), (vec![3, 4, 2], vec![0, 0, 1]));
    assert_eq!(sample().expand([4, 3]).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn parts_are_taken_and_joined() {
    let td = sample();
    let columns = td.unbind(-1).unwrap();
    assert_eq!(columns.len(), 3);
    assert_eq!(ints(&columns[1], "a"), [1, 4]);
    assert!(TensorDict::stack(&columns, 1).unwrap().equal(&td).unwrap());
    assert_eq!(TensorDict::stack([&td, &td], -1).unwrap().batch_size(), [2, 3, 2]);
    assert_eq!(TensorDict::cat([&td, &td, &td], 1).unwrap().batch_size(), [2, 9]);
    assert_eq!(TensorDict::cat([td.dict("deep").unwrap()], 0).unwrap().batch_size(), [2, 3]);
    assert_eq!(TensorDict::new([0, 2]).unwrap().unbind(0).unwrap().len(), 0);
    assert_eq!(td.unbind(2).unwrap_err().kind(), ErrorKind::Index);
}

#[test]
fn what_does_not_fit_is_not_joined() {
    let td = sample();
    let mut other = td.deep_clone().unwrap();
    other.remove("a").unwrap();
    assert_eq!(TensorDict::stack([&td, &other], 0).unwrap_err().kind(), ErrorKind::Key);
    let part = td.at(0).unwrap();
    assert_eq!(TensorDict::stack([&td, &part], 0).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(TensorDict::cat([&td], 4).unwrap_err().kind(), ErrorKind::Index);
    let none: [&TensorDict; 0] = [];
    assert_eq!(TensorDict::stack(none, 0).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(TensorDict::cat(none, 0).unwrap_err().kind(), ErrorKind::InvalidArgument);
}
