#include "core/nn/mixture.h"

#include "core/base/error.h"
#include "core/tensor/sizes.h"

#include <ATen/ATen.h>

namespace td {

namespace {

class Mixture final : public Distribution {
 public:
  Mixture(Classes weights, std::unique_ptr<const Distribution> components, std::int64_t event_dims)
      : weights_(std::move(weights)), components_(std::move(components)), events_(event_dims) {}

  at::Tensor mode() const override { fail_without("mode"); }
  at::Tensor median() const override { fail_without("median"); }
  at::Tensor mean() const override {
    const at::Tensor each = checked(components_->mean(), listed());
    return (before_event(weights_.probs) * each).sum(listed());
  }
  at::Tensor deterministic() const override { return mean(); }

  // All components are drawn, as in Python, and one of them is taken. That choice has no gradient.
  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    const at::Tensor chosen = weights_.draw(samples, generator).unsqueeze(-1);
    const at::Tensor each = checked(components_->sample(samples, generator).detach(), listed());
    Sizes sizes(each.sizes().begin(), each.sizes().end());
    sizes[static_cast<std::size_t>(each.dim() + listed())] = 1;
    return each.gather(listed(), before_event(chosen).expand(sizes)).squeeze(listed());
  }

  at::Tensor log_prob(const at::Tensor& value) const override {
    const at::Tensor each = checked(components_->log_prob(value.unsqueeze(listed())), -1);
    return (each + at::log_softmax(weights_.log_probs, -1)).logsumexp(-1);
  }

 private:
  [[noreturn]] static void fail_without(const char* what) {
    fail(Code::unsupported, "a mixture has no ", what, ", in Python neither");
  }
  // The dimension that lists the components, counted from the end.
  std::int64_t listed() const { return -1 - events_; }
  at::Tensor before_event(const at::Tensor& of_components) const {
    return events_ == 0 ? of_components : of_components.unsqueeze(-1);
  }
  at::Tensor checked(const at::Tensor& each, std::int64_t dim) const {
    const std::int64_t count = weights_.probs.size(-1);
    if (each.dim() >= -dim && each.size(dim) == count) return each;
    fail(Code::shape, "a mixture weighs ", count, " components, and its other parameters hold ",
         each.dim() >= -dim ? each.size(dim) : 0);
  }

  const Classes weights_;
  const std::unique_ptr<const Distribution> components_;
  const std::int64_t events_;  // 0 or 1
};

}  // namespace

std::unique_ptr<const Distribution> make_mixture(Classes weights,
                                                 std::unique_ptr<const Distribution> components,
                                                 std::int64_t event_dims) {
  return std::make_unique<Mixture>(std::move(weights), std::move(components), event_dims);
}

}  // namespace td
