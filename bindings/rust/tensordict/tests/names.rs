//! Names of batch dimensions.

mod common;

use common::sample;
use tensordict::{i, ErrorKind, TensorDict};

fn names(td: &tensordict::Dict) -> Vec<String> {
    td.names().into_iter().map(|name| name.unwrap_or_else(|| "-".into())).collect()
}

#[test]
fn names_follow_the_dimensions() {
    let mut td = sample();
    assert_eq!(names(&td), ["-", "-"]);
    td.set_names([Some("x"), Some("y")]).unwrap();
    assert_eq!(names(&td.dict("deep").unwrap()), ["x", "y"]);
    assert_eq!(names(&td.at(i![.., 0]).unwrap()), ["x"]);
    assert_eq!(names(&td.transpose(0, 1).unwrap()), ["y", "x"]);
    td.set_names([]).unwrap();
    assert_eq!(names(&td), ["-", "-"]);
}

#[test]
fn names_are_changed() {
    let mut td = TensorDict::new([2, 3, 4]).unwrap();
    td.refine_names([Some("a"), Some("...")]).unwrap();
    td.refine_names([Some("..."), Some("c")]).unwrap();
    assert_eq!(names(&td), ["a", "-", "c"]);
    assert_eq!(names(&td.rename_dims([("a", Some("x")), ("c", None)]).unwrap()), ["x", "-", "-"]);
    td.rename_dims_([("a", Some("x"))]).unwrap();
    assert_eq!(names(&td), ["x", "-", "c"]);
    let refused = td.rename_dims_([("q", Some("x"))]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert!(td.refine_names([Some("y"), Some("...")]).is_err());
    assert!(td.set_names([Some("a")]).is_err());
    assert_eq!(names(&td), ["x", "-", "c"]);
}
