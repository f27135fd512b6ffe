// Distributions where numbers leave what a dtype holds, and parameters of differing sizes: what torch 2.14 and TorchRL 0.14.1
// computed.
#include "core/nn/distribution.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <limits>

namespace td {
namespace {

using Values = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr at::ScalarType all_reals[] = {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};

at::Tensor tensor(const Values& numbers, at::ScalarType dtype) {
  return at::tensor(numbers, at::kDouble).to(dtype);
}

std::unique_ptr<const Distribution> made(DistributionKind kind,
                                         const std::vector<std::string>& names,
                                         const std::vector<at::Tensor>& values) {
  DistributionShape shape;
  shape.kind = kind;
  return make_distribution(shape, names, values);
}

void expect_near(const at::Tensor& found, const Values& wanted, double tolerance) {
  const at::Tensor all = found.to(at::kDouble).reshape({-1}),
                   want = at::tensor(wanted, at::kDouble);
  ASSERT_EQ(all.numel(), want.numel());
  EXPECT_TRUE(at::allclose(all, want, tolerance, 1e-300, /*equal_nan=*/true)) << all << want;
}

TEST(Distributions, TruncatedFarOutsideOfItsBounds) {
  struct Case {
    double loc, scale, mean, mode, log_prob, at_high;
  };
  for (const Case& one : std::vector<Case>{
           {-1.5, 0.1, -1.35132805, -0.999999, -2.80084288, -297.300593},
           {-4.8, 1, -0.70840706, -0.999999, 1.02400210, -8.19099210},
           {-5, 0.5, -4.99999999747, -0.999999, -20.0302808, -58.4102568},
           {0, 1e-7, 0, 0, -404999999987.1, -499998999987.6},
           {1.5, 2, 0.11983263, 0.999999, -1.11348613, -0.42473625},
           {0.3, 0.4, 0.26487328, 0.3, -4.46116290, -1.49240852},
       }) {
    const auto distribution =
        made(DistributionKind::truncated_normal, {"loc", "scale"},
             {tensor({one.loc}, at::kDouble), tensor({one.scale}, at::kDouble)});
    expect_near(distribution->deterministic(), {one.mean}, 1e-7);
    expect_near(distribution->mode(), {one.mode}, 1e-12);
    const auto scored = [&](double value) {
      return distribution->log_prob(tensor({value}, at::kDouble));
    };
    expect_near(scored(-0.9), {one.log_prob}, 1e-7);
    expect_near(scored(1), {one.at_high}, 1e-7);
    expect_near(scored(1.1), {-infinity}, 0);
  }
  const auto far = made(DistributionKind::truncated_normal, {"loc", "scale"},
                        {tensor({-1.5}, at::kFloat), tensor({0.1}, at::kFloat)});
  EXPECT_TRUE(far->sample(Sizes{1000}, {}).eq(-1).all().item<bool>());
}

// A margin of float32 is none in half precision: a tangent of 1 has no inverse.
// As in TorchRL: a draw that ends at a bound moves with its parameters, so that an actor finds back.
TEST(Distributions, DrawsAtABoundHaveGradients) {
  const at::Tensor loc = tensor({5}, at::kDouble).requires_grad_();
  const at::Tensor scale = tensor({0.3}, at::kDouble).requires_grad_();
  const auto distribution =
      made(DistributionKind::truncated_normal, {"loc", "scale"}, {loc, scale});
  const at::Tensor drawn = distribution->sample({}, {});
  expect_near(drawn, {1}, 1e-5);
  drawn.backward();
  expect_near(loc.grad(), {1}, 1e-12);
  EXPECT_LT(scale.grad().item<double>(), -4);  // the quantile that was drawn
}

// The gradients of TorchRL's safetanh and safeatanh: beyond the limit they have the slope at the limit.
TEST(Distributions, TanhNormalHasGradientsAtItsLimits) {
  const at::Tensor loc = tensor({20, -20, 9, 2, -0.5}, at::kFloat).requires_grad_();
  const at::Tensor scale = tensor({0.5, 0.3, 2, 1, 0.7}, at::kFloat).requires_grad_();
  DistributionShape shape;
  shape.kind = DistributionKind::tanh_normal;
  shape.low = -2;
  shape.high = 3;
  const auto distribution =
      make_distribution(shape, {"loc", "scale"}, {loc.unsqueeze(-1), scale.unsqueeze(-1)});
  const at::Tensor value = distribution->deterministic();
  expect_near(value, {2.99999738, -1.99999738, 2.99999738, 2.91006899, -0.655292869}, 1e-6);
  value.sum().backward({}, /*retain_graph=*/true);
  expect_near(loc.grad(), {5.06639e-06, 5.06639e-06, 5.06639e-06, 0.17662704, 1.96611929}, 1e-4);
  loc.mutable_grad().zero_();
  distribution->log_prob(value).sum().backward();
  expect_near(loc.grad(), {-0.9513, 6.0005, 1.86415, 1.928055, -0.924234}, 0.03);
  expect_near(scale.grad(), {1304.80029, 6046.66748, -0.103573173, -1, -1.42857146}, 1e-3);
  loc.mutable_grad().zero_();
  distribution->log_prob(tensor({3, -2, 3, 1, 0}, at::kFloat).unsqueeze(-1)).sum().backward();
  expect_near(loc.grad(), {-51.009, 141.6919, -0.43807, -1.797267, 0.606668}, 1e-3);
}

TEST(Distributions, EachDtypeHasItsMargin) {
  const Values impossible[] = {
      {-6.9297, -1.3867}, {-4.84375, -1.3828}, {-15.942385, -1.3862944}, {-36.043653, -1.3862944}};
  const double one[] = {-0.00097752, -0.0078735, -1.1920933e-07, -2.22044605e-16};
  const double nearest[] = {0.99902344, 0.98828125, 0.999999, 0.9999997749};
  // libtorch 1.13 computes little in half precision.
  for (std::size_t i = TORCH_VERSION_MAJOR < 2 ? 1 : 0; i < 4; ++i) {
    const at::ScalarType dtype = all_reals[i];
    const double rough = i < 2 ? 5e-3 : 1e-6;
    const auto each = made(DistributionKind::bernoulli, {"probs"}, {tensor({0, 0.25, 1}, dtype)});
    expect_near(each->log_prob(tensor({1, 1, 1}, dtype)),
                {impossible[i][0], impossible[i][1], one[i]}, rough);
    const auto classes =
        made(DistributionKind::categorical, {"probs"}, {tensor({0, 0.25, 0.75}, dtype)});
    expect_near(classes->log_prob(at::arange(2)), impossible[i], rough);
    const auto moved = made(DistributionKind::tanh_normal, {"loc", "scale"},
                            {tensor({8}, dtype), tensor({0.1}, dtype)});
    expect_near(moved->deterministic(), {nearest[i]}, rough);
    EXPECT_TRUE(at::isfinite(moved->log_prob(tensor({1}, dtype))).all().item<bool>());
  }
  const auto sure = made(DistributionKind::bernoulli, {"logits"}, {tensor({15, -15}, at::kFloat)});
  expect_near(sure->log_prob(at::ones({2})), {-3.0590226e-07, -15}, 1e-6);
}

// torch: a Gamma has the dtype of its rate, a Bernoulli that of the values, others the wider one.
TEST(Distributions, ValuesOfAnotherDtypeThanTheParameters) {
  struct Case {
    DistributionKind kind;
    std::vector<std::string> names;
    std::vector<Values> parameters;
    at::ScalarType value, scored;
    double number;  // of 0.7
  };
  for (const Case& one : std::vector<Case>{
           {DistributionKind::gamma,
            {"concentration", "rate"},
            {{2}, {3}},
            at::kDouble,
            at::kFloat,
            -0.25945},
           {DistributionKind::gamma,
            {"concentration", "rate"},
            {{2}, {3}},
            at::kHalf,
            at::kFloat,
            -0.25945},
           {DistributionKind::bernoulli, {"logits"}, {{0.5}}, at::kDouble, at::kDouble, -0.624077},
           {DistributionKind::bernoulli, {"logits"}, {{0.5}}, at::kHalf, at::kHalf, -0.624077},
           {DistributionKind::exponential, {"rate"}, {{3}}, at::kDouble, at::kDouble, -1.001388},
       }) {
    std::vector<at::Tensor> parameters;
    for (const Values& values : one.parameters) parameters.push_back(tensor(values, at::kFloat));
    const at::Tensor scored =
        made(one.kind, one.names, parameters)->log_prob(tensor({0.7}, one.value));
    EXPECT_EQ(scored.scalar_type(), one.scored);
    expect_near(scored, {one.number}, 2e-3);
  }
}

TEST(Distributions, ParametersOfDifferingSizes) {
  for (const DistributionKind kind :
       {DistributionKind::normal, DistributionKind::independent_normal,
        DistributionKind::tanh_normal, DistributionKind::truncated_normal}) {
    const auto distribution = made(kind, {"loc", "scale"}, {at::zeros({5, 1}), at::ones({5, 4})});
    EXPECT_EQ(distribution->deterministic().sizes(), SizesView({5, 4}));
    EXPECT_EQ(distribution->sample({}, {}).sizes(), SizesView({5, 4}));
  }
  const auto vectors = made(DistributionKind::multivariate_normal, {"loc", "scale_tril"},
                            {at::zeros({1, 2}), at::eye(2).expand({4, 2, 2})});
  const at::Tensor drawn = vectors->sample({}, {});
  ASSERT_EQ(drawn.sizes(), SizesView({4, 2}));
  EXPECT_FALSE(at::equal(drawn[0], drawn[1]));
  EXPECT_EQ(vectors->mean().sizes(), SizesView({4, 2}));
}

TEST(Distributions, ClassesOfDifferingSizes) {
  const at::Tensor logits =
      at::log_softmax(at::arange(24).reshape({2, 4, 3}).remainder(5).to(at::kFloat), -1);
  const auto scored = [](const at::Tensor& given, const at::Tensor& value) {
    return made(DistributionKind::categorical, {"logits"}, {given})->log_prob(value);
  };
  const at::Tensor one_for_all = at::tensor({2, 0}, at::kLong).reshape({2, 1});
  EXPECT_TRUE(
      at::allclose(scored(logits, one_for_all),
                   logits.gather(-1, one_for_all.expand({2, 4}).unsqueeze(-1)).squeeze(-1)));
  const at::Tensor narrow = logits.narrow(1, 0, 1),
                   each = at::tensor({0, 1, 2, 0, 0, 1, 2, 0}, at::kLong).reshape({2, 4});
  EXPECT_TRUE(at::allclose(scored(narrow, each),
                           narrow.expand({2, 4, 3}).gather(-1, each.unsqueeze(-1)).squeeze(-1)));
  EXPECT_EQ(scored(logits, at::zeros({6, 2, 4}, at::kLong)).sizes(), SizesView({6, 2, 4}));
  EXPECT_ANY_THROW(scored(logits, at::zeros({2, 2}, at::kLong)));
}

}  // namespace
}  // namespace td
