// IValue: one argument or result of a boxed call, in 16 bytes of standard layout: a tag and a payload. What
// does not fit in eight bytes is a counted object.
#pragma once

#include <keyway/core/base/complex.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/random/generator.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

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
  IntList,
  DoubleList,
  BoolList,
  ScalarList,
  StringList,
  ScalarTypeList,
  OptionalIntList,
  IntListList,
  List,  // of IValue
  // Those with tensors come last.
  TensorList,  // elements may be undefined: Tensor?[]
  TensorListList,
};
KEYWAY_API std::string_view to_string(ValueTag tag);

namespace detail {
struct HeapValueBase : RefCounted {
  virtual ~HeapValueBase() = default;
};
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
  IValue(std::vector<std::int64_t> v) : IValue(ValueTag::IntList, std::move(v)) {}
  IValue(std::vector<double> v) : IValue(ValueTag::DoubleList, std::move(v)) {}
  // One byte an element, so that a kernel can be given an ArrayRef<bool> of it.
  static IValue bool_list(std::vector<char> v) { return IValue(ValueTag::BoolList, std::move(v)); }
  IValue(std::vector<Scalar> v) : IValue(ValueTag::ScalarList, std::move(v)) {}
  IValue(std::vector<std::string> v) : IValue(ValueTag::StringList, std::move(v)) {}
  IValue(std::vector<ScalarType> v) : IValue(ValueTag::ScalarTypeList, std::move(v)) {}
  IValue(std::vector<std::optional<std::int64_t>> v) : IValue(ValueTag::OptionalIntList, std::move(v)) {}
  IValue(std::vector<std::vector<std::int64_t>> v) : IValue(ValueTag::IntListList, std::move(v)) {}
  IValue(std::vector<TensorBase> v) : IValue(ValueTag::TensorList, std::move(v)) {}
  IValue(std::vector<std::vector<TensorBase>> v) : IValue(ValueTag::TensorListList, std::move(v)) {}
  IValue(std::vector<IValue> v) : IValue(ValueTag::List, std::move(v)) {}

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
    return tag_ >= ValueTag::TensorList ? list_keys() : DispatchKeySet();
  }
  // A reference to the handle in place; None reads as an undefined tensor.
  TensorBase& tensor_ref();
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
  const Generator& to_generator() const { return heap<Generator>(ValueTag::Generator); }
  const complex<double>& to_complex() const { return heap<complex<double>>(ValueTag::Complex); }
  const std::vector<std::int64_t>& to_int_list() const { return heap<std::vector<std::int64_t>>(ValueTag::IntList); }
  const std::vector<double>& to_double_list() const { return heap<std::vector<double>>(ValueTag::DoubleList); }
  ArrayRef<bool> to_bool_list() const;
  std::vector<TensorBase>& to_tensor_list() const { return heap<std::vector<TensorBase>>(ValueTag::TensorList); }
  std::vector<std::vector<TensorBase>>& to_tensor_lists() const {
    return heap<std::vector<std::vector<TensorBase>>>(ValueTag::TensorListList);
  }
  const std::vector<Scalar>& to_scalar_list() const { return heap<std::vector<Scalar>>(ValueTag::ScalarList); }
  const std::vector<std::string>& to_string_list() const {
    return heap<std::vector<std::string>>(ValueTag::StringList);
  }
  const std::vector<ScalarType>& to_scalar_type_list() const {
    return heap<std::vector<ScalarType>>(ValueTag::ScalarTypeList);
  }
  const std::vector<std::optional<std::int64_t>>& to_optional_int_list() const {
    return heap<std::vector<std::optional<std::int64_t>>>(ValueTag::OptionalIntList);
  }
  const std::vector<std::vector<std::int64_t>>& to_int_lists() const {
    return heap<std::vector<std::vector<std::int64_t>>>(ValueTag::IntListList);
  }
  const std::vector<IValue>& to_list() const { return heap<std::vector<IValue>>(ValueTag::List); }

 private:
  template <typename T>
  IValue(ValueTag tag, T v) : tag_(tag) {
    payload_.heap = new detail::HeapValue<T>(std::move(v));
  }
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

  ValueTag tag_ = ValueTag::None;
  union Payload {
    std::int64_t i;
    double d;
    TensorImpl* tensor;
    detail::HeapValueBase* heap;
  } payload_{.i = 0};
};
static_assert(sizeof(IValue) == 16 && std::is_standard_layout_v<IValue>);

// As Python would write it: `Tensor float32[2, 3] on cpu`, `[1, 2]`, `'none'`.
KEYWAY_API std::string to_string(const IValue& value);

}  // namespace keyway::inline v1
