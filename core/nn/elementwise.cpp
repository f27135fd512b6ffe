#include "core/nn/elementwise.h"

#include "core/base/error.h"
#include "core/nn/transforms.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace td {

namespace {

double tiny_of(const at::Tensor& like) { return precision_of(like.scalar_type()).tiny; }
double eps_of(const at::Tensor& like) { return precision_of(like.scalar_type()).eps; }

[[noreturn]] void no_median(DistributionKind kind) {
  fail(Code::unsupported, distribution_name(kind), " has no median, in Python neither");
}

// A distribution of up to three parameters, which end with the scale where there is one.
class Elementwise final : public Distribution {
 public:
  Elementwise(DistributionKind kind, const std::vector<at::Tensor>& parameters) : kind_(kind) {
    const std::vector<at::Tensor> all = at::broadcast_tensors(parameters);
    a_ = all[0];
    b_ = all.size() > 1 ? all[1] : a_;
    c_ = all.back();
  }

  at::Tensor mode() const override {
    switch (kind_) {
      case DistributionKind::beta: {
        const at::Tensor above = (a_ - 1).clamp_min(0), below = (b_ - 1).clamp_min(0);
        // Two peaks, of which torch takes that at 1.
        return (above / (above + below)).masked_fill(a_.lt(1).logical_and(b_.lt(1)), 1);
      }
      case DistributionKind::gamma: return ((a_ - 1) / b_).clamp_min(0);
      case DistributionKind::uniform: return at::full_like(a_, std::nan(""));
      case DistributionKind::laplace:
      case DistributionKind::cauchy: return a_;
      case DistributionKind::student_t: return b_;
      case DistributionKind::poisson: return a_.floor();
      default: return at::zeros_like(a_);
    }
  }
  at::Tensor median() const override { no_median(kind_); }
  at::Tensor mean() const override {
    switch (kind_) {
      case DistributionKind::beta: return a_ / (a_ + b_);
      case DistributionKind::gamma: return a_ / b_;
      case DistributionKind::uniform: return (a_ + b_) / 2;
      case DistributionKind::laplace:
      case DistributionKind::poisson: return a_;
      case DistributionKind::cauchy: return at::full_like(a_, std::nan(""));  // as in Python
      case DistributionKind::student_t: return b_.masked_fill(a_.le(1), std::nan(""));
      case DistributionKind::half_normal: return a_ * std::sqrt(2 / M_PI);
      default: return a_.reciprocal();
    }
  }
  at::Tensor deterministic() const override { return mean(); }

  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    const at::Tensor a = with_front(a_, samples), b = with_front(b_, samples);
    const auto part = [&] { return at::rand(a.sizes(), generator, a.options()); };
    const auto noise = [&] { return at::randn(a.sizes(), generator, a.options()); };
    switch (kind_) {
      case DistributionKind::beta: {  // of small parameters nothing would be left of a float
        const at::Tensor x = at::_standard_gamma(a.to(at::kDouble), generator);
        const at::Tensor y = at::_standard_gamma(b.to(at::kDouble), generator);
        return (x / (x + y)).to(a.scalar_type()).clamp(tiny_of(a), 1 - eps_of(a) / 2);
      }
      case DistributionKind::gamma:
        return (at::_standard_gamma(a, generator) / b).clamp_min(tiny_of(a));
      case DistributionKind::uniform: return a + part() * (b - a);
      case DistributionKind::laplace: {
        const at::Tensor at = part() * 2 - (1 - eps_of(a));
        return a - b * at.sign() * at.abs().clamp_max(1 - eps_of(a)).neg().log1p();
      }
      case DistributionKind::cauchy:
        return a + b * at::empty(a.sizes(), a.options()).cauchy_(0, 1, generator);
      case DistributionKind::student_t: {
        const at::Tensor chi2 = (at::_standard_gamma(a / 2, generator) * 2).clamp_min(tiny_of(a));
        return b + with_front(c_, samples) * noise() * at::rsqrt(chi2 / a);
      }
      case DistributionKind::poisson: return at::poisson(a.detach(), generator);
      case DistributionKind::half_normal: return (a * noise()).abs();
      default: return -part().neg().log1p() / a;
    }
  }

  at::Tensor log_prob(const at::Tensor& value) const override {
    switch (kind_) {
      case DistributionKind::beta:
        return at::xlogy(a_ - 1, value) + at::xlogy(b_ - 1, 1 - value) + at::lgamma(a_ + b_) -
               at::lgamma(a_) - at::lgamma(b_);
      case DistributionKind::gamma: {  // torch has the dtype of its rate, whatever the value is
        const at::Tensor x = value.to(b_.scalar_type());
        return at::xlogy(a_, b_) + at::xlogy(a_ - 1, x) - b_ * x - at::lgamma(a_);
      }
      case DistributionKind::uniform: {
        const at::Tensor within = value.ge(a_).logical_and(value.lt(b_));
        return within.to(a_.scalar_type()).log() - (b_ - a_).log();
      }
      case DistributionKind::laplace: return -(b_ * 2).log() - (value - a_).abs() / b_;
      case DistributionKind::cauchy:
        return -std::log(M_PI) - b_.log() - ((value - a_) / b_).square().log1p();
      case DistributionKind::student_t: {
        const at::Tensor above = (a_ + 1) / 2, far = ((value - b_) / c_).square() / a_;
        return at::lgamma(above) - at::lgamma(a_ / 2) - c_.log() - a_.log() / 2 -
               std::log(M_PI) / 2 - above * far.log1p();
      }
      case DistributionKind::poisson: return at::xlogy(value, a_) - a_ - at::lgamma(value + 1);
      case DistributionKind::half_normal: {
        const at::Tensor inside = std::log(2 / M_PI) / 2 - a_.log() - (value / a_).square() / 2;
        return inside.masked_fill(value.lt(0), -std::numeric_limits<double>::infinity());
      }
      default: return a_.log() - a_ * value;
    }
  }

