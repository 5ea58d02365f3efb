// Devices that have no kernel of their own: every operator goes through cpu_fallback, and gives what the CPU gives.
#include <keyway/autograd/engine.h>
#include <keyway/core/device/device_backend.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/dispatch/call/call_declined.h>
#include <keyway/dispatch/plugin/cpu_fallback.h>
#include <keyway/dispatch/plugin/fallback_report.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/device.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Host memory under addresses that the host cannot use, so that whoever reads it as the CPU's crashes.
class FarAllocator final : public Allocator {
 public:
  static constexpr std::uintptr_t kFar = std::uintptr_t{1} << 62;
  explicit FarAllocator(DeviceType type) : type_(type) {}
  DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return DataPtr(nullptr, current_device(type_));
    void* const memory = ::operator new(bytes);
    return DataPtr(
        far(memory), memory, [](void* context) { ::operator delete(context); }, current_device(type_));
  }
  void copy_data(void* to, const void* from, std::size_t bytes) override { std::memcpy(near(to), near(from), bytes); }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override { std::memcpy(near(to), from, bytes); }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, near(from), bytes); }

 private:
  static void* far(void* p) { return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) | kFar); }
  static void* near(const void* p) { return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) & ~kFar); }

  DeviceType type_;
};

// Two devices of type "far", served by the CPU's kernels.
struct FarDevices {
  DeviceType type = register_device_type("far");
  DeviceBackendRegistration backend =
      register_device_backend(type, {.allocator = std::make_shared<FarAllocator>(type), .device_count = 2});
  RegistrationHandle fallback = [this] {
    Library all(Library::Kind::Impl, "_", key());
    all.fallback(cpu_fallback);
    return all.commit();
  }();

  DispatchKey key() const { return runtime_key(Functionality::Dense, type); }
  Device operator[](int index) const { return Device(type, static_cast<std::int8_t>(index)); }
};

Tensor integers(const std::vector<std::int64_t>& values) {
  const Tensor tensor = empty({static_cast<std::int64_t>(values.size())}, kLong);
  std::copy(values.begin(), values.end(), tensor.data_ptr<std::int64_t>());
  return tensor;
}
Tensor on_cpu(const Tensor& tensor) { return tensor.to(kCPU); }

void check_equal(const Tensor& a, const Tensor& b) {
  CHECK(a.sizes() == b.sizes());
  CHECK(equal(on_cpu(a), on_cpu(b)));
}

std::uint64_t calls_of(const std::string& op) {
  std::uint64_t calls = 0;
  for (const CpuFallbackUse& use : cpu_fallback_uses()) calls += use.op == op ? use.calls : 0;
  return calls;
}

}  // namespace

TEST_CASE("every operator gives what the CPU gives on devices that have no kernel") {
  const FarDevices far;
  const DeviceFigures figures = compare_device(far[1]);
  for (const std::string& problem : figures.problems) {
    INFO(problem);
    CHECK(false);
  }
  CHECK(figures.not_served.empty());
  CHECK(figures.operators > 150);
  CHECK(figures.calls > 1000);
}

TEST_CASE("what shares memory on the device shares it in the fallback") {
  const FarDevices far;
  Tensor base = arange(12, far[0]).view({3, 4});
  Tensor row = base.select(0, 1);
  SECTION("a view is written, and nothing beside it") {
    row.add_(base.select(0, 2));
    check_equal(base, integers({0, 1, 2, 3, 12, 14, 16, 18, 8, 9, 10, 11}).view({3, 4}));
  }
  SECTION("a column, between whose elements others lie") {
    base.select(1, 2).mul_(-1);
    check_equal(base, integers({0, 1, -2, 3, 4, 5, -6, 7, 8, 9, -10, 11}).view({3, 4}));
  }
  SECTION("an in-place result is the argument") { CHECK(row.mul_(2).is_same(row)); }
  SECTION("out= is resized, and is the result") {
    Tensor out = empty({0}, TensorOptions(kLong).device(far[0]));
    CHECK(add_out(out, base, base).is_same(out));
    check_equal(out, on_cpu(base) * 2);
  }
  SECTION("an error leaves what was to be written") {
    const Tensor before = base.clone();
    CHECK_THROWS_AS(base.index_fill_(0, integers({0, 7}).to(far[0]), 5), Error);
    check_equal(base, before);
  }
}

TEST_CASE("tensors of two devices are refused, as kernels refuse them, but where an operator copies between them") {
  const FarDevices far;
  const Tensor x = ones({2}, TensorOptions().device(far[0])), y = ones({2}, TensorOptions().device(far[1]));
  CHECK(error_of([&] { x.mul(y); }).find("argument 'other' is on far:1, and others on far:0") != std::string::npos);
  CHECK(error_of([&] { cat({x, y}); }).find("on far:1") != std::string::npos);
  CHECK((x + y.to(far[0])).device() == far[0]);
  CHECK(x.copy_(y * 3).device() == far[0]);
  CHECK(on_cpu(x).sum().item<double>() == 6.0);
}

TEST_CASE("the fallback draws from the device's generator") {
  const FarDevices far;
  manual_seed(7);
  const Tensor first = randn({64}, far[1]);
  const Tensor second = rand({64}, far[1]);
  const std::uint64_t drawn = default_generator(far[1]).get_state().call;
  manual_seed(7);
  check_equal(first, randn({64}));
  check_equal(second, rand({64}));
  CHECK(drawn == default_generator(kCPU).get_state().call);
  CHECK(default_generator(far[0]).get_state().call == 0);
  Generator own(far[1]);
  own.manual_seed(3);
  Generator same(kCPU);
  same.manual_seed(3);
  check_equal(randn({8}, own, far[1]), randn({8}, same));
  CHECK(own.get_state().call == same.get_state().call);
}

