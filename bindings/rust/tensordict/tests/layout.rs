//! Arrays of structs.

mod common;

use common::counting;
use tensordict::{DType, ErrorKind, Layout, Tensor, TensorDict};

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Particle {
    mass: f64,
    at: [f32; 3],
    cell: i32,
}

fn layout() -> Layout {
    Layout::of::<Particle>()
        .member("mass", DType::F64, (), 0)
        .member(("where", "at"), DType::F32, [3], 8)
        .member(("where", "cell"), DType::I32, (), 20)
}

fn particles(count: i32) -> Vec<Particle> {
    (0..count).map(|i| Particle { mass: f64::from(i), at: [i as f32; 3], cell: -i }).collect()
}

fn check(td: &TensorDict) {
    assert_eq!(td.tensor("mass").unwrap().to_vec::<f64>().unwrap(), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(td.tensor(("where", "at")).unwrap().shape()[td.batch_size().len()..], [3]);
    assert_eq!(td.tensor(("where", "cell")).unwrap().to_vec::<i32>().unwrap(), [0, -1, -2, -3]);
}

#[test]
fn structs_are_copied_and_written_back() {
    let structs = particles(4);
    // SAFETY: the layout is that of the struct, here and below.
    let td = unsafe { TensorDict::from_structs(&structs, [2, 2], &layout()).unwrap() };
    check(&td);
    let mut again = vec![Particle { mass: 0.0, at: [0.0; 3], cell: 0 }; 4];
    unsafe { td.to_structs(&mut again, &layout()).unwrap() };
    assert_eq!(again, structs);
}

#[test]
fn structs_are_moved_in() {
    let mut td = unsafe { TensorDict::view_structs(particles(4), [4], &layout()).unwrap() };
    check(&td);
    assert!(!td.tensor("mass").unwrap().is_contiguous());
    td.set_inplace(("where", "cell"), &Tensor::scalar(9i32).unwrap()).unwrap();
    assert_eq!(td.at(2).unwrap().tensor(("where", "cell")).unwrap().item::<i32>().unwrap(), 9);
    let refused = unsafe { TensorDict::view_structs(particles(4), [5], &layout()) };
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn bytes_are_as_good() {
    let layout = Layout::new(3).member("x", DType::U8, [2], 1);
    let td = TensorDict::from_struct_bytes(&[0, 1, 2, 3, 4, 5], [2], &layout).unwrap();
    assert_eq!(td.tensor("x").unwrap().to_vec::<u8>().unwrap(), [1, 2, 4, 5]);
    let mut bytes = [9; 6];
    td.to_struct_bytes(&mut bytes, &layout).unwrap();
    assert_eq!(bytes, [9, 1, 2, 9, 4, 5]);
    let mut other = TensorDict::new([2]).unwrap();
    other.set("x", counting(&[2, 2])).unwrap();
    assert_eq!(other.to_struct_bytes(&mut bytes, &layout).unwrap_err().kind(), ErrorKind::DType);
    assert_eq!(bytes, [9, 1, 2, 9, 4, 5]);
}
