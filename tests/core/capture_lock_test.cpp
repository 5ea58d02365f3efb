#include <keyway/core/device/capture_lock.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

using namespace keyway;

namespace {

const Device kFirst(DeviceType::CUDA, 0), kSecond(DeviceType::CUDA, 1);

}  // namespace

TEST_CASE("a capture waits for another thread's of the same device, and for no other") {
  auto held = std::make_unique<CaptureLock>(kFirst), again = std::make_unique<CaptureLock>(kFirst);
  std::atomic<int> step = 0;
  std::thread other([&] {
    { const CaptureLock elsewhere(kSecond); }
    CHECK_FALSE(CaptureLock(kFirst, std::try_to_lock).is_held());
    step = 1;
    const CaptureLock waited(kFirst);
    step = 2;
  });
  while (step < 1) std::this_thread::yield();
  held.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(step == 1);  // for the second one of this thread
  CHECK(testing::error_of([] { const CaptureLock both(kSecond); }).find("still in a capture of cuda:0") !=
        std::string::npos);
  CHECK_FALSE(CaptureLock(kSecond, std::try_to_lock).is_held());
  CHECK(CaptureLock(kFirst, std::try_to_lock).is_held());
  CHECK(step == 1);
  again.reset();
  other.join();
  CHECK(step == 2);
}

TEST_CASE("the lock of a capture may go in another thread") {
  auto held = std::make_unique<CaptureLock>(kFirst);
  std::thread([&] { held.reset(); }).join();
  std::thread([] { const CaptureLock next(kFirst); }).join();
}
