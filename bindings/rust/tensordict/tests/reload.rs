//! Folders read again, new entries of them, and saving in the background.

mod common;

use std::time::Duration;

use common::{ints, sample, Scratch};
use tensordict::{DType, Device, ErrorKind, LoadOptions, MemmapOptions, Tensor, TensorDict};

#[test]
fn a_part_of_a_folder() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let mut td = TensorDict::new([2]).unwrap();
    td.set(("a", "b/c", "x"), Tensor::from_slice(&[1i64, 2], [2]).unwrap()).unwrap();
    td.memmap(&dir).unwrap();
    let part = TensorDict::load_memmap_part(&dir, ("a", "b/c"), LoadOptions::new()).unwrap();
    assert_eq!(ints(&part, "x"), [1, 2]);
    let meta = LoadOptions::new().device(Device::meta());
    let part = TensorDict::load_memmap_part(&dir, "a", meta).unwrap();
    assert_eq!(part.tensor(("b/c", "x")).unwrap().shape(), [2]);
    let error = TensorDict::load_memmap_part(&dir, "b", LoadOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
}

#[test]
fn loading_into_a_dictionary() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let saved = sample().memmap(&dir).unwrap();
    let mut td = TensorDict::new(saved.batch_size()).unwrap();
    td.load_into(&dir, LoadOptions::new()).unwrap();
    assert_eq!(ints(&td, "a"), ints(&saved, "a"));
    assert_eq!(td.saved_path(), Some(dir.clone()));
    let mut other = TensorDict::new([99]).unwrap();
    assert_eq!(other.load_into(&dir, LoadOptions::new()).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn refreshing() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let pair = |values: &[i64]| {
        TensorDict::from_pairs(
            [values.len() as i64],
            [("x", Tensor::from_slice(values, [values.len() as i64]).unwrap())],
        )
        .unwrap()
    };
    let mut td = pair(&[1, 2]).memmap(&dir).unwrap();
    pair(&[3, 4, 5]).memmap(&dir).unwrap();
    assert_eq!(ints(&td, "x"), [1, 2]);
    td.memmap_refresh().unwrap();
    assert_eq!((ints(&td, "x"), td.is_locked()), (vec![3, 4, 5], true));
    td.memmap_refresh_with(LoadOptions::new().private_mapping(true)).unwrap();
    let mut plain = pair(&[1]);
    assert_eq!(plain.memmap_refresh().unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn new_entries_of_a_folder() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let mut td = TensorDict::new([2]).unwrap().memmap(&dir).unwrap();
    let zeros = td.make_memmap("z", [2, 3], DType::I64, MemmapOptions::new()).unwrap();
    assert_eq!(zeros.to_vec::<i64>().unwrap(), [0; 6]);
    let source = Tensor::from_slice(&[1i64, 2], [2]).unwrap();
    let made = td.make_memmap_from(("n", "x"), &source, MemmapOptions::new()).unwrap();
    assert!(made.is_memmap() && td.is_locked());
    let loaded = TensorDict::load_memmap(&dir).unwrap();
    assert!(loaded.equal(&td).unwrap());
    let again = td.make_memmap("z", [2], DType::I64, MemmapOptions::new());
    assert_eq!(again.unwrap_err().kind(), ErrorKind::KeyExists);
}

#[test]
fn saving_in_the_background() {
    let scratch = Scratch::new();
    let dir = scratch.path("td");
    let td = sample();
    let saving = td.memmap_start(Some(&dir), MemmapOptions::new()).unwrap();
    assert!(saving.wait_timeout(Duration::from_secs(600)));
    saving.wait();
    assert!(saving.is_done());
    let (done, total) = saving.progress();
    assert!(done == total && total > 0);
    assert_eq!(format!("{saving:?}"), format!("Future({done} of {total})"));
    let saved = saving.into_result().unwrap();
    assert!(saved.is_locked() && saved.equal(&td).unwrap());
    assert!(TensorDict::load_memmap(&dir).unwrap().equal(&td).unwrap());

    std::fs::write(scratch.path("file"), "x").unwrap();
    let inside = scratch.path("file").join("td");
    let saving = td.memmap_start(Some(&inside), MemmapOptions::new()).unwrap();
    assert_eq!(saving.into_result().unwrap_err().kind(), ErrorKind::Io);
}
