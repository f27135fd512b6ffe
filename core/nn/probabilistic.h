// core/nn/probabilistic.h: modules that build distributions from entries and take values from them.
#pragma once

#include "core/nn/batch_form.h"
#include "core/nn/distribution.h"
#include "core/nn/module.h"

#include <variant>

namespace td {

// One distribution. Each part of a composite has its own output (Python: CompositeDistribution).
struct DistributionPart {
  DistributionShape shape;
  KeyPaths keys;                   // entries with the parameters
  std::vector<std::string> names;  // parameter names; empty: the last names of the keys
  KeyPath out_key;
  std::optional<KeyPath> log_prob_key;  // unset: the output's key with "_log_prob" appended
};

struct ProbabilisticOptions {
  Interaction interaction = Interaction::deterministic;
  bool return_log_prob = false;
  std::int64_t num_samples = 0;       // 0: one, without a sample dimension
  std::optional<std::uint64_t> seed;  // of the module's own generator
  std::optional<KeyPath> seed_key;    // an entry with a seed; receives the next seed
};
ModulePtr module_probabilistic(std::vector<DistributionPart> parts,
                               const ProbabilisticOptions& options = {});

// Log-probabilities of the outputs in the dictionary, under their own keys. A sequence first runs all its
// modules except the last. Throws Code::unsupported for a module without distributions. Of the call, only
// `params` may be set, without a batch dimension.
TensorDict log_prob(const ModulePtr& module, const TensorDict& td, const ModuleCall& call = {});

// NormalParamExtractor: splits the last dimension into halves.
struct NormalParamOptions {
  KeyPath in_key, loc_key, scale_key;
  std::string scale_mapping = "biased_softplus_1.0";
  double scale_lb = 1e-4;
};
ModulePtr module_normal_params(NormalParamOptions options);

// The definition of such a module; nullopt for another module.
struct ProbabilisticSpec {
  std::vector<DistributionPart> parts;
  ProbabilisticOptions options;
};
// What can follow the network of an archive.
using FollowerSpec = std::variant<NormalParamOptions, ProbabilisticSpec, NetworkSpec>;
std::optional<FollowerSpec> follower_spec(const Module& module);

// "mode", "median", "mean", "random", "deterministic".
const char* interaction_name(Interaction interaction) noexcept;
std::optional<Interaction> interaction_of_name(const std::string& name) noexcept;

}  // namespace td
