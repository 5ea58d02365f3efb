#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tests/stable/handles.h>

namespace keyway::inline v1::testing {

namespace {

AtenTensorHandle passed = nullptr;

// handles::take(Tensor self) -> ()
void take(StableIValue* stack, std::uint64_t, std::uint64_t) { passed = reinterpret_cast<AtenTensorHandle>(stack[0]); }
// handles::give() -> Tensor
void give(StableIValue* stack, std::uint64_t, std::uint64_t) {
  stack[0] = reinterpret_cast<StableIValue>(std::exchange(passed, nullptr));
}

void register_once() {
  static const bool registered = [] {
    TorchLibraryHandle defs = nullptr, impls = nullptr;
    aoti_torch_library_init_def("handles", __FILE__, __LINE__, &defs);
    aoti_torch_library_def(defs, "take(Tensor self) -> ()");
    aoti_torch_library_def(defs, "give() -> Tensor");
    aoti_torch_library_init_impl("handles", "CompositeImplicitAutograd", __FILE__, __LINE__, &impls);
    const bool all = torch_library_impl(impls, "take", take, KEYWAY_ABI_VERSION) == KEYWAY_ABI_SUCCESS &&
                     torch_library_impl(impls, "give", give, KEYWAY_ABI_VERSION) == KEYWAY_ABI_SUCCESS;
    aoti_torch_delete_library_object(defs);
    aoti_torch_delete_library_object(impls);
    return all;
  }();
  REQUIRE(registered);
}

}  // namespace

TensorHandle handle_of(const Tensor& tensor) {
  register_once();
  Dispatcher::singleton().op("handles::take").typed<void(const Tensor&)>().call(tensor);
  return TensorHandle(std::exchange(passed, nullptr));
}

Tensor tensor_of(const TensorHandle& handle) {
  register_once();
  REQUIRE(aoti_torch_new_tensor_handle(handle.get(), &passed) == KEYWAY_ABI_SUCCESS);
  return Dispatcher::singleton().op("handles::give").typed<Tensor()>().call();
}

}  // namespace keyway::inline v1::testing
