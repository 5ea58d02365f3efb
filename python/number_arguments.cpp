#include <keyway/core/base/error.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/all.h>
#include <keyway/ops/functors/operand.h>
#include <keyway/ops/rules/promotion.h>
#include <keyway/python/number_arguments.h>

#include <optional>

namespace keyway::inline v1::python {
namespace {

// A number as an element: beyond the range of a floating dtype it is infinity, and an integer wraps around.
Scalar operand_value(const Scalar& number, ScalarType dtype) {
  if (!kNumberTypes.contains(dtype)) return number;
  return visit_dtype<kNumberTypes>(dtype, "number", [&]<typename T>() {
    const T element = operand(number);
    return Scalar(element);
  });
}

}  // namespace

void numbers_to_tensors(const FunctionSchema& schema, const std::vector<std::size_t>& positions, Stack& stack) {
  Promotion promotion;
  std::optional<Device> device;
  const ArgumentList arguments = schema.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (stack[i].is_tensor() && !arguments[i].is_out()) {
      promotion << stack[i].to_tensor();
      if (!device) device = stack[i].to_tensor().device();
    }
  }
  for (const std::size_t i : positions) {
    if (stack[i].is_tensor()) continue;
    KEYWAY_CHECK_AS(Dtype, !stack[i].to_scalar().is_bool() || !schema.name().starts_with("sub"),
                    "{}: a bool cannot be subtracted from: take a logical operator", schema.name());
    promotion << stack[i].to_scalar();
  }
  const bool is_quotient = schema.name() == "div" && schema.overload_name() == "Tensor";
  const ScalarType dtype = is_quotient ? to_float(promotion.result()) : promotion.result();
  const TensorOptions options = TensorOptions().dtype(dtype).device(device);
  for (const std::size_t i : positions) {
    if (!stack[i].is_tensor())
      stack[i] = IValue(static_cast<const TensorBase&>(full({}, operand_value(stack[i].to_scalar(), dtype), options)));
  }
}

}  // namespace keyway::inline v1::python