 private:
  DistributionKind kind_;
  at::Tensor a_, b_, c_;
};

// Shares of one, an event.
class Dirichlet final : public Distribution {
 public:
  explicit Dirichlet(at::Tensor concentration) : concentration_(std::move(concentration)) {
    if (concentration_.dim() < 1)
      fail(Code::shape, "the \"concentration\" of a Dirichlet distribution has no dimension");
  }
  at::Tensor mode() const override {
    const at::Tensor above = (concentration_ - 1).clamp_min(0);
    const at::Tensor one = at::zeros_like(above).index_fill(-1, at::zeros({1}, at::kLong), 1);
    // Peaks at each corner, of which torch takes the first.
    return at::where(concentration_.lt(1).all(-1, true), one, above / above.sum(-1, true));
  }
  at::Tensor median() const override { no_median(DistributionKind::dirichlet); }
  at::Tensor mean() const override { return concentration_ / concentration_.sum(-1, true); }
  at::Tensor deterministic() const override { return mean(); }
  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    const at::Tensor wide = with_front(concentration_, samples);
    const at::Tensor x = at::_standard_gamma(wide.to(at::kDouble), generator)
                             .clamp_min(std::numeric_limits<double>::min());
    return (x / x.sum(-1, true)).to(wide.scalar_type()).clamp(tiny_of(wide), 1 - eps_of(wide) / 2);
  }
  at::Tensor log_prob(const at::Tensor& value) const override {
    return (at::xlogy(concentration_ - 1, value) - at::lgamma(concentration_)).sum(-1) +
           at::lgamma(concentration_.sum(-1));
  }

 private:
  at::Tensor concentration_;
};

class MultivariateNormal final : public Distribution {
 public:
  MultivariateNormal(at::Tensor loc, at::Tensor tril)
      : loc_(std::move(loc)), tril_(std::move(tril)) {
    if (loc_.dim() < 1 || tril_.dim() < 2 || tril_.size(-1) != loc_.size(-1) ||
        tril_.size(-2) != loc_.size(-1)) {
      fail(Code::shape, "the \"scale_tril\" of a MultivariateNormal has shape ",
           show_sizes(tril_.sizes()), ", its \"loc\" ", show_sizes(loc_.sizes()));
    }
    loc_ = at::broadcast_tensors({loc_, tril_.select(-1, 0)})[0];  // each has a draw of its own
  }
  at::Tensor mode() const override { return loc_; }
  at::Tensor median() const override { no_median(DistributionKind::multivariate_normal); }
  at::Tensor mean() const override { return loc_; }
  at::Tensor deterministic() const override { return loc_; }
  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    const at::Tensor noise =
        at::randn(with_front(loc_, samples).sizes(), generator, loc_.options());
    return loc_ + times(tril_, noise);
  }
  at::Tensor log_prob(const at::Tensor& value) const override {
    const at::Tensor off = value - loc_;
    const at::Tensor tril = at::broadcast_tensors({tril_, off.unsqueeze(-1)})[0];
    const at::Tensor steps = at::linalg_solve_triangular(tril, off.unsqueeze(-1), /*upper=*/false);
    const double constant = static_cast<double>(loc_.size(-1)) * std::log(2 * M_PI);
    return (steps.square().sum({-2, -1}) + constant) * -0.5 -
           tril_.diagonal(0, -2, -1).log().sum(-1);
  }

 private:
  static at::Tensor times(const at::Tensor& matrix, const at::Tensor& vector) {
    return at::matmul(matrix, vector.unsqueeze(-1)).squeeze(-1);
  }
  at::Tensor loc_, tril_;
};

class Event final : public Distribution {
 public:
  explicit Event(std::unique_ptr<const Distribution> base) : base_(std::move(base)) {}
  at::Tensor mode() const override { return base_->mode(); }
  at::Tensor median() const override { return base_->median(); }
  at::Tensor mean() const override { return base_->mean(); }
  at::Tensor deterministic() const override { return base_->deterministic(); }
  at::Tensor sample(SizesView samples, const OptionalGenerator& generator) const override {
    return base_->sample(samples, generator);
  }
  at::Tensor log_prob(const at::Tensor& value) const override {
    const at::Tensor each = base_->log_prob(value);
    return each.dim() == 0 ? each : each.sum(-1);
  }

 private:
  const std::unique_ptr<const Distribution> base_;
};

}  // namespace

std::unique_ptr<const Distribution> make_elementwise(DistributionKind kind,
                                                     const ParameterOf& parameter) {
  std::vector<at::Tensor> values;
  for (const std::string& name : parameter_names(kind)[0])
    values.push_back(parameter(name.c_str()));
  // The names are sorted; low stands before high, and concentration1 counts the values near 1.
  if (kind == DistributionKind::uniform || kind == DistributionKind::beta)
    std::swap(values[0], values[1]);
  return std::make_unique<Elementwise>(kind, values);
}

std::unique_ptr<const Distribution> make_dirichlet(const at::Tensor& concentration) {
  return std::make_unique<Dirichlet>(concentration);
}

std::unique_ptr<const Distribution> make_multivariate_normal(const at::Tensor& loc,
                                                             const at::Tensor& scale_tril) {
  return std::make_unique<MultivariateNormal>(loc, scale_tril);
}

std::unique_ptr<const Distribution> make_event(std::unique_ptr<const Distribution> base) {
  return std::make_unique<Event>(std::move(base));
}

}  // namespace td
