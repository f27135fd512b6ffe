//! Gradient descent: the numbers are tested in C; here the way into the language.

use tensordict::{set_grad_enabled, ErrorKind, Optimizer, OptimizerKind, Tensor, TensorDict};

fn params() -> TensorDict {
    let w = Tensor::from_slice(&[1.0f64, 2.0], [2]).unwrap();
    let mut td = TensorDict::from_pairs((), [("w", w)]).unwrap();
    td.set_requires_grad(true).unwrap();
    td
}

fn values(td: &TensorDict) -> Vec<f64> {
    td.tensor("w").unwrap().to_vec().unwrap()
}

/// One step down the square of each parameter.
fn descend(params: &TensorDict, optimizer: &mut Optimizer) {
    let before = set_grad_enabled(true);
    let loss = params.pow(2).unwrap().sum(()).unwrap();
    set_grad_enabled(before);
    loss.backward().unwrap();
    optimizer.step().unwrap();
    optimizer.zero_grad(true).unwrap();
}

#[test]
fn each_kind_descends() {
    let params = params();
    let mut sgd = Optimizer::new(&params, OptimizerKind::sgd().lr(0.25)).unwrap();
    descend(&params, &mut sgd);
    assert_eq!(values(&params), [0.5, 1.0]);
    assert!(params.grad().unwrap().is_none());
    sgd.set_lr(0.5).unwrap();
    assert_eq!(sgd.lr(), 0.5);
    descend(&params, &mut sgd);
    assert_eq!(values(&params), [0.0, 0.0]);
    for kind in [OptimizerKind::adam(), OptimizerKind::adamw().weight_decay(0.0).amsgrad()] {
        let params = self::params();
        let mut adam = Optimizer::new(&params, kind.lr(0.125).betas(0.5, 0.5).eps(0.0)).unwrap();
        descend(&params, &mut adam);
        assert_eq!(values(&params), [0.875, 1.875]);
    }
}

#[test]
fn a_state_goes_to_another_optimizer() {
    let kind = OptimizerKind::sgd().lr(0.1).momentum(0.9, 0.0).nesterov();
    let (whole, half) = (params(), params());
    let (mut first, mut second) =
        (Optimizer::new(&whole, kind).unwrap(), Optimizer::new(&half, kind).unwrap());
    for _ in 0..2 {
        descend(&whole, &mut first);
        descend(&half, &mut second);
    }
    let state = second.state().unwrap();
    assert_eq!(state.tensor(("w", "momentum_buffer")).unwrap().shape(), [2]);
    let mut third = Optimizer::new(&half, kind).unwrap();
    third.load_state(&state).unwrap();
    descend(&whole, &mut first);
    descend(&half, &mut third);
    assert_eq!(values(&whole), values(&half));
    let error = third.load_state(&half).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongEntry);
}

#[test]
fn what_is_refused() {
    let plain = TensorDict::from_pairs((), [("w", Tensor::scalar(1.0f64).unwrap())]).unwrap();
    let error = Optimizer::new(&plain, OptimizerKind::adam()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(Optimizer::new(&params(), OptimizerKind::adam().lr(-1.0)).is_err());
    assert!(Optimizer::new(&params(), OptimizerKind::sgd().nesterov()).is_err());
}
