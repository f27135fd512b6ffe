// Made by bindings/tools/ops.py from core/math/ops.def.

use tensordict_sys as sys;

use crate::dict::{Dict, TensorDict};
use crate::error::Result;
use crate::math::{Missing, Operand, Reduce};
use crate::tensor::Tensor;

/// Operations on every tensor.
impl Dict {
    /// Absolute value.
    #[track_caller]
    pub fn abs(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ABS)
    }

    /// As [`abs`](Self::abs), into the tensors.
    #[track_caller]
    pub fn abs_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_ABS)
    }

    /// Inverse cosine.
    #[track_caller]
    pub fn acos(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ACOS)
    }

    /// As [`acos`](Self::acos), into the tensors.
    #[track_caller]
    pub fn acos_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_ACOS)
    }

    /// Inverse sine.
    #[track_caller]
    pub fn asin(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ASIN)
    }

    /// As [`asin`](Self::asin), into the tensors.
    #[track_caller]
    pub fn asin_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_ASIN)
    }

    /// Inverse tangent.
    #[track_caller]
    pub fn atan(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ATAN)
    }

    /// As [`atan`](Self::atan), into the tensors.
    #[track_caller]
    pub fn atan_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_ATAN)
    }

    /// Rounded up.
    #[track_caller]
    pub fn ceil(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_CEIL)
    }

    /// As [`ceil`](Self::ceil), into the tensors.
    #[track_caller]
    pub fn ceil_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_CEIL)
    }

    /// Cosine.
    #[track_caller]
    pub fn cos(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_COS)
    }

    /// As [`cos`](Self::cos), into the tensors.
    #[track_caller]
    pub fn cos_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_COS)
    }

    /// Hyperbolic cosine.
    #[track_caller]
    pub fn cosh(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_COSH)
    }

    /// As [`cosh`](Self::cosh), into the tensors.
    #[track_caller]
    pub fn cosh_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_COSH)
    }

    /// Error function.
    #[track_caller]
    pub fn erf(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ERF)
    }

    /// As [`erf`](Self::erf), into the tensors.
    #[track_caller]
    pub fn erf_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_ERF)
    }

    /// Complementary error function.
    #[track_caller]
    pub fn erfc(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ERFC)
    }

    /// As [`erfc`](Self::erfc), into the tensors.
    #[track_caller]
    pub fn erfc_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_ERFC)
    }

    /// Exponential.
    #[track_caller]
    pub fn exp(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_EXP)
    }

    /// As [`exp`](Self::exp), into the tensors.
    #[track_caller]
    pub fn exp_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_EXP)
    }

    /// Exponential minus 1.
    #[track_caller]
    pub fn expm1(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_EXPM1)
    }

    /// As [`expm1`](Self::expm1), into the tensors.
    #[track_caller]
    pub fn expm1_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_EXPM1)
    }

    /// Rounded down.
    #[track_caller]
    pub fn floor(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_FLOOR)
    }

    /// As [`floor`](Self::floor), into the tensors.
    #[track_caller]
    pub fn floor_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_FLOOR)
    }

    /// Fractional part.
    #[track_caller]
    pub fn frac(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_FRAC)
    }

    /// As [`frac`](Self::frac), into the tensors.
    #[track_caller]
    pub fn frac_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_FRAC)
    }

    /// Logarithm of the gamma function.
    #[track_caller]
    pub fn lgamma(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_LGAMMA)
    }

    /// As [`lgamma`](Self::lgamma), into the tensors.
    #[track_caller]
    pub fn lgamma_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_LGAMMA)
    }

    /// Natural logarithm.
    #[track_caller]
    pub fn log(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_LOG)
    }

    /// As [`log`](Self::log), into the tensors.
    #[track_caller]
    pub fn log_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_LOG)
    }

    /// Decimal logarithm.
    #[track_caller]
    pub fn log10(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_LOG10)
    }

    /// As [`log10`](Self::log10), into the tensors.
    #[track_caller]
    pub fn log10_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_LOG10)
    }

    /// Natural logarithm of 1 plus the value.
    #[track_caller]
    pub fn log1p(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_LOG1P)
    }

    /// As [`log1p`](Self::log1p), into the tensors.
    #[track_caller]
    pub fn log1p_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_LOG1P)
    }

    /// Binary logarithm.
    #[track_caller]
    pub fn log2(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_LOG2)
    }

    /// As [`log2`](Self::log2), into the tensors.
    #[track_caller]
    pub fn log2_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_LOG2)
    }

    /// Negative.
    #[track_caller]
    pub fn neg(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_NEG)
    }

    /// As [`neg`](Self::neg), into the tensors.
    #[track_caller]
    pub fn neg_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_NEG)
    }

    /// 1 divided by the value.
    #[track_caller]
    pub fn reciprocal(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_RECIPROCAL)
    }

    /// As [`reciprocal`](Self::reciprocal), into the tensors.
    #[track_caller]
    pub fn reciprocal_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_RECIPROCAL)
    }

    /// Rounded to the nearest integer, halves to even.
    #[track_caller]
    pub fn round(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ROUND)
    }

    /// As [`round`](Self::round), into the tensors.
    #[track_caller]
    pub fn round_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_ROUND)
    }

    /// Logistic function.
    #[track_caller]
    pub fn sigmoid(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_SIGMOID)
    }

    /// As [`sigmoid`](Self::sigmoid), into the tensors.
    #[track_caller]
    pub fn sigmoid_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_SIGMOID)
    }

    /// Sign: -1, 0 or 1.
    #[track_caller]
    pub fn sign(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_SIGN)
    }

    /// As [`sign`](Self::sign), into the tensors.
    #[track_caller]
    pub fn sign_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_SIGN)
    }

    /// Sine.
    #[track_caller]
    pub fn sin(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_SIN)
    }

    /// As [`sin`](Self::sin), into the tensors.
    #[track_caller]
    pub fn sin_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_SIN)
    }

    /// Hyperbolic sine.
    #[track_caller]
    pub fn sinh(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_SINH)
    }

    /// As [`sinh`](Self::sinh), into the tensors.
    #[track_caller]
    pub fn sinh_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_SINH)
    }

    /// Square root.
    #[track_caller]
    pub fn sqrt(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_SQRT)
    }

    /// As [`sqrt`](Self::sqrt), into the tensors.
    #[track_caller]
    pub fn sqrt_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_SQRT)
    }

    /// Tangent.
    #[track_caller]
    pub fn tan(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_TAN)
    }

    /// As [`tan`](Self::tan), into the tensors.
    #[track_caller]
    pub fn tan_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_TAN)
    }

    /// Hyperbolic tangent.
    #[track_caller]
    pub fn tanh(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_TANH)
    }

    /// As [`tanh`](Self::tanh), into the tensors.
    #[track_caller]
    pub fn tanh_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_TANH)
    }

    /// Rounded towards 0.
    #[track_caller]
    pub fn trunc(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_TRUNC)
    }

    /// As [`trunc`](Self::trunc), into the tensors.
    #[track_caller]
    pub fn trunc_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_TRUNC)
    }

    /// Inverted bits of integers, or bools.
    #[track_caller]
    pub fn bitwise_not(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_BITWISE_NOT)
    }

    /// As [`bitwise_not`](Self::bitwise_not), into the tensors.
    #[track_caller]
    pub fn bitwise_not_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_BITWISE_NOT)
    }

    /// Whether a value is 0.
    #[track_caller]
    pub fn logical_not(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_LOGICAL_NOT)
    }

    /// As [`logical_not`](Self::logical_not), into the tensors.
    #[track_caller]
    pub fn logical_not_inplace(&mut self) -> Result<()> {
        self.unary_inplace(sys::TD_UNARY_LOGICAL_NOT)
    }

    /// Whether a value is neither infinite nor NaN.
    #[track_caller]
    pub fn isfinite(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ISFINITE)
    }

    /// Whether a value is NaN.
    #[track_caller]
    pub fn isnan(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ISNAN)
    }

    /// Whether a value is minus infinity.
    #[track_caller]
    pub fn isneginf(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ISNEGINF)
    }

    /// Whether a value is plus infinity.
    #[track_caller]
    pub fn isposinf(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ISPOSINF)
    }

    /// Whether a value has no imaginary part.
    #[track_caller]
    pub fn isreal(&self) -> Result<TensorDict> {
        self.unary(sys::TD_UNARY_ISREAL)
    }

    /// Sum; alpha times the operand.
    #[track_caller]
    pub fn add<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_ADD, other.into())
    }

    /// As [`add`](Self::add), of dictionaries of different keys; `alpha` times the operand.
    #[track_caller]
    pub fn add_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
        alpha: f64,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_ADD, other.into(), missing, alpha)
    }

    /// As [`add`](Self::add), into the tensors.
    #[track_caller]
    pub fn add_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_ADD, other.into())
    }

    /// Difference; alpha times the operand.
    #[track_caller]
    pub fn sub<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_SUB, other.into())
    }

    /// As [`sub`](Self::sub), of dictionaries of different keys; `alpha` times the operand.
    #[track_caller]
    pub fn sub_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
        alpha: f64,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_SUB, other.into(), missing, alpha)
    }

    /// As [`sub`](Self::sub), into the tensors.
    #[track_caller]
    pub fn sub_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_SUB, other.into())
    }

    /// The operand minus alpha times the value.
    #[track_caller]
    pub fn rsub<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_RSUB, other.into())
    }

    /// As [`rsub`](Self::rsub), of dictionaries of different keys; `alpha` times the operand.
    #[track_caller]
    pub fn rsub_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
        alpha: f64,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_RSUB, other.into(), missing, alpha)
    }

    /// Product.
    #[track_caller]
    pub fn mul<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_MUL, other.into())
    }

    /// As [`mul`](Self::mul), of dictionaries of different keys.
    #[track_caller]
    pub fn mul_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_MUL, other.into(), missing, 1.0)
    }

    /// As [`mul`](Self::mul), into the tensors.
    #[track_caller]
    pub fn mul_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_MUL, other.into())
    }

    /// Quotient; integers give floats.
    #[track_caller]
    pub fn div<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_DIV, other.into())
    }

    /// As [`div`](Self::div), of dictionaries of different keys.
    #[track_caller]
    pub fn div_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_DIV, other.into(), missing, 1.0)
    }

    /// As [`div`](Self::div), into the tensors.
    #[track_caller]
    pub fn div_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_DIV, other.into())
    }

    /// The operand divided by the value.
    #[track_caller]
    pub fn rdiv<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_RDIV, other.into())
    }

    /// As [`rdiv`](Self::rdiv), of dictionaries of different keys.
    #[track_caller]
    pub fn rdiv_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_RDIV, other.into(), missing, 1.0)
    }

    /// Power.
    #[track_caller]
    pub fn pow<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_POW, other.into())
    }

    /// As [`pow`](Self::pow), of dictionaries of different keys.
    #[track_caller]
    pub fn pow_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_POW, other.into(), missing, 1.0)
    }

    /// As [`pow`](Self::pow), into the tensors.
    #[track_caller]
    pub fn pow_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_POW, other.into())
    }

    /// Remainder with the sign of the operand.
    #[track_caller]
    pub fn rem<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_MOD, other.into())
    }

    /// As [`rem`](Self::rem), of dictionaries of different keys.
    #[track_caller]
    pub fn rem_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_MOD, other.into(), missing, 1.0)
    }

    /// As [`rem`](Self::rem), into the tensors.
    #[track_caller]
    pub fn rem_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_MOD, other.into())
    }

    /// The larger value; NaN if either is NaN.
    #[track_caller]
    pub fn maximum<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_MAXIMUM, other.into())
    }

    /// As [`maximum`](Self::maximum), of dictionaries of different keys.
    #[track_caller]
    pub fn maximum_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_MAXIMUM, other.into(), missing, 1.0)
    }

    /// As [`maximum`](Self::maximum), into the tensors.
    #[track_caller]
    pub fn maximum_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_MAXIMUM, other.into())
    }

    /// The smaller value; NaN if either is NaN.
    #[track_caller]
    pub fn minimum<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_MINIMUM, other.into())
    }

    /// As [`minimum`](Self::minimum), of dictionaries of different keys.
    #[track_caller]
    pub fn minimum_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_MINIMUM, other.into(), missing, 1.0)
    }

    /// As [`minimum`](Self::minimum), into the tensors.
    #[track_caller]
    pub fn minimum_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_MINIMUM, other.into())
    }

    /// At most the operand.
    #[track_caller]
    pub fn clamp_max<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_CLAMP_MAX, other.into())
    }

    /// As [`clamp_max`](Self::clamp_max), of dictionaries of different keys.
    #[track_caller]
    pub fn clamp_max_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_CLAMP_MAX, other.into(), missing, 1.0)
    }

    /// As [`clamp_max`](Self::clamp_max), into the tensors.
    #[track_caller]
    pub fn clamp_max_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_CLAMP_MAX, other.into())
    }

    /// At least the operand.
    #[track_caller]
    pub fn clamp_min<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_CLAMP_MIN, other.into())
    }

    /// As [`clamp_min`](Self::clamp_min), of dictionaries of different keys.
    #[track_caller]
    pub fn clamp_min_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_CLAMP_MIN, other.into(), missing, 1.0)
    }

    /// As [`clamp_min`](Self::clamp_min), into the tensors.
    #[track_caller]
    pub fn clamp_min_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_CLAMP_MIN, other.into())
    }

    /// Bitwise and; for bool, logical and.
    #[track_caller]
    pub fn bitwise_and<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_BITWISE_AND, other.into())
    }

    /// As [`bitwise_and`](Self::bitwise_and), of dictionaries of different keys.
    #[track_caller]
    pub fn bitwise_and_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_BITWISE_AND, other.into(), missing, 1.0)
    }

    /// As [`bitwise_and`](Self::bitwise_and), into the tensors.
    #[track_caller]
    pub fn bitwise_and_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_BITWISE_AND, other.into())
    }

    /// Bitwise or; for bool, logical or.
    #[track_caller]
    pub fn bitwise_or<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_BITWISE_OR, other.into())
    }

    /// As [`bitwise_or`](Self::bitwise_or), of dictionaries of different keys.
    #[track_caller]
    pub fn bitwise_or_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_BITWISE_OR, other.into(), missing, 1.0)
    }

    /// As [`bitwise_or`](Self::bitwise_or), into the tensors.
    #[track_caller]
    pub fn bitwise_or_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_BITWISE_OR, other.into())
    }

    /// Bitwise exclusive or; for bool, not equal.
    #[track_caller]
    pub fn bitwise_xor<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_BITWISE_XOR, other.into())
    }

    /// As [`bitwise_xor`](Self::bitwise_xor), of dictionaries of different keys.
    #[track_caller]
    pub fn bitwise_xor_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_BITWISE_XOR, other.into(), missing, 1.0)
    }

    /// As [`bitwise_xor`](Self::bitwise_xor), into the tensors.
    #[track_caller]
    pub fn bitwise_xor_inplace<'a>(&mut self, other: impl Into<Operand<'a>>) -> Result<()> {
        self.binary_inplace(sys::TD_BINARY_BITWISE_XOR, other.into())
    }

    /// Whether both are not 0.
    #[track_caller]
    pub fn logical_and<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_LOGICAL_AND, other.into())
    }

    /// As [`logical_and`](Self::logical_and), of dictionaries of different keys.
    #[track_caller]
    pub fn logical_and_with<'a>(
        &self,
        other: impl Into<Operand<'a>>,
        missing: Missing<'_>,
    ) -> Result<TensorDict> {
        self.binary_with(sys::TD_BINARY_LOGICAL_AND, other.into(), missing, 1.0)
    }

    /// Whether equal.
    #[track_caller]
    pub fn eq<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_EQ, other.into())
    }

    /// Whether not equal.
    #[track_caller]
    pub fn ne<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_NE, other.into())
    }

    /// Whether less.
    #[track_caller]
    pub fn lt<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_LT, other.into())
    }

    /// Whether less or equal.
    #[track_caller]
    pub fn le<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_LE, other.into())
    }

    /// Whether greater.
    #[track_caller]
    pub fn gt<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_GT, other.into())
    }

    /// Whether greater or equal.
    #[track_caller]
    pub fn ge<'a>(&self, other: impl Into<Operand<'a>>) -> Result<TensorDict> {
        self.binary(sys::TD_BINARY_GE, other.into())
    }

    /// Sum of each tensor.
    #[track_caller]
    pub fn sum(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_SUM, over.into())
    }

    /// Sum of all tensors together.
    #[track_caller]
    pub fn sum_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_SUM, over.into())
    }

    /// Mean of each tensor.
    #[track_caller]
    pub fn mean(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_MEAN, over.into())
    }

    /// Mean of all tensors together.
    #[track_caller]
    pub fn mean_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_MEAN, over.into())
    }

    /// Product of each tensor.
    #[track_caller]
    pub fn prod(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_PROD, over.into())
    }

    /// Product of all tensors together.
    #[track_caller]
    pub fn prod_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_PROD, over.into())
    }

    /// Standard deviation of each tensor.
    #[track_caller]
    pub fn std(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_STD, over.into())
    }

    /// Standard deviation of all tensors together.
    #[track_caller]
    pub fn std_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_STD, over.into())
    }

    /// Variance of each tensor.
    #[track_caller]
    pub fn var(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_VAR, over.into())
    }

    /// Variance of all tensors together.
    #[track_caller]
    pub fn var_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_VAR, over.into())
    }

    /// Sum of non-NaN values of each tensor.
    #[track_caller]
    pub fn nansum(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_NANSUM, over.into())
    }

    /// Sum of non-NaN values of all tensors together.
    #[track_caller]
    pub fn nansum_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_NANSUM, over.into())
    }

    /// Mean of non-NaN values of each tensor.
    #[track_caller]
    pub fn nanmean(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_NANMEAN, over.into())
    }

    /// Mean of non-NaN values of all tensors together.
    #[track_caller]
    pub fn nanmean_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_NANMEAN, over.into())
    }

    /// Least value of each tensor.
    #[track_caller]
    pub fn min(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_MIN, over.into())
    }

    /// Least value of all tensors together.
    #[track_caller]
    pub fn min_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_MIN, over.into())
    }

    /// Least value along a dimension, and where it stands.
    #[track_caller]
    pub fn min_with_positions(&self, dim: i64) -> Result<(TensorDict, TensorDict)> {
        self.reduce_pair(sys::TD_REDUCE_MIN, dim.into())
    }

    /// Greatest value of each tensor.
    #[track_caller]
    pub fn max(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_MAX, over.into())
    }

    /// Greatest value of all tensors together.
    #[track_caller]
    pub fn max_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_MAX, over.into())
    }

    /// Greatest value along a dimension, and where it stands.
    #[track_caller]
    pub fn max_with_positions(&self, dim: i64) -> Result<(TensorDict, TensorDict)> {
        self.reduce_pair(sys::TD_REDUCE_MAX, dim.into())
    }

    /// Least value of each tensor.
    #[track_caller]
    pub fn amin(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_AMIN, over.into())
    }

    /// Least value of all tensors together.
    #[track_caller]
    pub fn amin_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_AMIN, over.into())
    }

    /// Greatest value of each tensor.
    #[track_caller]
    pub fn amax(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_AMAX, over.into())
    }

    /// Greatest value of all tensors together.
    #[track_caller]
    pub fn amax_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_AMAX, over.into())
    }

    /// Whether all are not 0 of each tensor.
    #[track_caller]
    pub fn all_over(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_ALL, over.into())
    }

    /// Whether all are not 0 of all tensors together.
    #[track_caller]
    pub fn all_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_ALL, over.into())
    }

    /// Whether any is not 0 of each tensor.
    #[track_caller]
    pub fn any_over(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_ANY, over.into())
    }

    /// Whether any is not 0 of all tensors together.
    #[track_caller]
    pub fn any_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_ANY, over.into())
    }

    /// Quantile of each tensor.
    #[track_caller]
    pub fn quantile(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_QUANTILE, over.into())
    }

    /// Quantile of all tensors together.
    #[track_caller]
    pub fn quantile_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_QUANTILE, over.into())
    }

    /// Euclidean norm of each tensor.
    #[track_caller]
    pub fn norm(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_NORM, over.into())
    }

    /// Euclidean norm of all tensors together.
    #[track_caller]
    pub fn norm_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_NORM, over.into())
    }

    /// Logarithm of the sum of exponentials of each tensor.
    #[track_caller]
    pub fn logsumexp(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_LOGSUMEXP, over.into())
    }

    /// Logarithm of the sum of exponentials of all tensors together.
    #[track_caller]
    pub fn logsumexp_leaves(&self, over: impl Into<Reduce>) -> Result<Tensor> {
        self.reduce_leaves(sys::TD_REDUCE_LOGSUMEXP, over.into())
    }

    /// Exponentials divided by their sum of each tensor, along a dimension that stays.
    #[track_caller]
    pub fn softmax(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_SOFTMAX, over.into())
    }

    /// Least value so far of each tensor, along a dimension that stays.
    #[track_caller]
    pub fn cummin(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_CUMMIN, over.into())
    }

    /// Least value so far along a dimension, and where it stands.
    #[track_caller]
    pub fn cummin_with_positions(&self, dim: i64) -> Result<(TensorDict, TensorDict)> {
        self.reduce_pair(sys::TD_REDUCE_CUMMIN, dim.into())
    }

    /// Greatest value so far of each tensor, along a dimension that stays.
    #[track_caller]
    pub fn cummax(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_CUMMAX, over.into())
    }

    /// Greatest value so far along a dimension, and where it stands.
    #[track_caller]
    pub fn cummax_with_positions(&self, dim: i64) -> Result<(TensorDict, TensorDict)> {
        self.reduce_pair(sys::TD_REDUCE_CUMMAX, dim.into())
    }

    /// Sum so far of each tensor, along a dimension that stays.
    #[track_caller]
    pub fn cumsum(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_CUMSUM, over.into())
    }

    /// Product so far of each tensor, along a dimension that stays.
    #[track_caller]
    pub fn cumprod(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_CUMPROD, over.into())
    }

    /// Sum from here to the end of each tensor, along a dimension that stays.
    #[track_caller]
    pub fn sum_from(&self, over: impl Into<Reduce>) -> Result<TensorDict> {
        self.reduce(sys::TD_REDUCE_SUM_FROM, over.into())
    }
}
