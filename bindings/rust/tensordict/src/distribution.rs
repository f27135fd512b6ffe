//! Modules that take values from distributions.

use tensordict_sys as sys;

use crate::error::Result;
use crate::key::{Key, KeyPath, RawKey};
use crate::library;
use crate::module::{c_text, Interaction, TensorDictModule};
use crate::select::RawKeys;

/// A distribution; its parameters are entries of a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DistributionKind {
    /// `loc` and `scale`, for each element.
    Normal,
    /// `loc` and `scale`; the last dimension is one event.
    IndependentNormal,
    /// `loc` and `scale`, between two bounds by a hyperbolic tangent.
    TanhNormal,
    /// `loc` and `scale`, of which only what lies between two bounds is left.
    TruncatedNormal,
    /// `logits` or `probs`; gives the number of a class.
    Categorical,
    /// `logits` or `probs`; gives a 1 among zeros.
    OneHotCategorical,
    /// `logits` or `probs`, for each element.
    Bernoulli,
    /// `param`: always this value.
    Delta,
    /// `concentration1` and `concentration0`, for each element.
    Beta,
    /// `concentration` and `rate`, for each element.
    Gamma,
    /// `low` and `high`, for each element.
    Uniform,
    /// `loc` and `scale`, for each element.
    Laplace,
    /// `rate`, for each element.
    Exponential,
    /// `loc` and `scale_tril`, a triangular matrix; the last dimension is one event.
    MultivariateNormal,
    /// `loc` and `scale`, for each element; the mean, and so the deterministic value, is NaN as in Python.
    Cauchy,
    /// `df`, `loc` and `scale`, for each element.
    StudentT,
    /// `rate`, for each element.
    Poisson,
    /// `concentration`; the last dimension is one event, shares of one.
    Dirichlet,
    /// `scale`, for each element.
    HalfNormal,
    /// `loc` and `scale`, for each element: the exponential of a normal value.
    LogNormal,
}

impl DistributionKind {
    fn raw(self) -> sys::td_distribution_kind {
        match self {
            Self::Normal => sys::TD_DISTRIBUTION_NORMAL,
            Self::IndependentNormal => sys::TD_DISTRIBUTION_INDEPENDENT_NORMAL,
            Self::TanhNormal => sys::TD_DISTRIBUTION_TANH_NORMAL,
            Self::TruncatedNormal => sys::TD_DISTRIBUTION_TRUNCATED_NORMAL,
            Self::Categorical => sys::TD_DISTRIBUTION_CATEGORICAL,
            Self::OneHotCategorical => sys::TD_DISTRIBUTION_ONE_HOT_CATEGORICAL,
            Self::Bernoulli => sys::TD_DISTRIBUTION_BERNOULLI,
            Self::Delta => sys::TD_DISTRIBUTION_DELTA,
            Self::Beta => sys::TD_DISTRIBUTION_BETA,
            Self::Gamma => sys::TD_DISTRIBUTION_GAMMA,
            Self::Uniform => sys::TD_DISTRIBUTION_UNIFORM,
            Self::Laplace => sys::TD_DISTRIBUTION_LAPLACE,
            Self::Exponential => sys::TD_DISTRIBUTION_EXPONENTIAL,
            Self::MultivariateNormal => sys::TD_DISTRIBUTION_MULTIVARIATE_NORMAL,
            Self::Cauchy => sys::TD_DISTRIBUTION_CAUCHY,
            Self::StudentT => sys::TD_DISTRIBUTION_STUDENT_T,
            Self::Poisson => sys::TD_DISTRIBUTION_POISSON,
            Self::Dirichlet => sys::TD_DISTRIBUTION_DIRICHLET,
            Self::HalfNormal => sys::TD_DISTRIBUTION_HALF_NORMAL,
            Self::LogNormal => sys::TD_DISTRIBUTION_LOG_NORMAL,
        }
    }
}

