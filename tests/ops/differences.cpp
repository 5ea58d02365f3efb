// What differs between the results of two calls.
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/ops/boxed_example.h>
#include <keyway/tests/ops/samples.h>

#include <cmath>

namespace keyway::inline v1::testing {

namespace {

// What rounding in another order may change.
double tolerance_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Double: return 1e-12;
    case ScalarType::Half:
    case ScalarType::ComplexHalf: return 2e-3;
    case ScalarType::BFloat16: return 2e-2;
    default: return 1e-5;
  }
}

// The elements in row-major order; of complex numbers both parts.
Tensor as_doubles(const Tensor& tensor) {
  const Tensor values = tensor.detach();
  return (is_complex(values.dtype()) ? keyway::view_as_real(values) : values).to(kDouble).contiguous();
}

std::string tensor_difference(const Tensor& got, const Tensor& expected) {
  if (got.defined() != expected.defined()) return "only one is defined";
  if (!got.defined()) return {};
  if (got.sizes() != expected.sizes() || got.dtype() != expected.dtype()) {
    return describe(got) + ", not " + describe(expected);
  }
  const NoGradGuard no_grad;
  const double tolerance = tolerance_of(got.dtype());
  const Tensor a = as_doubles(got), b = as_doubles(expected);
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.data_ptr<double>()[i], y = b.data_ptr<double>()[i];
    if (x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance * (1 + std::abs(y))) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(x) + ", not " + std::to_string(y);
  }
  return {};
}

}  // namespace

std::string difference(const Stack& results, const Stack& expected) {
  const std::vector<Tensor> a = tensors_in(results), b = tensors_in(expected);
  if (results.size() != expected.size() || a.size() != b.size()) return "another number of results";
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string text = tensor_difference(a[i], b[i]);
    if (!text.empty()) return "result " + std::to_string(i) + ": " + text;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].is_tensor() || results[i].is(ValueTag::TensorList)) continue;
    if (results[i].to_scalar() != expected[i].to_scalar()) return "result " + std::to_string(i) + " is another number";
  }
  return {};
}

std::string meta_difference(const OpCases& entry, const Stack& arguments, const Stack& results) {
  const Outcome meta = call(entry.op, on_meta(operator_named(entry.op).schema(), arguments));
  if (!meta.error.empty()) return "Meta fails: " + meta.error;
  const std::vector<Tensor> a = tensors_in(meta.results), b = tensors_in(results);
  if (a.size() != b.size()) return "Meta has another number of results";
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string text = metadata_difference(IValue(TensorBase(a[i])), IValue(TensorBase(b[i])));
    if (!text.empty()) return "result " + std::to_string(i) + " on Meta is " + text;
  }
  return {};
}

}  // namespace keyway::inline v1::testing
