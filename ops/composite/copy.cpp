#include <keyway/core/keys/thread_state.h>
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/core/tensor/pinned_memory.h>
#include <keyway/dispatch/registry/copy_on_write_kernel.h>
#include <keyway/ops/composite/options.h>
#include <keyway/ops/copy.h>
#include <keyway/ops/copy_composites.h>
#include <keyway/ops/creation.h>
#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1::composite {

namespace {

// A device without an index is any of its type.
bool is_on(const Tensor& self, Device device) {
  return self.device() == device || (!device.has_index() && self.device().type() == device.type());
}

Tensor convert(const Tensor& self, TensorOptions options, bool non_blocking, bool copy,
               std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  const bool is_so_already = (!options.has_dtype() || options.dtype() == self.dtype()) &&
                             (!options.has_device() || is_on(self, options.device())) &&
                             (!options.pinned_memory() || keyway::is_pinned(self)) &&
                             (format == MemoryFormat::Preserve || self.suggest_memory_format() == format);
  if (is_so_already && !copy) return self;
  return keyway::_to_copy(self, options, non_blocking, memory_format);
}

}  // namespace

Tensor to_copy(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
               std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking,
               std::optional<MemoryFormat> memory_format) {
  // What comes from a device while the host goes on must arrive in pinned memory.
  const bool arrives = non_blocking && self.is_cuda() && device && device->is_cpu();
  const bool pinned = arrives || pin_memory.value_or(false);
  Tensor result = keyway::empty_like(self, options_of(dtype, layout, device, pinned), memory_format);
  result.copy_(self, non_blocking);
  return result;
}

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  Tensor result = keyway::empty_like(self, {}, memory_format);
  const AutoDispatchBelowADInplaceOrView unseen;  // of a new tensor nobody is to be told of a change
  result.copy_(self);
  return result;
}

Tensor lazy_clone(const Tensor& self) {
  register_copy_on_write();
  if (TensorBase shared = share_bytes(self); shared.defined()) return shared;
  const auto bytes = static_cast<std::int64_t>(self.storage().nbytes());
  const Tensor all(TensorBase(make_intrusive<TensorImpl>(self.storage(), ScalarType::Byte, IntArrayRef({bytes}),
                                                         IntArrayRef({1}), bytes, /*contiguous=*/true)));
  auto result = make_intrusive<TensorImpl>(all.clone().storage(), self.dtype(), self.sizes(), self.strides(),
                                           self.numel(), /*contiguous=*/false);
  result->set_geometry(self.sizes(), self.strides(), self.storage_offset(), self.numel());
  return TensorBase(std::move(result));
}

Tensor contiguous(const Tensor& self, MemoryFormat memory_format) {
  return self.is_contiguous(memory_format) ? self : self.clone(memory_format);
}

Tensor copy(const Tensor& self, const Tensor& src, bool non_blocking) {
  return keyway::empty_like(self).copy_(src, non_blocking);
}

bool is_pinned(const Tensor& self, std::optional<Device> device) {
  return keyway::is_pinned(self, device ? device->type() : kCUDA);
}

Scalar item(const Tensor& self) { return keyway::_local_scalar_dense(self); }

Tensor pin_memory(const Tensor& self, std::optional<Device> device) {
  const DeviceType devices = device ? device->type() : kCUDA;
  if (self.is_meta() || keyway::is_pinned(self, devices)) return self;
  const Tensor pinned(make_pinned_tensor(self.sizes(), meta_like(self).strides, self.dtype(), self.device(), devices));
  return pinned.copy_(self);
}

Tensor to_device(const Tensor& self, Device device, ScalarType dtype, bool non_blocking, bool copy,
                 std::optional<MemoryFormat> memory_format) {
  return convert(self, TensorOptions(device).dtype(dtype), non_blocking, copy, memory_format);
}

Tensor to_dtype(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy,
                std::optional<MemoryFormat> memory_format) {
  return convert(self, dtype, non_blocking, copy, memory_format);
}

Tensor to_options(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                  std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> memory_format) {
  return convert(self, options_of(dtype, layout, device, pin_memory), non_blocking, copy, memory_format);
}

Tensor to_other(const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
                std::optional<MemoryFormat> memory_format) {
  return convert(self, TensorOptions(other.device()).dtype(other.dtype()), non_blocking, copy, memory_format);
}

Tensor type_as(const Tensor& self, const Tensor& other) { return self.to(other); }

}  // namespace keyway::inline v1::composite
