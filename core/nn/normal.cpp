#include "core/nn/normal.h"

#include "core/base/error.h"
#include "core/nn/transforms.h"
#include "core/tensor/sizes.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace td {

namespace {

constexpr double log_sqrt_2_pi = 0.91893853320467274178;
constexpr double sqrt_2 = 1.41421356237309504880;

// Sums over the last dimension, the event.
at::Tensor sum_event(const at::Tensor& log_prob) {
  return log_prob.dim() == 0 ? log_prob : log_prob.sum(-1);
}

Sizes sample_sizes(SizesView samples, const at::Tensor& loc, const at::Tensor& scale) {
  Sizes sizes(samples.begin(), samples.end());
  const std::vector<std::int64_t> own = at::infer_size(loc.sizes(), scale.sizes());
  sizes.append(own.begin(), own.end());
  return sizes;
}

at::Tensor normal_log_prob(const at::Tensor& value, const at::Tensor& loc,
                           const at::Tensor& scale) {
  const at::Tensor off = (value - loc) / scale;
  return off * off * -0.5 - scale.log() - log_sqrt_2_pi;
}

at::Tensor normal_sample(SizesView samples, const at::Tensor& loc, const at::Tensor& scale,
                         const OptionalGenerator& generator) {
  return loc + at::randn(sample_sizes(samples, loc, scale), generator, loc.options()) * scale;
}

class Normal final : public Distribution {
 public:
  Normal(at::Tensor loc, at::Tensor scale, bool independent)
      : loc_(std::move(loc)), scale_(std::move(scale)), independent_(independent) {}
  at::Tensor mode() const override { return loc_; }
  at::Tensor median() const override { return loc_; }
  at::Tensor mean() const override { return loc_; }
  at::Tensor deterministic() const override { return loc_; }
  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    return normal_sample(samples, loc_, scale_, generator);
  }
  at::Tensor log_prob(const at::Tensor& value) const override {
    const at::Tensor each = normal_log_prob(value, loc_, scale_);
    return independent_ ? sum_event(each) : each;
  }

 private:
  at::Tensor loc_, scale_;
  bool independent_;
};

double log_of(double bound) { return std::log(bound); }
at::Tensor log_of(const at::Tensor& bound) { return bound.log(); }

// TorchRL's TanhNormal: tanh of a normal value, scaled to [low, high]. Stays slightly inside the bounds,
// where the inverse is finite.
template <class Bound>  // double, or a tensor for the elements of an event
class TanhNormal final : public Distribution {
 public:
  TanhNormal(at::Tensor loc, at::Tensor scale, const Bound& low, const Bound& high)
      : loc_(std::move(loc)),
        scale_(std::move(scale)),
        middle_((high + low) / 2),
        half_((high - low) / 2),
        inside_(1 - precision_of(loc_.scalar_type()).resolution) {}
  at::Tensor mode() const override {
    fail(Code::unsupported, "TanhNormal has no mode in closed form; take \"deterministic\"");
  }
  at::Tensor median() const override { return deterministic(); }
  at::Tensor mean() const override { return sample({estimates_mean()}, {}).mean(0); }
  std::int64_t estimates_mean() const noexcept override { return 1000; }
  at::Tensor deterministic() const override { return moved(loc_); }
  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    return moved(normal_sample(samples, loc_, scale_, generator));
  }
  at::Tensor log_prob(const at::Tensor& value) const override {
    return score(atanh_within((value - middle_) / half_, inside_));
  }
  // Near its bounds many normal values have one tangent: TorchRL scores the one that was drawn.
  Draw draw(SizesView samples, const OptionalGenerator& generator) const override {
    const at::Tensor normal = normal_sample(samples, loc_, scale_, generator);
    return {moved(normal), score(normal)};
  }

 private:
  at::Tensor score(const at::Tensor& normal) const {
    const at::Tensor slope = (std::log(2.0) - normal - at::softplus(normal * -2)) * 2;
    return sum_event(normal_log_prob(normal, loc_, scale_) - slope - log_of(half_));
  }
  at::Tensor moved(const at::Tensor& normal) const {
    return tanh_within(normal, inside_) * half_ + middle_;
  }

  at::Tensor loc_, scale_;
  Bound middle_, half_;
  double inside_;
};

