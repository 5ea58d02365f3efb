// TensorOptions: what a caller says, and leaves open, about a tensor to be made.
#pragma once

#include <keyway/core/device/device.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/tensor/layout.h>
#include <keyway/core/tensor/memory_format.h>

#include <cstdint>
#include <optional>
#include <string>

namespace keyway::inline v1 {

// Eight bytes, passed by value. Each setter returns a copy with that option set; nullopt leaves it open
// again.
//
//   TensorOptions().dtype(kFloat64).device("cuda:1").requires_grad(true)
class TensorOptions {
 public:
  constexpr TensorOptions() = default;
  constexpr TensorOptions(ScalarType t) : TensorOptions(TensorOptions().dtype(t)) {}            // NOLINT
  constexpr TensorOptions(Device d) : TensorOptions(TensorOptions().device(d)) {}               // NOLINT
  constexpr TensorOptions(DeviceType d) : TensorOptions(TensorOptions().device(d)) {}           // NOLINT
  constexpr TensorOptions(Layout l) : TensorOptions(TensorOptions().layout(l)) {}               // NOLINT
  constexpr TensorOptions(MemoryFormat f) : TensorOptions(TensorOptions().memory_format(f)) {}  // NOLINT

  [[nodiscard]] constexpr TensorOptions dtype(std::optional<ScalarType> t) const {
    TensorOptions o = *this;
    o.dtype_ = t.value_or(ScalarType::Undefined);
    return o;
  }
  [[nodiscard]] constexpr TensorOptions device(std::optional<Device> d) const {
    TensorOptions o = with(kDevice, d.has_value());
    o.device_ = d.value_or(Device(DeviceType::CPU));
    return o;
  }
  [[nodiscard]] constexpr TensorOptions device(DeviceType type, std::int8_t index = -1) const {
    return device(Device(type, index));
  }
  [[nodiscard]] constexpr TensorOptions layout(std::optional<Layout> l) const {
    TensorOptions o = with(kLayout, l.has_value());
    o.layout_ = l.value_or(Layout::Strided);
    return o;
  }
  [[nodiscard]] constexpr TensorOptions memory_format(std::optional<MemoryFormat> f) const {
    TensorOptions o = with(kMemoryFormat, f.has_value());
    o.memory_format_ = f.value_or(MemoryFormat::Contiguous);
    return o;
  }
  [[nodiscard]] constexpr TensorOptions pinned_memory(std::optional<bool> b) const {
    return with(kPinned, b.has_value()).with(kPinnedValue, b.value_or(false));
  }
  [[nodiscard]] constexpr TensorOptions requires_grad(std::optional<bool> b) const {
    return with(kGrad, b.has_value()).with(kGradValue, b.value_or(false));
  }

  // The option, or what stands for it: the default dtype, CPU, strided, false, contiguous.
  ScalarType dtype() const { return has_dtype() ? dtype_ : get_default_dtype(); }
  constexpr Device device() const { return device_; }
  constexpr Layout layout() const { return layout_; }
  constexpr MemoryFormat memory_format() const { return memory_format_; }
  constexpr bool pinned_memory() const { return has(kPinnedValue); }
  constexpr bool requires_grad() const { return has(kGradValue); }

  constexpr bool has_dtype() const { return dtype_ != ScalarType::Undefined; }
  constexpr bool has_device() const { return has(kDevice); }
  constexpr bool has_layout() const { return has(kLayout); }
  constexpr bool has_memory_format() const { return has(kMemoryFormat); }
  constexpr bool has_pinned_memory() const { return has(kPinned); }
  constexpr bool has_requires_grad() const { return has(kGrad); }

  constexpr std::optional<ScalarType> dtype_opt() const { return when(has_dtype(), dtype_); }
  constexpr std::optional<Device> device_opt() const { return when(has_device(), device_); }
  constexpr std::optional<Layout> layout_opt() const { return when(has_layout(), layout_); }
  constexpr std::optional<MemoryFormat> memory_format_opt() const { return when(has_memory_format(), memory_format_); }
  constexpr std::optional<bool> pinned_memory_opt() const { return when(has(kPinned), has(kPinnedValue)); }
  constexpr std::optional<bool> requires_grad_opt() const { return when(has(kGrad), has(kGradValue)); }

  // These options, and those of `other` wherever it has them.
  [[nodiscard]] constexpr TensorOptions merge_in(TensorOptions other) const {
    TensorOptions o = *this;
    if (other.has_dtype()) o = o.dtype(other.dtype_opt());
    if (other.has_device()) o = o.device(other.device_opt());
    if (other.has_layout()) o = o.layout(other.layout_opt());
    if (other.has_memory_format()) o = o.memory_format(other.memory_format_opt());
    if (other.has_pinned_memory()) o = o.pinned_memory(other.pinned_memory_opt());
    if (other.has_requires_grad()) o = o.requires_grad(other.requires_grad_opt());
    return o;
  }

  friend constexpr bool operator==(TensorOptions, TensorOptions) = default;

 private:
  enum Bit : std::uint8_t {
    kDevice = 1,
    kLayout = 2,
    kMemoryFormat = 4,
    kPinned = 8,
    kPinnedValue = 16,
    kGrad = 32,
    kGradValue = 64
  };
  constexpr bool has(Bit bit) const { return (bits_ & bit) != 0; }
  constexpr TensorOptions with(Bit bit, bool on) const {
    TensorOptions o = *this;
    o.bits_ = static_cast<std::uint8_t>(on ? bits_ | bit : bits_ & ~bit);
    return o;
  }
  template <typename T>
  static constexpr std::optional<T> when(bool has, T value) {
    return has ? std::optional<T>(value) : std::nullopt;
  }

  ScalarType dtype_ = ScalarType::Undefined;
  Device device_ = DeviceType::CPU;
  Layout layout_ = Layout::Strided;
  MemoryFormat memory_format_ = MemoryFormat::Contiguous;
  std::uint8_t bits_ = 0;  // which options are set, and the two booleans
};
static_assert(sizeof(TensorOptions) <= 8);

// Options that begin with one option: dtype(kInt64).device(kCUDA).
constexpr TensorOptions dtype(ScalarType t) { return TensorOptions().dtype(t); }
constexpr TensorOptions device(Device d) { return TensorOptions().device(d); }
constexpr TensorOptions layout(Layout l) { return TensorOptions().layout(l); }
constexpr TensorOptions memory_format(MemoryFormat f) { return TensorOptions().memory_format(f); }
constexpr TensorOptions requires_grad(bool b = true) { return TensorOptions().requires_grad(b); }

// "dtype=float32, device=cuda:1, layout=strided": the options that are set; "no options" if none is.
KEYWAY_API std::string to_string(TensorOptions options);

}  // namespace keyway::inline v1
