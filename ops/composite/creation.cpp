#include <keyway/core/dtype/default_dtype.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/tensor/pinned_memory.h>
#include <keyway/ops/all.h>
#include <keyway/ops/composite/options.h>
#include <keyway/ops/creation_composites.h>
#include <keyway/ops/rules/output_meta.h>
#include <keyway/ops/rules/promotion.h>

#include <cmath>

namespace keyway::inline v1::composite {

namespace {

Tensor make(const OutputMeta& meta, TensorOptions options) {
  if (options.pinned_memory()) return make_pinned_tensor(meta.sizes, meta.strides, options.dtype(), options.device());
  if (meta.strides.empty()) return make_tensor(meta.sizes, options.dtype(), options.device());
  return make_tensor_strided(meta.sizes, meta.strides, options.dtype(), options.device());
}

// The dtype of a tensor made of one number.
ScalarType dtype_of(const Scalar& number) {
  if (number.is_bool()) return ScalarType::Bool;
  if (number.is_integral(false)) return ScalarType::Long;
  return number.is_complex() ? get_default_complex_dtype() : get_default_dtype();
}

// Of a new tensor: nobody is to be told of a change.
Tensor filled(Tensor tensor, const Scalar& value) {
  const AutoDispatchBelowADInplaceOrView unseen;
  tensor.fill_(value);
  return tensor;
}

// An end of a line of real numbers: of integers, the integer part.
double end_of(const Scalar& number, ScalarType dtype) {
  return is_integral(dtype, true) ? std::trunc(number.to<double>()) : number.to<double>();
}

}  // namespace

Tensor arange(const Scalar& end, DType dtype, LayoutArg layout, DeviceArg device, std::optional<bool> pin_memory) {
  return keyway::arange(0, end, 1, options_of(dtype, layout, device, pin_memory));
}

Tensor arange_start(const Scalar& start, const Scalar& end, DType dtype, LayoutArg layout, DeviceArg device,
                    std::optional<bool> pin_memory) {
  return keyway::arange(start, end, 1, options_of(dtype, layout, device, pin_memory));
}

Tensor empty(IntArrayRef size, DType dtype, LayoutArg layout, DeviceArg device, std::optional<bool> pin_memory,
             std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  if (format != MemoryFormat::Contiguous || pin_memory.value_or(false)) {
    return make(meta_of(size, format), options_of(dtype, layout, device, pin_memory));
  }
  // The short way; a contract has seen to the layout.
  return make_tensor(size, dtype ? *dtype : get_default_dtype(), device ? *device : Device(DeviceType::CPU));
}

Tensor empty_like(const Tensor& self, DType dtype, LayoutArg layout, DeviceArg device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  const OutputMeta meta = format == MemoryFormat::Preserve ? meta_like(self) : meta_of(self.sizes(), format);
  return make(meta, self.options().merge_in(options_of(dtype, layout, device, pin_memory)));
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, DType dtype, LayoutArg layout, DeviceArg device,
                     std::optional<bool> pin_memory) {
  return make({DimVector(size), DimVector(stride), true}, options_of(dtype, layout, device, pin_memory));
}

Tensor eye(std::int64_t n, DType dtype, LayoutArg layout, DeviceArg device, std::optional<bool> pin_memory) {
  return keyway::eye(n, n, options_of(dtype, layout, device, pin_memory));
}

Tensor eye_m(std::int64_t n, std::int64_t m, DType dtype, LayoutArg layout, DeviceArg device,
             std::optional<bool> pin_memory) {
  Tensor result = keyway::zeros({n, m}, options_of(dtype, layout, device, pin_memory));
  result.diagonal().fill_(1);
  return result;
}

// By copy_, through which a gradient flows.
Tensor fill_tensor(const Tensor& self, const Tensor& value) {
  Tensor result = keyway::empty_like(self);
  result.copy_(value);
  return result;
}

Tensor full(IntArrayRef size, const Scalar& fill_value, DType dtype, LayoutArg layout, DeviceArg device,
            std::optional<bool> pin_memory) {
  const TensorOptions options = options_of(dtype.value_or(dtype_of(fill_value)), layout, device, pin_memory);
  return filled(keyway::empty(size, options), fill_value);
}

Tensor full_like(const Tensor& self, const Scalar& fill_value, DType dtype, LayoutArg layout, DeviceArg device,
                 std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format) {
  return filled(keyway::empty_like(self, options_of(dtype, layout, device, pin_memory), memory_format), fill_value);
}

// Each half from its own end, so that both ends are what was asked for. Integers lie between ends that are integers.
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, DType dtype, LayoutArg layout,
                DeviceArg device, std::optional<bool> pin_memory) {
  const bool is_wide = start.is_complex() || end.is_complex();
  const ScalarType target = dtype.value_or(is_wide ? get_default_complex_dtype() : get_default_dtype());
  KEYWAY_CHECK(!is_wide || is_complex(target), "complex numbers are no numbers of {}", target);
  const TensorOptions options = options_of(target, layout, device, pin_memory);
  const auto line = [&](auto from, auto to) {
    const Tensor indices = keyway::arange(steps, TensorOptions(options).dtype(kDouble).pinned_memory(false));
    Tensor exact = is_wide ? indices.to(kComplexDouble) : indices;
    if (steps < 2) return exact.add_(from);
    const auto step = (to - from) / static_cast<double>(steps - 1);
    const std::int64_t half = steps / 2;
    exact.slice(0, 0, half).mul_(step).add_(from);
    exact.slice(0, half).sub_(steps - 1).mul_(step).add_(to);
    return exact;
  };
  const Tensor values = is_wide ? line(start.to<complex<double>>(), end.to<complex<double>>())
                                : line(end_of(start, target), end_of(end, target));
  return keyway::empty({steps}, options).copy_(values);
}

