//! Another dtype, another device, and what is asked of all tensors together.

mod common;

use common::{counting, ints, sample};
use tensordict::{DType, Device, ErrorKind, Target, Tensor, TensorDict, ToOptions};

#[test]
fn both_at_once_and_like_another() {
    let td = sample();
    let both = td.to((Device::cpu(), DType::F64)).unwrap();
    assert!(both.is_cpu() && !both.is_cuda() && !td.is_cpu());
    assert_eq!(both.dtype(), Some(DType::F64));
    assert!(both.is_floating_point() && !td.is_floating_point());
    let like = td.to_with(Target::default(), &ToOptions::new().like(&both)).unwrap();
    assert_eq!((like.dtype(), like.device()), (Some(DType::F64), Some(Device::cpu())));
    assert_eq!(td.dtype(), None);
}

#[test]
fn each_tensor_for_itself() {
    let td = TensorDict::from_pairs((), [("x", counting(&[2])), ("y", counting(&[2]))]).unwrap();
    let mut like = TensorDict::new(()).unwrap();
    like.set("x", Tensor::scalar(0u8).unwrap()).unwrap();
    let missing = td.to_with(Target::default(), &ToOptions::new().each_like(&like));
    assert_eq!(missing.unwrap_err().kind(), ErrorKind::Key);
    like.set("y", Tensor::scalar(0.5f32).unwrap()).unwrap();
    let each = td.to_with(Target::default(), &ToOptions::new().each_like(&like)).unwrap();
    assert_eq!(each.tensor("x").unwrap().to_vec::<u8>().unwrap(), [0, 1]);
    assert_eq!(each.tensor("y").unwrap().to_vec::<f32>().unwrap(), [0.0, 1.0]);
}

#[test]
fn tensors_are_replaced_in_place() {
    let mut td = sample();
    td.to_inplace(DType::I64, &ToOptions::new().non_blocking(true)).unwrap();
    assert_eq!(ints(&td, ("deep", "c")), [0; 6]);
    td.lock().unwrap();
    let refused = td.to_inplace(DType::I8, &ToOptions::new()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked);
}

#[test]
fn the_device_in_common() {
    let mut td = sample();
    td.auto_device().unwrap();
    assert_eq!(td.dict("deep").unwrap().device(), Some(Device::cpu()));
    assert_eq!(td.record_stream(Device::cpu(), 0).unwrap_err().kind(), ErrorKind::Device);
    if !Device::cuda_available() {
        assert_eq!(td.pin_memory().unwrap_err().kind(), ErrorKind::Device);
        assert!(!td.is_pinned());
    }
}

#[test]
fn counted_together() {
    let mut td = sample();
    td.set("again", td.tensor("a").unwrap()).unwrap();
    assert_eq!((td.param_count(true), td.param_count(false)), (30, 24));
    assert_eq!((td.bytes(true), td.bytes(false)), (216, 168));
    let addresses = td.data_pointers(false).unwrap();
    assert_eq!(addresses.len(), 4);
    assert_eq!(addresses[0], addresses[3]);
    assert_eq!(addresses[0], td.tensor("a").unwrap().data_ptr().unwrap() as i64);
    let part = td.at(1).unwrap();
    assert_eq!(part.data_pointers(true).unwrap(), addresses);
    assert_eq!(part.data_pointers(false).unwrap()[0], addresses[0] + 24);
}
