//! DLPack, with the part of its structures that a receiver looks at.

mod common;

use std::ffi::c_void;

use common::counting;
use tensordict::{DLManagedTensor, DLManagedTensorVersioned, Dlpack, ErrorKind, Tensor};

#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Legacy {
    tensor: DlTensor,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Legacy)>,
}

#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

#[test]
fn a_tensor_is_lent_and_taken_back_without_a_copy() {
    let t = counting(&[2, 3]);
    let lent = t.to_dlpack().unwrap();
    // SAFETY: a DLManagedTensorVersioned begins as `Versioned` does, and is used up below.
    let (seen, sizes) = unsafe {
        let seen = &*lent.as_ptr().cast::<Versioned>();
        (seen, std::slice::from_raw_parts(seen.tensor.shape, 2))
    };
    assert_eq!((seen.major, seen.tensor.device_type, seen.tensor.ndim), (1, 1, 2));
    assert_eq!((seen.tensor.code, seen.tensor.bits, sizes), (0, 64, &[2, 3][..]));
    assert!(!t.is_uniquely_owned());
    // SAFETY: `lent` is valid and not used again.
    let back = unsafe { Tensor::from_dlpack(lent.into_raw()) }.unwrap();
    assert_eq!(back.data_ptr().unwrap(), t.data_ptr().unwrap());
    drop(back);
    assert!(t.is_uniquely_owned());
}

#[test]
fn the_older_form_does_the_same() {
    let t = counting(&[3]);
    let lent: Dlpack<DLManagedTensor> = t.to_dlpack_legacy().unwrap();
    // SAFETY: a DLManagedTensor begins as `Legacy` does.
    let (ndim, deleter) = unsafe {
        let seen = &*lent.as_ptr().cast::<Legacy>();
        (seen.tensor.ndim, seen.deleter)
    };
    assert_eq!((ndim, deleter.is_some()), (1, true));
    // SAFETY: `lent` is valid and not used again.
    let back = unsafe { Tensor::from_dlpack_legacy(lent.into_raw()) }.unwrap();
    assert_eq!(back.to_vec::<i64>().unwrap(), [0, 1, 2]);
}

#[test]
fn what_nobody_takes_is_given_back() {
    let t = counting(&[3]);
    let (new, old) = (t.to_dlpack().unwrap(), t.to_dlpack_legacy().unwrap());
    drop(new);
    assert!(!t.is_uniquely_owned());
    let elsewhere = std::thread::spawn(move || drop(old));
    elsewhere.join().unwrap();
    assert!(t.is_uniquely_owned());
}

#[test]
fn memory_of_others_is_given_back_once() {
    unsafe extern "C" fn delete(own: *mut Versioned) {
        // SAFETY: the manager is the counter of the test.
        unsafe { *(*own).manager.cast::<u32>() += 1 };
    }
    let (mut values, mut sizes, mut deleted) = ([1.0f32, 2.0], [2i64], 0u32);
    let count: *mut u32 = &mut deleted;
    let mut own = Versioned {
        major: 1,
        minor: 0,
        manager: count.cast(),
        deleter: Some(delete),
        flags: 0,
        tensor: DlTensor {
            data: values.as_mut_ptr().cast(),
            device_type: 1,
            device_id: 0,
            ndim: 1,
            code: 2,
            bits: 32,
            lanes: 1,
            shape: sizes.as_mut_ptr(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        },
    };
    let source: *mut DLManagedTensorVersioned = std::ptr::addr_of_mut!(own).cast();
    // SAFETY: the structure outlives the tensor.
    unsafe {
        let t = Tensor::from_dlpack(source).unwrap();
        assert_eq!((t.to_vec::<f32>().unwrap(), count.read()), (vec![1.0, 2.0], 0));
        drop(t);
        assert_eq!(count.read(), 1);
        (*source.cast::<Versioned>()).major = 9;
        assert_eq!(Tensor::from_dlpack(source).unwrap_err().kind(), ErrorKind::Version);
        assert_eq!(count.read(), 2);
    }
}
