#include "core/nn/transformed.h"

#include "core/base/error.h"
#include "core/nn/normal.h"

#include <ATen/ATen.h>

namespace td {

namespace {

constexpr const char* source_names[] = {"none", "moved", "estimate", "log_normal"};

bool is_normal(DistributionKind kind) {
  return kind == DistributionKind::normal || kind == DistributionKind::independent_normal;
}

class Transformed final : public Distribution {
 public:
  Transformed(const DistributionShape& shape, std::unique_ptr<const Distribution> base,
              at::Tensor loc, at::Tensor scale)
      : spec_(shape.transformed),
        sums_base_(spec_.event && shape.base == DistributionKind::normal),
        base_(std::move(base)),
        loc_(std::move(loc)),
        scale_(std::move(scale)) {}

  at::Tensor mode() const override {
    if (spec_.mode == ValueSource::log_normal) return (loc_ - scale_.square()).exp();
    return moved(spec_.mode, "mode", &Distribution::mode);
  }
  at::Tensor median() const override {
    return moved(spec_.median, "median", &Distribution::median);
  }
  at::Tensor mean() const override { return mean_by(spec_.mean, "mean", &Distribution::mean); }
  at::Tensor deterministic() const override {
    return mean_by(spec_.deterministic, "deterministic value", &Distribution::deterministic);
  }
  std::int64_t estimates_mean() const noexcept override { return estimates(spec_.mean); }
  std::int64_t estimates_deterministic() const noexcept override {
    return estimates(spec_.deterministic);
  }

  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    return forward(base_->sample(samples, generator));
  }
  Draw draw(SizesView samples, const OptionalGenerator& generator) const override {
    const at::Tensor value = sample(samples, generator);
    return {value, score(value, spec_.joint)};
  }
  at::Tensor log_prob(const at::Tensor& value) const override { return score(value, false); }

 private:
  std::int64_t estimates(ValueSource source) const noexcept {
    return source == ValueSource::estimate ? spec_.estimates : 0;
  }

  at::Tensor mean_by(ValueSource source, const char* what,
                     at::Tensor (Distribution::*of_base)() const) const {
    if (source == ValueSource::log_normal) return (loc_ + scale_.square() / 2).exp();
    return moved(source, what, of_base);
  }
  at::Tensor moved(ValueSource source, const char* what,
                   at::Tensor (Distribution::*of_base)() const) const {
    if (source == ValueSource::moved) return forward((*base_.*of_base)());
    fail(Code::unsupported, "this transformed distribution has no ", what, ", in Python neither");
  }

  at::Tensor forward(const at::Tensor& base) const {
    path_.assign(1, base);
    for (const TransformSpec& one : spec_.transforms)
      path_.push_back(transformed(one, path_.back()));
    return path_.back();
  }

  // `joint`: the value is the last one made, and is scored by what it was made of.
  at::Tensor score(const at::Tensor& value, bool joint) const {
    bool known = !path_.empty() && path_.back().is_same(value);
    at::Tensor y = value, slopes;
    for (std::size_t i = spec_.transforms.size(); i-- > 0;) {
      const TransformSpec& one = spec_.transforms[i];
      known = known && (one.cached || joint);
      const at::Tensor x = known ? path_[i] : transformed_back(one, y);
      const at::Tensor slope = log_slope(one, x);
      slopes = slopes.defined() ? slopes + slope : slope;
      y = x;
    }
    if (spec_.event && slopes.dim() != 0) slopes = slopes.sum(-1);
    at::Tensor own = base_->log_prob(y);
    if (sums_base_ && own.dim() != 0) own = own.sum(-1);
    return own - slopes;
  }

  const TransformedSpec spec_;
  const bool sums_base_;  // the base counts each element by itself
  const std::unique_ptr<const Distribution> base_;
  const at::Tensor loc_, scale_;
  // The last value and what it was made of. An object serves one call of one thread.
  mutable std::vector<at::Tensor> path_;
};

}  // namespace

bool can_be_transformed(DistributionKind kind) noexcept {
  return is_normal(kind) || is_bounded(kind) || kind == DistributionKind::delta;
}

const char* value_source_name(ValueSource source) noexcept {
  return source_names[static_cast<std::size_t>(source)];
}

std::optional<ValueSource> value_source_of_name(const std::string& name) noexcept {
  for (std::size_t i = 0; i < std::size(source_names); ++i)
    if (name == source_names[i]) return static_cast<ValueSource>(i);
  return std::nullopt;
}

std::unique_ptr<const Distribution> make_transformed(const DistributionShape& shape,
                                                     std::unique_ptr<const Distribution> base,
                                                     const at::Tensor& loc,
                                                     const at::Tensor& scale) {
  return std::make_unique<Transformed>(shape, std::move(base), loc, scale);
}

std::unique_ptr<const Distribution> make_log_normal(const at::Tensor& loc,
                                                    const at::Tensor& scale) {
  DistributionShape shape;
  TransformSpec exponential;
  exponential.kind = TransformSpec::Kind::exp;
  shape.transformed.transforms = {exponential};
  shape.transformed.mode = shape.transformed.mean = shape.transformed.deterministic =
      ValueSource::log_normal;
  return make_transformed(shape, make_normal(shape, loc, scale), loc, scale);
}

}  // namespace td
