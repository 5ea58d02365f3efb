#include <keyway/dispatch/call/boxing.h>
#include <keyway/dispatch/call/ivalue.h>

namespace keyway::inline v1 {

namespace {

// As Python would write it.
template <typename T>
std::string print(const T& value) {
  if constexpr (std::is_same_v<T, IValue>) {
    return to_string(value);
  } else if constexpr (std::is_same_v<T, TensorBase>) {
    return describe(value);
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return "'" + std::string(value) + "'";
  } else if constexpr (std::is_same_v<T, Generator>) {
    return "Generator";
  } else if constexpr (std::is_same_v<T, CustomObject>) {
    return value.defined() ? value.class_name() + " object" : "None";
  } else if constexpr (detail::kIsOptional<T>) {
    return value ? print(*value) : "None";
  } else if constexpr (requires { value.begin(); }) {
    std::string text = "[";
    for (const auto& element : value) text += (text.size() > 1 ? ", " : "") + print(element);
    return text + "]";
  } else {
    return FormatArg(value).str();
  }
}

std::string print(const GenericDict& dict) {
  std::string text = "{";
  for (std::size_t i = 0; i < dict.size(); ++i)
    text += (i > 0 ? ", " : "") + to_string(dict.entry(i).key) + ": " + to_string(dict.entry(i).value);
  return text + "}";
}

}  // namespace

// Every type has a tag of kTagBits bits.
constexpr bool has_every_letter() {
  for (const detail::NamedType& type : detail::kNamedTypes)
    if (type.kind != TypeKind::None && detail::kTagLetters.find(type.code) == std::string_view::npos) return false;
  return detail::kTagLetters.size() <= kTagMask + 1;
}
static_assert(has_every_letter(), "a named type has no tag: all are taken, and the next type widens kTagBits");

std::string to_string(ValueTag tag) {
  const auto bits = static_cast<std::uint32_t>(tag);
  const auto last = static_cast<ValueTag>(bits & kTagMask), element = static_cast<ValueTag>(bits >> kTagBits);
  switch (last) {
    case ValueTag::None: return "None";
    case ValueTag::Uint64: return "uint64";
    case ValueTag::Optional: return to_string(element) + "?";
    case ValueTag::Dict: return "dict";
    case ValueTag::List: return element == ValueTag::None ? "list" : to_string(element) + "[]";
    default: return std::string(detail::find_named_type(detail::kTagLetters[bits & kTagMask])->schema);
  }
}

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

namespace {
// Calls f.operator()<T>() for the class that the counted object of a value with this tag keeps.
template <typename F>
void visit_kept_class(ValueTag tag, const F& f) {
  switch (tag) {
    case ValueTag::Uint64: return f.template operator()<std::uint64_t>();
    case ValueTag::List: return f.template operator()<std::vector<IValue>>();
    case ValueTag::Dict: return f.template operator()<GenericDict>();
    default: break;
  }
  detail::visit_value_class(tag, [&]<typename T>() {
    if constexpr (detail::kIsVector<T>) {
      f.template operator()<detail::KeptList<typename T::value_type>>();
    } else {
      f.template operator()<T>();
    }
  });
}
}  // namespace

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
    release_counted();
  }
  tag_ = ValueTag::None;
}

// Out of line, so that a tensor's release saves no registers for it.
[[gnu::noinline]] void IValue::release_counted() {
  visit_kept_class(tag_, [&]<typename T>() {
    intrusive_ptr<detail::HeapValue<T>>::adopt(static_cast<detail::HeapValue<T>*>(payload_.heap)).reset();
  });
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

std::string type_name(const IValue& value) {
  return value.is(ValueTag::Object) ? value.to_object().class_name() : to_string(value.tag());
}

std::string to_string(const IValue& value) {
  switch (value.tag()) {
    case ValueTag::None: return "None";
    case ValueTag::Tensor: return "Tensor " + describe(value.to_tensor());
    case ValueTag::Uint64: return print(value.to_scalar());
    case ValueTag::List: return print(value.to_list_of<IValue>());
    case ValueTag::Dict: return print(value.to_dict());
    default: break;
  }
  std::string text;
  IValue held = value;
  detail::visit_value_class(value.tag(),
                            [&]<typename T>() { text = print(detail::unbox<detail::KernelArg<T>>(held)); });
  return text;
}

}  // namespace keyway::inline v1
