//! Every form of an index, for reading and for writing.

mod common;

use common::{counting, ints, sample};
use tensordict::{
    i, DType, Ellipsis, ErrorKind, IndexList, NewAxis, Step as _, Tensor, TensorDict,
};

/// Batch [4, 5] with "x" counting from 0 to 19.
fn grid() -> TensorDict {
    TensorDict::from_pairs([4, 5], [("x", counting(&[4, 5]))]).unwrap()
}

/// The batch size and the values of a part.
macro_rules! part {
    ($index:expr) => {{
        let part = grid().at($index).unwrap();
        (part.batch_size(), ints(&part, "x"))
    }};
}

#[test]
fn positions_remove_a_dimension() {
    assert_eq!(part!(1), (vec![5], vec![5, 6, 7, 8, 9]));
    assert_eq!(part!(-1), (vec![5], vec![15, 16, 17, 18, 19]));
    assert_eq!(part!(i![2, 3]), (vec![], vec![13]));
    assert_eq!(part!(i![2usize, 3i64]), (vec![], vec![13]));
    assert_eq!(part!(i![2u32, -1i32]), (vec![], vec![14]));
}

#[test]
fn ranges_keep_it() {
    assert_eq!(part!(i![0, 1..3]), (vec![2], vec![1, 2]));
    assert_eq!(part!(i![0, 3..]), (vec![2], vec![3, 4]));
    assert_eq!(part!(i![0, 1..-1]), (vec![3], vec![1, 2, 3]));
    assert_eq!(part!(i![0, -2..]), (vec![2], vec![3, 4]));
    assert_eq!(part!(i![0, ..2]), (vec![2], vec![0, 1]));
    assert_eq!(part!(i![0, ..-3]), (vec![2], vec![0, 1]));
    assert_eq!(part!(i![0, 1..=2]), (vec![2], vec![1, 2]));
    assert_eq!(part!(i![0, ..=1]), (vec![2], vec![0, 1]));
    assert_eq!(part!(i![0, 3..=-1]), (vec![2], vec![3, 4]));
    assert_eq!(part!(i![0, ..=-4]), (vec![2], vec![0, 1]));
    assert_eq!(part!(i![.., 0]), (vec![4], vec![0, 5, 10, 15]));
    assert_eq!(part!(i![9.., 0]), (vec![0], vec![]));
    assert_eq!(part!(1usize..2usize).0, [1, 5]);
}

#[test]
fn ranges_may_have_a_step() {
    assert_eq!(part!(i![0, (0..5).step(2)]), (vec![3], vec![0, 2, 4]));
    assert_eq!(part!(i![0, (1..).step(3)]), (vec![2], vec![1, 4]));
    assert_eq!(part!(i![0, (..4).step(2)]), (vec![2], vec![0, 2]));
    assert_eq!(part!(i![0, (..).step(4)]), (vec![2], vec![0, 4]));
    assert_eq!(part!(i![0, (0..=4).step(2)]), (vec![3], vec![0, 2, 4]));
    assert_eq!(part!(i![0, (..=-1).step(4)]), (vec![2], vec![0, 4]));
    let error = grid().at((..).step(0)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Index | ErrorKind::InvalidArgument), "{error:?}");
    assert!(grid().at((..).step(-1)).is_err());
}

#[test]
fn dimensions_are_added_and_skipped() {
    assert_eq!(part!(NewAxis).0, [1, 4, 5]);
    assert_eq!(part!(i![Ellipsis, NewAxis]).0, [4, 5, 1]);
    assert_eq!(part!(i![Ellipsis, 0]), (vec![4], vec![0, 5, 10, 15]));
    assert_eq!(part!(i![(1..).step(2), Ellipsis, NewAxis]).0, [2, 5, 1]);
    assert_eq!(part!(true).0, [1, 4, 5]);
    assert_eq!(part!(false).0, [0, 4, 5]);
    assert_eq!(part!(i![]).0, [4, 5]);
    assert_eq!(grid().at(i![Ellipsis, Ellipsis]).unwrap_err().kind(), ErrorKind::Index);
}

#[test]
fn tensors_pick_and_masks_select() {
    let rows = Tensor::from_slice(&[3i64, 0, 3], [3]).unwrap();
    let mask = Tensor::from_slice(&[false, true, true, false], [4]).unwrap();
    assert_eq!(part!(i![&rows, 1]), (vec![3], vec![16, 1, 16]));
    assert_eq!(part!(&mask), (vec![2, 5], (5..15).collect()));
    let cells = Tensor::from_slice(&[true; 20], [4, 5]).unwrap();
    assert_eq!(part!(&cells).0, [20]);
    assert_eq!(
        part!(i![1..3, &Tensor::from_slice(&[4i64], [1]).unwrap()]),
        (vec![2, 1], vec![9, 14])
    );
    let far = Tensor::from_slice(&[4i64], [1]).unwrap();
    assert_eq!(grid().at(&far).unwrap_err().kind(), ErrorKind::Index);
}

