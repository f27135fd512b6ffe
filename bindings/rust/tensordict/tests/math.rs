//! Arithmetic, comparison, logic and reductions.

mod common;

use common::{ints, sample};
use tensordict::{
    DType, Dict, ErrorKind, Interpolation, Missing, Reduce, Result, Tensor, TensorDict,
};

/// Batch [2] with "a" [2, 2] and ("n", "b") [2] of f64.
fn floats(values: [f64; 6]) -> TensorDict {
    let mut td = TensorDict::new([2]).unwrap();
    td.set("a", Tensor::from_slice(&values[..4], [2, 2]).unwrap()).unwrap();
    td.set(("n", "b"), Tensor::from_slice(&values[4..], [2]).unwrap()).unwrap();
    td
}

fn numbers() -> TensorDict {
    floats([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
}

fn values(td: &Dict) -> Vec<f64> {
    let read = |tensor: Tensor| tensor.to(DType::F64).unwrap().to_vec::<f64>().unwrap();
    [read(td.tensor("a").unwrap()), read(td.tensor(("n", "b")).unwrap())].concat()
}

type Unary = fn(&Dict) -> Result<TensorDict>;
type UnaryInplace = fn(&mut Dict) -> Result<()>;

#[test]
fn functions_of_each_tensor() {
    let cases: [(Unary, UnaryInplace, fn(f64) -> f64); 27] = [
        (Dict::abs, Dict::abs_inplace, f64::abs),
        (Dict::acos, Dict::acos_inplace, f64::acos),
        (Dict::asin, Dict::asin_inplace, f64::asin),
        (Dict::atan, Dict::atan_inplace, f64::atan),
        (Dict::ceil, Dict::ceil_inplace, f64::ceil),
        (Dict::cos, Dict::cos_inplace, f64::cos),
        (Dict::cosh, Dict::cosh_inplace, f64::cosh),
        (Dict::exp, Dict::exp_inplace, f64::exp),
        (Dict::expm1, Dict::expm1_inplace, f64::exp_m1),
        (Dict::floor, Dict::floor_inplace, f64::floor),
        (Dict::frac, Dict::frac_inplace, f64::fract),
        (Dict::log, Dict::log_inplace, f64::ln),
        (Dict::log10, Dict::log10_inplace, f64::log10),
        (Dict::log1p, Dict::log1p_inplace, f64::ln_1p),
        (Dict::log2, Dict::log2_inplace, f64::log2),
        (Dict::neg, Dict::neg_inplace, |x| -x),
        (Dict::reciprocal, Dict::reciprocal_inplace, f64::recip),
        (Dict::round, Dict::round_inplace, f64::round),
        (Dict::sigmoid, Dict::sigmoid_inplace, |x| 1.0 / (1.0 + (-x).exp())),
        (Dict::sign, Dict::sign_inplace, f64::signum),
        (Dict::sin, Dict::sin_inplace, f64::sin),
        (Dict::sinh, Dict::sinh_inplace, f64::sinh),
        (Dict::sqrt, Dict::sqrt_inplace, f64::sqrt),
        (Dict::tan, Dict::tan_inplace, f64::tan),
        (Dict::tanh, Dict::tanh_inplace, f64::tanh),
        (Dict::trunc, Dict::trunc_inplace, f64::trunc),
        (Dict::lgamma, Dict::lgamma_inplace, |_| 0.0), // of 1 and 2
    ];
    for (i, (function, inplace, expected)) in cases.into_iter().enumerate() {
        let of =
            if i == 26 { [1.0, 2.0, 1.0, 2.0, 1.0, 2.0] } else { [0.3, 0.9, 0.1, 0.6, 1.0, 0.2] };
        let mut td = floats(of);
        let result = values(&function(&td).unwrap());
        inplace(&mut td).unwrap();
        for (k, x) in of.into_iter().enumerate() {
            assert!((result[k] - expected(x)).abs() < 1e-12, "function {i} of {x}: {}", result[k]);
            assert_eq!(values(&td)[k], result[k]);
        }
    }
    let mut td = floats([0.0; 6]);
    assert_eq!(values(&td.erf().unwrap()), [0.0; 6]);
    assert_eq!(values(&td.erfc().unwrap()), [1.0; 6]);
    td.erfc_inplace().unwrap();
    td.erf_inplace().unwrap();
    assert!(td.any().unwrap());
}

#[test]
fn questions() {
    let td = floats([1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.0]);
    assert_eq!(values(&td.isnan().unwrap()), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(values(&td.isfinite().unwrap()), [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(values(&td.isposinf().unwrap()), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(values(&td.isneginf().unwrap()), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert!(td.isreal().unwrap().all().unwrap());
    assert_eq!(values(&td.logical_not().unwrap())[4..], [1.0, 0.0]);
    assert_eq!(values(&(!&td.isnan().unwrap()).unwrap())[..2], [1.0, 0.0]);
}

#[test]
fn operators() {
    let td = numbers();
    assert_eq!(values(&(&td + 1).unwrap()), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!(values(&(&td - &td).unwrap()), [0.0; 6]);
    assert_eq!(values(&(&td * 0.5).unwrap()), [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]);
    assert_eq!(values(&(&td / &(&td + &td).unwrap()).unwrap()), [0.5; 6]);
    assert_eq!(values(&(&td % 2).unwrap()), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(values(&(-&td).unwrap())[5], -6.0);
    assert_eq!(values(&(1 + &td).unwrap())[0], 2.0);
    assert_eq!(values(&(1 - &td).unwrap())[5], -5.0);
    assert_eq!(values(&(2 * &td).unwrap())[5], 12.0);
    assert_eq!(values(&(12.0 / &td).unwrap())[5], 2.0);
    assert_eq!(values(&td.pow(2).unwrap())[5], 36.0);
    let (small, even) = (td.lt(3).unwrap(), (&td % 2).unwrap().eq(0).unwrap());
    assert_eq!(values(&(&small & &even).unwrap()), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(values(&(&small | &even).unwrap()), [1.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    assert_eq!(values(&(&small ^ &even).unwrap()), [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    assert_eq!(values(&small.logical_and(true).unwrap())[0], 1.0);
}

#[test]
fn two_operands() {
    let td = numbers();
    let cases = [
        (td.sub(1), 5.0),
        (td.rsub(1), -5.0),
        (td.rdiv(3), 0.5),
        (td.rem(4), 2.0),
        (td.maximum(9), 9.0),
        (td.minimum(9), 6.0),
        (td.clamp_max(2), 2.0),
        (td.clamp_min(7), 7.0),
        (td.eq(6), 1.0),
        (td.ne(6), 0.0),
        (td.lt(6), 0.0),
        (td.le(6), 1.0),
        (td.gt(6), 0.0),
        (td.ge(6), 1.0),
    ];
    for (i, (result, expected)) in cases.into_iter().enumerate() {
        assert_eq!(values(&result.unwrap())[5], expected, "case {i}");
    }
    let rows = Tensor::from_slice(&[1.0, 10.0], [2]).unwrap();
    assert_eq!(values(&td.mul(&rows).unwrap()), [1.0, 2.0, 30.0, 40.0, 5.0, 60.0]);
}

#[test]
fn arithmetic_in_place() {
    let mut td = numbers();
    td.lock().unwrap();
    let before = td.tensor("a").unwrap();
    td.add_inplace(1).unwrap();
    td.sub_inplace(0.5).unwrap();
    td.mul_inplace(2).unwrap();
    td.div_inplace(2).unwrap();
    td.pow_inplace(2).unwrap();
    td.maximum_inplace(4).unwrap();
    td.minimum_inplace(20).unwrap();
    td.clamp_min_inplace(5).unwrap();
    td.clamp_max_inplace(10).unwrap();
    td.rem_inplace(8).unwrap();
    assert_eq!(values(&td), [5.0, 6.25, 2.0, 2.0, 2.0, 2.0]);
    assert_eq!(before.to_vec::<f64>().unwrap(), [5.0, 6.25, 2.0, 2.0]);
    let mut bits = sample();
    let failed = bits.div_inplace(2).unwrap_err();
    assert_eq!(failed.kind(), ErrorKind::DType);
    assert_eq!(ints(&bits, "a"), [0, 1, 2, 3, 4, 5]);
    bits.remove(("deep", "c")).unwrap();
    bits.bitwise_and_inplace(6).unwrap();
    bits.bitwise_or_inplace(8).unwrap();
    bits.bitwise_xor_inplace(1).unwrap();
    bits.bitwise_not_inplace().unwrap();
    assert_eq!(ints(&bits, "a"), [-10, -10, -12, -12, -14, -14]);
}

#[test]
fn keys_that_one_lacks() {
    let (td, mut other) = (numbers(), numbers());
    other.remove("a").unwrap();
    assert_eq!(td.add(&other).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(td.eq(&other).unwrap_err().kind(), ErrorKind::Key);
    let common = td.add_with(&other, Missing::Intersect, 1.0).unwrap();
    assert!(!common.contains("a"));
    let one = Tensor::scalar(1.0f64).unwrap();
    let filled = other.sub_with(&td, Missing::Default(&one), 2.0).unwrap();
    assert_eq!(values(&filled), [-1.0, -3.0, -5.0, -7.0, -5.0, -6.0]);
    assert_eq!(values(&td.mul_with(&other, Missing::Default(&one)).unwrap())[3], 4.0);
    assert_eq!(values(&td.div_with(&other, Missing::Default(&one)).unwrap())[5], 1.0);
}

#[test]
fn three_operands() {
    let mut td = numbers();
    let end = (&td * 3).unwrap();
    assert_eq!(values(&td.lerp(&end, 0.5).unwrap())[5], 12.0);
    assert_eq!(values(&td.addcmul(&td, 2, 3.0).unwrap())[5], 42.0);
    assert_eq!(values(&td.addcdiv(&end, &td, 2.0).unwrap())[5], 12.0);
    assert_eq!(values(&td.clamp(2, 4.5).unwrap()), [2.0, 2.0, 3.0, 4.0, 4.5, 4.5]);
    td.lerp_inplace(&end, 1.0).unwrap();
    td.addcmul_inplace(1, 1, 1.0).unwrap();
    td.addcdiv_inplace(2, 2, 1.0).unwrap();
    td.clamp_inplace(6, 19).unwrap();
    assert_eq!(values(&td), [6.0, 8.0, 11.0, 14.0, 17.0, 19.0]);
}

#[test]
fn reductions() {
    let td = numbers();
    let whole = |td: TensorDict| td.tensor("a").unwrap().to(DType::F64).unwrap().item().unwrap();
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
    near(whole(td.sum(()).unwrap()), 10.0);
    near(whole(td.mean(()).unwrap()), 2.5);
    near(whole(td.prod(()).unwrap()), 24.0);
    near(whole(td.var(()).unwrap()), 5.0 / 3.0);
    near(whole(td.std(Reduce::everything().correction(0)).unwrap()), 1.25f64.sqrt());
    near(whole(td.nansum(()).unwrap()), 10.0);
    near(whole(td.nanmean(()).unwrap()), 2.5);
    near(whole(td.min(()).unwrap()), 1.0);
    near(whole(td.max(()).unwrap()), 4.0);
    near(whole(td.amin(()).unwrap()), 1.0);
    near(whole(td.amax(()).unwrap()), 4.0);
    near(whole(td.norm(()).unwrap()), 30f64.sqrt());
    near(whole(td.all_over(()).unwrap()), 1.0);
    near(whole(td.any_over(()).unwrap()), 1.0);
    let higher = Reduce::everything().q(0.5).interpolation(Interpolation::Higher);
    near(whole(td.quantile(higher).unwrap()), 3.0);
    assert_eq!(values(&td.sum(-1).unwrap()), [4.0, 6.0, 11.0]);
    assert_eq!(values(&td.sum(Reduce::features()).unwrap()), [3.0, 7.0, 5.0, 6.0]);
    assert_eq!(td.sum(Reduce::dims([0]).keepdim(true)).unwrap().batch_size(), [1]);
    let exponent = td.logsumexp(0).unwrap().tensor(("n", "b")).unwrap().item::<f64>().unwrap();
    near(exponent, (5f64.exp() + 6f64.exp()).ln());
    near(td.sum_leaves(()).unwrap().item().unwrap(), 21.0);
    assert_eq!(td.max_leaves(()).unwrap().item::<f64>().unwrap(), 6.0);
    near(values(&td.softmax(0).unwrap().sum(0).unwrap())[0], 1.0);
    assert_eq!(values(&td.cummax(0).unwrap()), values(&td));
    assert_eq!(values(&td.cummin(0).unwrap())[2], 1.0);
    assert_eq!(values(&td.cumsum(0).unwrap()), [1.0, 2.0, 4.0, 6.0, 5.0, 11.0]);
    assert_eq!(values(&td.cumprod(0).unwrap()), [1.0, 2.0, 3.0, 8.0, 5.0, 30.0]);
    assert_eq!(values(&td.sum_from(0).unwrap()), [4.0, 6.0, 3.0, 4.0, 11.0, 6.0]);
    let (least, at) = td.min_with_positions(0).unwrap();
    assert_eq!((values(&least), ints(&at, "a")), (vec![1.0, 2.0, 5.0], vec![0, 0]));
    let (_, at) = td.max_with_positions(0).unwrap();
    assert_eq!(ints(&at, "a"), [1, 1]);
    assert_eq!(ints(&td.cummax_with_positions(0).unwrap().1, ("n", "b")), [0, 1]);
    assert_eq!(ints(&td.cummin_with_positions(0).unwrap().1, ("n", "b")), [0, 0]);
    assert_eq!(td.sum(5).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(sample().mean(()).unwrap_err().kind(), ErrorKind::DType);
    let mean = sample().mean(Reduce::everything().dtype(DType::F64)).unwrap();
    near(whole(mean), 2.5);
}

#[test]
fn truth_and_filling() {
    let mut td = numbers();
    assert!(td.eq(&td.deep_clone().unwrap()).unwrap().all().unwrap());
    assert!(!td.ne(&td.deep_clone().unwrap()).unwrap().any().unwrap());
    td.fill_inplace(("n", "b"), 7).unwrap();
    assert_eq!(values(&td)[4..], [7.0, 7.0]);
    td.zero_inplace().unwrap();
    assert!(!td.any().unwrap() && !td.all().unwrap());
    assert!(TensorDict::new([2]).unwrap().all().unwrap());
}
