#include <keyway/autograd/saved_tensor_hooks.h>
#include <keyway/core/base/error.h>
#include <keyway/python/held_object.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/python_call.h>
#include <keyway/python/tensor_object.h>

#include <memory>
#include <vector>

namespace keyway::inline v1::python {
namespace {

class PackedInPython final : public autograd::PackedTensor {
 public:
  PackedInPython(nb::object packed, nb::object unpack) : packed_(std::move(packed)), unpack_(std::move(unpack)) {}
  Tensor unpack() const override {
    const LockHeld lock;
    const nb::object tensor = call_function(unpack_.get(), packed_.get());
    KEYWAY_CHECK_AS(Type, is_tensor(tensor.ptr()), "saved_tensors_hooks: the unpack hook returned a {}, not a Tensor",
                    class_name(tensor));
    return tensor_in(tensor.ptr());
  }

 private:
  HeldObject packed_;
  HeldObject unpack_;
};

class HooksInPython final : public autograd::SavedTensorHooks {
 public:
  HooksInPython(nb::object pack, nb::object unpack) : pack_(std::move(pack)), unpack_(std::move(unpack)) {}
  std::unique_ptr<autograd::PackedTensor> pack(const Tensor& tensor) override {
    const LockHeld lock;
    return std::make_unique<PackedInPython>(call_function(pack_.get(), to_object(tensor)), nb::borrow(unpack_.get()));
  }

 private:
  HeldObject pack_;
  HeldObject unpack_;
};

// The hooks that a thread has entered and not left, and those that were there before each.
struct Entered {
  std::unique_ptr<HooksInPython> hooks;
  autograd::SavedTensorHooks* before;
};
thread_local std::vector<Entered> entered;

void enter(nb::callable pack, nb::callable unpack) {
  auto hooks = std::make_unique<HooksInPython>(std::move(pack), std::move(unpack));
  entered.push_back({std::move(hooks), autograd::saved_tensor_hooks});
  autograd::saved_tensor_hooks = entered.back().hooks.get();
}

void leave() {
  KEYWAY_CHECK(!entered.empty(), "saved_tensors_hooks: this thread has entered none");
  KEYWAY_CHECK(autograd::saved_tensor_hooks == entered.back().hooks.get(),
               "saved_tensors_hooks: they are left by one of the hooks, while it is run");
  const Entered left = std::move(entered.back());  // goes last: it may hold what enters others
  entered.pop_back();
  autograd::saved_tensor_hooks = left.before;
}

}  // namespace

void add_saved_tensor_hooks(nb::module_& module) {
  module.def("enter_saved_tensors_hooks", enter, "Packs what this thread's calls save from now on.");
  module.def("leave_saved_tensors_hooks", leave, "Undoes the last _enter_saved_tensors_hooks of this thread.");
}

}  // namespace keyway::inline v1::python