// A normal distribution restricted to [low, high]. TorchRL keeps probabilities and values a margin inside of their
// bounds, the same one for all dtypes. With a location far outside, that margin decides the results.
template <class Bound>
class TruncatedNormal final : public Distribution {
 public:
  TruncatedNormal(at::Tensor loc, const at::Tensor& scale, const Bound& low, const Bound& high)
      : loc_(std::move(loc)), scale_(scale.clamp_min(margin)), low_(low), high_(high) {
    first_ = (low - loc_) / scale_;
    last_ = (high - loc_) / scale_;
    below_ = part_below(first_);
    share_ = inside(part_below(last_) - below_);
  }
  at::Tensor mode() const override { return within(loc_); }
  at::Tensor median() const override { return at_part(at::full_like(share_, 0.5)); }
  at::Tensor mean() const override {
    return loc_ + scale_ * (density(first_) - density(last_)) / share_;
  }
  at::Tensor deterministic() const override { return mean(); }
  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    const at::Tensor part =
        at::rand(sample_sizes(samples, loc_, scale_), generator, loc_.options());
    return at_part(part * (1 - 2 * margin) + margin);
  }
  at::Tensor log_prob(const at::Tensor& value) const override {
    const at::Tensor each = normal_log_prob(within(value), loc_, scale_) - share_.log();
    const at::Tensor outside = value.lt(low_).logical_or(value.gt(high_));
    return sum_event(each.masked_fill(outside, -std::numeric_limits<double>::infinity()));
  }

 private:
  static constexpr double margin = 1e-6;
  static at::Tensor inside(const at::Tensor& part) { return part.clamp(margin, 1 - margin); }
  at::Tensor within(const at::Tensor& value) const {
    return value.clamp(low_ + margin, high_ - margin);
  }
  static at::Tensor part_below(const at::Tensor& at) {
    return inside((at / sqrt_2).erf() * 0.5 + 0.5);
  }
  static at::Tensor density(const at::Tensor& at) { return (at * at * -0.5 - log_sqrt_2_pi).exp(); }
  // The quantile of the truncated distribution.
  at::Tensor at_part(const at::Tensor& part) const {
    const at::Tensor normal = (inside(below_ + part * share_) * 2 - 1).erfinv() * sqrt_2;
    const at::Tensor value = loc_ + scale_ * normal;
    const at::Tensor kept = value.detach().clamp(low_, high_);
    // As in TorchRL: a draw that ends at a bound has the gradient that it would have without.
    return value.requires_grad() ? with_gradient_of(value, kept) : kept;
  }

  at::Tensor loc_, scale_;
  Bound low_, high_;
  at::Tensor first_, last_, below_, share_;
};

at::Tensor bounds_like(const at::Tensor& loc, const std::vector<double>& bounds) {
  if (loc.dim() == 0 || loc.size(-1) != static_cast<std::int64_t>(bounds.size())) {
    fail(Code::shape, "the distribution has bounds for ", bounds.size(),
         " elements, its \"loc\" has shape ", show_sizes(loc.sizes()));
  }
  return at::tensor(bounds, at::kDouble).to(loc.options());
}

template <class Bound>
std::unique_ptr<const Distribution> bounded(const DistributionShape& shape, const at::Tensor& loc,
                                            const at::Tensor& scale, const Bound& low,
                                            const Bound& high) {
  const at::Tensor moved = shape.tanh_loc ? (loc / shape.upscale).tanh() * shape.upscale : loc;
  if (shape.kind == DistributionKind::truncated_normal)
    return std::make_unique<TruncatedNormal<Bound>>(moved, scale, low, high);
  // TorchRL centres tanh_loc between the bounds, unless these are -1 and 1.
  const bool usual = shape.lows.empty() && shape.low == -1 && shape.high == 1;
  return std::make_unique<TanhNormal<Bound>>(
      shape.tanh_loc && !usual ? moved + ((high - low) / 2 + low) : moved, scale, low, high);
}

}  // namespace

std::unique_ptr<const Distribution> make_normal(const DistributionShape& shape,
                                                const at::Tensor& loc, const at::Tensor& scale) {
  if (loc.sizes() != scale.sizes()) {  // what is no draw has the sizes of one, too
    const std::vector<at::Tensor> both = at::broadcast_tensors({loc, scale});
    return make_normal(shape, both[0], both[1]);
  }
  if (!is_bounded(shape.kind)) {
    return std::make_unique<Normal>(loc, scale, shape.kind == DistributionKind::independent_normal);
  }
  if (shape.lows.empty()) return bounded<double>(shape, loc, scale, shape.low, shape.high);
  return bounded<at::Tensor>(shape, loc, scale, bounds_like(loc, shape.lows),
                             bounds_like(loc, shape.highs));
}

}  // namespace td
