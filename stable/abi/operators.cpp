// Operators that have functions of their own kind: copies, and the mode of gradients.
#include <keyway/core/keys/thread_state.h>
#include <keyway/stable/abi/calls.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/handles.h>

using namespace keyway;
using namespace keyway::abi;

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
