// IValue: one argument or result of a boxed call, in 16 bytes of standard layout: a tag and a payload. What
// does not fit in eight bytes is a counted object.
#pragma once

#include <keyway/dispatch/call/generic_dict.h>
#include <keyway/dispatch/call/value_class.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

class IValue;
class Tensor;
template <typename T>
class List;

// What a value is: a kind in kTagBits bits. Of a list the last kTagBits bits say so, and those before them what its
// elements are; likewise of elements that are optional.
inline constexpr unsigned kTagBits = 5, kTagMask = (1u << kTagBits) - 1;
enum class ValueTag : std::uint32_t {
  None,
  Tensor,  // payload: TensorImpl*, null if undefined
  Int,
  Double,
  Bool,
  ScalarType,
  Layout,
  MemoryFormat,
  Device,
  // Counted objects from here on.
  Complex,
  String,
  Uint64,
  Generator,
  Object,    // of a registered class
  Scalar,    // of elements of lists alone: a number by itself is one of those above
  Optional,  // of elements alone
  List,      // of IValue, if no element is given
  Dict,
  IntList = Int << kTagBits | List,
  DoubleList = Double << kTagBits | List,
  BoolList = Bool << kTagBits | List,
  // Elements of lists of tensors may be undefined: Tensor?[].
  TensorList = Tensor << kTagBits | List,
  TensorListList = TensorList << kTagBits | List,
};

// As the schema language writes it: "int", "Tensor[]", "None".
KEYWAY_API std::string to_string(ValueTag tag);

namespace detail {

// The letters of value_code.h, in the order of ValueTag; 'u' is an Uint64.
inline constexpr std::string_view kTagLetters = "-Tidbtlmeczugos?[{";

// Requires: the code is that of a class of values.
constexpr ValueTag tag_of_code(std::string_view code) {
  if (code.starts_with('{')) return ValueTag::Dict;  // whose entries have tags of their own
  std::size_t tag = 0;
  for (std::size_t i = code.size(); i-- > 0;) tag = tag << kTagBits | kTagLetters.find(code[i]);
  return static_cast<ValueTag>(tag);
}
// Of a list, the tag of its elements, whether they are optional or not.
constexpr ValueTag element_of(ValueTag list) {
  const std::uint32_t element = static_cast<std::uint32_t>(list) >> kTagBits;
  const bool optional = (element & kTagMask) == static_cast<std::uint32_t>(ValueTag::Optional);
  return static_cast<ValueTag>(optional ? element >> kTagBits : element);
}
template <typename T>
inline constexpr ValueTag kTagOf = tag_of_code(code_of<T>());
template <>
inline constexpr ValueTag kTagOf<std::vector<IValue>> = ValueTag::List;

template <typename T>
concept ListElement = ValueClass<std::vector<T>> || std::is_same_v<T, IValue>;

// The class in which a list is kept: of booleans one byte an element, so that a kernel can take an ArrayRef<bool>.
template <typename T>
using KeptList = std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>>;

// Without virtual functions: their code might be that of a plug-in which made the value and is gone.
struct HeapValueBase : RefCounted {};
template <typename T>
struct HeapValue final : HeapValueBase {
  explicit HeapValue(T v) : value(std::move(v)) {}
  T value;
};
}  // namespace detail

class KEYWAY_API IValue {
 public:
  IValue() = default;
  IValue(TensorBase tensor) : tag_(ValueTag::Tensor) { payload_.tensor = std::move(tensor).take_impl().release(); }
  IValue(std::int64_t v) : tag_(ValueTag::Int) { payload_.i = v; }
  IValue(int v) : IValue(std::int64_t{v}) {}
  IValue(double v) : tag_(ValueTag::Double) { payload_.d = v; }
  IValue(bool v) : tag_(ValueTag::Bool) { payload_.i = v ? 1 : 0; }
  IValue(ScalarType v) : tag_(ValueTag::ScalarType) { payload_.i = static_cast<std::int64_t>(v); }
  IValue(Layout v) : tag_(ValueTag::Layout) { payload_.i = static_cast<std::int64_t>(v); }
  IValue(MemoryFormat v) : tag_(ValueTag::MemoryFormat) { payload_.i = static_cast<std::int64_t>(v); }
  IValue(Device v) : tag_(ValueTag::Device) {
    payload_.i = static_cast<int>(v.type()) << 8 | static_cast<std::uint8_t>(v.index());
  }
  IValue(const Scalar& v);
  IValue(complex<double> v) : IValue(ValueTag::Complex, v) {}
  IValue(std::string v) : IValue(ValueTag::String, std::move(v)) {}
  IValue(std::string_view v) : IValue(std::string(v)) {}
  IValue(const char* v) : IValue(std::string(v)) {}
  IValue(Generator v) : IValue(ValueTag::Generator, std::move(v)) {}
  // None if there is no object. Throws as CustomObject does.
  IValue(CustomObject v) {
    if (v.defined()) *this = IValue(ValueTag::Object, std::move(v));
  }
  template <detail::CustomClassType T>
  IValue(intrusive_ptr<T> v) : IValue(CustomObject(std::move(v))) {}
  template <detail::ListElement T>
  IValue(std::vector<T> v) : IValue(detail::kTagOf<std::vector<T>>, kept(std::move(v))) {}
  IValue(IntArrayRef v) : IValue(v.vec()) {}
  IValue(GenericDict v) : IValue(ValueTag::Dict, std::move(v)) {}
  template <std::derived_from<TensorBase> T>
  requires(!std::is_same_v<T, TensorBase>) IValue(const std::vector<T>& v)
      : IValue(std::vector<TensorBase>(v.begin(), v.end())) {}
  // None if there is nothing.
  template <typename T>
  requires std::is_constructible_v<IValue, const T&> IValue(const std::optional<T>& v) : IValue() {
    if (v) *this = IValue(*v);
  }