#[test]
fn views_share_memory_and_picks_do_not() {
    let td = grid();
    let rows = Tensor::from_slice(&[0i64], [1]).unwrap();
    let (mut view, mut copy) = (td.at(0).unwrap(), td.at(&rows).unwrap());
    let minus = Tensor::scalar(-1i64).unwrap();
    copy.fill_at(Ellipsis, &minus).unwrap();
    assert_eq!(ints(&td.at(0).unwrap(), "x"), [0, 1, 2, 3, 4]);
    view.fill_at(Ellipsis, &minus).unwrap();
    assert_eq!(ints(&td.at(0).unwrap(), "x"), [-1; 5]);
}

#[test]
fn indices_are_read_from_text() {
    let index: IndexList = "1:3, ..., ::2, None".parse().unwrap();
    assert_eq!((index.len(), index.is_empty()), (4, false));
    assert_eq!(part!(&index).0, [2, 3, 1]);
    assert_eq!(part!("-1".parse::<IndexList>().unwrap()), (vec![5], vec![15, 16, 17, 18, 19]));
    assert_eq!(part!("True, 0".parse::<IndexList>().unwrap()).0, [1, 5]);
    assert!("".parse::<IndexList>().unwrap().is_empty());
    assert_eq!(counting(&[4]).at("1:".parse::<IndexList>().unwrap()).unwrap().shape(), [3]);
    for wrong in ["1,,2", "x", "1:2:3:4", "a\0"] {
        assert_eq!(wrong.parse::<IndexList>().err().unwrap().kind(), ErrorKind::Index, "{wrong:?}");
    }
}

#[test]
fn lists_are_made_at_run_time() {
    let mut items = vec![tensordict::Index::from(0)];
    items.push((1..3).into());
    assert_eq!(part!(items.as_slice()), (vec![2], vec![1, 2]));
}

#[test]
fn parts_are_written() {
    let mut td = sample();
    let source = td.at(i![1, 2]).unwrap().deep_clone().unwrap();
    td.set_at(i![0, 0], &source).unwrap();
    assert_eq!(ints(&td, "a"), [5, 1, 2, 3, 4, 5]);
    assert_eq!(ints(&td.at(i![0, 0]).unwrap(), ("deep", "b")), [10, 11]);
    let row = td.at(0).unwrap().deep_clone().unwrap();
    td.set_at(.., &row).unwrap();
    assert_eq!(ints(&td, "a"), [5, 1, 2, 5, 1, 2]);
    assert_eq!(td.set_at(0, &source).unwrap_err().kind(), ErrorKind::Shape);

    let other = TensorDict::from_pairs((), [("new", Tensor::scalar(3.5f64).unwrap())]).unwrap();
    td.set_at(i![1, -1], &other).unwrap();
    let new = td.tensor("new").unwrap().to_vec::<f64>().unwrap();
    assert_eq!(new, [0.0, 0.0, 0.0, 0.0, 0.0, 3.5]);
    td.lock().unwrap();
    let newer = TensorDict::from_pairs((), [("newer", Tensor::scalar(1u8).unwrap())]).unwrap();
    assert_eq!(td.set_at(i![0, 0], &newer).unwrap_err().kind(), ErrorKind::Locked);
    let wide = TensorDict::from_pairs([7], [("a", counting(&[7]))]).unwrap();
    assert_eq!(td.set_at(0, &wide).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(td.set_at(9, &source).unwrap_err().kind(), ErrorKind::Index);
}

#[test]
fn parts_are_filled() {
    let mut td = sample();
    td.fill_at(i![.., 0], &Tensor::scalar(8i64).unwrap()).unwrap();
    assert_eq!(ints(&td, "a"), [8, 1, 2, 8, 4, 5]);
    assert_eq!(td.tensor(("deep", "c")).unwrap().to_vec::<f32>().unwrap()[3], 8.0);
    let wide = Tensor::zeros([9], DType::I64).unwrap();
    assert_eq!(td.fill_at(0, &wide).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn errors_name_the_line_of_the_caller() {
    let error = grid().at(i![9]).unwrap_err();
    assert_eq!((error.kind(), error.name().as_str()), (ErrorKind::Index, "TD_ERR_INDEX"));
    assert_eq!((error.location().file(), error.location().line()), (file!(), line!() - 2));
    assert_eq!((error.function(), error.status()), ("td_index", -21));
    assert!(error.message().contains('9') && !error.message().contains('\n'), "{error}");
    assert!(format!("{error:?}").contains("index.rs"));
}
