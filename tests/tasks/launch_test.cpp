#include <keyway/autograd/saved_tensor_hooks.h>
#include <keyway/batching/vmap_level.h>
#include <keyway/core/base/warning.h>
#include <keyway/core/random/thread_seed.h>
#include <keyway/forward/dual_level.h>
#include <keyway/keyway.h>
#include <keyway/tests/backends/cpu/settings.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/in_child.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <utility>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

class WithTaskThreads {
 public:
  explicit WithTaskThreads(int n) : before_(get_num_interop_threads()) { set_num_interop_threads(n); }
  ~WithTaskThreads() { set_num_interop_threads(before_); }
  WithTaskThreads(const WithTaskThreads&) = delete;
  WithTaskThreads& operator=(const WithTaskThreads&) = delete;

 private:
  int before_;
};

// Waits until the condition holds, ten seconds at most.
template <typename Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Occupies a thread without waiting for a future.
class Spinner {
 public:
  Spinner()
      : task_(launch([this] {
          begun_ = true;
          while (!stop_) std::this_thread::yield();
        })) {
    REQUIRE(soon([this] { return begun_.load(); }));
  }
  ~Spinner() {
    stop_ = true;
    task_.wait();
  }

 private:
  std::atomic<bool> begun_{false}, stop_{false};
  Future<void> task_;
};