Tensor logspace(const Scalar& start, const Scalar& end, std::int64_t steps, double base, DType dtype, LayoutArg layout,
                DeviceArg device, std::optional<bool> pin_memory) {
  const bool is_wide = start.is_complex() || end.is_complex();
  const ScalarType target = dtype.value_or(is_wide ? get_default_complex_dtype() : get_default_dtype());
  KEYWAY_CHECK(!is_wide || is_complex(target), "complex numbers are no numbers of {}", target);
  const TensorOptions options = options_of(target, layout, device, pin_memory);
  const ScalarType exact = is_wide ? kComplexDouble : kDouble;
  const TensorOptions exact_options = TensorOptions(options).dtype(exact).pinned_memory(false);
  const Tensor exponents = is_wide ? keyway::linspace(start, end, steps, exact_options)
                                   : keyway::linspace(end_of(start, target), end_of(end, target), steps, exact_options);
  return keyway::empty({steps}, options).copy_(keyway::pow(base, exponents));
}

Tensor new_empty(const Tensor& self, IntArrayRef size, DType dtype, LayoutArg layout, DeviceArg device,
                 std::optional<bool> pin_memory) {
  return keyway::empty(size, self.options().merge_in(options_of(dtype, layout, device, pin_memory)));
}

Tensor new_full(const Tensor& self, IntArrayRef size, const Scalar& fill_value, DType dtype, LayoutArg layout,
                DeviceArg device, std::optional<bool> pin_memory) {
  return filled(new_empty(self, size, dtype, layout, device, pin_memory), fill_value);
}

Tensor new_ones(const Tensor& self, IntArrayRef size, DType dtype, LayoutArg layout, DeviceArg device,
                std::optional<bool> pin_memory) {
  return new_full(self, size, 1, dtype, layout, device, pin_memory);
}

Tensor new_zeros(const Tensor& self, IntArrayRef size, DType dtype, LayoutArg layout, DeviceArg device,
                 std::optional<bool> pin_memory) {
  return new_full(self, size, 0, dtype, layout, device, pin_memory);
}

