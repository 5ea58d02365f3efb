#include <keyway/core/device/stream_guard.h>
#include <keyway/dispatch/inspect/profiler.h>
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>

#include <thread>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Runs f in a new thread that has the state of this one.
template <typename F>
void in_thread_with(const ThreadLocalState& state, F f) {
  std::thread([&] {
    const ThreadLocalStateGuard guard(state);
    f();
  }).join();
}

}  // namespace

TEST_CASE("a thread with the state of another has its keys and modes, and its own again afterwards") {
  const ExcludeDispatchKeyGuard excluded{DispatchKeySet(Functionality::Autocast)};
  const IncludeDispatchKeyGuard included{DispatchKeySet(Functionality::Tracer)};
  const InferenceMode inference;
  const ThreadLocalState state;
  std::thread([&] {
    const ThreadState own = thread_state;
    {
      const ThreadLocalStateGuard guard(state);
      CHECK(InferenceMode::is_enabled());
      CHECK_FALSE(grad_enabled());
      CHECK(excluded_keys().has(Functionality::Autocast));
      CHECK(included_keys().has(Functionality::Tracer));
    }
    CHECK(thread_state.included == own.included);
    CHECK(thread_state.excluded == own.excluded);
    CHECK_FALSE(InferenceMode::is_enabled());
    CHECK(grad_enabled());
  }).join();
}

TEST_CASE("autocast is handed on with its dtype, and what is converted ends with the guard") {
  const Tensor a = ones({2, 2});
  const AutocastMode region(DeviceType::CPU, kHalf, true, false);
  const ThreadLocalState state;
  std::thread([&] {
    CHECK(mm(a, a).scalar_type() == kFloat);
    {
      const ThreadLocalStateGuard guard(state);
      CHECK(mm(a, a).scalar_type() == kHalf);
      CHECK_FALSE(is_autocast_cache_enabled());
      CHECK(autocast_increment_nesting() == 2);  // the guard is a region
      autocast_decrement_nesting();
    }
    CHECK(mm(a, a).scalar_type() == kFloat);
    CHECK(autocast_dtype(DeviceType::CPU) == kBFloat16);
    CHECK(is_autocast_cache_enabled());
  }).join();
}

TEST_CASE("what listens to one thread or is a level of it stays with it") {
  const auto profile = std::make_shared<Profile>();
  const ThreadListenerGuard listening(profile);
  const Tensor a = ones({2});
  const std::size_t before = profile->rows().size();
  in_thread_with(ThreadLocalState(), [&] {
    CHECK_FALSE(included_keys().has(Functionality::Profiler));
    (void)a.neg();
  });
  CHECK(profile->rows().size() == before);
}

TEST_CASE("the current device and its streams are handed on and brought back") {
  FakeDevices fake;
  const DeviceGuardRegistration registration = register_device_guard(fake);
  const Stream side = new_stream(fake.device(1)), other = new_stream(fake.device(0));
  const StreamGuard guard0(other);
  const StreamGuard guard1(side);
  const ThreadLocalState state;
  std::thread([&] {
    {
      const ThreadLocalStateGuard guard(state);
      CHECK(fake.get_device() == fake.device(1));
      CHECK(current_stream(fake.device(1)) == side);
      CHECK(current_stream(fake.device(0)) == other);
    }
    CHECK(fake.get_device() == fake.device(0));
    CHECK(current_stream(fake.device(1)).is_default());
    CHECK(current_stream(fake.device(0)).is_default());
    fake.fail_next();  // the guard throws, and leaves all as it was
    CHECK_THROWS_AS(ThreadLocalStateGuard(state), Error);
    CHECK(current_stream(fake.device(1)).is_default());
    CHECK(grad_enabled());
  }).join();
}