int fibonacci(int n) {
  if (n < 2) return n;
  const Future<int> one = launch([n] { return fibonacci(n - 1); });
  const int other = fibonacci(n - 2);
  return one.wait() + other;
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("a task gives its value to all who wait for it") {
  const Future<Tensor> sum = launch([] { return ones({3}).sum(); });
  const Future<Tensor> same = sum;
  CHECK(sum.wait().item().to<double>() == 3);
  CHECK(same.done());
  CHECK(same.value().is_same(sum.wait()));
  CHECK(sum.exception() == nullptr);
  launch([] {}).wait();
}

TEST_CASE("the exception of a task reaches those who wait, and is no end of the pool's thread") {
  for (int round = 0; round < 100; ++round) {
    const Future<int> failed = launch([]() -> int { throw std::out_of_range("far out"); });
    CHECK_THROWS_AS(failed.wait(), std::out_of_range);
    CHECK_THROWS_AS(failed.value(), std::out_of_range);
    CHECK(text_of(failed.exception()) == "far out");
  }
  CHECK(error_of([] { launch([] { return ones({2}) + ones({3}); }).wait(); }).find("do not broadcast") !=
        std::string::npos);
  CHECK(launch([] { return 5; }).wait() == 5);
}

TEST_CASE("tasks run at once, as many as there are threads") {
  for (const int threads : {1, 2, 3}) {
    const WithTaskThreads with(threads);
    std::atomic<int> inside{0}, most{0};
    std::vector<Future<void>> futures;
    std::atomic<bool> met{false};
    for (int i = 0; i < 8; ++i) {
      futures.push_back(launch([&] {
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
        while (!met && std::chrono::steady_clock::now() < until) {
          if (most == threads) met = true;
          std::this_thread::yield();
        }
        --inside;
      }));
    }
    REQUIRE(soon([&] { return collect_all(futures).done(); }));
    CHECK(most == threads);
  }
}

TEST_CASE("the number of threads is checked, and changes while tasks run") {
  CHECK(error_of([] { set_num_interop_threads(0); }).find("the number of threads is 0, but must be from 1 to 1024") !=
        std::string::npos);
  CHECK_THROWS_AS(set_num_interop_threads(1025), Error);
  const WithTaskThreads with(1);
  CHECK(get_num_interop_threads() == 1);
  const Spinner spinner;
  const Future<int> next = launch([] { return 1; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(next.done());
  set_num_interop_threads(2);  // there is a thread for it now
  CHECK(soon([&] { return next.done(); }));
}

TEST_CASE("whoever waits for a task that no thread has begun runs it") {
  const WithTaskThreads with(1);
  const Spinner spinner;
  const auto here = std::this_thread::get_id();
  CHECK(launch([] { return std::this_thread::get_id(); }).wait() == here);
  const Future<int> first = launch([] { return 2; });
  const Future<int> second = first.then([](const Future<int>& f) { return f.value() * 3; });
  CHECK(second.wait() == 6);
  CHECK(collect_all(std::vector{launch([] { return 1; }), launch([] { return 2; })}).wait().size() == 2);
}

TEST_CASE("tasks that wait for tasks end, however many threads there are") {
  for (const int threads : {1, 2, 4}) {
    const WithTaskThreads with(threads);
    CHECK(launch([] { return fibonacci(14); }).wait() == 377);
  }
}

TEST_CASE("a thread of the pool that waits for what a later task does makes room for it") {
  const WithTaskThreads with(1);
  const Future<int> promised;
  const Future<int> waits = launch([=] { return promised.wait(); });
  const Future<void> completes = launch([=] { promised.set_result(7); });
  CHECK(soon([&] { return waits.done(); }));
  CHECK(waits.wait() == 7);
  completes.wait();
  std::atomic<int> inside{0}, most{0};  // and there is one thread at work again
  std::vector<Future<void>> futures;
  for (int i = 0; i < 20; ++i) {
    futures.push_back(launch([&] {
      const int now = ++inside;
      if (now > most) most = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --inside;
    }));
  }
  REQUIRE(soon([&] { return collect_all(futures).done(); }));
  CHECK(most == 1);
}

TEST_CASE("a task runs with the state of the thread that launched it") {
  const WithTaskThreads with(1);
  const Tensor a = ones({2, 2}).requires_grad_();
  const auto probe = [a] { return std::pair(mm(a, a).requires_grad(), mm(a, a).scalar_type()); };
  for (const bool spins : {false, true}) {  // in the pool's thread, and in this one
    std::optional<Spinner> spinner;
    if (spins) spinner.emplace();
    Future<std::pair<bool, ScalarType>> of_no_grad, of_autocast;
    {
      const NoGradGuard no_grad;
      of_no_grad = launch(probe);
    }
    {
      const AutocastMode autocast(DeviceType::CPU);
      of_autocast = launch(probe);
    }
    const Future<std::pair<bool, ScalarType>> plain = launch(probe);
    const NoGradGuard no_grad;
    CHECK(plain.wait() == std::pair(true, kFloat));
    CHECK(of_no_grad.wait() == std::pair(false, kFloat));
    CHECK(of_autocast.wait() == std::pair(true, kBFloat16));
    CHECK_FALSE(grad_enabled());
  }
}

TEST_CASE("a task meets nothing that lives on the stack of the thread that launches it or runs it") {
  struct NoHooks final : autograd::SavedTensorHooks {
    std::unique_ptr<autograd::PackedTensor> pack(const Tensor&) override { throw std::logic_error("a task saved it"); }
  };
  struct Met {
    bool hooks, level, vmap;
    Tensor drawn;
  };
  const Tensor x = ones({2}).requires_grad_();
  const auto probe = [x] {
    (x * x).sum().backward();
    return Met{autograd::saved_tensor_hooks != nullptr, DualLevel::innermost() != nullptr,
               batching::innermost_level() != nullptr, rand({3})};
  };
  manual_seed(11);
  const Tensor first = rand({3}), second = rand({3});
  const WithTaskThreads with(1);
  for (const bool spins : {false, true}) {  // in the pool's thread, and in this one
    std::optional<Spinner> spinner;
    if (spins) spinner.emplace();
    manual_seed(11);
    const Future<Met> from_outside = launch(probe);
    std::vector<Met> met;
    {
      const ThreadSeed seed(5);
      NoHooks hooks;
      const autograd::SavedTensorHooksGuard guard(&hooks);
      const DualLevel level;
      const batching::VmapLevel vmap(2, Randomness::Same);
      met.push_back(from_outside.wait());
      met.push_back(launch(probe).wait());
      CHECK(autograd::saved_tensor_hooks == &hooks);
      CHECK(DualLevel::innermost() == &level);
      CHECK(batching::innermost_level() == &vmap);
      CHECK(included_keys().has(Functionality::Batched));
    }
    for (const Met& each : met) CHECK_FALSE((each.hooks || each.level || each.vmap));
    CHECK(met[0].drawn.equal(first));
    CHECK(met[1].drawn.equal(second));
  }
}

TEST_CASE("tasks that those who waited for them ran do not pile up") {
  const WithTaskThreads with(1);
  const Spinner spinner;
  std::vector<std::weak_ptr<keyway::detail::Task>> tasks;
  for (int i = 0; i < 2000; ++i) {
    const Future<void> future = launch([] {});
    tasks.emplace_back(future.tasks()[0]);
    future.wait();
  }
  CHECK(std::ranges::count_if(tasks, [](const auto& task) { return !task.expired(); }) < 100);
}

TEST_CASE("a task takes what can only be moved, and lets go of it before it is done") {
  auto number = std::make_unique<int>(3);
  auto held = std::make_shared<int>(4);
  const std::weak_ptr<int> watched = held;
  CHECK(launch([n = std::move(number), h = std::move(held)] { return *n + *h; }).wait() == 7);
  CHECK(watched.expired());
}

TEST_CASE("callbacks are called once, in their order, and those that come late at once") {
  const Future<int> promised;
  std::string order;
  promised.add_done_callback([&](const Future<int>& f) { order += std::to_string(f.value()); });
  {
    const NoGradGuard no_grad;  // a callback has the state of the thread that added it
    promised.add_done_callback([&](const Future<int>&) { order += grad_enabled() ? "g" : "n"; });
  }
  const Future<int> next = promised.then([&](const Future<int>& f) {
    order += "t";
    return f.value() + 1;
  });
  CHECK(order.empty());
  promised.set_result(1);
  CHECK(order == "1nt");
  CHECK(next.value() == 2);
  promised.add_done_callback([&](const Future<int>&) { order += "l"; });
  CHECK(order == "1ntl");
}

TEST_CASE("an exception passes from a future to those made by then") {
  const Future<int> promised;
  const Future<int> next = promised.then([](const Future<int>& f) { return f.value(); });
  const Future<int> saved = promised.then([](const Future<int>& f) { return f.exception() != nullptr ? -1 : 0; });
  promised.set_exception(std::make_exception_ptr(std::domain_error("no")));
  CHECK_THROWS_AS(next.wait(), std::domain_error);
  CHECK(saved.wait() == -1);
}

TEST_CASE("what a callback throws is a warning, and the others are called") {
  std::string warned;
  const WarningHandler before = set_warning_handler([&](std::string_view text) { warned += text; });
  const Future<void> promised;
  bool called = false;
  promised.add_done_callback([](const Future<void>&) { throw std::runtime_error("callback broke"); });
  promised.add_done_callback([&](const Future<void>&) { called = true; });
  promised.set_result();
  set_warning_handler(before);
  CHECK(called);
  CHECK(warned.find("callback broke") != std::string::npos);
}

TEST_CASE("a future is completed once, and asked for its value when it has one") {
  const Future<int> promised;
  CHECK_FALSE(promised.done());
  CHECK(error_of([&] { (void)promised.value(); }).find("wait() waits for it") != std::string::npos);
  promised.set_result(1);
  CHECK(error_of([&] { promised.set_result(2); }).find("completed already") != std::string::npos);
  CHECK_THROWS_AS(promised.set_exception(std::make_exception_ptr(1)), Error);
  CHECK(promised.value() == 1);
}

TEST_CASE("collect_all is done when all are, by the first in the list that failed if one did") {
  const Future<int> one, two, three, four;
  const auto all = collect_all(std::vector{one, two});
  two.set_result(2);
  CHECK_FALSE(all.done());
  one.set_result(1);
  REQUIRE(all.done());
  CHECK(all.value()[1].value() == 2);
  const auto failing = collect_all(std::vector{one, three, four});
  four.set_exception(std::make_exception_ptr(std::out_of_range("four")));
  CHECK_FALSE(failing.done());
  three.set_exception(std::make_exception_ptr(std::domain_error("three")));
  CHECK_THROWS_AS(failing.value(), std::domain_error);
  CHECK(collect_all(std::vector<Future<int>>()).wait().empty());
}

TEST_CASE("tasks launched from many threads all run once") {
  const WithTaskThreads with(3);
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const Future<int> task = launch([&, round] { return sum += 1, round; });
        const Future<int> next = task.then([](const Future<int>& f) { return f.value() + 1; });
        if (next.wait() != round + 1) sum -= 1000000;
      }
    });
  }
  for (int i = 0; i < 20; ++i) set_num_interop_threads(1 + i % 4);
  for (std::thread& thread : threads) thread.join();
  CHECK(sum == 800);
}

