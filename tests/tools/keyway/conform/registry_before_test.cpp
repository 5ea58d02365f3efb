// What was registered before others came, and calls of it.
#include <keyway/core/device/device_backend.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/conform/earlier_kernels.h>
#include <keyway/tools/keyway/conform/registry_before.h>

#include <memory>
#include <optional>

using namespace keyway;
using namespace keyway::tools;

namespace {

OperatorHandle op(const char* name) { return Dispatcher::singleton().op(name); }

// relu that gives ones.
RegistrationHandle other_relu() {
  Library m(Library::Kind::Impl, "keyway", DispatchKey::CPU);
  m.impl("relu", [](const Tensor& self) { return ones_like(self); });
  return m.commit();
}

}  // namespace

TEST_CASE("operators and kernels that came later are told from those that were there") {
  const RegistryBefore before;
  Library m(Library::Kind::Def, "later");
  m.def("same(Tensor self) -> Tensor", [](const Tensor& self) { return self.clone(); });
  const RegistrationHandle defined = m.commit(), kernel = other_relu();
  CHECK(before.table_of(op("later::same").entry()) == nullptr);
  CHECK(before.is_changed(op("later::same"), DeviceType::CPU));
  CHECK(!before.has_kernel(op("later::same"), DeviceType::CPU));
  CHECK(before.is_changed(op("relu"), DeviceType::CPU));
  CHECK(!before.is_changed(op("relu"), DeviceType::Meta));
  CHECK(before.has_kernel(op("relu"), DeviceType::CPU));
  CHECK(!before.is_changed(op("relu_"), DeviceType::CPU));
  CHECK(!before.is_changed(op("add.Tensor"), DeviceType::CPU));
}

TEST_CASE("a kernel of autograd changes an operator too, and one that is gone again does not") {
  const RegistryBefore before;
  Library m(Library::Kind::Impl, "keyway", DispatchKey::AutogradCPU);
  m.impl("sigmoid", [](const Tensor& self) { return self; });
  std::optional<RegistrationHandle> kernel = m.commit();
  CHECK(before.is_changed(op("sigmoid"), DeviceType::CPU));
  kernel.reset();
  CHECK(!before.is_changed(op("sigmoid"), DeviceType::CPU));
}

TEST_CASE("a device type whose backend came later is told") {
  const RegistryBefore before;
  const DeviceType type = register_device_type("latecomer");
  CHECK(!before.lacks_backend(type));
  const DeviceBackendRegistration backend = register_device_backend(type, {});
  CHECK(before.lacks_backend(type));
  CHECK(!before.lacks_backend(DeviceType::CPU));
}

TEST_CASE("within a scope calls end at the kernels before, also those that other operators and gradients make") {
  const RegistryBefore before;
  const RegistrationHandle kernel = other_relu();
  const auto kernels = std::make_shared<EarlierKernels>(before);
  const ObserverHandle observed = observe_calls(kernels);
  const Tensor x = full({2}, -3.0);
  CHECK(relu(x).sum().item<double>() == 2);
  {
    const EarlierKernels::Scope scope(*kernels);
    CHECK(relu(x).sum().item<double>() == 0);
    CHECK(relu(full({2}, 3.0).requires_grad_()).sum().item<double>() == 6);
  }
  CHECK(relu(x).sum().item<double>() == 2);
}