/// A distribution over entries of a dictionary, for [`TensorDictModule::probabilistic`].
#[derive(Clone, Debug)]
pub struct Distribution {
    kind: DistributionKind,
    params: Vec<(String, KeyPath)>,
    out_key: KeyPath,
    log_prob_key: Option<KeyPath>,
    bounds: (f64, f64),
    bounds_of_each: Vec<(f64, f64)>,
    tanh_loc: Option<f64>,
    event: bool,
    mixture: bool,
}

impl Distribution {
    /// Pairs of a parameter's name and the entry that holds it, and the entry that gets the value.
    pub fn new<'a, K: Key>(
        kind: DistributionKind,
        params: impl IntoIterator<Item = (&'a str, K)>,
        out_key: impl Key,
    ) -> Self {
        Self {
            kind,
            params: params
                .into_iter()
                .map(|(name, key)| (name.to_owned(), KeyPath::new(key)))
                .collect(),
            out_key: KeyPath::new(out_key),
            log_prob_key: None,
            bounds: (-1.0, 1.0),
            bounds_of_each: Vec::new(),
            tanh_loc: None,
            event: false,
            mixture: false,
        }
    }

    /// The last dimension is one event, of which the log-probabilities are summed; for distributions of each element.
    pub fn event(mut self) -> Self {
        self.event = true;
        self
    }

    /// One of several distributions of this kind, which a further parameter, `logits` or `probs`, weighs; all parameters have a
    /// dimension of components, which is last or in front of an event.
    pub fn mixture(mut self) -> Self {
        self.mixture = true;
        self
    }

    /// The entry that gets the log-probability; else that of the value with `_log_prob` behind its name.
    pub fn log_prob_key(mut self, key: impl Key) -> Self {
        self.log_prob_key = Some(KeyPath::new(key));
        self
    }

    /// What values lie between; -1 and 1 unless said otherwise.
    pub fn between(mut self, low: f64, high: f64) -> Self {
        self.bounds = (low, high);
        self
    }

    /// What each element of the event lies between, such as the joints of a robot.
    pub fn between_each(mut self, bounds: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.bounds_of_each = bounds.into_iter().collect();
        self
    }

    /// `loc` becomes `upscale * tanh(loc / upscale)`.
    pub fn tanh_loc(mut self, upscale: f64) -> Self {
        self.tanh_loc = Some(upscale);
        self
    }
}

/// What a probabilistic module writes, and where its random numbers come from.
#[derive(Clone, Debug, Default)]
pub struct ProbabilisticOptions {
    interaction: Interaction,
    return_log_prob: bool,
    num_samples: i64,
    seed: Option<u64>,
    seed_key: Option<KeyPath>,
}

impl ProbabilisticOptions {
    /// The deterministic value; random numbers of libtorch's own generator.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Which value is taken, unless a call says otherwise.
        interaction(interaction: Interaction) => interaction;
        /// So many values for each element, as a dimension before the batch.
        num_samples(count: i64) => num_samples;
    }

    /// Writes log-probabilities too.
    pub fn return_log_prob(mut self) -> Self {
        self.return_log_prob = true;
        self
    }

    /// Draws from a generator of the module's own.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// An entry with a whole number that seeds each call, and gets the next seed.
    pub fn seed_key(mut self, key: impl Key) -> Self {
        self.seed_key = Some(KeyPath::new(key));
        self
    }
}

// A distribution in the form that the library takes, with what it points at.
struct RawDistribution {
    in_keys: RawKeys,
    names: RawKey,
    out_key: RawKeys,
    log_prob_key: Option<RawKeys>,
    lows: Vec<f64>,
    highs: Vec<f64>,
}

// NULL for none.
fn numbers(list: &[f64]) -> *const f64 {
    if list.is_empty() {
        std::ptr::null()
    } else {
        list.as_ptr()
    }
}