TEST_CASE("tasks that use parallel loops, and loops within them, end with the right sums") {
  const WithThreads loops(2);
  const WithTaskThreads tasks(2);
  const auto work = [] {
    std::atomic<std::int64_t> sum{0};
    for (int round = 0; round < 50; ++round) {
      parallel_for(0, 64, 1, [&](std::int64_t b, std::int64_t e) {
        parallel_for(b, e, 1, [&](std::int64_t c, std::int64_t d) { sum += d - c; });  // within a region: inline
      });
    }
    return sum.load();
  };
  std::vector<Future<std::int64_t>> futures;
  for (int i = 0; i < 4; ++i) futures.push_back(launch(work));
  for (const Future<std::int64_t>& future : futures) CHECK(future.wait() == 50 * 64);
}

TEST_CASE("a task launched and waited for within a parallel loop ends") {
  const WithThreads loops(2);
  for (const int threads : {1, 2}) {
    const WithTaskThreads tasks(threads);
    std::atomic<std::int64_t> sum{0};
    parallel_for(0, 16, 1, [&](std::int64_t b, std::int64_t e) {
      sum += launch([=] {
               std::atomic<std::int64_t> part{0};
               parallel_for(b, e, 1, [&](std::int64_t c, std::int64_t d) { part += d - c; });
               return part.load();
             }).wait();
    });
    CHECK(sum == 16);
  }
}

