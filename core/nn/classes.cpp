#include "core/nn/classes.h"

#include "core/base/error.h"
#include "core/nn/transforms.h"
#include "core/tensor/sizes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace td {

namespace {

// Class numbers; the last dimension of the parameters lists the classes.
class Categorical : public Distribution {
 public:
  explicit Categorical(Classes given) : classes_(std::move(given)) {}
  at::Tensor mode() const override { return probs().argmax(-1); }
  at::Tensor median() const override { fail(Code::unsupported, "classes have no median"); }
  at::Tensor mean() const override { fail(Code::unsupported, "classes have no mean"); }
  at::Tensor deterministic() const override { return mode(); }
  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    return classes_.draw(samples, generator);
  }
  at::Tensor log_prob(const at::Tensor& value) const override {
    const at::Tensor number = value.to(at::kLong).unsqueeze(-1);
    const SizesView own = classes_.log_probs.sizes();
    const std::vector<std::int64_t> sizes =
        at::infer_size(value.sizes(), own.slice(0, own.size() - 1));
    Sizes wide(sizes.begin(), sizes.end()), one = wide;
    wide.push_back(classes());
    one.push_back(1);
    return classes_.log_probs.expand(wide).gather(-1, number.expand(one)).squeeze(-1);
  }

 protected:
  std::int64_t classes() const { return probs().size(-1); }
  const at::Tensor& probs() const { return classes_.probs; }

 private:
  Classes classes_;
};

class OneHotCategorical final : public Categorical {
 public:
  using Categorical::Categorical;
  at::Tensor mode() const override { return at::one_hot(Categorical::mode(), classes()); }
  at::Tensor mean() const override { return probs(); }
  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    return at::one_hot(Categorical::sample(samples, generator), classes());
  }
  at::Tensor log_prob(const at::Tensor& value) const override {
    return Categorical::log_prob(value.argmax(-1));
  }
};

class Bernoulli final : public Distribution {
 public:
  Bernoulli(bool from_logits, const at::Tensor& given) {
    logits_ = from_logits ? given : at::logit(given, precision_of(given.scalar_type()).eps);
    probs_ = from_logits ? at::sigmoid(given) : given;
  }
  // NaN if both values are equally likely, as in torch.distributions.
  at::Tensor mode() const override {
    return probs_.ge(0.5).to(probs_.scalar_type()).masked_fill(probs_.eq(0.5), std::nan(""));
  }
  at::Tensor median() const override { fail(Code::unsupported, "Bernoulli has no median"); }
  at::Tensor mean() const override { return probs_; }
  at::Tensor deterministic() const override { return mode(); }
  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    return at::bernoulli(with_front(probs_.detach(), samples), generator);
  }
  // Of the dtype of its values, where those have fractions; as in torch.
  at::Tensor log_prob(const at::Tensor& value) const override {
    const bool is_real = at::isFloatingType(value.scalar_type());
    const at::Tensor wanted = is_real ? value : value.to(logits_.scalar_type());
    const at::Tensor scored =
        -(at::softplus(-logits_) * wanted + at::softplus(logits_) * (1 - wanted));
    return scored.to(wanted.scalar_type());
  }

 private:
  at::Tensor probs_, logits_;
};

}  // namespace

Classes::Classes(bool from_logits, const at::Tensor& given) {
  if (given.dim() < 1) fail(Code::shape, "a categorical distribution needs a dimension of classes");
  if (from_logits) {
    log_probs = at::log_softmax(given, -1);
    probs = log_probs.exp();
    return;
  }
  probs = given / given.sum(-1, /*keepdim=*/true);
  const double eps = precision_of(given.scalar_type()).eps;
  log_probs = probs.clamp(eps, 1 - eps).log();
}

at::Tensor Classes::draw(SizesView samples, const OptionalGenerator& generator) const {
  const at::Tensor wide = with_front(probs.detach(), samples);
  Sizes sizes(wide.sizes().begin(), wide.sizes().end() - 1);
  return at::multinomial(wide.reshape({-1, wide.size(-1)}), 1, true, generator).reshape(sizes);
}

std::unique_ptr<const Distribution> make_classes(DistributionKind kind, bool from_logits,
                                                 const at::Tensor& given) {
  if (kind == DistributionKind::bernoulli) return std::make_unique<Bernoulli>(from_logits, given);
  Classes classes(from_logits, given);
  if (kind == DistributionKind::categorical)
    return std::make_unique<Categorical>(std::move(classes));
  return std::make_unique<OneHotCategorical>(std::move(classes));
}

}  // namespace td
