#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/thread_at_work.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/in_child.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

// How often each element of [begin, end) was visited is once; the cuts are where they should be.
bool visits_each_once(std::int64_t begin, std::int64_t end, std::int64_t grain) {
  std::vector<std::atomic<int>> visits(static_cast<std::size_t>(end - begin));
  std::atomic<bool> cuts_ok{true};
  parallel_for(begin, end, grain, [&](std::int64_t b, std::int64_t e) {
    if (b >= e || (b - begin) % grain != 0 || (e != end && e - b < grain)) cuts_ok = false;
    for (std::int64_t i = b; i < e; ++i) ++visits[static_cast<std::size_t>(i - begin)];
  });
  for (const auto& n : visits) {
    if (n != 1) return false;
  }
  return cuts_ok;
}

}  // namespace

TEST_CASE("parallel_for visits each element once, whatever the threads and the grain") {
  for (const int threads : {1, 2, 3, 8}) {
    const WithThreads with(threads);
    for (const std::int64_t n : {1, 2, 7, 64, 1000, 4096, 100001}) {
      for (const std::int64_t grain : {1, 3, 64, 1024}) CHECK(visits_each_once(-5, n - 5, grain));
    }
  }
}

TEST_CASE("an empty range calls nothing, a small one calls once on this thread") {
  int calls = 0;
  parallel_for(3, 3, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  parallel_for(4, 3, 1, [&](std::int64_t, std::int64_t) { ++calls; });
  CHECK(calls == 0);
  const auto here = std::this_thread::get_id();
  parallel_for(0, 10, 10, [&](std::int64_t b, std::int64_t e) {
    calls += b == 0 && e == 10 && std::this_thread::get_id() == here;
    CHECK_FALSE(in_parallel_region());
  });
  CHECK(calls == 1);
}

TEST_CASE("a nested parallel_for runs inline") {
  const WithThreads with(4);
  std::atomic<int> wrong{0};
  parallel_for(0, 64, 1, [&](std::int64_t, std::int64_t) {
    const auto here = std::this_thread::get_id();
    if (!in_parallel_region()) ++wrong;
    int calls = 0;
    parallel_for(0, 1000, 1, [&](std::int64_t b, std::int64_t e) {
      if (b != 0 || e != 1000 || std::this_thread::get_id() != here) ++wrong;
      ++calls;
    });
    if (calls != 1) ++wrong;
  });
  CHECK(wrong == 0);
  CHECK_FALSE(in_parallel_region());
}

TEST_CASE("the exception of the lowest range that throws reaches the caller") {
  const WithThreads with(4);
  for (int round = 0; round < 100; ++round) {
    std::string text;
    try {
      parallel_for(0, 1000, 10, [](std::int64_t b, std::int64_t e) {
        if (e > 300) throw std::runtime_error(b <= 300 ? "first" : "later");
      });
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    REQUIRE(text == "first");
  }
  CHECK_FALSE(in_parallel_region());
  CHECK(visits_each_once(0, 1000, 10));
}

TEST_CASE("several callers use the pool at once") {
  const WithThreads with(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 6; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<std::int64_t> sum{0};
        parallel_for(0, 1000, 16, [&](std::int64_t b, std::int64_t e) { sum += e - b; });
        if (sum != 1000) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("the number of threads changes while others work") {
  const WithThreads with(2);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread caller([&] {
    while (!stop) {
      std::atomic<std::int64_t> sum{0};
      parallel_for(0, 1000, 16, [&](std::int64_t b, std::int64_t e) { sum += e - b; });
      if (sum != 1000) ++wrong;
    }
  });
  for (int round = 0; round < 50; ++round) set_num_threads(1 + round % 4);
  stop = true;
  caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("set_num_threads refuses numbers out of range and calls from within a region") {
  CHECK(error_of([] { set_num_threads(0); }).find("the number of threads is 0, but must be from 1 to 1024") !=
        std::string::npos);
  CHECK_THROWS_AS(set_num_threads(1025), Error);
  const WithThreads with(2);
  CHECK_THROWS_AS(parallel_for(0, 10, 1, [](std::int64_t, std::int64_t) { set_num_threads(2); }), Error);
  CHECK(get_num_threads() == 2);
}

TEST_CASE("work is shared: a second thread takes chunks") {
  const WithThreads with(2);
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  parallel_for(0, 8, 1, [&](std::int64_t, std::int64_t) {
    ++inside;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!met && std::chrono::steady_clock::now() < until) {
      if (inside == 2) met = true;
      std::this_thread::yield();
    }
    --inside;
  });
  CHECK(met);
}

TEST_CASE("callers that keep all threads busy have no helper, and one is there again when a caller is done") {
  const WithThreads with(2);
  std::atomic<bool> both{false}, ending{false}, done{false};  // of the second caller: it is there, and will go
  std::atomic<int> helped{0}, late{0};                        // chunks of the first caller that the helper did
  const auto soon = [](auto condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return condition();
  };
  std::thread second([&] {
    soon([&] { return helped == 1; });
    parallel_for(0, 8, 1, [&](std::int64_t b, std::int64_t) {
      both = true;
      if (b == 7) ending = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    });
    done = true;
  });
  const auto self = std::this_thread::get_id();
  bool entered = false, helped_again = false;
  parallel_for(0, 8, 1, [&](std::int64_t, std::int64_t) {
    if (std::this_thread::get_id() != self) {
      if (both && !ending) ++late;
      ++helped;
      soon([&] { return both.load(); });
    } else if (!std::exchange(entered, true)) {  // the others are left to the helper
      soon([&] { return done.load(); });
      helped_again = soon([&] { return helped >= 3; });
    }
  });
  second.join();
  CHECK(late <= 1);  // begun when the second caller was on its way
  CHECK(helped_again);
}

TEST_CASE("threads at work have no helper in their loops until one of them is done") {
  const WithThreads with(2);
  const auto self = std::this_thread::get_id();
  std::atomic<int> helped{0};
  std::atomic<bool> is_at_work{false}, ending{false};
  const auto wait_for = [](auto condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return condition();
  };
  std::thread other([&] {
    const ThreadAtWork at_work, within;
    is_at_work = true;
    wait_for([&] { return ending.load(); });
  });
  REQUIRE(wait_for([&] { return is_at_work.load(); }));
  {
    const ThreadAtWork at_work;
    parallel_for(0, 8, 1, [&](std::int64_t, std::int64_t) {
      helped += std::this_thread::get_id() != self;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    });
    CHECK(helped == 0);
    bool has_helper = false;
    parallel_for(0, 8, 1, [&](std::int64_t, std::int64_t) {
      helped += std::this_thread::get_id() != self;
      if (std::this_thread::get_id() != self || ending.exchange(true)) return;
      has_helper = wait_for([&] { return helped > 0; });  // comes into a loop that is under way
    });
    CHECK(has_helper);
  }
  other.join();
}

#if !defined(__SANITIZE_THREAD__)  // which has no threads in a forked child
TEST_CASE("a forked child has a pool of its own") {
  const WithThreads with(3);
  REQUIRE(visits_each_once(0, 1000, 10));
  for (int round = 0; round < 20; ++round) {
    CHECK(in_child([] { return get_num_threads() == 3 && visits_each_once(0, 1000, 10); }));
    CHECK(visits_each_once(0, 1000, 10));
  }
}

TEST_CASE("a child forked while other threads use the pool works") {
  const WithThreads with(3);
  std::atomic<bool> stop{false};
  std::thread caller([&] {
    while (!stop) parallel_for(0, 1000, 10, [](std::int64_t, std::int64_t) {});
  });
  for (int round = 0; round < 20; ++round) {
    CHECK(in_child([] { return visits_each_once(0, 1000, 10); }));
  }
  stop = true;
  caller.join();
}
#endif
