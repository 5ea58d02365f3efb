// Calls that write to what shares its bytes, by keys that are older than the sharing, too.
#include <keyway/core/tensor/copy_on_write.h>
#include <keyway/dispatch/registry/copy_on_write_kernel.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <algorithm>

using namespace keyway;
using namespace keyway::testing;

namespace {

TensorBase many_ones() {
  constexpr std::int64_t kMany = 10'000;  // too many bytes for the storage's own block
  TensorBase made = make_tensor({kMany}, kFloat, kCPU);
  std::fill_n(made.data_ptr<float>(), kMany, 1.0f);
  return made;
}

float first_of(const TensorBase& tensor) { return tensor.const_data_ptr<float>()[0]; }

void write_to(const TensorBase& tensor) { tensor.data_ptr<float>()[0] = -1; }

Block writers() {
  return Block()
      .def("cow::write(Tensor(a!) self) -> ()")
      .impl("cow::write", DispatchKey::CPU, [](TensorBase& self) { write_to(self); })
      .def("cow::write_all(Tensor(a!)[] self) -> ()")
      .impl("cow::write_all", DispatchKey::CPU,
            [](ArrayRef<TensorBase> self) { std::ranges::for_each(self, write_to); })
      .def("cow::read(Tensor self) -> float")
      .impl("cow::read", DispatchKey::CPU, [](const TensorBase& self) { return double{first_of(self)}; });
}

// Clones a tensor when its keys are known, and has it written to by these keys.
template <typename F>
void check_by_earlier_keys(F&& write) {
  TensorBase x = many_ones();
  const DispatchKeySet keys = x.key_set();
  const TensorBase clone = share_bytes(x);
  REQUIRE(clone.defined());
  write(keys, x);
  CHECK(first_of(x) == -1);
  CHECK(first_of(clone) == 1);
}

}  // namespace

TEST_CASE("a redispatch by keys from before a tensor was cloned leaves the clone as it is") {
  register_copy_on_write();
  const RegistrationHandle handle = writers().commit();
  const OperatorHandle one = op("cow::write"), all = op("cow::write_all");
  check_by_earlier_keys(
      [&](DispatchKeySet keys, TensorBase& x) { one.typed<void(TensorBase&)>().redispatch(keys, x); });
  check_by_earlier_keys([&](DispatchKeySet keys, TensorBase& x) {
    const std::vector<TensorBase> list{many_ones(), x};
    all.typed<void(ArrayRef<TensorBase>)>().redispatch(keys, list);
  });
  check_by_earlier_keys([&](DispatchKeySet keys, TensorBase& x) {
    Stack stack{x};
    one.redispatch_boxed(keys, stack);
  });
  check_by_earlier_keys([&](DispatchKeySet keys, TensorBase& x) {
    Stack stack{IValue(std::vector<TensorBase>{many_ones(), x})};
    all.redispatch_boxed(keys, stack);
  });
}

TEST_CASE("a redispatch that reads ends no sharing") {
  register_copy_on_write();
  const RegistrationHandle handle = writers().commit();
  const TensorBase x = many_ones();
  const DispatchKeySet keys = x.key_set();
  const TensorBase clone = share_bytes(x);
  CHECK(op("cow::read").typed<double(const TensorBase&)>().redispatch(keys, x) == 1);
  Stack stack{x};
  op("cow::read").redispatch_boxed(keys, stack);
  CHECK((x.storage().is_shared() && x.const_data_ptr() == clone.const_data_ptr()));
}

TEST_CASE("what an observer clones before a call that writes is not written to") {
  class Cloning final : public CallObserver {
   public:
    void call(const ObservedCall& call) override {
      clone = share_bytes(call.stack[call.first].tensor_ref());
      call.proceed();
    }
    TensorBase clone;
  };
  register_copy_on_write();
  const RegistrationHandle handle = writers().commit();
  const auto cloning = std::make_shared<Cloning>();
  const ObserverHandle observer = observe_calls(cloning);
  TensorBase x = many_ones();
  op("cow::write").typed<void(TensorBase&)>().call(x);
  CHECK(first_of(x) == -1);
  CHECK_FALSE((cloning->clone.defined() && first_of(cloning->clone) == -1));
  op("cow::read").typed<double(const TensorBase&)>().call(x);
  CHECK(cloning->clone.const_data_ptr() == x.const_data_ptr());
}

TEST_CASE("an operator that says it changes a history alone ends no sharing") {
  register_copy_on_write();
  Block block;
  block.def("cow::note(Tensor(a!) self) -> ()").impl("cow::note", DispatchKey::CPU, [](TensorBase&) {});
  block.request.defs.back().tags = "history";
  const RegistrationHandle handle = block.commit();
  TensorBase x = many_ones();
  const TensorBase clone = share_bytes(x);
  op("cow::note").typed<void(TensorBase&)>().call(x);
  CHECK((x.storage().is_shared() && x.const_data_ptr() == clone.const_data_ptr()));
}
