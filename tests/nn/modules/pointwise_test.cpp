// Activations and losses against their formulas over doubles; other shapes of an input.
#include <keyway/nn/functional.h>
#include <keyway/nn/modules/activation.h>
#include <keyway/nn/modules/flatten.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/nn/modules/loss.h>
#include <keyway/nn/modules/margin_loss.h>
#include <keyway/nn/modules/module_list.h>
#include <keyway/nn/modules/sequential.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

#include <functional>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::exact;
using keyway::testing::largest_difference;
using keyway::testing::some_tensor;
using keyway::testing::tensor_of;
using keyway::testing::values_of;

namespace {

template <typename Holder>
void check_elements(const Holder& module, const std::function<double(double)>& expected) {
  const Tensor x = some_tensor({40}).mul(4);
  std::vector<double> values;
  for (const double value : values_of(x)) values.push_back(expected(value));
  INFO(module->name());
  CHECK(largest_difference(values_of(module(x)), values) < 1e-13);
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double within(double x, double low, double high) { return std::min(std::max(x, low), high); }

// The mean, the sum, and each term of a loss.
template <typename Loss>
void check_loss(const typename Loss::ContainedType& mean, const Loss& sum, const Loss& each, const Tensor& x,
                const Tensor& y, const std::function<double(double, double)>& term) {
  const auto a = values_of(x), b = values_of(y);
  std::vector<double> terms;
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    terms.push_back(term(a[i], b[i]));
    total += terms.back();
  }
  CHECK(const_cast<typename Loss::ContainedType&>(mean).forward(x, y).template item<double>() ==
        Approx(total / static_cast<double>(a.size())));
  CHECK(sum(x, y).template item<double>() == Approx(total));
  CHECK(largest_difference(values_of(each(x, y)), terms) < 1e-13);
}
template <typename Loss, typename Options>
void check_loss(Options options, const Tensor& x, const Tensor& y, const std::function<double(double, double)>& term) {
  Options sum = options, each = options;
  check_loss<Loss>(*Loss(options), Loss(sum.reduction(Reduction::Sum)), Loss(each.reduction(Reduction::None)), x, y,
                   term);
}

}  // namespace

TEST_CASE("activations are their formulas") {
  check_elements(nn::SELU(),
                 [](double x) { return 1.0507009873554804934 * (x > 0 ? x : 1.6732632423543772848 * std::expm1(x)); });
  check_elements(nn::Mish(), [](double x) { return x * std::tanh(std::log1p(std::exp(x))); });
  check_elements(nn::Hardswish(), [](double x) { return x * within(x + 3, 0, 6) / 6; });
  check_elements(nn::Hardsigmoid(), [](double x) { return within(x + 3, 0, 6) / 6; });
  check_elements(nn::LogSigmoid(), [](double x) { return std::log(logistic(x)); });
  check_elements(nn::ReLU6(), [](double x) { return within(x, 0, 6); });
  check_elements(nn::Softsign(), [](double x) { return x / (1 + std::abs(x)); });
  check_elements(nn::Tanhshrink(), [](double x) { return x - std::tanh(x); });
  check_elements(nn::LeakyReLU(0.2), [](double x) { return x > 0 ? x : 0.2 * x; });
  check_elements(nn::CELU(2.0), [](double x) { return x > 0 ? x : 2 * std::expm1(x / 2); });
  check_elements(nn::ELU(0.5), [](double x) { return x > 0 ? x : 0.5 * std::expm1(x); });
  check_elements(nn::Hardshrink(1.0), [](double x) { return std::abs(x) > 1 ? x : 0; });
  check_elements(nn::Softshrink(1.0), [](double x) { return x > 1 ? x - 1 : x < -1 ? x + 1 : 0; });
  check_elements(nn::Hardtanh(nn::HardtanhOptions().min_val(-2).max_val(0.5)),
                 [](double x) { return within(x, -2, 0.5); });
  check_elements(nn::Softplus(nn::SoftplusOptions().beta(2).threshold(3)),
                 [](double x) { return 2 * x > 3 ? x : std::log1p(std::exp(2 * x)) / 2; });
  check_elements(exact(nn::PReLU(nn::PReLUOptions().init(0.1))),
                 [](double x) { return x > 0 ? x : static_cast<double>(0.1f) * x; });
}

TEST_CASE("softmax and gates go along a dimension") {
  const Tensor x = some_tensor({2, 4});
  CHECK(values_of(nn::Softmax(0)(x)) == values_of(softmax(x, 0)));
  CHECK(values_of(nn::LogSoftmax(1)(x)) == values_of(log_softmax(x, 1)));
  CHECK(largest_difference(values_of(nn::GLU(1)(x)), values_of(x.slice(1, 0, 2) * x.slice(1, 2, 4).sigmoid())) < 1e-15);
}

