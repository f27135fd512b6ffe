//! Gradients of a whole dictionary.

use tensordict::{set_grad_enabled, BackwardOptions, DType, ErrorKind, Tensor, TensorDict};

fn parameters() -> TensorDict {
    let mut td = TensorDict::new(()).unwrap();
    td.set("w", Tensor::from_slice(&[1.0f32, 2.0], [2]).unwrap()).unwrap();
    td.set(("n", "v"), Tensor::scalar(3.0f32).unwrap()).unwrap();
    td.set_requires_grad(true).unwrap();
    td
}

fn computed(td: &TensorDict) -> TensorDict {
    let before = set_grad_enabled(true);
    let result = td.to(DType::F64).unwrap();
    set_grad_enabled(before);
    result
}

fn seeds(value: f64) -> TensorDict {
    let mut td = TensorDict::new(()).unwrap();
    td.set("w", Tensor::from_slice(&[value; 2], [2]).unwrap()).unwrap();
    td.set(("n", "v"), Tensor::scalar(value).unwrap()).unwrap();
    td
}

#[test]
fn recording_is_switched_and_history_left_behind() {
    let mut td = parameters();
    assert!(td.requires_grad());
    for copy in [td.detach().unwrap(), td.data().unwrap()] {
        assert!(!copy.requires_grad());
        let (a, b) = (td.tensor("w").unwrap(), copy.tensor("w").unwrap());
        assert_eq!(a.data_ptr().unwrap(), b.data_ptr().unwrap());
    }
    let mut result = computed(&td);
    assert!(result.requires_grad());
    result.detach_inplace().unwrap();
    assert!(!result.requires_grad());
    td.set_requires_grad(false).unwrap();
    assert!(!td.requires_grad());
}

#[test]
fn gradients_are_computed_added_and_taken_away() {
    let mut td = parameters();
    assert!(td.grad().unwrap().is_none());
    let (result, seed) = (computed(&td), seeds(2.0));
    let options = BackwardOptions::new().gradient(&seed).retain_graph(true);
    result.backward_with(&options).unwrap();
    result.backward_with(&options).unwrap();
    let grad = td.grad().unwrap().unwrap();
    assert_eq!(grad.tensor("w").unwrap().to_vec::<f32>().unwrap(), [4.0, 4.0]);
    assert_eq!((td.bytes(true), td.nbytes()), (24, 12));
    td.zero_grad(false).unwrap();
    assert_eq!(grad.tensor(("n", "v")).unwrap().item::<f32>().unwrap(), 0.0);
    td.zero_grad(true).unwrap();
    assert!(td.grad().unwrap().is_none());
}

#[test]
fn only_the_inputs_receive() {
    let td = parameters();
    let mut inputs = TensorDict::new(()).unwrap();
    inputs.set("x", td.tensor("w").unwrap()).unwrap();
    let seed = seeds(1.0);
    let options = BackwardOptions::new().gradient(&seed).inputs(&inputs).create_graph(true);
    computed(&td).backward_with(&options).unwrap();
    let grad = td.grad().unwrap().unwrap();
    assert!(grad.contains("w") && !grad.contains("n"));
    assert_eq!(computed(&td).backward().unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn gradients_are_set() {
    let mut td = parameters();
    let mut given = TensorDict::new(()).unwrap();
    given.set("w", Tensor::from_slice(&[5.0f32; 2], [2]).unwrap()).unwrap();
    td.set_grad(Some(&given)).unwrap();
    let grad = td.grad().unwrap().unwrap();
    assert_eq!(grad.tensor("w").unwrap().to_vec::<f32>().unwrap(), [5.0; 2]);
    given.set("x", Tensor::scalar(0.0f32).unwrap()).unwrap();
    assert_eq!(td.set_grad(Some(&given)).unwrap_err().kind(), ErrorKind::Key);
    td.set_grad(None).unwrap();
    assert!(td.grad().unwrap().is_none());
}

#[test]
fn gradients_are_clipped() {
    let mut td = parameters();
    let mut given = TensorDict::new(()).unwrap();
    given.set("w", Tensor::from_slice(&[3.0f32, 4.0], [2]).unwrap()).unwrap();
    td.set_grad(Some(&given)).unwrap();
    assert_eq!(td.clip_grad_norm(10.0).unwrap(), 5.0);
    assert_eq!(given.tensor("w").unwrap().to_vec::<f32>().unwrap(), [3.0, 4.0]);
    td.clip_grad_norm(2.5).unwrap();
    let grad = td.grad().unwrap().unwrap().tensor("w").unwrap().to_vec::<f32>().unwrap();
    assert!((grad[0] - 1.5).abs() < 1e-5 && (grad[1] - 2.0).abs() < 1e-5);
    assert_eq!(td.clip_grad_norm(-1.0).unwrap_err().kind(), ErrorKind::InvalidArgument);
}
