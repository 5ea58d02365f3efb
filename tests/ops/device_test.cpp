// The generated suite on made-up devices, whose memory is the host's, that serve every operator by the CPU's functions
// in out style.
#include <keyway/core/device/device_guard.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>
#include <keyway/tests/kernels_of_cpu.h>
#include <keyway/tests/ops/device.h>

#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

// An operator whose kernel makes its result, which the CPU's makes on the CPU.
TensorBase nonzero_there(const TensorBase& self) {
  return nonzero(Tensor(self).to(kCPU, self.dtype())).to(self.device(), kLong);
}

RegistrationHandle serve_by_cpu(DispatchKey key) {
  BlockRequest request = kernels_of_cpu(key, [](const OperatorHandle&) { return true; });
  Library own(Library::Kind::Impl, "keyway", key);
  own.kernel("nonzero", nonzero_there);
  for (ImplRequest& impl : own.take_request().impls) request.impls.push_back(std::move(impl));
  return Dispatcher::singleton().commit(std::move(request));
}

void check_figures(const DeviceFigures& figures) {
  for (const std::string& problem : figures.problems) {
    INFO(problem);
    CHECK(false);
  }
  WARN(figures.calls << " calls of " << figures.operators
                     << " operators compared; not served: " << figures.not_served.size());
}

}  // namespace

TEST_CASE("what serves its devices by functions in out style gives what the CPU gives, for every operator") {
  FakeDevices npu;
  const DeviceGuardRegistration guard = register_device_guard(npu);
  FakeAllocator allocator{npu};
  set_allocator(npu.type(), &allocator);
  {
    const RegistrationHandle kernels = serve_by_cpu(runtime_key(Functionality::Dense, npu.type()));
    const DeviceFigures figures = compare_device(npu.device(1));
    check_figures(figures);
    CHECK(figures.not_served.empty());
    CHECK(figures.operators > 150);
    CHECK(figures.calls > 1000);
  }
  set_allocator(npu.type(), nullptr);
}

TEST_CASE("a tensor on Meta has no data to be copied to another device") {
  const Tensor nothing = keyway::empty({2}, TensorOptions(Device("meta")));
  Tensor here = keyway::ones({2});
  const std::string expected = "a tensor with data cannot be written from one on meta, which has none";
  CHECK(testing::error_of([&] { (void)nothing.to(kCPU); }).find(expected) != std::string::npos);
  CHECK(testing::error_of([&] { here.copy_(nothing); }).find(expected) != std::string::npos);
  CHECK(here.sum().item().to<double>() == 2);
  keyway::empty({2}, TensorOptions(Device("meta"))).copy_(here);
}
