//! Operators of libtorch that safe code may call by name.

/// Operators of `aten` that check all that they are given, in every overload: those that work element by
/// element, reduce, multiply matrices or change shapes, and so use no value of a tensor as an address; and
/// two that pick rows and look at each number before they use it. They leave no memory uninitialised. In
/// the order of [`slice::binary_search`].
#[rustfmt::skip]
const CHECKED: [&str; 230] = [
    "abs", "absolute", "acos", "acosh", "add", "addcdiv", "addcmul", "addmm", "alias", "all",
    "amax", "amin", "aminmax", "angle", "any", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "argmax", "argmin", "argsort", "asin", "asinh", "atan", "atan2", "atanh",
    "baddbmm", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "bmm", "broadcast_to",
    "ceil", "celu", "clamp", "clamp_max", "clamp_min", "clip", "clone", "conj", "contiguous",
    "copysign", "cos", "cosh", "count_nonzero", "cummax", "cummin", "cumprod", "cumsum", "deg2rad",
    "detach", "diag_embed", "diagonal", "diff", "digamma", "div", "divide", "dot", "elu", "eq",
    "erf", "erfc", "erfinv", "exp", "exp2", "expand", "expand_as", "expm1", "fill", "fix",
    "flatten", "flip", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frac",
    "full_like", "gather", "gcd", "ge", "gelu", "greater", "greater_equal", "gt", "hardshrink",
    "hardsigmoid", "hardswish", "hardtanh", "heaviside", "hypot", "i0", "index_select", "isclose",
    "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal", "kthvalue", "lcm", "le",
    "leaky_relu", "lerp", "less", "less_equal", "lgamma", "linear", "log", "log10", "log1p",
    "log2", "log_sigmoid", "log_softmax", "logaddexp", "logaddexp2", "logcumsumexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "logsumexp", "lt", "masked_fill",
    "matmul", "max", "maximum", "mean", "median", "min", "minimum", "mish", "mm", "mode",
    "moveaxis", "movedim", "msort", "mul", "multiply", "mv", "nan_to_num", "nanmean", "nanmedian",
    "nanquantile", "nansum", "narrow", "ne", "neg", "negative", "nextafter", "norm", "not_equal",
    "ones_like", "outer", "permute", "positive", "pow", "prod", "quantile", "rad2deg", "ravel",
    "reciprocal", "relu", "relu6", "remainder", "repeat", "reshape", "roll", "rot90", "round",
    "rsqrt", "rsub", "select", "selu", "sgn", "sigmoid", "sign", "signbit", "silu", "sin", "sinc",
    "sinh", "slice", "softmax", "softplus", "softshrink", "sort", "sqrt", "square", "squeeze",
    "std", "sub", "subtract", "sum", "swapaxes", "swapdims", "t", "tan", "tanh", "threshold",
    "tile", "to", "topk", "transpose", "tril", "triu", "true_divide", "trunc", "type_as",
    "unflatten", "unfold", "unsqueeze", "var", "vdot", "view", "view_as_complex", "view_as_real",
    "where", "xlogy", "zero", "zeros_like",
];

/// Whether safe code may call an operator: `"aten::add"`, `"add_"`, `"aten::add.Tensor"`.
pub(crate) fn is_checked(name: &str) -> bool {
    let (namespace, name) = name.split_once("::").unwrap_or(("aten", name));
    let base = name.split('.').next().unwrap_or(name);
    let base = base.strip_suffix('_').unwrap_or(base);
    namespace == "aten" && CHECKED.binary_search(&base).is_ok()
}

/// Whether an operator writes into its tensor, as its name tells.
pub(crate) fn writes(name: &str) -> bool {
    let base = name.rsplit("::").next().unwrap_or(name);
    base.split('.').next().is_some_and(|base| base.ends_with('_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_every_form() {
        assert!(CHECKED.windows(2).all(|pair| pair[0] < pair[1]));
        for name in ["aten::add", "add", "add_", "aten::add_.Tensor", "max.dim", "aten::zero_"] {
            assert!(is_checked(name), "{name}");
        }
        for name in ["", "::add", "mine::add", "aten::empty_like", "aten::as_strided", "add__"] {
            assert!(!is_checked(name), "{name}");
        }
        assert!(!is_checked("aten::max_pool2d_with_indices_backward"));
    }
}