impl TensorDictModule {
    /// Takes values from distributions.
    ///
    /// ```
    /// use tensordict::{Distribution, DistributionKind, ProbabilisticOptions, Tensor, TensorDict, TensorDictModule};
    ///
    /// let act = TensorDictModule::probabilistic(
    ///     &[Distribution::new(DistributionKind::Categorical, [("logits", "logits")], "action")],
    ///     &ProbabilisticOptions::new(),
    /// )?;
    /// let logits = Tensor::from_slice(&[0f32, 3.0, 1.0], [1, 3])?;
    /// let td = TensorDict::from_pairs([1], [("logits", logits)])?;
    /// assert_eq!(act.call(&td)?.tensor("action")?.to_vec::<i64>()?, [1]);
    /// # Ok::<(), tensordict::Error>(())
    /// ```
    #[track_caller]
    pub fn probabilistic(
        distributions: &[Distribution],
        options: &ProbabilisticOptions,
    ) -> Result<Self> {
        library::ready()?;
        let kept = distributions
            .iter()
            .map(|one| {
                let names: Vec<&str> = one.params.iter().map(|(name, _)| name.as_str()).collect();
                Ok(RawDistribution {
                    in_keys: RawKeys::new(one.params.iter().map(|(_, key)| key))?,
                    names: RawKey::new(&names)?,
                    out_key: RawKeys::new([&one.out_key])?,
                    log_prob_key: one
                        .log_prob_key
                        .iter()
                        .map(|key| RawKeys::new([key]))
                        .next()
                        .transpose()?,
                    lows: one.bounds_of_each.iter().map(|bounds| bounds.0).collect(),
                    highs: one.bounds_of_each.iter().map(|bounds| bounds.1).collect(),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let parts: Vec<_> = distributions
            .iter()
            .zip(&kept)
            .map(|(one, kept)| sys::td_distribution {
                kind: one.kind.raw(),
                flags: if one.tanh_loc.is_some() { sys::TD_DISTRIBUTION_TANH_LOC } else { 0 }
                    | if one.event { sys::TD_DISTRIBUTION_EVENT } else { 0 }
                    | if one.mixture { sys::TD_DISTRIBUTION_MIXTURE } else { 0 },
                in_keys: kept.in_keys.list(),
                in_keys_len: kept.in_keys.len(),
                names: kept.names.path(),
                names_len: kept.names.len(),
                out_key: kept.out_key.list(),
                log_prob_key: kept.log_prob_key.as_ref().map_or(std::ptr::null(), RawKeys::list),
                low: one.bounds.0,
                high: one.bounds.1,
                upscale: one.tanh_loc.unwrap_or(0.0),
                lows: numbers(&kept.lows),
                highs: numbers(&kept.highs),
                bounds_len: kept.lows.len(),
                ..Default::default()
            })
            .collect();
        let seed_key = options.seed_key.iter().map(|key| RawKeys::new([key])).next().transpose()?;
        let mut flags = 0;
        if options.return_log_prob {
            flags |= sys::TD_MODULE_PROBABILISTIC_LOG_PROB;
        }
        if options.seed.is_some() {
            flags |= sys::TD_MODULE_PROBABILISTIC_SEED;
        }
        let raw = sys::td_module_probabilistic_options {
            flags,
            interaction: options.interaction.raw(),
            num_samples: options.num_samples,
            seed: options.seed.unwrap_or(0),
            seed_key: seed_key.as_ref().map_or(std::ptr::null(), RawKeys::list),
            ..Default::default()
        };
        // SAFETY: what the lists point at lives as long as the call.
        Self::receive(|result| unsafe {
            sys::td_module_probabilistic(parts.as_ptr(), parts.len(), &raw, result)
        })
    }

    /// Splits the last dimension of an entry in two halves, "loc" and "scale"; the scale goes through a
    /// mapping, such as `"biased_softplus_1.0"`.
    #[track_caller]
    pub fn normal_params(key: impl Key, scale_mapping: &str) -> Result<Self> {
        library::ready()?;
        let (key, mapping) = (RawKey::new(&key)?, c_text(scale_mapping)?);
        let options = sys::td_module_normal_params_options {
            scale_mapping: mapping.as_ptr(),
            ..Default::default()
        };
        // SAFETY: the texts live as long as the call.
        Self::receive(|result| unsafe {
            sys::td_module_normal_params(key.path(), key.len(), &options, result)
        })
    }
}
