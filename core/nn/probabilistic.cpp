#include "core/nn/probabilistic.h"

#include "core/nn/frame.h"
#include "core/tree/kinds.h"
#include "core/tree/paths.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>

namespace td {

namespace {

void check_part(DistributionPart& part) {
  const char* const name = distribution_name(part.shape.kind);
  if (part.names.empty()) {
    for (const KeyPath& key : part.keys) part.names.push_back(key.last());
  }
  std::vector<std::string> sorted = part.names;
  std::sort(sorted.begin(), sorted.end());
  if (part.shape.mixture && !can_be_mixed(part.shape.kind))
    fail(Code::invalid_argument, name, " is no distribution whose mixtures are supported");
  const auto known = parameter_names(part.shape);
  if (std::find(known.begin(), known.end(), sorted) == known.end()) {
    std::string wanted, given;
    for (const auto& list : known) {
      wanted += wanted.empty() ? "" : " or ";
      for (const std::string& one : list) wanted += (&one == &list[0] ? "" : ", ") + one;
    }
    for (const std::string& one : part.names) given += (given.empty() ? "" : ", ") + one;
    fail(Code::invalid_argument, part.shape.mixture ? "a mixture of " : "", name,
         " has the parameters ", wanted, ", not ", given);
  }
  if (part.shape.event && !is_elementwise(part.shape.kind))
    fail(Code::invalid_argument, name, " has no elements by themselves that could be one event");
  // A number for all elements may stand beside any kind, as archives of earlier versions have it.
  if (!part.shape.lows.empty() && !is_bounded(part.shape.root())) {
    fail(Code::invalid_argument, distribution_name(part.shape.root()), " has no bounds, but ",
         part.shape.lows.size(), " are given");
  }
  const auto check_bounds = [&](double low, double high) {
    if (!(low < high))
      fail(Code::invalid_argument, name, " from ", low, " to ", high, " holds no value");
  };
  check_bounds(part.shape.low, part.shape.high);
  for (std::size_t i = 0; i < part.shape.lows.size(); ++i)
    check_bounds(part.shape.lows[i], part.shape.highs[i]);
  if (!(part.shape.upscale > 0))
    fail(Code::invalid_argument, "upscale is ", part.shape.upscale, "; it must be above 0");
  if (!part.log_prob_key) {
    std::vector<std::string> names = part.out_key.names();
    names.back() += "_log_prob";
    part.log_prob_key.emplace(std::move(names));
  }
}

// How many samples an estimate of this value takes; 0: it is no estimate.
std::int64_t estimates(const Distribution& distribution, Interaction interaction) {
  if (interaction == Interaction::mean) return distribution.estimates_mean();
  if (interaction == Interaction::deterministic) return distribution.estimates_deterministic();
  return 0;
}

// The log-probability is undefined if it is not wanted.
Draw value_of(const Distribution& distribution, Interaction interaction, SizesView samples,
              const OptionalGenerator& generator, bool log_prob) {
  if (interaction == Interaction::random) {
    if (log_prob) return distribution.draw(samples, generator);
    return {distribution.sample(samples, generator), {}};
  }
  at::Tensor value;
  if (const std::int64_t count = estimates(distribution, interaction); count != 0) {
    value = distribution.sample({count}, generator).mean(0);
  } else {
    switch (interaction) {
      case Interaction::mode: value = distribution.mode(); break;
      case Interaction::median: value = distribution.median(); break;
      case Interaction::mean: value = distribution.mean(); break;
      default: value = distribution.deterministic();
    }
  }
  value = with_front(value, samples);
  return {value, log_prob ? distribution.log_prob(value) : at::Tensor()};
}

class Probabilistic final : public Module {
 public:
  Probabilistic(std::vector<DistributionPart> parts, const ProbabilisticOptions& options)
      : parts_(std::move(parts)), options_(options) {
    if (parts_.empty()) fail(Code::invalid_argument, "there are no distributions");
    if (options.num_samples < 0)
      fail(Code::invalid_argument, "num_samples is ", options.num_samples);
    if (options.seed && options.seed_key)
      fail(Code::invalid_argument, "a seed and an entry that holds one exclude each other");
    for (DistributionPart& part : parts_) {
      check_part(part);
      for (const KeyPath& key : part.keys) {
        if (!contains(in_keys_, key)) in_keys_.push_back(key);
      }
      if (contains(out_keys_, part.out_key))
        fail(Code::key_exists, "two distributions write ", show_path(part.out_key));
      out_keys_.push_back(part.out_key);
    }
    if (options.return_log_prob) {
      for (const DistributionPart& part : parts_) out_keys_.push_back(*part.log_prob_key);
    }
    if (options.seed) generator_ = at::detail::createCPUGenerator(*options.seed);
    if (options.num_samples != 0) samples_.push_back(options.num_samples);
  }

