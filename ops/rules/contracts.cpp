#include <keyway/ops/rules/contracts.h>

namespace keyway::inline v1 {

void fail_contract(std::string_view contract, ArrayRef<ContractValue> values, ErrorKind kind) {
  std::string text = "requires " + std::string(contract);
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += i == 0 ? ", but " : i + 1 == values.size() ? " and " : ", ";
    text += std::string(values[i].text) + " is " + values[i].value.str();
  }
  throw Error(kind, text, __FILE__, __LINE__);
}

void fail_predicate(std::string_view contract, const Refusal& why) {
  throw Error(why.kind, format("requires {}, but {}", {contract, why.text}), __FILE__, __LINE__);
}

void fail_arithmetic(std::string_view contract) {
  KEYWAY_FAIL(Value, "requires {}, but it cannot be computed: an integer overflows or is divided by zero", contract);
}

namespace detail {
void fail_undefined(std::string_view argument) {
  KEYWAY_FAIL(Value, "argument '{}' is an undefined tensor, but must be defined", argument);
}
void fail_argument_dtype(std::string_view argument, ScalarType dtype, DtypeSet set) {
  KEYWAY_FAIL(Dtype, "argument '{}' is {}, but must be {}", argument, dtype, to_string(set));
}
void fail_common_dtype(ScalarType common, DtypeSet set) {
  KEYWAY_FAIL(Dtype, "the tensors promote to {}, but must to {}", common, to_string(set));
}
void fail_same_dtype(std::string_view argument, ScalarType dtype, std::string_view like, ScalarType wanted) {
  KEYWAY_FAIL(Type, "argument '{}' is {}, but argument '{}' is {}: they must have one dtype", argument, dtype, like,
              wanted);
}
void fail_number(std::string_view argument, const Scalar& number, ScalarType dtype) {
  KEYWAY_FAIL(Type, "argument '{}' is {}, but the result is {}: it must be {}", argument, number, dtype,
              is_integral(dtype, true) ? "an integer" : "a real number");
}

// Throws unless every defined tensor is on one device, or a number on the CPU where such may be anywhere.
Device common_device_slowly(ArrayRef<NamedTensor> tensors, bool numbers_from_cpu) {
  const auto is_number = [&](const TensorBase& tensor) {
    return numbers_from_cpu && tensor.dim() == 0 && tensor.is_cpu();
  };
  const NamedTensor* chosen = nullptr;
  for (const NamedTensor& each : tensors) {
    if (!each.tensor.defined()) continue;
    if (chosen == nullptr || (is_number(chosen->tensor) && !is_number(each.tensor))) chosen = &each;
  }
  const Device device = chosen->tensor.device();
  for (const NamedTensor& each : tensors) {
    if (!each.tensor.defined() || each.tensor.device() == device || is_number(each.tensor)) continue;
    KEYWAY_FAIL(Value, "argument '{}' is on {}, but argument '{}' is on {}: move one of them with to()", chosen->name,
                device, each.name, each.tensor.device());
  }
  return device;
}
}  // namespace detail

Device same_device(const char* argument, ArrayRef<TensorBase> tensors) {
  for (const TensorBase& tensor : tensors) {
    if (!tensor.defined()) continue;
    check_device(argument, tensors, tensor.device());
    return tensor.device();
  }
  KEYWAY_FAIL(Value, "argument '{}' has no tensor", argument);
}

void check_device(const char* argument, ArrayRef<TensorBase> tensors, Device device) {
  for (const TensorBase& tensor : tensors) {
    KEYWAY_CHECK(!tensor.defined() || tensor.device() == device,
                 "a tensor of argument '{}' is on {}, but others are on {}: move one of them with to()", argument,
                 tensor.device(), device);
  }
}

ScalarType dtype_of(std::string_view argument, ArrayRef<TensorBase> tensors) {
  for (const TensorBase& tensor : tensors) {
    if (tensor.defined()) return tensor.dtype();
  }
  KEYWAY_FAIL(Value, "argument '{}' has no tensor", argument);
}

void check_layout(const std::optional<Layout>& layout) {
  KEYWAY_CHECK_AS(NotImplemented, !layout || *layout == Layout::Strided, "argument 'layout' is {}, but must be strided",
                  *layout);
}

}  // namespace keyway::inline v1
