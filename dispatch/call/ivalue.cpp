#include <keyway/dispatch/call/ivalue.h>

#include <iterator>

namespace keyway::inline v1 {

namespace {
constexpr std::string_view kTagNames[] = {
    "None",     "Tensor",  "int",          "float",  "bool",      "ScalarType", "Layout",   "MemoryFormat",
    "Device",   "complex", "str",          "uint64", "Generator", "int[]",      "float[]",  "bool[]",
    "Scalar[]", "str[]",   "ScalarType[]", "int?[]", "int[][]",   "list",       "Tensor[]", "Tensor[][]"};
static_assert(std::size(kTagNames) == static_cast<std::size_t>(ValueTag::TensorListList) + 1);

template <typename List, typename Print>
std::string print_list(const List& list, Print&& print) {
  std::string text = "[";
  for (const auto& item : list) {
    if (text.size() > 1) text += ", ";
    text += print(item);
  }
  return text + "]";
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }
}  // namespace

std::string_view to_string(ValueTag tag) { return kTagNames[static_cast<std::size_t>(tag)]; }

IValue::IValue(const Scalar& v) {
  if (v.is_bool()) {
    *this = IValue(v.to<bool>());
  } else if (v.is_complex()) {
    *this = IValue(v.to<complex<double>>());
  } else if (v.is_floating_point()) {
    *this = IValue(v.to<double>());
  } else if (v.type() == ScalarType::UInt64) {
    *this = IValue(ValueTag::Uint64, v.to<std::uint64_t>());
  } else {
    *this = IValue(v.to<std::int64_t>());
  }
}

DispatchKeySet IValue::list_keys() const {
  DispatchKeySet keys;
  const auto add = [&](const std::vector<TensorBase>& tensors) {
    for (const TensorBase& tensor : tensors) keys = keys | tensor.key_set();
  };
  if (tag_ == ValueTag::TensorList) {
    add(to_tensor_list());
  } else {
    for (const std::vector<TensorBase>& tensors : to_tensor_lists()) add(tensors);
  }
  return keys;
}

void IValue::retain() const {
  if (tag_ == ValueTag::Tensor) {
    if (payload_.tensor != nullptr) (void)intrusive_ptr<TensorImpl>::retain(payload_.tensor).release();
  } else if (tag_ >= ValueTag::Complex) {
    (void)intrusive_ptr<detail::HeapValueBase>::retain(payload_.heap).release();
  }
}

void IValue::release() {
  if (tag_ == ValueTag::Tensor) {
    intrusive_ptr<TensorImpl>::adopt(payload_.tensor).reset();
  } else {
    intrusive_ptr<detail::HeapValueBase>::adopt(payload_.heap).reset();
  }
  tag_ = ValueTag::None;
}

void IValue::wrong_tag(ValueTag expected) const {
  KEYWAY_FAIL(Type, "expected a value of type {}, but got {}", to_string(expected), to_string(tag_));
}

TensorBase IValue::to_tensor() const& {
  if (is_none()) return {};
  expect(ValueTag::Tensor);
  return TensorBase(intrusive_ptr<TensorImpl>::retain(payload_.tensor));
}

TensorBase& IValue::tensor_ref() {
  if (is_none()) *this = IValue(TensorBase());
  expect(ValueTag::Tensor);
  // A handle is one pointer, as the payload is (asserted where Tensor is defined too).
  static_assert(sizeof(TensorBase) == sizeof(TensorImpl*));
  return *reinterpret_cast<TensorBase*>(&payload_.tensor);
}

double IValue::to_double() const {
  if (tag_ == ValueTag::Int) return static_cast<double>(payload_.i);
  expect(ValueTag::Double);
  return payload_.d;
}

Scalar IValue::to_scalar() const {
  switch (tag_) {
    case ValueTag::Int: return payload_.i;
    case ValueTag::Bool: return Scalar(payload_.i != 0);
    case ValueTag::Complex: return to_complex();
    case ValueTag::Uint64: return heap<std::uint64_t>(ValueTag::Uint64);
    default: expect(ValueTag::Double); return payload_.d;
  }
}

ArrayRef<bool> IValue::to_bool_list() const {
  static_assert(sizeof(bool) == sizeof(char));
  const auto& bytes = heap<std::vector<char>>(ValueTag::BoolList);
  return ArrayRef<bool>(reinterpret_cast<const bool*>(bytes.data()), bytes.size());
}

std::string to_string(const IValue& value) {
  const auto any = [](const auto& v) { return FormatArg(v).str(); };
  switch (value.tag()) {
    case ValueTag::None: return "None";
    case ValueTag::Tensor: return "Tensor " + describe(value.to_tensor());
    case ValueTag::Int: return any(value.to_int());
    case ValueTag::Double: return any(value.to_double());
    case ValueTag::Bool: return any(value.to_bool());
    case ValueTag::ScalarType: return any(value.to_scalar_type());
    case ValueTag::Layout: return any(value.to_layout());
    case ValueTag::MemoryFormat: return any(value.to_memory_format());
    case ValueTag::Device: return any(value.to_device());
    case ValueTag::Complex:
    case ValueTag::Uint64: return any(value.to_scalar());
    case ValueTag::String: return quoted(value.to_string_ref());
    case ValueTag::Generator: return "Generator";
    case ValueTag::IntList: return any(IntArrayRef(value.to_int_list()));
    case ValueTag::DoubleList: return print_list(value.to_double_list(), any);
    case ValueTag::BoolList: return print_list(value.to_bool_list(), any);
    case ValueTag::ScalarList: return print_list(value.to_scalar_list(), any);
    case ValueTag::StringList: return print_list(value.to_string_list(), quoted);
    case ValueTag::ScalarTypeList: return print_list(value.to_scalar_type_list(), any);
    case ValueTag::OptionalIntList:
      return print_list(value.to_optional_int_list(),
                        [&](std::optional<std::int64_t> v) { return v ? any(*v) : std::string("None"); });
    case ValueTag::IntListList:
      return print_list(value.to_int_lists(), [&](const auto& v) { return any(IntArrayRef(v)); });
    case ValueTag::List: return print_list(value.to_list(), [](const IValue& v) { return to_string(v); });
    case ValueTag::TensorList: return print_list(value.to_tensor_list(), describe);
    case ValueTag::TensorListList:
      return print_list(value.to_tensor_lists(), [](const auto& v) { return print_list(v, describe); });
  }
  return "?";
}

}  // namespace keyway::inline v1
