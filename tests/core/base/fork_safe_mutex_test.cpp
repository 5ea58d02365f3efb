// ForkSafe mutexes: a child finds them free, whoever held them when it was forked.
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/warning.h>
#include <keyway/tests/in_child.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace keyway::inline v1 {
namespace {

using testing::in_child;

constinit std::atomic<int> children{0};
constinit ForkSafeMutex outer(LockOrder::Registry, [] { ++children; });
constinit ForkSafeRecursiveMutex inner(LockOrder::Graph);
constinit ForkSafeMutex last(static_cast<LockOrder>(255));
constinit int first = 0, second = 0;  // change together under the locks

template <typename Mutex>
bool is_free(Mutex& mutex) {
  const std::lock_guard lock(mutex);
  return true;
}

TEST_CASE("a recursive mutex that was locked before a fork is free in the child, again and again") {
  REQUIRE(is_free(inner));
  for (int round = 0; round < 3; ++round) {
    CHECK(in_child([] {
      const std::lock_guard lock(inner);
      return is_free(inner) && in_child([] { return is_free(inner); });
    }));
  }
  CHECK(is_free(inner));
}

TEST_CASE("a mutex of any order is free in a child that was forked while another thread held it") {
  std::atomic<bool> held{false}, stop{false};
  std::thread holder([&] {
    while (!stop) {
      const std::lock_guard lock(last);
      held = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  while (!held) std::this_thread::yield();
  for (int round = 0; round < 20; ++round) CHECK(in_child([] { return is_free(last); }));
  stop = true;
  holder.join();
}

TEST_CASE("a child finds whole what other threads change under locks") {
  REQUIRE((is_free(outer) && is_free(inner)));
  std::atomic<bool> stop{false};
  const auto change = [&] {
    while (!stop) {
      const std::lock_guard held(outer);
      const std::lock_guard held_too(inner);
      ++first;
      std::this_thread::yield();
      ++second;
    }
  };
  std::thread one(change), other(change);
  const int before = children;
  for (int round = 0; round < 100; ++round) {
    CHECK(in_child([=] {
      const std::lock_guard held(outer);
      const std::lock_guard held_too(inner);
      return first == second && children == before + 1;
    }));
  }
  stop = true;
  one.join();
  other.join();
  CHECK(children == before);
}

TEST_CASE("a child may warn that was forked while another thread's warning is heard") {
  std::atomic<bool> heard{false}, stop{false};
  const WarningHandler before = set_warning_handler([&](std::string_view) {
    heard = true;
    while (!stop) std::this_thread::yield();
  });
  std::thread warning([] { warn("one"); });
  while (!heard) std::this_thread::yield();
  CHECK(in_child([] {
    set_warning_handler({});
    warn("two");
    return true;
  }));
  stop = true;
  warning.join();
  set_warning_handler(before);
}

TEST_CASE("a handler of warnings may warn, and be replaced while it runs") {
  std::string texts;
  const WarningHandler before = set_warning_handler([&](std::string_view text) {
    texts += text;
    if (text == "a") {
      set_warning_handler([&](std::string_view other) { texts += std::string(other) + "!"; });
      warn("b");
    }
  });
  warn("a");
  set_warning_handler(before);
  CHECK(texts == "ab!");
}

}  // namespace
}  // namespace keyway::inline v1
