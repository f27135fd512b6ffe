// core/nn/probabilistic.h: modules that make distributions of entries and take values from them.
#pragma once

#include "core/nn/distribution.h"
#include "core/nn/module.h"

#include <variant>

namespace td {

// One distribution: of several, each has its own output (Python: CompositeDistribution).
struct DistributionPart {
  DistributionShape shape;
  KeyPaths keys;                   // entries that hold the parameters
  std::vector<std::string> names;  // what these are called; none: the last names of the keys
  KeyPath out_key;
  std::optional<KeyPath>
      log_prob_key;  // without it the output's, with "_log_prob" behind its last name
};

struct ProbabilisticOptions {
  Interaction interaction = Interaction::deterministic;
  bool return_log_prob = false;
  std::int64_t num_samples = 0;       // 0: one, without a dimension of its own
  std::optional<std::uint64_t> seed;  // of a generator that the module owns
  std::optional<KeyPath> seed_key;    // an entry that holds a seed, and gets the next one
};
ModulePtr module_probabilistic(std::vector<DistributionPart> parts,
                               const ProbabilisticOptions& options = {});

// Log-probabilities of outputs that the dictionary holds, under the keys of their own. A sequence runs all
// but its last module first. Throws Code::unsupported for a module without distributions.
// Of the call, `params` alone may be given, without a batch dimension.
TensorDict log_prob(const ModulePtr& module, const TensorDict& td, const ModuleCall& call = {});

// NormalParamExtractor: two halves of the last dimension.
struct NormalParamOptions {
  KeyPath in_key, loc_key, scale_key;
  std::string scale_mapping = "biased_softplus_1.0";
  double scale_lb = 1e-4;
};
ModulePtr module_normal_params(NormalParamOptions options);

// What one of these modules was made of; nothing for another module.
struct ProbabilisticSpec {
  std::vector<DistributionPart> parts;
  ProbabilisticOptions options;
};
using FollowerSpec = std::variant<NormalParamOptions, ProbabilisticSpec>;
std::optional<FollowerSpec> follower_spec(const Module& module);

// "mode", "median", "mean", "random", "deterministic".
const char* interaction_name(Interaction interaction) noexcept;
std::optional<Interaction> interaction_of_name(const std::string& name) noexcept;

}  // namespace td