Tensor ones(IntArrayRef size, DType dtype, LayoutArg layout, DeviceArg device, std::optional<bool> pin_memory) {
  return filled(keyway::empty(size, options_of(dtype, layout, device, pin_memory)), 1);
}

Tensor ones_like(const Tensor& self, DType dtype, LayoutArg layout, DeviceArg device, std::optional<bool> pin_memory,
                 std::optional<MemoryFormat> memory_format) {
  return full_like(self, 1, dtype, layout, device, pin_memory, memory_format);
}

Tensor range(const Scalar& start, const Scalar& end, DType dtype, LayoutArg layout, DeviceArg device,
             std::optional<bool> pin_memory) {
  return range_step(start, end, 1, dtype, layout, device, pin_memory);
}

// Of integers all is an integer; start and step lose their fractions.
Tensor range_step(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype, LayoutArg layout,
                  DeviceArg device, std::optional<bool> pin_memory) {
  const TensorOptions options = options_of(dtype.value_or(get_default_dtype()), layout, device, pin_memory);
  const bool whole = is_integral(options.dtype(), true);
  const auto number = [&](const Scalar& s) { return whole ? Scalar(s.to<std::int64_t>()) : Scalar(s.to<double>()); };
  const Scalar first = number(start), apart = number(step);
  KEYWAY_CHECK(apart.to<double>() != 0, "step is 0 as an integer");
  const double last = std::floor((number(end).to<double>() - first.to<double>()) / apart.to<double>());
  KEYWAY_CHECK(last < 0x1p62, "a tensor has no {} elements", last);
  const auto count = static_cast<std::int64_t>(last) + 1;
  const TensorOptions exact = TensorOptions(options).dtype(whole ? kLong : kDouble).pinned_memory(false);
  return keyway::empty({count}, options).copy_(keyway::arange(count, exact) * apart + first);
}

Tensor& resize_(Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  KEYWAY_CHECK_AS(Autograd, !self.requires_grad(), "a tensor that requires grad cannot be resized");
  if (self.sizes() == size && !memory_format) return self;
  KEYWAY_CHECK_AS(NotImplemented, !self.key_set().has(Functionality::Python),
                  "a wrapper tensor has no memory, and cannot be resized");
  resize_tensor(self, size, meta_of(size, memory_format.value_or(MemoryFormat::Contiguous)).strides);
  if (!self.is_inference()) self.impl()->bump_version();
  return self;
}

Tensor scalar_tensor(const Scalar& s, DType dtype, LayoutArg layout, DeviceArg device, std::optional<bool> pin_memory) {
  return filled(keyway::empty({}, options_of(dtype, layout, device, pin_memory)), s);
}

Tensor vander(const Tensor& x, std::optional<std::int64_t> N, bool increasing) {
  const std::int64_t rows = x.size(0), columns = N.value_or(rows);
  const ScalarType dtype = integers_to_int64(x.dtype());
  if (columns == 0) return keyway::empty({rows, 0}, TensorOptions(x.options()).dtype(dtype));
  const Tensor powers = x.to(dtype).unsqueeze(1).expand({rows, columns - 1}).cumprod(1);
  const Tensor result = keyway::cat({keyway::ones({rows, 1}, powers.options()), powers}, 1);
  return increasing ? result : result.flip({1});
}

Tensor& zero_(Tensor& self) { return self.fill_(0); }

Tensor zeros(IntArrayRef size, DType dtype, LayoutArg layout, DeviceArg device, std::optional<bool> pin_memory) {
  return filled(keyway::empty(size, options_of(dtype, layout, device, pin_memory)), 0);
}

Tensor zeros_like(const Tensor& self, DType dtype, LayoutArg layout, DeviceArg device, std::optional<bool> pin_memory,
                  std::optional<MemoryFormat> memory_format) {
  return full_like(self, 0, dtype, layout, device, pin_memory, memory_format);
}

}  // namespace keyway::inline v1::composite