TEST_CASE("gradients are computed by tasks over one graph") {
  const Tensor x = full({4}, 2.0).requires_grad_();
  std::vector<Future<std::vector<Tensor>>> futures;
  for (int i = 1; i <= 6; ++i) {
    futures.push_back(launch([x, i] { return autograd::grad({(x * i).sum()}, {x}); }));
  }
  for (int i = 1; i <= 6; ++i) {
    CHECK(futures[static_cast<std::size_t>(i - 1)].wait()[0].sum().item().to<double>() == 4 * i);
  }
}

#if !defined(__SANITIZE_THREAD__)  // which has no threads in a forked child
TEST_CASE("a forked child has threads of its own, and runs what nobody had begun") {
  const WithTaskThreads with(2);
  REQUIRE(launch([] { return 1; }).wait() == 1);
  for (int round = 0; round < 10; ++round) {
    CHECK(in_child([] {
      return get_num_interop_threads() == 2 && fibonacci(10) == 55 && in_child([] { return fibonacci(8) == 21; });
    }));
  }
  const Spinner one, two;
  const Future<int> waiting = launch([] { return 3; });
  CHECK(in_child([&] { return waiting.wait() == 3; }));
  CHECK(waiting.wait() == 3);
}

TEST_CASE("a child gets an error for a task that its parent runs, and a value that was there before") {
  const Future<int> before = launch([] { return 2; });
  (void)before.wait();
  std::atomic<bool> begun{false}, stop{false};
  const Future<int> task = launch([&] {
    begun = true;
    while (!stop) std::this_thread::yield();
    return 1;
  });
  REQUIRE(soon([&] { return begun.load(); }));
  CHECK(in_child([&] {
    return before.wait() == 2 &&
           error_of([&] { (void)task.wait(); }).find("a process that this one was forked from") != std::string::npos;
  }));
  stop = true;
  CHECK(task.wait() == 1);
}

TEST_CASE("a child that a task forks, or that is forked among tasks, works") {
  const WithTaskThreads with(2);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) launch([] { return launch([] { return 1; }).wait(); }).wait();
  });
  for (int round = 0; round < 20; ++round) {
    CHECK(in_child([] { return fibonacci(8) == 21; }));
    CHECK(launch([] { return in_child([] { return fibonacci(6) == 8; }); }).wait());
  }
  stop = true;
  busy.join();
}
#endif

#if !defined(KEYWAY_SANITIZED)  // to a leak checker what the parent's threads have is lost at the end of a forked child
TEST_CASE("a process that has tasks waits at its end for those that run, and drops the others") {
  using Shared = std::atomic<int>;
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto& ended = *new (memory) Shared(0);
  CHECK(in_child([&] {
    set_num_interop_threads(1);
    std::atomic<bool> waits{false}, begun{false};
    launch([&, promised = Future<void>()] {
      waits = true;
      promised.wait();  // for ever
    });
    while (!waits) std::this_thread::yield();
    launch([&] {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ++ended;
    });
    launch([&] { ended += 100; });
    while (!begun) std::this_thread::yield();
    std::exit(0);
    return false;
  }));
  CHECK(ended == 1);
  munmap(memory, sizeof(Shared));
}
#endif
