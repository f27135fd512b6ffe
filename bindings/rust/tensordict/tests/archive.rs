//! Archives: a dictionary in one zip file.

mod common;

use common::Scratch;
use tensordict::{
    Compression, ConsolidateOptions, ErrorKind, LoadOptions, MemmapOptions, PackOptions, Tensor,
    TensorDict,
};

fn sample() -> TensorDict {
    let mut td = TensorDict::new([2]).unwrap();
    td.set("x", Tensor::from_slice(&[1.0f32, 2.0], [2]).unwrap()).unwrap();
    td.set(("n", "y"), Tensor::from_slice(&[3i64, 4], [2]).unwrap()).unwrap();
    td
}

fn first(td: &TensorDict) -> f32 {
    td.tensor("x").unwrap().to_vec::<f32>().unwrap()[0]
}

#[test]
fn one_file_in_place_of_a_folder() {
    let scratch = Scratch::new();
    let td = sample();
    let archive = td.memmap(scratch.path("td.tdz")).unwrap();
    assert!(archive.equal(&td).unwrap() && !archive.is_locked());
    assert!(TensorDict::is_memmap_archive(scratch.path("td.tdz")).unwrap());
    let options =
        MemmapOptions::new().archive(true).compression(Compression::Deflate).num_threads(2);
    td.memmap_with(Some(&scratch.path("packed")), options).unwrap();
    assert!(TensorDict::load_memmap(scratch.path("packed")).unwrap().equal(&td).unwrap());
    let folder = MemmapOptions::new().archive(false);
    td.memmap_with(Some(&scratch.path("folder.tdz")), folder).unwrap();
    assert!(!TensorDict::is_memmap_archive(scratch.path("folder.tdz")).unwrap());
    let error = td
        .memmap_with(Some(&scratch.path("x")), folder.compression(Compression::Deflate))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn folders_are_packed_and_unpacked() {
    let scratch = Scratch::new();
    let td = sample();
    td.memmap(scratch.path("td")).unwrap();
    let options = PackOptions::new().compression(Compression::Deflate).durable(true);
    TensorDict::pack_memmap(scratch.path("td"), scratch.path("a"), options).unwrap();
    let again = options.fail_if_exists(true);
    let error = TensorDict::pack_memmap(scratch.path("td"), scratch.path("a"), again).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    TensorDict::unpack_memmap(scratch.path("a"), scratch.path("back"), PackOptions::new()).unwrap();
    assert!(TensorDict::load_memmap(scratch.path("back")).unwrap().equal(&td).unwrap());
    std::fs::write(scratch.path("text"), "no archive").unwrap();
    assert!(!TensorDict::is_memmap_archive(scratch.path("text")).unwrap());
    let error =
        TensorDict::unpack_memmap(scratch.path("text"), scratch.path("x"), PackOptions::new())
            .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
}

#[test]
fn an_archive_is_written_to() {
    let scratch = Scratch::new();
    let file = scratch.path("td.tdz");
    sample().memmap(&file).unwrap();
    let through = LoadOptions::new().write_through(true);
    let mut td = TensorDict::load_memmap_with(&file, through).unwrap();
    td.fill_inplace("x", 7.0).unwrap();
    td.flush().unwrap();
    assert_eq!(first(&TensorDict::load_memmap(&file).unwrap()), 7.0);
    let back = scratch.path("back");
    let error = TensorDict::unpack_memmap(&file, &back, PackOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
    TensorDict::refresh_archive_checksums(&file).unwrap();
    TensorDict::unpack_memmap(&file, &back, PackOptions::new()).unwrap();
    assert_eq!(first(&TensorDict::load_memmap(&back).unwrap()), 7.0);
}

#[test]
fn a_consolidated_file_is_written_to() {
    let scratch = Scratch::new();
    let file = scratch.path("c");
    let options = ConsolidateOptions::new().durable(true).num_threads(2);
    sample().consolidate_to_with(&file, options).unwrap();
    assert!(sample().consolidate_with(options).unwrap().equal(&sample()).unwrap());
    let through = LoadOptions::new().write_through(true);
    let mut td = TensorDict::load_consolidated_with(&file, through).unwrap();
    td.fill_inplace("x", 8.0).unwrap();
    assert_eq!(first(&TensorDict::load_consolidated(&file).unwrap()), 8.0);
}
