//! Checksums, and which file of a folder is damaged; one writer at a time.

mod common;

use common::Scratch;
use tensordict::{DamageKind, Error, ErrorKind, MemmapOptions, Tensor, TensorDict};

fn sample() -> TensorDict {
    let mut td = TensorDict::new([2]).unwrap();
    td.set("x", Tensor::from_slice(&[1.0f32, 2.0], [2]).unwrap()).unwrap();
    td.set(("n", "y"), Tensor::from_slice(&[3i64, 4], [2]).unwrap()).unwrap();
    td
}

#[test]
fn damaged_files_are_named() {
    let scratch = Scratch::new();
    let dir = scratch.path("m");
    let options = MemmapOptions::new().checksums(true).durable(true).num_threads(2);
    sample().memmap_with(Some(&dir), options).unwrap();
    assert!(dir.join("checksums").exists());
    let mut told = (0, 0);
    let found = TensorDict::verify_memmap_with(&dir, 2, |done, total| {
        told = (done, total);
        Ok::<(), Error>(())
    });
    assert!(found.unwrap().is_empty());
    assert!(told.0 == told.1 && told.0 > 24);

    std::fs::write(dir.join("n/y.memmap"), [0; 16]).unwrap();
    std::fs::write(dir.join("x.memmap"), [0; 7]).unwrap();
    let found = TensorDict::verify_memmap(&dir, 1).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].path.as_str(), found[0].kind), ("n/y.memmap", DamageKind::Changed));
    assert_eq!((found[1].path.as_str(), found[1].kind), ("x.memmap", DamageKind::Short));
    assert_eq!((found[1].expected, found[1].found), (8, 7));
    assert!(found[1].message.contains("too short"));
    assert_eq!(TensorDict::checksum_memmap(&dir, 1).unwrap_err().kind(), ErrorKind::Format);
    std::fs::write(dir.join("x.memmap"), [0; 8]).unwrap();
    TensorDict::checksum_memmap(&dir, 2).unwrap();
    assert!(TensorDict::verify_memmap(&dir, 1).unwrap().is_empty());
}

#[test]
fn a_closure_ends_the_work() {
    let scratch = Scratch::new();
    let dir = scratch.path("m");
    sample().memmap(&dir).unwrap();
    let stop = |_, _| Err(std::io::Error::new(std::io::ErrorKind::Other, "enough").into());
    let error: Box<dyn std::error::Error> =
        TensorDict::checksum_memmap_with(&dir, 1, stop).unwrap_err();
    assert_eq!(error.to_string(), "enough");
    assert!(!dir.join("checksums").exists());
    let none = TensorDict::verify_memmap(scratch.path("none"), 1);
    assert_eq!(none.unwrap_err().kind(), ErrorKind::Io);
}
