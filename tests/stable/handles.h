// What the tests of the stable C ABI share: handles that delete themselves, and the message of a failure.
#pragma once

#include <keyway/keyway.h>
#include <keyway/stable/abi.h>
#include <keyway/tests/catch.h>

#include <memory>
#include <string>

namespace keyway::inline v1::testing {

// Deletes what it holds by the function of its kind.
template <typename Opaque, AOTITorchError (*kDelete)(Opaque*)>
struct HandleDeleter {
  void operator()(Opaque* handle) const { kDelete(handle); }
};
using TensorHandle =
    std::unique_ptr<AtenTensorOpaque, HandleDeleter<AtenTensorOpaque, aoti_torch_delete_tensor_object>>;

// The handle that a call gives: owned(aoti_torch_clone, self).
template <typename... Args, typename... Given>
TensorHandle owned(AOTITorchError (*function)(Args...), Given... given) {
  AtenTensorHandle result = nullptr;
  const AOTITorchError code = function(given..., &result);
  INFO(torch_exception_get_what_without_backtrace());
  REQUIRE(code == KEYWAY_ABI_SUCCESS);
  return TensorHandle(result);
}

// Between tensors and handles, by two operators whose kernels are the tests' own. The handle is the caller's.
TensorHandle handle_of(const Tensor& tensor);
Tensor tensor_of(const TensorHandle& handle);

// The message of a call that must fail.
inline std::string failure(AOTITorchError code) {
  REQUIRE(code == KEYWAY_ABI_FAILURE);
  return torch_exception_get_what_without_backtrace();
}

}  // namespace keyway::inline v1::testing
