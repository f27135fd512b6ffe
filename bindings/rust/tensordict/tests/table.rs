//! Tables in text files.

mod common;

use common::{ints, Scratch};
use tensordict::{DType, ErrorKind, TableFormat, Tensor, TensorDict};

#[test]
fn what_is_written_is_read_again() {
    let folder = Scratch::new();
    let mut td = TensorDict::new([2]).unwrap();
    td.set("x", Tensor::from_slice(&[1i64, -2], [2]).unwrap()).unwrap();
    td.set(("n", "y"), Tensor::from_slice(&[0.1f64, 1.0], [2]).unwrap()).unwrap();
    for (name, format) in [("t.csv", TableFormat::Csv), ("t.json", TableFormat::Json)] {
        let file = folder.path(name);
        td.save_table(&file, format, Some(".")).unwrap();
        assert!(TensorDict::load_table(&file, format, Some(".")).unwrap().equal(&td).unwrap());
        let refused = td.save_table(&file, format, None).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    }
}

#[test]
fn texts_are_values() {
    let file = Scratch::new();
    let path = file.path("t.csv");
    std::fs::write(&path, "i,s\n1,one\n2,\"2\"\n").unwrap();
    let td = TensorDict::load_table(&path, TableFormat::Csv, None).unwrap();
    assert_eq!(ints(&td, "i"), [1, 2]);
    assert_eq!(td.tensor("i").unwrap().dtype(), DType::I64);
    assert_eq!(td.non_tensor_json("s").unwrap(), "[\"one\", \"2\"]");
    std::fs::write(&path, "i,s\n1\n").unwrap();
    let error = TensorDict::load_table(&path, TableFormat::Csv, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
    assert!(error.message().contains("line 2"), "{error}");
}

#[test]
fn a_recording_is_flattened() {
    let folder = Scratch::new();
    let file = folder.path("t.csv");
    let mut td = TensorDict::new([2, 2]).unwrap();
    td.set("a", Tensor::from_slice(&[0i64, 1, 2, 3, 4, 5, 6, 7], [2, 2, 2]).unwrap()).unwrap();
    td.save_flat_table(&file, TableFormat::Csv, None).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("episode,step,a[0],a[1]\n0,0,0,1\n0,1,2,3\n"), "{text}");
    let again = TensorDict::load_flat_table(&file, TableFormat::Csv, None).unwrap();
    assert!(again.equal(&td).unwrap());
    assert_eq!(td.save_table(&file, TableFormat::Csv, None).unwrap_err().kind(), ErrorKind::Shape);
}
