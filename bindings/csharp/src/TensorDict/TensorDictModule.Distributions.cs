using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>A distribution; its parameters are entries of a dictionary.</summary>
    public enum DistributionKind
    {
        /// <summary>loc and scale, for each element.</summary>
        Normal = 0,

        /// <summary>loc and scale; the last dimension is one event.</summary>
        IndependentNormal = 1,

        /// <summary>loc and scale, between two bounds by a hyperbolic tangent.</summary>
        TanhNormal = 2,

        /// <summary>loc and scale, of which only what lies between two bounds is left.</summary>
        TruncatedNormal = 3,

        /// <summary>logits or probs; gives the number of a class.</summary>
        Categorical = 4,

        /// <summary>logits or probs; gives a 1 among zeros.</summary>
        OneHotCategorical = 5,

        /// <summary>logits or probs, for each element.</summary>
        Bernoulli = 6,

        /// <summary>param: always this value.</summary>
        Delta = 7,

        /// <summary>concentration1 and concentration0, for each element.</summary>
        Beta = 8,

        /// <summary>concentration and rate, for each element.</summary>
        Gamma = 9,

        /// <summary>low and high, for each element.</summary>
        Uniform = 10,

        /// <summary>loc and scale, for each element.</summary>
        Laplace = 11,

        /// <summary>rate, for each element.</summary>
        Exponential = 12,

        /// <summary>loc and scale_tril, a triangular matrix; the last dimension is one event.</summary>
        MultivariateNormal = 13,

        /// <summary>loc and scale, for each element; the mean, and so the deterministic value, is NaN as in Python.</summary>
        Cauchy = 14,

        /// <summary>df, loc and scale, for each element.</summary>
        StudentT = 15,

        /// <summary>rate, for each element.</summary>
        Poisson = 16,

        /// <summary>concentration; the last dimension is one event, shares of one.</summary>
        Dirichlet = 17,

        /// <summary>scale, for each element.</summary>
        HalfNormal = 18,

        /// <summary>loc and scale, for each element: the exponential of a normal value.</summary>
        LogNormal = 19,
    }

    /// <summary>A distribution over entries of a dictionary.</summary>
    public sealed class TensorDistribution
    {
        /// <summary>A distribution, the entry that gets its value, and the entry that holds each parameter, by the parameter's name.</summary>
        public TensorDistribution(DistributionKind kind, NestedKey outKey, params (string Name, NestedKey Key)[] parameters)
        {
            Kind = kind;
            OutKey = outKey;
            Parameters = Argument.NotNull(parameters, nameof(parameters)).ToArray();
        }

        /// <summary>Which one.</summary>
        public DistributionKind Kind { get; }

        /// <summary>The entry that gets the value.</summary>
        public NestedKey OutKey { get; }

        /// <summary>The entry that gets the log-probability; else that of the value with "_log_prob" behind its name.</summary>
        public NestedKey? LogProbKey { get; set; }

        /// <summary>The lower bound.</summary>
        public double Low { get; set; } = -1;

        /// <summary>The upper bound.</summary>
        public double High { get; set; } = 1;

        /// <summary>What each element of the event lies between, such as the joints of a robot; else all lie between Low and High.</summary>
        public IReadOnlyList<(double Low, double High)>? BoundsOfEach { get; set; }

        /// <summary>The last dimension is one event, of which the log-probabilities are summed; for distributions of each element.</summary>
        public bool Event { get; set; }

        /// <summary>One of several distributions of this kind, which a further parameter, logits or probs, weighs; all parameters have a dimension of components, which is last or in front of an event.</summary>
        public bool Mixture { get; set; }

        /// <summary>If it is given, loc becomes this times the hyperbolic tangent of loc divided by this.</summary>
        public double? TanhLocUpscale { get; set; }

        internal (string Name, NestedKey Key)[] Parameters { get; }
    }

    /// <summary>What a probabilistic module writes, and where its random numbers come from.</summary>
    public sealed record ProbabilisticOptions
    {
        /// <summary>Which value is taken, unless a call says otherwise; the deterministic one if it is not given.</summary>
        public Interaction Interaction { get; set; }

        /// <summary>Writes log-probabilities too.</summary>
        public bool ReturnLogProb { get; set; }

        /// <summary>So many values for each element, as a dimension before the batch; 0: one, without it.</summary>
        public long NumSamples { get; set; }

        /// <summary>Draws from a generator of the module's own.</summary>
        public ulong? Seed { get; set; }

        /// <summary>An entry with a whole number that seeds each call, and gets the next seed.</summary>
        public NestedKey? SeedKey { get; set; }
    }

    /// <content>Modules that take values from distributions.</content>
    public sealed unsafe partial class TensorDictModule
    {
        /// <summary>Takes values from distributions.</summary>
        public static TensorDictModule Probabilistic(params TensorDistribution[] distributions) => Probabilistic(distributions, null);

        /// <summary>Takes values from distributions, in a way that the options say.</summary>
        public static TensorDictModule Probabilistic(IEnumerable<TensorDistribution> distributions, ProbabilisticOptions? options)
        {
            options ??= new ProbabilisticOptions();
            TensorDistribution[] all = Argument.NotNull(distributions, nameof(distributions)).ToArray();
            var kept = new List<Utf8Keys>();
            try
            {
                Utf8Keys Keep(IEnumerable<NestedKey> keys)
                {
                    kept.Add(new Utf8Keys(keys));
                    return kept[kept.Count - 1];
                }
                var parts = new td_distribution[all.Length];
                for (int i = 0; i < all.Length; i++)
                {
                    TensorDistribution one = Argument.NotNull(all[i], nameof(distributions));
                    Utf8Keys keys = Keep(one.Parameters.Select(parameter => parameter.Key));
                    Utf8Keys names = Keep(new[] { new NestedKey(one.Parameters.Select(parameter => parameter.Name).ToArray()) });
                    parts[i] = new td_distribution
                    {
                        kind = (td_distribution_kind)one.Kind,
                        flags = (one.TanhLocUpscale.HasValue ? td_distribution_flags.TD_DISTRIBUTION_TANH_LOC : 0) |
                            (one.Event ? td_distribution_flags.TD_DISTRIBUTION_EVENT : 0) |
                            (one.Mixture ? td_distribution_flags.TD_DISTRIBUTION_MIXTURE : 0),
                        in_keys = keys.Pointer,
                        in_keys_len = keys.Length,
                        names = names.Pointer->path,
                        names_len = names.Pointer->path_len,
                        out_key = Keep(new[] { one.OutKey }).Pointer,
                        log_prob_key = one.LogProbKey.HasValue ? Keep(new[] { one.LogProbKey.Value }).Pointer : null,
                        low = one.Low,
                        high = one.High,
                        upscale = one.TanhLocUpscale ?? 0,
                    };
                }
                td_module_probabilistic_options raw = td_module_probabilistic_options.Default;
                raw.flags = (options.ReturnLogProb ? td_module_probabilistic_flags.TD_MODULE_PROBABILISTIC_LOG_PROB : 0)
                    | (options.Seed.HasValue ? td_module_probabilistic_flags.TD_MODULE_PROBABILISTIC_SEED : 0);
                raw.interaction = (td_interaction_type)options.Interaction;
                raw.num_samples = options.NumSamples;
                raw.seed = options.Seed ?? 0;
                raw.seed_key = options.SeedKey.HasValue ? Keep(new[] { options.SeedKey.Value }).Pointer : null;
                td_module* result = null;
                double[] lows = all.SelectMany(one => one.BoundsOfEach ?? Array.Empty<(double Low, double High)>()).Select(one => one.Low).ToArray();
                double[] highs = all.SelectMany(one => one.BoundsOfEach ?? Array.Empty<(double Low, double High)>()).Select(one => one.High).ToArray();
                td_distribution none;
                fixed (double* low = lows, high = highs)
                fixed (td_distribution* list = parts)
                {
                    for (int i = 0, at = 0; i < all.Length; at += all[i++].BoundsOfEach?.Count ?? 0)
                    {
                        parts[i].bounds_len = (nuint)(all[i].BoundsOfEach?.Count ?? 0);
                        parts[i].lows = parts[i].bounds_len == 0 ? null : low + at;
                        parts[i].highs = parts[i].bounds_len == 0 ? null : high + at;
                    }
                    Status.Check(Native.td_module_probabilistic(list == null ? &none : list, (nuint)parts.Length, &raw, &result));
                }
                return new TensorDictModule(result);
            }
            finally
            {
                foreach (Utf8Keys keys in kept)
                {
                    keys.Dispose();
                }
            }
        }

        /// <summary>
        /// Splits the last dimension of an entry in two halves, "loc" and "scale"; the scale goes through a mapping and is
        /// at least a lower bound.
        /// </summary>
        public static TensorDictModule NormalParams(NestedKey key, string scaleMapping = "biased_softplus_1.0", double scaleLowerBound = 1e-4)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            byte* textStack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var mapping = new Utf8Text(Argument.NotNull(scaleMapping, nameof(scaleMapping)), nameof(scaleMapping), textStack);
            td_module_normal_params_options raw = td_module_normal_params_options.Default;
            raw.scale_mapping = mapping.Pointer;
            raw.scale_lb = scaleLowerBound;
            td_module* result = null;
            Status.Check(Native.td_module_normal_params(path.Pointer, path.Length, &raw, &result));
            return new TensorDictModule(result);
        }
    }
}
