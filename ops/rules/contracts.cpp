#include <keyway/ops/rules/contracts.h>

namespace keyway::inline v1 {

void fail_contract(std::string_view contract, ArrayRef<ContractValue> values) {
  std::string text = "requires " + std::string(contract);
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += i == 0 ? ", but " : i + 1 == values.size() ? " and " : ", ";
    text += std::string(values[i].text) + " is " + values[i].value.str();
  }
  throw Error(ErrorKind::Value, text, __FILE__, __LINE__);
}

void fail_predicate(std::string_view contract, std::string_view why) {
  KEYWAY_FAIL(Value, "requires {}, but {}", contract, why);
}

void fail_arithmetic(std::string_view contract) {
  KEYWAY_FAIL(Value, "requires {}, but it cannot be computed: an integer overflows or is divided by zero",
              contract);
}

namespace detail {
void fail_undefined(std::string_view argument) {
  KEYWAY_FAIL(Value, "argument '{}' is an undefined tensor, but must be defined", argument);
}
void fail_argument_dtype(std::string_view argument, ScalarType dtype, DtypeSet set) {
  KEYWAY_FAIL(Type, "argument '{}' is {}, but must be {}", argument, dtype, to_string(set));
}
}  // namespace detail

Device common_device(ArrayRef<const TensorBase*> tensors, ArrayRef<const char*> names) {
  const TensorBase* chosen = nullptr;
  std::size_t at = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorBase& tensor = *tensors[i];
    if (!tensor.defined()) continue;
    if (chosen == nullptr || (chosen->dim() == 0 && chosen->is_cpu() && !tensor.is_cpu())) {
      chosen = &tensor;
      at = i;
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorBase& tensor = *tensors[i];
    if (!tensor.defined() || tensor.device() == chosen->device() || (tensor.dim() == 0 && tensor.is_cpu()))
      continue;
    KEYWAY_FAIL(Value, "argument '{}' is on {}, but argument '{}' is on {}: move one of them with to()",
                names[at], chosen->device(), names[i], tensor.device());
  }
  return chosen->device();
}

}  // namespace keyway::inline v1
