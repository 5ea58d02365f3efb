// Operators that have functions of their own.
#include <keyway/core/keys/thread_state.h>
#include <keyway/stable/abi/calls.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/handles.h>
#include <keyway/stable/abi/slots.h>

using namespace keyway;
using namespace keyway::abi;

namespace {

IValue ints(const std::int64_t* numbers, std::int64_t count) {
  KEYWAY_CHECK(count >= 0, "{} is no length of a list", count);
  if (count == 0) return IValue(std::vector<std::int64_t>());
  const std::int64_t* const first = &checked(numbers, "the list");
  return IValue(std::vector<std::int64_t>(first, first + count));
}

// The options of a new tensor, each absent if it is null.
struct Options {
  const std::int32_t *dtype, *layout, *device_type;
  std::int32_t device_index;
  const std::int32_t* pin_memory;

  IValue dtype_value() const { return dtype == nullptr ? IValue() : IValue(dtype_of(*dtype)); }
  IValue layout_value() const { return layout == nullptr ? IValue() : IValue(layout_of(*layout)); }
  IValue device_value() const {
    return device_type == nullptr ? IValue() : IValue(device_of(*device_type, device_index));
  }
  IValue pin_memory_value() const { return pin_memory == nullptr ? IValue() : IValue(*pin_memory != 0); }
};

// new_empty and new_zeros.
AOTITorchError new_like(const char* function, const char* op, AtenTensorHandle self, const std::int64_t* size,
                        std::int64_t size_length, const Options& options, AtenTensorHandle* result) {
  return guarded(function, [&] {
    give_results(call(op, {tensor_of(self), ints(size, size_length), options.dtype_value(), options.layout_value(),
                           options.device_value(), options.pin_memory_value()}),
                 {result});
  });
}

}  // namespace

AOTITorchError aoti_torch_aten_amax(AtenTensorHandle self, const std::int64_t* dim, std::int64_t dim_length,
                                    std::int32_t keepdim, AtenTensorHandle* result) {
  return guarded(__func__, [&] {
    give_results(call("amax", {tensor_of(self), ints(dim, dim_length), IValue(keepdim != 0)}), {result});
  });
}
AOTITorchError aoti_torch_aten_fill__Scalar(AtenTensorHandle self, double value) {
  return guarded(__func__, [&] { call("fill_.Scalar", {tensor_of(self), IValue(value)}); });
}
AOTITorchError aoti_torch_aten_full(const std::int64_t* size, std::int64_t size_length, double fill_value,
                                    std::int32_t* dtype, std::int32_t* layout, std::int32_t* device_type,
                                    std::int32_t device_index, std::int32_t* pin_memory, AtenTensorHandle* result) {
  return guarded(__func__, [&] {
    const Options options{dtype, layout, device_type, device_index, pin_memory};
    give_results(call("full", {ints(size, size_length), IValue(fill_value), options.dtype_value(),
                               options.layout_value(), options.device_value(), options.pin_memory_value()}),
                 {result});
  });
}
AOTITorchError aoti_torch_aten_narrow(AtenTensorHandle self, std::int64_t dim, std::int64_t start, std::int64_t length,
                                      AtenTensorHandle* result) {
  return guarded(__func__, [&] {
    give_results(call("narrow", {tensor_of(self), IValue(dim), IValue(start), IValue(length)}), {result});
  });
}
AOTITorchError aoti_torch_aten_new_empty(AtenTensorHandle self, const std::int64_t* size, std::int64_t size_length,
                                         std::int32_t* dtype, std::int32_t* layout, std::int32_t* device_type,
                                         std::int32_t device_index, std::int32_t* pin_memory,
                                         AtenTensorHandle* result) {
  const Options options{dtype, layout, device_type, device_index, pin_memory};
  return new_like(__func__, "new_empty", self, size, size_length, options, result);
}
AOTITorchError aoti_torch_aten_new_zeros(AtenTensorHandle self, const std::int64_t* size, std::int64_t size_length,
                                         std::int32_t* dtype, std::int32_t* layout, std::int32_t* device_type,
                                         std::int32_t device_index, std::int32_t* pin_memory,
                                         AtenTensorHandle* result) {
  const Options options{dtype, layout, device_type, device_index, pin_memory};
  return new_like(__func__, "new_zeros", self, size, size_length, options, result);
}
AOTITorchError aoti_torch_aten_pad(AtenTensorHandle self, const std::int64_t* pad, std::int64_t pad_length,
                                   const char* mode, double* value, AtenTensorHandle* result) {
  return guarded(__func__, [&] {
    const IValue fill = value == nullptr ? IValue() : IValue(*value);
    give_results(call("pad", {tensor_of(self), ints(pad, pad_length), IValue(&checked(mode, "the mode")), fill}),
                 {result});
  });
}
AOTITorchError aoti_torch_aten_subtract_Tensor(AtenTensorHandle self, AtenTensorHandle other, double alpha,
                                               AtenTensorHandle* result) {
  return guarded(__func__, [&] {
    give_results(call("sub.Tensor", {tensor_of(self), tensor_of(other), IValue(alpha)}), {result});
  });
}

AOTITorchError aoti_torch_clone(AtenTensorHandle self, AtenTensorHandle* result) {
  return guarded(__func__, [&] { give_results(call("clone", {tensor_of(self), IValue()}), {result}); });
}
AOTITorchError aoti_torch_clone_preserve_strides(AtenTensorHandle self, AtenTensorHandle* result) {
  return guarded(__func__, [&] {
    const TensorBase& tensor = tensor_of(self);
    const TensorBase copy = make_tensor_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), tensor.device());
    call("copy_", {copy, tensor, IValue(false)});
    give_results({copy}, {result});
  });
}
AOTITorchError aoti_torch_copy_(AtenTensorHandle self, AtenTensorHandle source, std::int32_t non_blocking) {
  return guarded(__func__, [&] { call("copy_", {tensor_of(self), tensor_of(source), IValue(non_blocking != 0)}); });
}
AOTITorchError aoti_torch_zero_(AtenTensorHandle self) {
  return guarded(__func__, [&] { call("zero_", {tensor_of(self)}); });
}

bool aoti_torch_grad_mode_is_enabled() { return grad_enabled(); }
void aoti_torch_grad_mode_set_enabled(bool enabled) { thread_state.grad_disabled = !enabled; }
