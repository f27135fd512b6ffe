//! Operators of libtorch by their name.

mod common;

use common::{counting, ints};
use tensordict::{args, CallOptions, DType, Device, ErrorKind, Leaf, Tensor, TensorDict};

fn pair() -> TensorDict {
    let mut td = TensorDict::new([2]).unwrap();
    td.set("a", counting(&[2, 3])).unwrap();
    td.set(("n", "b"), counting(&[2])).unwrap();
    td
}

#[test]
fn arguments_of_every_kind() {
    let td = pair();
    let clamped = td.call("aten::clamp", args![1, max = 3]).unwrap();
    assert_eq!(ints(&clamped, "a"), [1, 1, 2, 3, 3, 3]);
    let one = Tensor::scalar(1i64).unwrap();
    assert_eq!(ints(&td.call("add", args![&one]).unwrap(), ("n", "b")), [1, 2]);
    assert_eq!(ints(&td.call("sub", args![&td, alpha = 2]).unwrap(), ("n", "b")), [0, -1]);
    assert_eq!(ints(&td.call("rsub", args![Leaf, 1]).unwrap(), ("n", "b")), [1, 0]);
    let floats = td.call("to", args![DType::F64]).unwrap();
    assert_eq!(floats.tensor("a").unwrap().dtype(), DType::F64);
    let shapes = td.call("to", args![device = Device::meta()]).unwrap();
    assert_eq!(shapes.tensor("a").unwrap().device(), Device::meta());
    let halves = td.call("div", args![2, rounding_mode = "floor"]).unwrap();
    assert_eq!(ints(&halves, "a"), [0, 0, 1, 1, 2, 2]);
    assert_eq!(ints(&td.call("flip", args![[0i64]]).unwrap(), ("n", "b")), [1, 0]);
    assert_eq!(ints(&td.call("clamp", args![None::<i64>, 1]).unwrap(), ("n", "b")), [0, 1]);
}

#[test]
fn several_results_and_another_batch_size() {
    let mut td = TensorDict::new([2]).unwrap();
    td.set("a", counting(&[2, 3])).unwrap();
    let both = td.call_with("aten::max", args![1, keepdim = true], &CallOptions::new()).unwrap();
    assert_eq!(both.len(), 2);
    assert_eq!((ints(&both[0], "a"), ints(&both[1], "a")), (vec![2, 5], vec![2, 2]));
    assert!(td.call("aten::max", args![1]).is_err());
    let sum = td.call_with("aten::sum", args![], &CallOptions::new().batch_size(())).unwrap();
    assert_eq!(sum[0].batch_size(), []);
    assert_eq!(ints(&sum[0], "a"), [15]);
    assert_eq!(td.call("aten::sum", args![]).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn in_place() {
    let mut td = pair();
    td.lock().unwrap();
    td.call_("aten::add_", args![1]).unwrap();
    assert_eq!(ints(&td, ("n", "b")), [1, 2]);
    assert!(td.call("aten::add_", args![1]).is_err());
    assert!(td.call_("aten::add", args![1]).is_err());
    assert!(td.call_("aten::div_", args![2]).is_err());
    assert_eq!(ints(&td, ("n", "b")), [1, 2]);
}

#[test]
fn what_is_refused_is_explained() {
    let td = pair();
    let unknown = td.call("aten::clmap", args![]).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Unsupported);
    assert!(unknown.message().contains("aten::clamp"), "{unknown}");
    let wrong = td.call("aten::neg", args![1]).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::InvalidArgument);
    assert!(wrong.message().contains("aten::neg(Tensor self) -> Tensor"), "{wrong}");
}

#[test]
fn what_is_not_known_to_check_needs_unsafe() {
    let mut td = TensorDict::new([1]).unwrap();
    td.set("a", Tensor::zeros([1, 1, 2, 2], DType::F32).unwrap()).unwrap();
    let lost = Tensor::from_slice(&[i64::MAX / 8; 4], [1, 1, 2, 2]).unwrap();
    let image = Tensor::zeros([1, 1, 2, 2], DType::F32).unwrap();
    let one = [1i64, 1];
    // Its kernel adds to the element that an index names, wherever that is.
    let name = "aten::max_pool2d_with_indices_backward";
    let bad = td.call(name, args![&image, one, one, [0i64, 0], one, false, &lost]).unwrap_err();
    assert_eq!(bad.kind(), ErrorKind::Unsupported);
    assert!(bad.message().contains("unsafe"), "{bad}");
    let good = Tensor::from_slice(&[0i64, 1, 2, 3], [1, 1, 2, 2]).unwrap();
    let arguments = args![&image, one, one, [0i64, 0], one, false, &good];
    // SAFETY: the indices are those of elements.
    let made = unsafe { td.call_unchecked(name, arguments, &CallOptions::new()) };
    assert_eq!(made.unwrap()[0].tensor("a").unwrap().shape(), [1, 1, 2, 2]);
    for name in ["aten::empty_like", "mine::op"] {
        assert_eq!(td.call(name, args![]).unwrap_err().kind(), ErrorKind::Unsupported, "{name}");
    }
    assert_eq!(td.call_("exponential_", args![]).unwrap_err().kind(), ErrorKind::Unsupported);
    // SAFETY: it takes no tensor but this one.
    unsafe { td.call_unchecked_("exponential_", args![]).unwrap() };
    assert!(td.tensor("a").unwrap().to_vec::<f32>().unwrap().iter().all(|&x| x > 0.0));
}
