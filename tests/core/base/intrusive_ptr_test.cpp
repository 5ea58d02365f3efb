#include <keyway/core/base/intrusive_ptr.h>
#include <keyway/tests/catch.h>

#include <thread>
#include <vector>

using namespace keyway;

namespace {
struct Counted : RefCounted {
  explicit Counted(int& a) : alive(a) { ++alive; }
  ~Counted() { --alive; }
  void release_resources() { released = true; }
  int& alive;
  bool released = false;
};
}  // namespace

TEST_CASE("the last strong reference frees the object") {
  int alive = 0;
  auto a = make_intrusive<Counted>(alive);
  intrusive_ptr<Counted> b = a;
  CHECK(a->use_count() == 2);
  a.reset();
  CHECK(alive == 1);
  b.reset();
  CHECK(alive == 0);
}

TEST_CASE("a weak reference keeps the memory, not the object's resources") {
  int alive = 0;
  auto a = make_intrusive<Counted>(alive);
  Counted* raw = a.get();
  weak_intrusive_ptr<Counted> weak(a);
  CHECK(weak.lock().get() == raw);
  CHECK(a->use_count() == 1);
  a.reset();
  CHECK(alive == 1);
  CHECK(raw->released);
  CHECK(weak.expired());
  CHECK(!weak.lock());
  weak = {};
  CHECK(alive == 0);
}

TEST_CASE("a process that has started a thread is no longer taken for one of a single thread") {
  bool inside = true;
  std::thread([&] { inside = is_single_threaded(); }).join();
  CHECK(!inside);
}

TEST_CASE("threads that lock and drop references free the object once") {
  int alive = 0;
  for (int round = 0; round < 200; ++round) {
    auto a = make_intrusive<Counted>(alive);
    weak_intrusive_ptr<Counted> weak(a);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([copy = a, weak]() mutable {
        for (int i = 0; i < 50; ++i) {
          auto again = weak.lock();
          auto other = copy;
        }
        copy.reset();
      });
    }
    a.reset();
    for (auto& thread : threads) thread.join();
  }
  CHECK(alive == 0);
}