TEST_CASE("losses are their formulas, by each reduction") {
  const Tensor x = some_tensor({3, 4}), y = some_tensor({3, 4}, 2);
  check_loss<nn::L1Loss>(nn::L1LossOptions(), x, y, [](double a, double b) { return std::abs(a - b); });
  check_loss<nn::MSELoss>(nn::MSELossOptions(), x, y, [](double a, double b) { return (a - b) * (a - b); });
  check_loss<nn::SmoothL1Loss>(nn::SmoothL1LossOptions().beta(0.5), x, y, [](double a, double b) {
    const double d = std::abs(a - b);
    return d < 0.5 ? d * d : d - 0.25;
  });
  check_loss<nn::HuberLoss>(nn::HuberLossOptions().delta(0.5), x, y, [](double a, double b) {
    const double d = std::abs(a - b);
    return d <= 0.5 ? d * d / 2 : 0.5 * (d - 0.25);
  });
  check_loss<nn::KLDivLoss>(nn::KLDivLossOptions().log_target(true), x, y,
                            [](double a, double b) { return std::exp(b) * (b - a); });
  const Tensor probabilities = x.sigmoid(), wanted = y.gt(0).to(kDouble);
  check_loss<nn::SoftMarginLoss>(nn::SoftMarginLossOptions(), x, wanted * 2 - 1,
                                 [](double a, double b) { return std::log1p(std::exp(-b * a)); });
  const auto cross = [](double p, double t) { return -(t * std::log(p) + (1 - t) * std::log(1 - p)); };
  check_loss<nn::BCELoss>(nn::BCELossOptions(), probabilities, wanted, cross);
  check_loss<nn::BCEWithLogitsLoss>(nn::BCEWithLogitsLossOptions().pos_weight(tensor_of({3}, {1})), x, wanted,
                                    [&](double a, double t) { return cross(logistic(a), t) * (t > 0 ? 3 : 1); });
}

TEST_CASE("losses of classes weigh them, and weights go where the module goes") {
  const Tensor x = some_tensor({3, 4}), target = tensor_of({2, -100, 0}, {3}, kLong);
  const auto in = values_of(log_softmax(x, 1));
  const double w[] = {0.5, 1, 2, 1};
  const nn::NLLLoss loss(nn::NLLLossOptions().weight(tensor_of({0.5, 1, 2, 1}, {4})));
  const double expected = -(w[2] * in[2] + w[0] * in[8]) / (w[2] + w[0]);
  CHECK(loss(log_softmax(x, 1), target).item<double>() == Approx(expected));
  const nn::CrossEntropyLoss whole(nn::CrossEntropyLossOptions().weight(loss->weight).ignore_index(-100));
  CHECK(whole(x, target).item<double>() == Approx(expected));
  CHECK(whole->named_buffers().keys() == std::vector<std::string>{"weight"});
  whole->to(kFloat);
  CHECK(whole(x.to(kCPU, kFloat), target).item<double>() == Approx(expected).epsilon(1e-6));
}

TEST_CASE("functions of losses of classes take images and single examples, as the modules do") {
  const Tensor x = log_softmax(some_tensor({2, 3, 2, 2}), 1),
               target = tensor_of({0, 1, 2, 0, 1, 1, 2, 0}, {2, 2, 2}, kLong);
  const auto in = values_of(x), classes = values_of(target);
  double sum = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    sum -= in[(i / 4 * 3 + static_cast<std::size_t>(classes[i])) * 4 + i % 4];
  }
  CHECK(nn::functional::nll_loss(x, target).item<double>() == Approx(sum / 8));
  CHECK(nn::functional::cross_entropy(x, target).item<double>() == Approx(sum / 8));
  const Tensor one = x.select(0, 0).select(1, 0).select(1, 0);
  CHECK(nn::functional::nll_loss(one, tensor_of({2}, {}, kLong)).item<double>() == Approx(-in[8]));
}

TEST_CASE("Flatten, Unflatten and Identity change shapes only") {
  const Tensor x = some_tensor({2, 3, 4});
  CHECK(nn::Flatten()(x).sizes() == IntArrayRef({2, 12}));
  CHECK(nn::Flatten(nn::FlattenOptions().start_dim(0).end_dim(1))(x).sizes() == IntArrayRef({6, 4}));
  CHECK(nn::Unflatten(2, std::vector<std::int64_t>{2, -1})(x).sizes() == IntArrayRef({2, 3, 2, 2}));
  CHECK(nn::Identity()(x).is_same(x));
}

TEST_CASE("ModuleList keeps modules by number") {
  nn::ModuleList list(nn::Linear(2, 3), nn::ReLU());
  list->push_back(nn::Linear(3, 1));
  CHECK(list->size() == 3);
  CHECK(list->named_parameters().keys() == std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"});
  CHECK(list->at<nn::LinearImpl>(2).options.in_features() == 3);
  CHECK(error_of([&] { list->at<nn::LinearImpl>(1); }).find("module 1 of") == 0);
  CHECK(error_of([&] { list->at(3); }).find("has 3 modules, and none at 3") != std::string::npos);
}

TEST_CASE("triplet losses refuse a margin that is not positive when they are made") {
  CHECK(error_of([] { nn::TripletMarginLoss(nn::TripletMarginLossOptions().margin(0)); }) ==
        "TripletMarginLoss: margin is 0, but must be greater than 0");
  CHECK(error_of([] { nn::TripletMarginWithDistanceLoss(nn::TripletMarginWithDistanceLossOptions().margin(-1)); }) ==
        "TripletMarginWithDistanceLoss: margin is -1, but must be greater than 0");
}
