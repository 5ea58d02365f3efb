// Wrappers around a kernel of a backend with two devices: which one is current when memory is made and the kernel runs.
#include <keyway/assembly/on_device.h>
#include <keyway/assembly/wrapper_sorts.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>
#include <keyway/tests/dispatch/block.h>

#include <optional>
#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

std::vector<Device> blanked_on;  // what was current in each run of a kernel

// negated(Tensor self, Tensor other) -> Tensor, of which no more is computed than where.
struct Negated {
  static constexpr std::size_t kOutputs = 1;
  static constexpr const char* kOutNames[] = {"out"};
  static constexpr OutDtype kOutDtype = OutDtype::CastFrom;
  static constexpr bool kInPlaceSafe = true;
  using Kernel = void(const TensorBase& self, const TensorBase& other, TensorBase& out);

  static void plan(Plan<1>& plan, const TensorBase& self, const TensorBase& other) {
    plan.device = common_device({{"self", self}, {"other", other}});
    plan.dtype[0] = kFloat;
    plan.meta[0] = meta_of(self.dim() == 0 ? other.sizes() : self.sizes());
  }
  static void run(Kernel* kernel, const Plan<1>&, const TensorBase& self, const TensorBase& other,
                  TensorBase* const* out) {
    kernel(self, other, *out[0]);
  }
};
void negated(const TensorBase&, const TensorBase&, TensorBase& out) {
  blanked_on.push_back(current_device(out.device().type()));
}

// blank(int size, *, Device? device) -> Tensor
struct Blank {
  static constexpr std::size_t kOutputs = 1;
  using Kernel = void(TensorBase& out);

  static void plan(Plan<1>& plan, std::int64_t size, std::optional<Device> device) {
    plan.device = device.value_or(kCPU);
    plan.dtype[0] = kFloat;
    plan.meta[0] = meta_of({size});
  }
  static void run(Kernel* kernel, const Plan<1>&, std::int64_t, std::optional<Device>, TensorBase* const* out) {
    kernel(*out[0]);
  }
};
void blank(TensorBase& out) { blanked_on.push_back(current_device(out.device().type())); }

template <typename Op, typename Op::Kernel* function, typename Wrapper, typename Sig>
AnyKernel kernel_of() {
  const typename Kernel<Sig>::Fn call = &OnDevice<Wrapper, Sig>::call;
  return {{{BoxedAdapter<Sig>::call, const_cast<BackendKernel<typename Op::Kernel>*>(&kKernelOf<Op, function>), 0, 0},
           reinterpret_cast<void (*)()>(call)},
          signature_code<Sig>,
          {}};
}
template <template <typename, typename> class Wrapper, typename Op, typename Op::Kernel* function, typename Sig>
void add(BlockRequest& request, DispatchKey key, const std::string& schema) {
  request.defs.push_back({schema, "", {"test.cpp", 1}});
  request.impls.push_back(
      {schema.substr(0, schema.find('(')), key, kernel_of<Op, function, Wrapper<Op, Sig>, Sig>(), "", {"test.cpp", 1}});
}

using Binary = TensorBase(const TensorBase&, const TensorBase&);
using BinaryInPlace = TensorBase&(TensorBase&, const TensorBase&);
using BinaryOut = TensorBase&(const TensorBase&, const TensorBase&, TensorBase&);
using Factory = TensorBase(std::int64_t, std::optional<Device>);

// The fake devices with an allocator and kernels.
struct Backend {
  FakeDevices npu;
  DeviceGuardRegistration guard = register_device_guard(npu);
  FakeAllocator allocator{npu};
  RegistrationHandle kernels = commit();

  Backend() {
    blanked_on.clear();
    set_allocator(npu.type(), &allocator);
  }
  ~Backend() { set_allocator(npu.type(), nullptr); }
  RegistrationHandle commit() const {
    BlockRequest request;
    request.site = {"test.cpp", 1};
    const DispatchKey key = runtime_key(Functionality::Dense, npu.type());
    add<Functional, Negated, negated, Binary>(request, key, "on_device::negated(Tensor self, Tensor other) -> Tensor");
    add<InPlace, Negated, negated, BinaryInPlace>(request, key,
                                                  "on_device::negated_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
    add<Out, Negated, negated, BinaryOut>(
        request, key, "on_device::negated.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)");
    add<Functional, Blank, blank, Factory>(request, key,
                                           "on_device::blank(int size, *, Device? device=None) -> Tensor");
    return Dispatcher::singleton().commit(request);
  }
};

TensorBase on(Device device) { return make_tensor({2, 3}, kFloat, device); }

}  // namespace

TEST_CASE("kernel and memory of every overload find the device of the tensors current") {
  const Backend backend;
  const Device second = backend.npu.device(1);
  TensorBase a = on(second), out = on(second);
  const TensorBase sum = op("on_device::negated").typed<Binary>().call(a, a);
  CHECK(sum.device() == second);
  op("on_device::negated_").typed<BinaryInPlace>().call(a, a);
  op("on_device::negated.out").typed<BinaryOut>().call(a, a, out);
  CHECK(blanked_on == std::vector<Device>(3, second));
  CHECK(current_device(backend.npu.type()) == backend.npu.device(0));
}

TEST_CASE("a number on the CPU among the tensors does not decide") {
  const Backend backend;
  const Device second = backend.npu.device(1);
  const TensorBase number = make_tensor({}, kFloat, kCPU);
  const TensorBase result = op("on_device::negated").typed<Binary>().call(number, on(second));
  CHECK(result.device() == second);
  CHECK(blanked_on == std::vector<Device>{second});
}

TEST_CASE("a factory's device is current, and one without an index is the current one") {
  const Backend backend;
  const auto make = op("on_device::blank").typed<Factory>();
  CHECK(make.call(3, backend.npu.device(1)).device() == backend.npu.device(1));
  CHECK(make.call(3, backend.npu.type()).device() == backend.npu.device(0));
  const DeviceGuard guard(backend.npu.device(1));
  CHECK(make.call(3, backend.npu.type()).device() == backend.npu.device(1));
  CHECK(make.call(3, backend.npu.device(0)).device() == backend.npu.device(0));
  CHECK(current_device(backend.npu.type()) == backend.npu.device(1));
}

TEST_CASE("an error of the guard or below it names the operator and restores the device") {
  Backend backend;
  const auto make = op("on_device::blank").typed<Factory>();
  CHECK(error_alone([&] { make.call(3, backend.npu.device(2)); }) ==
        "on_device::blank: device npu:2 is out of range: the number of npu devices is 2");
  const TensorBase a = on(backend.npu.device(1)), b = on(backend.npu.device(0));
  CHECK(error_of([&] { op("on_device::negated").typed<Binary>().call(a, b); }).find("on_device::negated: ") == 0);
  CHECK(current_device(backend.npu.type()) == backend.npu.device(0));
  CHECK(blanked_on.empty());
  backend.guard.undo();
  CHECK(error_of([&] {
          op("on_device::negated").typed<Binary>().call(a, a);
        }).find("on_device::negated: no device guard for device type npu: its backend is not loaded") == 0);
}