  SizesView sample_sizes() const noexcept override { return samples_; }
  ProbabilisticSpec spec() const { return {parts_, options_}; }

  void run(Frame& frame, const Node* params) const override {
    refuse_params(params);
    if (is_skipped(frame)) return;
    const Interaction interaction = frame.call().interaction == Interaction::unset
                                        ? options_.interaction
                                        : frame.call().interaction;
    std::vector<std::unique_ptr<const Distribution>> distributions;
    bool draws = interaction == Interaction::random;
    for (const DistributionPart& part : parts_) {
      distributions.push_back(distribution_of(frame, part));
      draws = draws || estimates(*distributions.back(), interaction) != 0;
    }
    OptionalGenerator generator = generator_;
    at::Tensor seed;  // before the call
    if (options_.seed_key && draws) {
      seed = frame.wanted(*options_.seed_key);
      generator = seeded(seed);
    }
    if (!samples_.empty()) frame.expand(samples_);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Draw drawn =
          value_of(*distributions[i], interaction, samples_, generator, options_.return_log_prob);
      frame.put(parts_[i].out_key, drawn.value);
      if (options_.return_log_prob) frame.put(*parts_[i].log_prob_key, drawn.log_prob);
    }
    if (seed.defined()) {
      const auto number = static_cast<std::int64_t>(
          at::check_generator<at::CPUGeneratorImpl>(generator)->random64() >> 1);
      const at::Tensor next = at::full_like(seed, number);
      frame.put(*options_.seed_key, frame.takes(next.sizes()) ? next : with_front(next, samples_));
    }
  }

  void put_log_probs(Frame& frame) const {
    for (const DistributionPart& part : parts_) {
      const at::Tensor value = frame.wanted(part.out_key);
      frame.put(*part.log_prob_key, distribution_of(frame, part)->log_prob(value));
    }
  }

  std::string to_string() const override {
    std::string text;
    for (const DistributionPart& part : parts_)
      text += std::string(text.empty() ? "" : ", ") + distribution_name(part.shape.kind);
    return show("ProbabilisticModule", text + ", ");
  }

 private:
  static std::unique_ptr<const Distribution> distribution_of(const Frame& frame,
                                                             const DistributionPart& part) {
    std::vector<at::Tensor> values;
    for (const KeyPath& key : part.keys) {
      values.push_back(frame.wanted(key));
      if (!values.back().is_floating_point()) {
        fail(Code::dtype, "the parameter ", show_path(key), " of a distribution has dtype ",
             values.back().scalar_type(), ", not a floating-point one");
      }
    }
    return make_distribution(part.shape, part.names, values);
  }

  at::Generator seeded(const at::Tensor& seed) const {
    if (seed.numel() == 0 || !c10::isIntegralType(seed.scalar_type(), /*includeBool=*/false)) {
      fail(Code::wrong_entry, "the entry ", show_path(*options_.seed_key),
           " holds no integer that could be a seed");
    }
    return at::detail::createCPUGenerator(
        static_cast<std::uint64_t>(seed.reshape({-1})[0].item<std::int64_t>()));
  }

