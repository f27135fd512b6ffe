/* tensordict/td_distribution.h: modules that sample (C: td_module_probabilistic, td_module_log_prob, …; Python: ProbabilisticTensorDictModule, NormalParamExtractor). */
#ifndef TENSORDICT_TD_DISTRIBUTION_H
#define TENSORDICT_TD_DISTRIBUTION_H

#include "tensordict/td_module.h"

TD_BEGIN_C

/**
 * A distribution and, in parentheses, the names of its parameters.
 */
typedef int32_t td_distribution_kind;
enum {
  TD_DISTRIBUTION_NORMAL = 0,               /**< (loc, scale) for each element */
  TD_DISTRIBUTION_INDEPENDENT_NORMAL = 1,   /**< (loc, scale); the last dimension is one event */
  TD_DISTRIBUTION_TANH_NORMAL = 2,          /**< (loc, scale) between `low` and `high`, by a
                                                 hyperbolic tangent; the last dimension is one event */
  TD_DISTRIBUTION_TRUNCATED_NORMAL = 3,     /**< (loc, scale) between `low` and `high`; the last
                                                 dimension is one event */
  TD_DISTRIBUTION_CATEGORICAL = 4,          /**< (logits) or (probs); the last dimension is the
                                                 classes; gives their numbers */
  TD_DISTRIBUTION_ONE_HOT_CATEGORICAL = 5,  /**< the same; gives a 1 among zeros */
  TD_DISTRIBUTION_BERNOULLI = 6,            /**< (logits) or (probs) for each element */
  TD_DISTRIBUTION_DELTA = 7,                /**< (param): always this value */
  TD_DISTRIBUTION_BETA = 8,                 /**< (concentration1, concentration0) for each element;
                                                 since 0.3, as all below */
  TD_DISTRIBUTION_GAMMA = 9,                /**< (concentration, rate) for each element */
  TD_DISTRIBUTION_UNIFORM = 10,             /**< (low, high) for each element */
  TD_DISTRIBUTION_LAPLACE = 11,             /**< (loc, scale) for each element */
  TD_DISTRIBUTION_EXPONENTIAL = 12,         /**< (rate) for each element */
  TD_DISTRIBUTION_MULTIVARIATE_NORMAL = 13, /**< (loc, scale_tril), a triangular matrix; the last
                                                 dimension is one event */
  TD_DISTRIBUTION_CAUCHY = 14,              /**< (loc, scale) for each element; its mean, and so its
                                                 deterministic value, is NaN as in Python: ask for
                                                 the mode */
  TD_DISTRIBUTION_STUDENT_T = 15,           /**< (df, loc, scale) for each element */
  TD_DISTRIBUTION_POISSON = 16,             /**< (rate) for each element; its draws pass no gradient */
  TD_DISTRIBUTION_DIRICHLET = 17,           /**< (concentration); the last dimension is one event,
                                                 shares of one */
  TD_DISTRIBUTION_HALF_NORMAL = 18,         /**< (scale) for each element: the absolute value of a
                                                 normal one around 0 */
  TD_DISTRIBUTION_LOG_NORMAL = 19           /**< (loc, scale) for each element: the exponential of a
                                                 normal one */
};

/**
 * Flags of a td_distribution.
 */
typedef uint32_t td_distribution_flags;
enum {
  TD_DISTRIBUTION_TANH_LOC = 1, /**< loc becomes upscale * tanh(loc / upscale); for
                                     TD_DISTRIBUTION_TANH_NORMAL, which then adds the middle of its
                                     bounds as TorchRL does, and
                                     TD_DISTRIBUTION_TRUNCATED_NORMAL */
  TD_DISTRIBUTION_EVENT = 2,    /**< the last dimension is one event, of which the log-probabilities
                                     are summed, as in Python's Independent(…, 1); for kinds "for
                                     each element" and those of classes; since 0.3 */
  TD_DISTRIBUTION_MIXTURE = 4   /**< one of several distributions of this kind, which a further
                                     parameter, (logits) or (probs) of shape [..., components],
                                     weighs, as in Python's MixtureSameFamily; the other parameters
                                     have that dimension too, last, or in front of an event. Of
                                     kinds "for each element" that give numbers, and of
                                     TD_DISTRIBUTION_INDEPENDENT_NORMAL, _MULTIVARIATE_NORMAL and
                                     _DIRICHLET; with TD_DISTRIBUTION_EVENT each element of the
                                     event has its own mixture. It has a mean, but no mode and no
                                     median; its draws pass no gradient; since 0.3 */
};

/**
 * A distribution over entries of a dictionary. Its size stays 128 bytes in every release.
 */
typedef struct td_distribution {
  td_distribution_kind kind;                /**< which one */
  td_distribution_flags flags;              /**< which of them hold */
  const td_key *in_keys;                    /**< borrowed; the entries that hold its parameters */
  size_t in_keys_len;                       /**< number of keys */
  const char *const *TD_NULLABLE names;     /**< borrowed; which parameter each entry is; NULL: the
                                                 last names of the keys */
  size_t names_len;                         /**< as many as keys, or 0 */
  const td_key *TD_NULLABLE out_key;        /**< borrowed; the entry that gets the value */
  const td_key *TD_NULLABLE log_prob_key;   /**< borrowed; the entry that gets the log-probability;
                                                 NULL: `out_key` with "_log_prob" behind its last
                                                 name */
  double low;                               /**< lower bound; with `high` 0 too: -1 */
  double high;                              /**< upper bound; with `low` 0 too: 1 */
  double upscale;                           /**< for TD_DISTRIBUTION_TANH_LOC; 0: 5 */
  const double *TD_NULLABLE lows;           /**< borrowed; a lower bound for each element of the
                                                 event, such as the joints of a robot; NULL: `low`
                                                 for all; since 0.3, as all below */
  const double *TD_NULLABLE highs;          /**< borrowed; as many upper bounds */
  size_t bounds_len;                        /**< number of these bounds, or 0 */
  uint64_t reserved[3];                     /**< zero */
} td_distribution;