TEST_CASE("gradients on devices that have no kernel are the CPU's") {
  const FarDevices far;
  const auto gradient_on = [](Device device) {
    manual_seed(1);
    Tensor x = randn({4, 5}).to(device).requires_grad_();
    const Tensor w = randn({5, 3}).to(device);
    softmax(matmul(x, w), 1).square().sum().backward();
    return on_cpu(x.grad());
  };
  check_equal(gradient_on(far[1]), gradient_on(kCPU));
}

TEST_CASE("second derivatives on devices that have no kernel are the CPU's, and threads do not meet") {
  const FarDevices far;
  const auto second_on = [](Device device) {
    Tensor x = arange(1, 7, TensorOptions(kDouble)).view({2, 3}).to(device).requires_grad_();
    const Tensor first = autograd::grad({(x.sin() * x).sum()}, {x}, {}, true, true)[0];
    return on_cpu(autograd::grad({first.sum()}, {x})[0]);
  };
  const Tensor expected = second_on(kCPU);
  std::vector<Tensor> got(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < got.size(); ++i) {
    threads.emplace_back([&, i] { got[i] = second_on(far[static_cast<int>(i % 2)]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tensor& each : got) check_equal(each, expected);
}

TEST_CASE("the report has what moved") {
  const FarDevices far;
  reset_cpu_fallback_uses();
  const Tensor x = ones({256}, far[0]);
  const Tensor y = x.exp();
  const std::vector<CpuFallbackUse> uses = cpu_fallback_uses();
  const auto exp = std::find_if(uses.begin(), uses.end(), [](const auto& use) { return use.op == "exp"; });
  REQUIRE(exp != uses.end());
  CHECK(exp->device == "far");
  CHECK(exp->calls == 1);
  CHECK(exp->bytes_to_host == 1024);
  CHECK(exp->bytes_to_device == 1024);
  CHECK(to_string(uses).find("exp") != std::string::npos);
  const std::vector<CpuFallbackUse> read = parse_cpu_fallback_report(cpu_fallback_report(uses));
  CHECK(to_string(read) == to_string(uses));
  CHECK(error_of([] { (void)parse_cpu_fallback_report("{}"); }).starts_with("no report of fallbacks: "));
  reset_cpu_fallback_uses();
  CHECK(cpu_fallback_uses().empty());
}

namespace {
// A device that doubles float32, and nothing else.
Tensor far_exp(const Tensor& self) {
  if (self.dtype() != kFloat) throw CallDeclined("the device computes float32");
  return ones(self.sizes(), self.options()) * 2;
}
void far_exp_out(const TensorBase&, TensorBase&) { throw CallDeclined("the device computes nothing"); }
}  // namespace

TEST_CASE("a kernel declines a call, which goes on to the fallback") {
  const FarDevices far;
  Library m(Library::Kind::Impl, "keyway", far.key());
  SECTION("with or_else") {
    m.impl("exp", far_exp).or_else(cpu_fallback);
    const RegistrationHandle handle = m.commit();
    reset_cpu_fallback_uses();
    check_equal(ones({3}, far[0]).exp(), full({3}, 2.0f));
    CHECK(calls_of("exp") == 0);
    check_equal(ones({3}, TensorOptions(kDouble).device(far[0])).exp(), ones({3}, kDouble).exp());
    CHECK(calls_of("exp") == 1);
  }
  SECTION("without: an error that says why") {
    m.impl("exp", far_exp);
    const RegistrationHandle handle = m.commit();
    CHECK(error_alone([&] { ones({3}, TensorOptions(kDouble).device(far[0])).exp(); }) ==
          "exp: the device computes float32");
  }
  SECTION("of one in out style, each overload") {
    m.kernel("exp", far_exp_out).or_else(cpu_fallback);
    const RegistrationHandle handle = m.commit();
    reset_cpu_fallback_uses();
    const Tensor x = ones({2, 3}, far[0]).t();
    Tensor out = empty({0}, far[0]);
    CHECK(exp_out(out, x).is_same(out));
    check_equal(out, ones({3, 2}).exp());
    Tensor written = x.clone();
    CHECK(written.exp_().is_same(written));
    check_equal(written, ones({3, 2}).exp());
    CHECK(calls_of("exp.out") == 1);
    CHECK(calls_of("exp_") == 1);
  }
  SECTION("there must be a kernel") { CHECK_THROWS_AS(m.or_else(cpu_fallback), Error); }
}

TEST_CASE("a type without any part of its own has the CPU's memory") {
  const DeviceType type = register_device_type("plain");
  const DeviceBackendRegistration backend = register_device_backend(type);
  Library all(Library::Kind::Impl, "_", runtime_key(Functionality::Dense, type));
  all.fallback(cpu_fallback);
  const RegistrationHandle fallback = all.commit();
  CHECK(device_count(type) == 1);
  check_equal(ones({3}, Device(type)) + 1, full({3}, 2.0f));
  CHECK(error_of([&] { (void)register_device_backend(type); }).find("has one already") != std::string::npos);
  CHECK(error_of([&] { (void)register_device_backend(type, {.device_count = 0}); }) ==
        "device backend of plain: its device count is 0, but must be 1 to 128");
}
