#include <keyway/core/base/inline_vector.h>
#include <keyway/core/base/intrusive_ptr.h>
#include <keyway/core/base/spin_lock.h>
#include <keyway/tests/catch.h>

#include <mutex>
#include <thread>
#include <vector>

using namespace keyway;

namespace {

struct Object : RefCounted {};

}  // namespace

TEST_CASE("an InlineVector keeps its elements when it outgrows its place, and lets each go once") {
  const auto object = make_intrusive<Object>();
  for (const std::uint32_t n : {0u, 1u, 2u, 3u, 9u}) {
    {
      InlineVector<intrusive_ptr<Object>, 2> list;
      for (std::uint32_t i = 0; i < n; ++i) list.push_back(object);
      REQUIRE(list.size() == n);
      CHECK(list.empty() == (n == 0));
      for (const auto& element : list) CHECK(element == object);
      CHECK(object->use_count() == n + 1);
    }
    CHECK(object->use_count() == 1);
  }
}

TEST_CASE("a SpinLock lets one thread in at a time") {
  SpinLock lock;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) {
        const std::lock_guard guard(lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count == 40000);
}
