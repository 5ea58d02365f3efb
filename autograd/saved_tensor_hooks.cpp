#include <keyway/autograd/saved_tensor_hooks.h>

namespace keyway::inline v1::autograd {

constinit thread_local SavedTensorHooks* saved_tensor_hooks __attribute__((tls_model("initial-exec"))) = nullptr;

PackedTensor::~PackedTensor() = default;
SavedTensorHooks::~SavedTensorHooks() = default;

}  // namespace keyway::inline v1::autograd
