#include <keyway/ops/all.h>
#include <keyway/ops/composite/options.h>
#include <keyway/ops/random_composites.h>

namespace keyway::inline v1::composite {

namespace {

using DType = std::optional<ScalarType>;
using LayoutArg = std::optional<Layout>;
using DeviceArg = std::optional<Device>;
using Pin = std::optional<bool>;
using Format = std::optional<MemoryFormat>;

// Numbers of [0, 1) in every element; of complex ones in both parts.
Tensor with_uniform(const Tensor& made, const Generator& generator) {
  (made.is_complex() ? keyway::view_as_real(made) : made).uniform_(0, 1, generator);
  return made;
}

}  // namespace

Tensor bernoulli(const Tensor& self, const Generator& generator) {
  return keyway::empty_like(self).bernoulli_(self, generator);
}

Tensor bernoulli_p(const Tensor& self, double p, const Generator& generator) {
  return keyway::empty_like(self).bernoulli_(p, generator);
}

Tensor dropout(const Tensor& input, double p, bool train) {
  if (!train || p == 0) return input;
  return std::get<0>(keyway::native_dropout(input, p, train));
}

Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  return grad_output * (mask.to(grad_output.dtype()) * scale);
}

// --- Factories

Tensor rand(IntArrayRef size, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return rand_generator(size, nullptr, dtype, layout, device, pin_memory);
}

Tensor rand_generator(IntArrayRef size, const Generator& generator, DType dtype, LayoutArg layout, DeviceArg device,
                      Pin pin_memory) {
  return with_uniform(keyway::empty(size, options_of(dtype, layout, device, pin_memory)), generator);
}

Tensor rand_like(const Tensor& self, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory,
                 Format memory_format) {
  return with_uniform(keyway::empty_like(self, options_of(dtype, layout, device, pin_memory), memory_format), nullptr);
}

Tensor randint(std::int64_t high, IntArrayRef size, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return randint_low_generator(0, high, size, nullptr, dtype, layout, device, pin_memory);
}

Tensor randint_generator(std::int64_t high, IntArrayRef size, const Generator& generator, DType dtype, LayoutArg layout,
                         DeviceArg device, Pin pin_memory) {
  return randint_low_generator(0, high, size, generator, dtype, layout, device, pin_memory);
}

Tensor randint_low(std::int64_t low, std::int64_t high, IntArrayRef size, DType dtype, LayoutArg layout,
                   DeviceArg device, Pin pin_memory) {
  return randint_low_generator(low, high, size, nullptr, dtype, layout, device, pin_memory);
}

Tensor randint_low_generator(std::int64_t low, std::int64_t high, IntArrayRef size, const Generator& generator,
                             DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  const TensorOptions options = options_of(dtype.value_or(kLong), layout, device, pin_memory);
  return keyway::empty(size, options).random_(low, high, generator);
}

Tensor randint_like(const Tensor& self, std::int64_t high, DType dtype, LayoutArg layout, DeviceArg device,
                    Pin pin_memory, Format memory_format) {
  return randint_like_low(self, 0, high, dtype, layout, device, pin_memory, memory_format);
}

Tensor randint_like_low(const Tensor& self, std::int64_t low, std::int64_t high, DType dtype, LayoutArg layout,
                        DeviceArg device, Pin pin_memory, Format memory_format) {
  const TensorOptions options = options_of(dtype, layout, device, pin_memory);
  return keyway::empty_like(self, options, memory_format).random_(low, high);
}

Tensor randn(IntArrayRef size, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return randn_generator(size, nullptr, dtype, layout, device, pin_memory);
}

Tensor randn_generator(IntArrayRef size, const Generator& generator, DType dtype, LayoutArg layout, DeviceArg device,
                       Pin pin_memory) {
  return keyway::empty(size, options_of(dtype, layout, device, pin_memory)).normal_(0, 1, generator);
}

Tensor randn_like(const Tensor& self, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory,
                  Format memory_format) {
  return keyway::empty_like(self, options_of(dtype, layout, device, pin_memory), memory_format).normal_();
}

Tensor randperm(std::int64_t n, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return keyway::randperm(n, Generator(nullptr), options_of(dtype.value_or(kLong), layout, device, pin_memory));
}

}  // namespace keyway::inline v1::composite