  IValue(const IValue& other) : tag_(other.tag_), payload_(other.payload_) { retain(); }
  IValue(IValue&& other) noexcept : tag_(std::exchange(other.tag_, ValueTag::None)), payload_(other.payload_) {}
  IValue& operator=(IValue other) noexcept {
    std::swap(tag_, other.tag_);
    std::swap(payload_, other.payload_);
    return *this;
  }
  ~IValue() {
    if (tag_ == ValueTag::Tensor || tag_ >= ValueTag::Complex) release();
  }

  ValueTag tag() const { return tag_; }
  bool is(ValueTag tag) const { return tag_ == tag; }
  bool is_none() const { return tag_ == ValueTag::None; }
  bool is_tensor() const { return tag_ == ValueTag::Tensor; }

  // The value. Throw keyway::Error(Type) naming both types if it is of another one.
  TensorBase to_tensor() const&;
  // None reads as an undefined tensor.
  TensorBase to_tensor() && {
    if (is_none()) return {};
    expect(ValueTag::Tensor);
    tag_ = ValueTag::None;
    return TensorBase(intrusive_ptr<TensorImpl>::adopt(payload_.tensor));
  }
  // The keys of a tensor or of all tensors of a list, or of lists in it; none of anything else.
  DispatchKeySet tensor_keys() const {
    if (tag_ == ValueTag::Tensor) return payload_.tensor != nullptr ? payload_.tensor->key_set() : DispatchKeySet();
    return tag_ == ValueTag::TensorList || tag_ == ValueTag::TensorListList ? list_keys() : DispatchKeySet();
  }
  // A reference to the handle in place; None reads as an undefined tensor.
  TensorBase& tensor_ref();
  // Requires: is_tensor().
  const TensorBase& tensor_ref() const { return *reinterpret_cast<const TensorBase*>(&payload_.tensor); }
  std::int64_t to_int() const { return expect(ValueTag::Int), payload_.i; }
  // An integer is accepted.
  double to_double() const;
  bool to_bool() const { return expect(ValueTag::Bool), payload_.i != 0; }
  // Any number.
  Scalar to_scalar() const;
  ScalarType to_scalar_type() const { return expect(ValueTag::ScalarType), static_cast<ScalarType>(payload_.i); }
  Layout to_layout() const { return expect(ValueTag::Layout), static_cast<Layout>(payload_.i); }
  MemoryFormat to_memory_format() const {
    return expect(ValueTag::MemoryFormat), static_cast<MemoryFormat>(payload_.i);
  }
  Device to_device() const {
    expect(ValueTag::Device);
    return Device(static_cast<DeviceType>(payload_.i >> 8), static_cast<std::int8_t>(payload_.i & 0xff));
  }
  const std::string& to_string_ref() const { return heap<std::string>(ValueTag::String); }
  const GenericDict& to_dict() const { return heap<GenericDict>(ValueTag::Dict); }
  const Generator& to_generator() const { return heap<Generator>(ValueTag::Generator); }
  const CustomObject& to_object() const { return heap<CustomObject>(ValueTag::Object); }
  const complex<double>& to_complex() const { return heap<complex<double>>(ValueTag::Complex); }
  // The elements of a list: T is what lists are made of in value_class.h, or IValue.
  template <typename T>
  ArrayRef<T> to_list_of() const {
    const auto& list = heap<detail::KeptList<T>>(detail::kTagOf<std::vector<T>>);
    static_assert(sizeof(bool) == sizeof(char));
    return ArrayRef<T>(reinterpret_cast<const T*>(list.data()), list.size());
  }
  const std::vector<std::int64_t>& to_int_list() const {
    using List = std::vector<std::int64_t>;
    return heap<List>(detail::kTagOf<List>);
  }
  std::vector<TensorBase>& to_tensor_list() const { return heap<std::vector<TensorBase>>(ValueTag::TensorList); }
  std::vector<std::vector<TensorBase>>& to_tensor_lists() const {
    return heap<std::vector<std::vector<TensorBase>>>(ValueTag::TensorListList);
  }

