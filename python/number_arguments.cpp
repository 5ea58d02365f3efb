#include <keyway/ops/all.h>
#include <keyway/ops/rules/promotion.h>
#include <keyway/python/number_arguments.h>

#include <optional>

namespace keyway::inline v1::python {

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
    if (!stack[i].is_tensor()) promotion << stack[i].to_scalar();
  }
  const TensorOptions options = TensorOptions().dtype(promotion.result()).device(device);
  for (const std::size_t i : positions) {
    if (!stack[i].is_tensor())
      stack[i] = IValue(static_cast<const TensorBase&>(full({}, stack[i].to_scalar(), options)));
  }
}

}  // namespace keyway::inline v1::python