  std::vector<DistributionPart> parts_;
  ProbabilisticOptions options_;
  OptionalGenerator generator_;  // its own lock makes it safe
  Sizes samples_;
};

class NormalParams final : public Module {
 public:
  explicit NormalParams(NormalParamOptions options)
      : options_(std::move(options)), mapping_(options_.scale_mapping) {
    in_keys_.push_back(options_.in_key);
    out_keys_.push_back(options_.loc_key);
    out_keys_.push_back(options_.scale_key);
  }
  const NormalParamOptions& spec() const noexcept { return options_; }
  void run(Frame& frame, const Node* params) const override {
    refuse_params(params);
    if (is_skipped(frame)) return;
    const at::Tensor both = frame.wanted(in_keys_[0]);
    if (both.dim() == 0 || both.size(-1) % 2 != 0) {
      fail(Code::shape, "the entry ", show_path(in_keys_[0]), " has shape ",
           show_sizes(both.sizes()), ", of which no two halves can be made");
    }
    const std::vector<at::Tensor> halves = both.chunk(2, -1);
    frame.put(out_keys_[0], halves[0]);
    frame.put(out_keys_[1], mapping_(halves[1]).clamp_min(options_.scale_lb));
  }
  std::string to_string() const override { return show("NormalParamExtractor"); }

 private:
  NormalParamOptions options_;
  ScaleMapping mapping_;
};

constexpr const char* interaction_names[] = {"",     "mode",   "median",
                                             "mean", "random", "deterministic"};

}  // namespace

const char* interaction_name(Interaction interaction) noexcept {
  return interaction_names[static_cast<std::size_t>(interaction)];
}

std::optional<Interaction> interaction_of_name(const std::string& name) noexcept {
  for (std::size_t i = 1; i < std::size(interaction_names); ++i) {
    if (name == interaction_names[i]) return static_cast<Interaction>(i);
  }
  return std::nullopt;
}

std::optional<FollowerSpec> follower_spec(const Module& module) {
  if (const auto* one = dynamic_cast<const Probabilistic*>(&module)) return one->spec();
  if (const auto* one = dynamic_cast<const NormalParams*>(&module)) return one->spec();
  return std::nullopt;
}

ModulePtr module_probabilistic(std::vector<DistributionPart> parts,
                               const ProbabilisticOptions& options) {
  return std::make_shared<Probabilistic>(std::move(parts), options);
}

TensorDict log_prob(const ModulePtr& module, const TensorDict& td, const ModuleCall& call) {
  if (call.out || call.map_input || call.skip_existing || call.output != ModuleOutput::like_input ||
      call.interaction != Interaction::unset) {
    fail(Code::invalid_argument,
         "log-probabilities take parameters for the call, and no other option");
  }
  if (call.params && !call.params->batch_size().empty()) {
    fail(Code::unsupported, "the parameters have batch size ",
         show_sizes(call.params->batch_size()), "; log-probabilities take one set");
  }
  check_input(td);
  const Pins pins = call.params ? Pins() : Pins(*module);
  Frame frame(td, call, pins, nullptr);
  const Node* const params = call.params ? call.params->node().get() : nullptr;
  const auto* probabilistic =
      dynamic_cast<const Probabilistic*>(&module->run_to_last(frame, params));
  if (probabilistic == nullptr)
    fail(Code::unsupported, "the module has no distribution at its end: ", module->to_string());
  const std::size_t mark = frame.mark();
  probabilistic->put_log_probs(frame);
  frame.keep_last(mark);
  const TensorDict result(td.batch_size(), td.device());
  frame.write_to(result);
  return result;
}

ModulePtr module_normal_params(NormalParamOptions options) {
  return std::make_shared<NormalParams>(std::move(options));
}

}  // namespace td