/**
 * Flags of td_module_probabilistic().
 */
typedef uint32_t td_module_probabilistic_flags;
enum {
  TD_MODULE_PROBABILISTIC_LOG_PROB = 1, /**< return_log_prob: writes log-probabilities too */
  TD_MODULE_PROBABILISTIC_SEED = 2      /**< draws from a generator of the module's own, which begins
                                             with `seed`; otherwise from libtorch's */
};

/**
 * Options of td_module_probabilistic(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_module_probabilistic_options {
  uint32_t struct_size;                /**< sizeof(td_module_probabilistic_options) */
  td_module_probabilistic_flags flags; /**< what is written, and where numbers come from */
  td_interaction_type interaction;     /**< TD_INTERACTION_DEFAULT: TD_INTERACTION_DETERMINISTIC */
  uint32_t reserved;                   /**< zero */
  int64_t num_samples;                 /**< values for each element, as a dimension before the batch;
                                            0: one, without that dimension */
  uint64_t seed;                       /**< for TD_MODULE_PROBABILISTIC_SEED */
  const td_key *TD_NULLABLE seed_key;  /**< borrowed; an entry with a whole number that seeds each
                                            call, and gets the next seed */
} td_module_probabilistic_options;
#define TD_MODULE_PROBABILISTIC_OPTIONS_INIT \
  {sizeof(td_module_probabilistic_options), 0, 0, 0, 0, 0, NULL}

/**
 * Makes a module that takes values from distributions. Python: ProbabilisticTensorDictModule; with
 * several distributions of CompositeDistribution.
 *
 * @param parts     borrowed; the distributions, each with an `out_key` of its own
 * @param parts_len number of distributions
 * @param options   borrowed; NULL for the defaults
 * @param result    new; free with td_module_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (other parameters than the distribution has, no
 *         distribution, an event of a kind that is one, a mixture of another kind than above,
 *         bounds of a kind without, no room between the bounds, a reserved field that is not
 *         zero), TD_ERR_NULL_ARGUMENT (a pointer beside its length), TD_ERR_KEY_INVALID,
 *         TD_ERR_KEY_EXISTS (two distributions write one entry)
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_probabilistic(const td_distribution *parts, size_t parts_len,
                                  const td_module_probabilistic_options *TD_NULLABLE options,
                                  td_module **result) TD_NOEXCEPT;

/**
 * Computes the log-probability of values that a dictionary holds, such as actions that were
 * recorded. A sequence runs all but its last module first. Values outside of the support are scored
 * by the formula, not refused, as with Python's validate_args=False.
 *
 * @param td      borrowed
 * @param module  borrowed; a module of td_module_probabilistic(), or a sequence that ends with one
 * @param options borrowed; NULL for the defaults; `params` alone may be set, without a batch
 *                dimension
 * @param result  new; free with td_free(); holds an entry for each distribution; NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (another option is set), TD_ERR_KEY_NOT_FOUND,
 *         TD_ERR_KEY_INVALID, TD_ERR_WRONG_ENTRY, TD_ERR_DTYPE, TD_ERR_SHAPE, TD_ERR_UNSUPPORTED
 *         (the module does not end with a distribution, or the parameters have a batch dimension),
 *         TD_ERR_TORCH
 * @threadsafety safe while other threads call `module` and only read `td`
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_log_prob(const td_tensordict *td, const td_module *module,
                             const td_module_call_options *TD_NULLABLE options,
                             td_tensordict **result) TD_NOEXCEPT;

/**
 * Options of td_module_normal_params(). Set a field after `struct_size` to 0 for its default.
 */
typedef struct td_module_normal_params_options {
  uint32_t struct_size;                  /**< sizeof(td_module_normal_params_options) */
  uint32_t reserved;                     /**< zero */
  const char *TD_NULLABLE scale_mapping; /**< borrowed; "softplus", "exp", "relu", "none" or
                                              "biased_softplus_B", which maps 0 to the number B;
                                              NULL: "biased_softplus_1.0" */
  double scale_lb;                       /**< the scale is at least this; 0: 1e-4 */
  const td_key *TD_NULLABLE loc_key;     /**< borrowed; NULL: "loc" */
  const td_key *TD_NULLABLE scale_key;   /**< borrowed; NULL: "scale" */
} td_module_normal_params_options;
#define TD_MODULE_NORMAL_PARAMS_OPTIONS_INIT \
  {sizeof(td_module_normal_params_options), 0, NULL, 0, NULL, NULL}

/**
 * Makes a module that splits the last dimension of a tensor in two halves, the parameters of a
 * normal distribution. Python: NormalParamExtractor.
 *
 * @param path     borrowed; the entry to split; one name per level, NUL-terminated UTF-8
 * @param path_len number of names, at least 1
 * @param options  borrowed; NULL for the defaults
 * @param result   new; free with td_module_free(); NULL on failure
 *
 * @return TD_OK, TD_ERR_INVALID_ARGUMENT (an unknown mapping), TD_ERR_KEY_INVALID
 * @threadsafety any thread
 */
TD_API(0, 2) TD_MUST_USE
td_status td_module_normal_params(const char *const *path, size_t path_len,
                                  const td_module_normal_params_options *TD_NULLABLE options,
                                  td_module **result) TD_NOEXCEPT;

TD_END_C

#endif
