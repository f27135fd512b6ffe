//! Tensors: made, asked, changed, converted.

mod common;

use common::counting;
use tensordict::{
    i, set_grad_enabled, DType, Device, DeviceKind, Element, ErrorKind, Tensor, BF16, F16,
};

fn round_trip<T: Element + PartialEq + std::fmt::Debug>(values: &[T]) {
    let count = values.len();
    let t = Tensor::from_slice(values, [count]).unwrap();
    assert_eq!(t.dtype(), T::DTYPE);
    assert_eq!(t.nbytes(), std::mem::size_of_val(values));
    assert_eq!(t.to_vec::<T>().unwrap(), values);
    let moved = Tensor::from_vec(values.to_vec(), [count]).unwrap();
    assert!(moved.equal(&t).unwrap());
}

#[test]
fn every_element_type_makes_a_round_trip() {
    round_trip(&[0u8, 255]);
    round_trip(&[-128i8, 127]);
    round_trip(&[i16::MIN, i16::MAX]);
    round_trip(&[i32::MIN, i32::MAX]);
    round_trip(&[i64::MIN, i64::MAX]);
    round_trip(&[F16(0x3c00), F16(0xc000)]);
    round_trip(&[1.5f32, -0.0]);
    round_trip(&[1.5f64, f64::MAX]);
    round_trip(&[true, false]);
    round_trip(&[BF16(0x3f80), BF16(0xbf80)]);
}

#[test]
fn halves_have_the_values_of_their_bits() {
    let t = Tensor::from_slice(&[F16(0x3c00), F16(0xc000)], [2]).unwrap();
    assert_eq!(t.to(DType::F64).unwrap().to_vec::<f64>().unwrap(), [1.0, -2.0]);
}

