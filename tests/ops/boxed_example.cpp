#include <keyway/ops/all.h>
#include <keyway/tests/ops/boxed_example.h>
#include <keyway/tools/op_examples/arguments.h>

#include <cmath>

namespace keyway::inline v1::testing {

namespace {

using tools::Literal;
using Kind = Literal::Kind;

std::string compare_tensor(const Tensor& tensor, const Literal& expected) {
  const Tensor wanted = Tensor(tools::tensor_of(expected)).to(kDouble);
  const Tensor got = tensor.detach().to(kDouble).contiguous();
  if (got.sizes() != wanted.sizes() && !(got.numel() == 0 && wanted.numel() == 0)) {
    return "shape " + FormatArg(got.sizes()).str() + ", not " + FormatArg(wanted.sizes()).str();
  }
  for (std::int64_t i = 0; i < wanted.numel(); ++i) {
    const double a = got.data_ptr<double>()[i];
    const double b = wanted.data_ptr<double>()[i];
    const bool same = std::isnan(b) ? std::isnan(a) : a == b || std::abs(a - b) <= 1e-4 * (1 + std::abs(b));
    if (!same) return "element " + std::to_string(i) + " is " + std::to_string(a) + ", not " + std::to_string(b);
  }
  return {};
}

}  // namespace

std::string difference(const IValue& value, const Literal& expected) {
  switch (value.tag()) {
    case ValueTag::Tensor: return compare_tensor(Tensor(value.to_tensor()), expected);
    case ValueTag::TensorList: {
      const auto& tensors = value.to_tensor_list();
      if (tensors.size() != expected.items.size()) return std::to_string(tensors.size()) + " tensors";
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::string text = compare_tensor(Tensor(tensors[i]), expected.items[i]);
        if (!text.empty()) return text;
      }
      return {};
    }
    default: {
      const double wanted = expected.kind == Kind::Float ? expected.number : static_cast<double>(expected.integer);
      const double got = value.to_scalar().to<double>();
      return std::abs(got - wanted) <= 1e-4 * (1 + std::abs(wanted)) ? std::string() : "is " + std::to_string(got);
    }
  }
}

std::string metadata_difference(const IValue& meta, const IValue& cpu) {
  if (!cpu.is_tensor() || !meta.is_tensor()) return {};
  const TensorBase a = meta.to_tensor();
  const TensorBase b = cpu.to_tensor();
  if (a.defined() != b.defined()) return "only one is defined";
  if (!a.defined()) return {};
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype() || a.strides() != b.strides()) {
    return describe(a) + " strides " + FormatArg(a.strides()).str() + ", but on the CPU " + describe(b) + " strides " +
           FormatArg(b.strides()).str();
  }
  return {};
}

}  // namespace keyway::inline v1::testing