  // PyTorch's spellings of the same. A List that they give (list.h) has elements of its own.
  bool isNone() const { return is_none(); }
  bool isTensor() const { return is_tensor(); }
  bool isInt() const { return is(ValueTag::Int); }
  bool isDouble() const { return is(ValueTag::Double); }
  bool isBool() const { return is(ValueTag::Bool); }
  bool isString() const { return is(ValueTag::String); }
  bool isIntList() const { return is(ValueTag::IntList); }
  bool isDoubleList() const { return is(ValueTag::DoubleList); }
  bool isObject() const { return is(ValueTag::Object); }
  bool isCustomClass() const { return is(ValueTag::Object); }
  bool isTensorList() const { return is(ValueTag::TensorList); }
  template <typename T = Tensor>
  T toTensor() const {
    return T(to_tensor());
  }
  std::int64_t toInt() const { return to_int(); }
  double toDouble() const { return to_double(); }
  bool toBool() const { return to_bool(); }
  Scalar toScalar() const { return to_scalar(); }
  ScalarType toScalarType() const { return to_scalar_type(); }
  Device toDevice() const { return to_device(); }
  const std::string& toStringRef() const { return to_string_ref(); }
  template <typename T>
  intrusive_ptr<T> toCustomClass() const {
    return to_object().to<T>();
  }
  std::vector<std::int64_t> toIntVector() const { return to_int_list(); }
  std::vector<double> toDoubleVector() const { return to_list_of<double>().vec(); }
  template <typename T = Tensor>
  std::vector<T> toTensorVector() const {
    return std::vector<T>(to_tensor_list().begin(), to_tensor_list().end());
  }
  template <typename L = List<std::int64_t>>
  L toIntList() const {
    return L(toIntVector());
  }
  template <typename L = List<double>>
  L toDoubleList() const {
    return L(toDoubleVector());
  }
  template <typename L = List<Tensor>>
  L toTensorList() const {
    return L(toTensorVector<typename L::value_type>());
  }

 private:
  template <typename T>
  IValue(ValueTag tag, T v) : tag_(tag) {
    payload_.heap = new detail::HeapValue<T>(std::move(v));
  }
  template <typename T>
  static std::vector<T> kept(std::vector<T> v) {
    return v;
  }
  static std::vector<char> kept(const std::vector<bool>& v) { return {v.begin(), v.end()}; }
  template <typename T>
  T& heap(ValueTag tag) const {
    expect(tag);
    return static_cast<detail::HeapValue<T>*>(payload_.heap)->value;
  }
  void expect(ValueTag tag) const {
    if (tag_ != tag) [[unlikely]]
      wrong_tag(tag);
  }
  [[noreturn]] KEYWAY_COLD void wrong_tag(ValueTag expected) const;
  DispatchKeySet list_keys() const;
  void retain() const;
  void release();
  void release_counted();

  ValueTag tag_ = ValueTag::None;
  union Payload {
    std::int64_t i;
    double d;
    TensorImpl* tensor;
    detail::HeapValueBase* heap;
  } payload_{.i = 0};
};
static_assert(sizeof(IValue) == 16 && std::is_standard_layout_v<IValue>);

struct DictEntry {
  IValue key, value;
};

// As Python would write it: `Tensor float32[2, 3] on cpu`, `[1, 2]`, `'none'`.
KEYWAY_API std::string to_string(const IValue& value);
// What it is: "int", "Tensor[]", "my.Foo" of an object.
KEYWAY_API std::string type_name(const IValue& value);

namespace detail {
// Calls f.operator()<T>() for the class of values that has the tag; false if there is none.
template <typename F>
bool visit_value_class(ValueTag tag, const F& f) {
  return [&]<typename... T>(TypeList<T...>) {
    return ((tag == kTagOf<T> && (f.template operator()<T>(), true)) || ...);
  }(ValueClasses());
}
}  // namespace detail

}  // namespace keyway::inline v1
