#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/all.h>
#include <keyway/ops/composite/options.h>
#include <keyway/ops/random_composites.h>
#include <keyway/ops/rules/broadcast.h>

#include <cmath>
#include <numbers>

namespace keyway::inline v1::composite {

namespace {

using Format = std::optional<MemoryFormat>;

// Numbers of [0, 1) in every element; of complex ones in both parts.
Tensor with_uniform(const Tensor& made, const Generator& generator) {
  const AutoDispatchBelowADInplaceOrView unseen;  // of a new tensor nobody is to be told of a change
  (made.is_complex() ? keyway::view_as_real(made) : made).uniform_(0, 1, generator);
  return made;
}

// Throws if a deviation is negative, where that can be known without waiting for a device.
void check_deviations(const Tensor& deviations) {
  if (!deviations.is_cpu() || deviations.numel() == 0) return;
  keyway::_assert_async(deviations.ge(0).all(), "std must not be negative, nor NaN");
}

}  // namespace

Tensor bernoulli(const Tensor& self, const Generator& generator) {
  return keyway::empty_like(self).bernoulli_(self, generator);
}

Tensor bernoulli_p(const Tensor& self, double p, const Generator& generator) {
  return keyway::empty_like(self).bernoulli_(p, generator);
}

Tensor& cauchy_(Tensor& self, double median, double sigma, const Generator& generator) {
  const Tensor turns = self.new_empty(self.sizes(), TensorOptions(kDouble)).uniform_(0, 1, generator);
  return self.copy_(((turns - 0.5) * std::numbers::pi).tan() * sigma + median);
}

Tensor dropout(const Tensor& input, double p, bool train) {
  if (!train || p == 0) return input;
  return std::get<0>(keyway::native_dropout(input, p, train));
}

// Waiting times that are whole are geometric where those that are not are exponential.
Tensor& geometric_(Tensor& self, double p, const Generator& generator) {
  Tensor waiting = self.new_empty(self.sizes(), TensorOptions(kDouble));
  waiting.exponential_(-std::log1p(-p), generator);
  return self.copy_(waiting.ceil().clamp(1));
}

Tensor& log_normal_(Tensor& self, double mean, double std, const Generator& generator) {
  self.normal_(mean, std, generator);
  return self.exp_();
}

Tensor native_dropout_backward(const Tensor& grad_output, const Tensor& mask, double scale) {
  return grad_output * (mask.to(grad_output.dtype()) * scale);
}

Tensor normal_mean(const Tensor& mean, double std, const Generator& generator) {
  return keyway::empty_like(mean).normal_(0, std, generator) + mean;
}

Tensor normal_numbers(double mean, double std, IntArrayRef size, const Generator& generator, DType dtype,
                      LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return keyway::empty(size, options_of(dtype, layout, device, pin_memory)).normal_(mean, std, generator);
}

Tensor normal_std(double mean, const Tensor& std, const Generator& generator) {
  check_deviations(std);
  return keyway::empty_like(std).normal_(0, 1, generator) * std + mean;
}

Tensor normal_tensors(const Tensor& mean, const Tensor& std, const Generator& generator) {
  check_deviations(std);
  const DimVector sizes = broadcast_sizes(mean.sizes(), std.sizes());
  return keyway::empty(sizes, mean.options()).normal_(0, 1, generator) * std.to(mean.dtype()) + mean;
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
  Tensor made = keyway::empty(size, options_of(dtype, layout, device, pin_memory));
  const AutoDispatchBelowADInplaceOrView unseen;
  return made.normal_(0, 1, generator);
}

Tensor randn_like(const Tensor& self, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory,
                  Format memory_format) {
  return keyway::empty_like(self, options_of(dtype, layout, device, pin_memory), memory_format).normal_();
}

Tensor randperm(std::int64_t n, DType dtype, LayoutArg layout, DeviceArg device, Pin pin_memory) {
  return keyway::randperm(n, Generator(nullptr), options_of(dtype.value_or(kLong), layout, device, pin_memory));
}

}  // namespace keyway::inline v1::composite
