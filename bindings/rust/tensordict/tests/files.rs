//! Files of other programs.

mod common;

use common::Scratch;
use tensordict::{DType, ErrorKind, FileFormat, FileOptions, Layout, Tensor, TensorDict};

fn sample() -> TensorDict {
    let mut td = TensorDict::new([2]).unwrap();
    td.set("x", Tensor::from_slice(&[1i64, -2], [2]).unwrap()).unwrap();
    td.set(("n", "y"), Tensor::from_slice(&[0.5f32, 1.0, 2.0, 4.0], [2, 2]).unwrap()).unwrap();
    td
}

#[test]
fn what_is_written_is_read_again() {
    let folder = Scratch::new();
    let td = sample();
    for name in ["f.safetensors", "f.npy", "f.npz", "f.pt"] {
        let file = folder.path(name);
        td.save_file_with(&file, &FileOptions::new().deflate(true).durable(true)).unwrap();
        let again = TensorDict::load_file_with(&file, &FileOptions::new().batch_dims(1)).unwrap();
        assert!(again.equal(&td).unwrap(), "{name}");
    }
    let refused = td.save_file(folder.path("f.tdz")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    let missing = TensorDict::load_file(folder.path("none")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
}

#[test]
fn metadata_names_and_limits() {
    let folder = Scratch::new();
    let file = folder.path("f");
    let mut td = sample();
    td.set_json("note", "\"hello\"").unwrap();
    let options = FileOptions::new()
        .format(FileFormat::Safetensors)
        .separator("/")
        .metadata("{\"format\":\"pt\"}");
    td.save_file_with(&file, &options).unwrap();
    assert!(TensorDict::file_metadata(&file).unwrap().starts_with("{\"format\":\"pt\","));
    let again = TensorDict::load_file_with(&file, &options).unwrap();
    assert!(again.equal(&td).unwrap());
    let narrow = options.max_entries(1).max_depth(9);
    let refused = TensorDict::load_file_with(&file, &narrow).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Format);
}

#[test]
fn one_tensor() {
    let folder = Scratch::new();
    let file = folder.path("f.npy");
    Tensor::from_slice(&[1.5f64, 2.5], [2]).unwrap().save_file(&file).unwrap();
    let through = FileOptions::new().write_through(true);
    let mut tensor = Tensor::load_file_with(&file, &through).unwrap();
    assert_eq!(tensor.to_vec::<f64>().unwrap(), [1.5, 2.5]);
    tensor.copy_from_slice(&[3.0f64, 4.0]).unwrap();
    assert_eq!(Tensor::load_file(&file).unwrap().to_vec::<f64>().unwrap(), [3.0, 4.0]);
    let td = TensorDict::load_file(&file).unwrap();
    assert_eq!(td.tensor("arr_0").unwrap().to_vec::<f64>().unwrap(), [3.0, 4.0]);
}

#[test]
fn raw_records() {
    let folder = Scratch::new();
    let file = folder.path("log.bin");
    let mut bytes = vec![0u8; 4];
    for (x, y) in [(1i32, 0.5f32), (2, 1.5)] {
        bytes.extend(x.to_ne_bytes());
        bytes.extend(y.to_ne_bytes());
    }
    std::fs::write(&file, &bytes).unwrap();
    let layout =
        Layout::new(8).member("x", DType::I32, (), 0).member(("n", "y"), DType::F32, (), 4);
    let options = FileOptions::new().records(layout, 4);
    let td = TensorDict::load_file_with(&file, &options).unwrap();
    assert_eq!(td.batch_size(), [2]);
    assert_eq!(td.tensor("x").unwrap().to_vec::<i32>().unwrap(), [1, 2]);
    assert_eq!(td.tensor(("n", "y")).unwrap().to_vec::<f32>().unwrap(), [0.5, 1.5]);
    td.save_file_with(folder.path("again.bin"), &options).unwrap();
    assert_eq!(std::fs::read(folder.path("again.bin")).unwrap(), bytes);
}