#[test]
fn a_vec_moves_in_without_a_copy() {
    let values = vec![1.0f32, 2.0, 3.0];
    let address: *const f32 = values.as_ptr();
    let t = Tensor::from_vec(values, [3]).unwrap();
    assert_eq!(t.data_ptr().unwrap().cast_const().cast(), address);
    assert!(t.is_uniquely_owned());
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let error = Tensor::from_vec(vec![1u8; 5], [2, 3]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert_eq!(error.message(), "5 values do not make a tensor of sizes [2, 3]");
    assert_eq!(Tensor::from_vec(vec![1u8; 1], [-1]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(Tensor::from_slice(&[1u8; 5], [2, 3]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(Tensor::zeros([-2], DType::F32).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn layout_can_be_asked() {
    let t = counting(&[2, 3, 4]);
    assert_eq!((t.shape(), t.strides()), (vec![2, 3, 4], vec![12, 4, 1]));
    assert_eq!((t.numel(), t.nbytes()), (24, 192));
    assert_eq!((t.device(), t.device().kind()), (Device::cpu(), DeviceKind::Cpu));
    assert!(t.is_contiguous());

    let column = t.at(i![.., 1]).unwrap();
    assert_eq!((column.shape(), column.strides()), (vec![2, 4], vec![12, 1]));
    assert!(!column.is_contiguous());
    assert!(!t.is_uniquely_owned());
    let dense = column.contiguous().unwrap();
    assert_eq!(dense.strides(), [4, 1]);
    assert_eq!(dense.to_vec::<i64>().unwrap(), [4, 5, 6, 7, 16, 17, 18, 19]);
    assert_eq!(column.to_vec::<i64>().unwrap(), dense.to_vec::<i64>().unwrap());
}

#[test]
fn scalars_and_empty_tensors_have_values_too() {
    let one = Tensor::scalar(2.5f64).unwrap();
    assert_eq!((one.shape(), one.item::<f64>().unwrap()), (vec![], 2.5));
    let none = Tensor::from_vec(Vec::<f32>::new(), [0, 3]).unwrap();
    assert_eq!((none.numel(), none.to_vec::<f32>().unwrap()), (0, vec![]));
    assert_eq!(none.item::<f32>().unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn handles_share_and_clones_do_not() {
    let t = counting(&[3]);
    let mut same = t.shallow_clone().unwrap();
    let copy = t.deep_clone().unwrap();
    same.set_at(0, &Tensor::scalar(9i64).unwrap()).unwrap();
    assert_eq!(t.to_vec::<i64>().unwrap(), [9, 1, 2]);
    assert_eq!(copy.to_vec::<i64>().unwrap(), [0, 1, 2]);
    assert!(t.equal(&same).unwrap() && !t.equal(&copy).unwrap());
}

#[test]
fn values_are_written_from_slices_and_tensors() {
    let mut t = Tensor::zeros([2, 2], DType::F32).unwrap();
    t.copy_from_slice(&[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let mut values = [0.0f32; 4];
    t.copy_to_slice(&mut values).unwrap();
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
    t.copy_from(&Tensor::from_slice(&[7i32, 8], [2]).unwrap()).unwrap();
    assert_eq!(t.to_vec::<f32>().unwrap(), [7.0, 8.0, 7.0, 8.0]);

    assert_eq!(t.copy_from_slice(&[1.0f32]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(t.copy_from_slice(&[1i32; 4]).unwrap_err().kind(), ErrorKind::DType);
    assert_eq!(t.copy_to_slice(&mut [0.0f32]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(t.to_vec::<f64>().unwrap_err().kind(), ErrorKind::DType);
    assert_eq!(Vec::<f32>::try_from(&t).unwrap()[1], 8.0);
}

#[test]
fn bytes_serve_dtypes_without_a_type() {
    let bytes: Vec<u8> = [1.0f32, 2.0].iter().flat_map(|part| part.to_le_bytes()).collect();
    let t = Tensor::from_bytes(&bytes, DType::C64, [1]).unwrap();
    assert_eq!((t.dtype(), t.shape()), (DType::C64, vec![1]));
    assert_eq!(t.to_bytes().unwrap(), bytes);
}

#[test]
fn slices_see_the_memory() {
    let mut t = Tensor::from_vec(vec![1i32, 2, 3], [3]).unwrap();
    t.as_mut_slice::<i32>().unwrap()[2] = 30;
    // SAFETY: nobody writes meanwhile.
    assert_eq!(unsafe { t.as_slice::<i32>() }.unwrap(), [1, 2, 30]);

    assert_eq!(t.as_mut_slice::<f32>().unwrap_err().kind(), ErrorKind::DType);
    let other = t.shallow_clone().unwrap();
    assert_eq!(t.as_mut_slice::<i32>().unwrap_err().kind(), ErrorKind::InvalidArgument);
    drop(other);
    assert!(t.as_mut_slice::<i32>().is_ok());
    let every_other = t.at(i![tensordict::Step::step(.., 2)]).unwrap();
    // SAFETY: nobody writes meanwhile.
    assert_eq!(unsafe { every_other.as_slice::<i32>() }.unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn a_bool_is_never_anything_but_a_bool() {
    let mut bytes = [0u8, 1, 7];
    let (data, sizes) = (bytes.as_mut_ptr().cast(), [3]);
    // SAFETY: the array outlives the tensor, and bools are read with care.
    let mut t = unsafe {
        let none = std::ptr::null_mut();
        Tensor::from_blob(data, DType::Bool, &sizes, None, Device::cpu(), None, none).unwrap()
    };
    assert_eq!(t.to_vec::<bool>().unwrap(), [false, true, true]);
    assert_eq!(t.as_mut_slice::<bool>().unwrap_err().kind(), ErrorKind::DType);
}

#[test]
fn foreign_memory_may_have_strides_and_is_released_once() {
    unsafe extern "C" fn count(user: *mut std::ffi::c_void) {
        // SAFETY: `user` is the counter of the test.
        unsafe { *user.cast::<u32>() += 1 };
    }
    let (mut released, mut values) = (0u32, [1i64, 2, 3, 4, 5, 6]);
    let (data, user) = (values.as_mut_ptr().cast(), std::ptr::addr_of_mut!(released).cast());
    let (dtype, cpu) = (DType::I64, Device::cpu());
    // SAFETY: the arrays outlive the tensors.
    unsafe {
        let columns = Some(&[1i64, 2][..]);
        let t = Tensor::from_blob(data, dtype, &[2, 3], columns, cpu, Some(count), user).unwrap();
        assert_eq!(t.to_vec::<i64>().unwrap(), [1, 3, 5, 2, 4, 6]);
        drop(t);
        assert_eq!(user.cast::<u32>().read(), 1);
        let wrong = Tensor::from_blob(data, dtype, &[6], columns, cpu, Some(count), user);
        assert_eq!(wrong.unwrap_err().kind(), ErrorKind::Shape);
        assert_eq!(user.cast::<u32>().read(), 2);
    }
}

#[test]
fn memory_is_lent_for_a_call() {
    let mut values = [1.0f32, 2.0];
    let failure = Tensor::lend(&mut values, [2], |t| t.to_vec::<i32>()).unwrap_err();
    assert_eq!(failure.kind(), ErrorKind::DType);
    let caught = std::panic::catch_unwind(move || {
        let mut values = [1u8];
        let _ = Tensor::lend(&mut values, [1], |_| -> tensordict::Result<()> { panic!("inside") });
    });
    assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "inside");
    assert_eq!(Tensor::lend(&mut values, [3], |_| Ok(())).unwrap_err().kind(), ErrorKind::Shape);
}

/// Runs itself once more as a process of its own, which must not survive.
#[test]
fn memory_that_is_kept_ends_the_process() {
    const KEEP: &str = "TENSORDICT_TEST_KEEP";
    if std::env::var_os(KEEP).is_some() {
        let mut values = [1.0f32];
        let _ = Tensor::lend(&mut values, [1], |t| t.shallow_clone());
        return;
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory_that_is_kept_ends_the_process", "--nocapture"])
        .env(KEEP, "1")
        .output()
        .unwrap();
    assert!(!child.status.success());
    let text = String::from_utf8_lossy(&child.stderr);
    assert!(text.contains("a tensor over memory that was lent was kept"), "{text}");
}

#[test]
fn parts_are_read_and_written() {
    let mut t = counting(&[3, 4]);
    assert_eq!(t.at(i![-1, 1..3]).unwrap().to_vec::<i64>().unwrap(), [9, 10]);
    let mask = Tensor::from_slice(&[true, false, true], [3]).unwrap();
    assert_eq!(t.at(&mask).unwrap().shape(), [2, 4]);
    t.set_at(i![.., 0], &Tensor::scalar(-1i64).unwrap()).unwrap();
    assert_eq!(t.at(i![.., 0]).unwrap().to_vec::<i64>().unwrap(), [-1, -1, -1]);
    assert_eq!(t.at(3).unwrap_err().kind(), ErrorKind::Index);
    let wide = Tensor::zeros([5], DType::I64).unwrap();
    assert_eq!(t.set_at(0, &wide).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn conversions_share_when_nothing_changes() {
    let t = counting(&[2]);
    let same = t.to((Device::cpu(), DType::I64)).unwrap();
    assert_eq!(same.data_ptr().unwrap(), t.data_ptr().unwrap());
    let meta = t.to(Device::meta()).unwrap();
    assert_eq!((meta.device(), meta.shape()), (Device::meta(), vec![2]));
    assert!(meta.data_ptr().unwrap().is_null());
    let zeros = Tensor::zeros_on([2], DType::U8, Device::cpu()).unwrap();
    assert_eq!(zeros.to_vec::<u8>().unwrap(), [0, 0]);
    if !Device::cuda_available() {
        assert!(t.to(Device::cuda(0)).is_err());
    }
}

#[test]
fn gradients_are_asked_for() {
    let mut t = Tensor::zeros([2], DType::F32).unwrap();
    assert!(!t.requires_grad());
    t.set_requires_grad(true).unwrap();
    assert!(t.requires_grad());
    assert_eq!(counting(&[1]).set_requires_grad(true).unwrap_err().kind(), ErrorKind::DType);

    assert!(!set_grad_enabled(true));
    let recorded = t.at(0).unwrap().requires_grad();
    assert!(set_grad_enabled(false));
    assert!(recorded && !t.at(0).unwrap().requires_grad());
}

#[test]
fn text_is_that_of_python() {
    let line = "Tensor(shape=torch.Size([2]), device=cpu, dtype=torch.int64, is_shared=False)";
    assert_eq!(counting(&[2]).to_string(), line);
    assert_eq!(format!("{:?}", counting(&[2])), line);
}

#[test]
fn dtypes_and_devices_have_names_and_sizes() {
    let names = [
        (DType::U8, "torch.uint8", 1),
        (DType::F16, "torch.float16", 2),
        (DType::BF16, "torch.bfloat16", 2),
        (DType::C128, "torch.complex128", 16),
        (DType::Bool, "torch.bool", 1),
        (DType::Unknown(99), "dtype 99", 0),
    ];
    for (dtype, name, size) in names {
        assert_eq!((dtype.to_string().as_str(), dtype.size()), (name, size));
    }
    assert_eq!("cuda:1".parse::<Device>().unwrap(), Device::cuda(1));
    assert_eq!(Device::cuda(1).to_string(), "cuda:1");
    assert_eq!(Device::new(DeviceKind::Mps, None).index(), None);
    for wrong in ["", "gpu", "cuda:x", "cuda:-1"] {
        assert_eq!(wrong.parse::<Device>().unwrap_err().kind(), ErrorKind::Device);
    }
    assert!(Device::cpu().is_available());
}
