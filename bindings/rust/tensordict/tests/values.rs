//! Non-tensor values.

use tensordict::{ErrorKind, TensorDict};

#[test]
fn one_value_or_one_for_each() {
    let mut td = TensorDict::new([2]).unwrap();
    td.set_json("v", "5").unwrap();
    assert_eq!(td.non_tensor_json("v").unwrap(), "5");
    assert_eq!(td.json_list("v").unwrap(), "[5, 5]");
    td.spread_non_tensor("v").unwrap();
    assert_eq!(td.non_tensor_json("v").unwrap(), "[5, 5]");
    assert_eq!(td.json_value("v").unwrap(), "5");
    td.set_json_list("v", r#"["a", "b"]"#).unwrap();
    assert_eq!(td.at(1).unwrap().non_tensor_json("v").unwrap(), r#""b""#);
    assert_eq!(td.json_value("v").unwrap_err().kind(), ErrorKind::WrongEntry);
    assert_eq!(td.set_json_list("v", "[1]").unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(td.set_json("v", "{").unwrap_err().kind(), ErrorKind::Format);
    assert_eq!(td.set_json("v", "\0").unwrap_err().kind(), ErrorKind::Format);
}

#[test]
fn texts() {
    let mut td = TensorDict::new([2]).unwrap();
    td.set_text("v", "a \"b\"\n").unwrap();
    assert_eq!(td.text("v").unwrap(), "a \"b\"\n");
    assert_eq!(td.row_text("v", 1).unwrap(), "a \"b\"\n");
    td.set_texts("v", ["left", "ɣ"]).unwrap();
    assert_eq!(td.row_text("v", 0).unwrap(), "left");
    assert_eq!(td.row_text("v", -1).unwrap(), "ɣ");
    assert_eq!(td.row_text("v", 2).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(td.text("v").unwrap_err().kind(), ErrorKind::WrongEntry);
    assert_eq!(td.set_texts("v", ["one"]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(td.set_text("v", "\0").unwrap_err().kind(), ErrorKind::InvalidArgument);
    td.set_json("v", "1").unwrap();
    assert_eq!(td.text("v").unwrap_err().kind(), ErrorKind::WrongEntry);
}

#[test]
fn bytes() {
    let mut td = TensorDict::new(()).unwrap();
    for bytes in [&b""[..], b"\0\xff", b"abc"] {
        td.set_non_tensor_bytes("v", bytes).unwrap();
        assert_eq!(td.non_tensor_bytes("v").unwrap(), bytes);
    }
    td.set_json("v", "1").unwrap();
    assert_eq!(td.non_tensor_bytes("v").unwrap_err().kind(), ErrorKind::WrongEntry);
}
