// Random numbers. A seed gives the same numbers in each run; they are Keyway's, not those of another runtime.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

namespace keyway::inline v1::onnx {

namespace {

using Sort = Operator::Sort;

Generator generator_of(const Call& call) {
  if (!call.has_attribute("seed")) return nullptr;
  // Each run begins with the seed, as a graph would not.
  Call::refuse_within_capture("a generator with the seed of ONNX's " + std::string(call.op()));
  Generator generator;
  const std::int64_t seed =
      call.op() == "Dropout" ? call.attribute("seed") : static_cast<std::int64_t>(call.single_attribute("seed"));
  generator.manual_seed(static_cast<std::uint64_t>(seed));
  return generator;
}

std::vector<std::int64_t> random_sizes(const Call& call) {
  return call.has(0) ? call.tensor(0).sizes().vec() : call.list_attribute("shape");
}

ScalarType random_dtype(const Call& call) {
  if (call.has_attribute("dtype")) return dtype_of_element_type(call.attribute("dtype"));
  return call.has(0) ? call.tensor(0).dtype() : kFloat;
}

Results random_normal(const Call& call) {
  const Tensor numbers = randn(random_sizes(call), generator_of(call), random_dtype(call));
  return {add(mul(numbers, Scalar(call.single_attribute("scale", 1))), Scalar(call.single_attribute("mean", 0)))};
}

Results random_uniform(const Call& call) {
  const double low = call.single_attribute("low", 0);
  const double high = call.single_attribute("high", 1);
  const Tensor numbers = rand(random_sizes(call), generator_of(call), random_dtype(call));
  return {add(mul(numbers, Scalar(high - low)), Scalar(low))};
}

Results bernoulli_of(const Call& call) {
  return {bernoulli(call.tensor(0), generator_of(call)).to(random_dtype(call))};
}

Results multinomial_of(const Call& call) {
  const ScalarType dtype = call.has_attribute("dtype") ? dtype_of_element_type(call.attribute("dtype")) : kInt;
  const Tensor weights = softmax(call.tensor(0), -1);
  return {multinomial(weights, call.attribute("sample_size", 1), true, generator_of(call)).to(dtype)};
}

// Drops in training only: an input says so from version 12 on, before that an attribute did.
Results dropout_of(const Call& call) {
  const Tensor& x = call.tensor(0);
  const double ratio =
      call.version() >= 12 ? (call.has(1) ? call.number(1) : 0.5) : call.single_attribute("ratio", 0.5);
  const bool training =
      call.version() >= 12 ? call.has(2) && call.truth(2) : call.version() < 7 && call.attribute("is_test", 0) == 0;
  const ScalarType mask_dtype = call.version() >= 10 ? kBool : x.dtype();
  if (!training || ratio == 0) return {x, ones(x.sizes(), mask_dtype)};
  call.check(ratio > 0 && ratio < 1, "the ratio is {}", ratio);
  const Tensor mask = ge(rand(x.sizes(), generator_of(call), kFloat), Scalar(ratio));
  return {where(mask, div(x, Scalar(1 - ratio)), zeros_like(x)), mask.to(mask_dtype)};
}

constexpr Operator kRandoms[] = {
    {"Bernoulli", 15, bernoulli_of, 1, "dtype seed", 1, Sort::Random},
    {"Dropout", 1, dropout_of, 1, "consumed_inputs is_test ratio", 2, Sort::Random},
    {"Dropout", 7, dropout_of, 1, "ratio", 2},
    {"Dropout", 12, dropout_of, 3, "seed", 2, Sort::Random},
    {"Multinomial", 7, multinomial_of, 1, "dtype sample_size seed", 1, Sort::Random},
    {"RandomNormal", 1, random_normal, 0, "dtype mean scale seed shape", 1, Sort::Random},
    {"RandomNormalLike", 1, random_normal, 1, "dtype mean scale seed", 1, Sort::Random},
    {"RandomUniform", 1, random_uniform, 0, "dtype high low seed shape", 1, Sort::Random},
    {"RandomUniformLike", 1, random_uniform, 1, "dtype high low seed", 1, Sort::Random},
};

}  // namespace

Family random_family() { return kRandoms; }

}  // namespace keyway::inline v1::onnx
