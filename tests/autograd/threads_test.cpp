// What threads do to one graph at once, beside running it (reentrant_test.cpp): retain gradients, add hooks, wait for
// each other's nodes.
#include <keyway/tests/autograd/in_threads.h>
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/in_child.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <latch>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace keyway;
using namespace keyway::testing;
using autograd::AutogradContext;
using autograd::variable_list;

namespace {

// Processor time of this thread, in seconds.
double time_used() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The identity, whose backward calls a function first.
struct Calls : autograd::Function<Calls> {
  static Tensor forward(AutogradContext& ctx, const Tensor& x, const std::function<void()>* call) {
    ctx.saved_data["call"] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(call));
    return x.clone();
  }
  static variable_list backward(AutogradContext& ctx, variable_list grads) {
    (*reinterpret_cast<const std::function<void()>*>(ctx.saved_data["call"].to_int()))();
    return grads;
  }
};

}  // namespace

TEST_CASE("no retained gradient is lost where threads run one graph") {
  constexpr int kRounds = 2000;
  const Tensor x = leaf({3});
  const Tensor y = x * 2;
  const Tensor z = y * 5;
  y.retain_grad();
  in_threads([&](int) {
    for (int round = 0; round < kRounds; ++round) z.backward({}, true);
  });
  CHECK(values_of(y.grad()) == Values{5.0 * kThreads * kRounds});
  CHECK(values_of(x.grad()) == Values{10.0 * kThreads * kRounds});
}

TEST_CASE("hooks may be added while threads run the graph") {
  constexpr int kRounds = 200;
  const Tensor x = leaf({3});
  const Tensor y = x * 2;
  const Tensor z = y * 5;
  std::atomic<int> calls{0};
  in_threads([&](int i) {
    for (int round = 0; round < kRounds; ++round) {
      if (i != 0) {
        (void)autograd::grad({z}, {x}, {}, true);
        continue;
      }
      const auto count = [&](const Tensor&) {
        ++calls;
        return Tensor();
      };
      autograd::register_hook(y, count);
      autograd::register_hook(x, count);
      autograd::register_post_accumulate_grad_hook(x, [&](const Tensor&) { ++calls; });
    }
  });
  calls = 0;
  z.backward();
  CHECK(calls == 3 * kRounds);
}

TEST_CASE("a thread that waits for a node sleeps") {
  using namespace std::chrono_literals;
  std::latch inside(1);
  std::atomic<bool> first{true};
  const std::function<void()> sleeps = [&] {
    if (!first.exchange(false)) return;
    inside.count_down();
    std::this_thread::sleep_for(500ms);
  };
  const Tensor x = leaf({3});
  const Tensor y = Calls::apply(x, &sleeps);
  std::thread other([&] { y.backward({}, true); });
  inside.wait();
  const double before = time_used();
  y.backward({}, true);
  CHECK(time_used() - before < 0.1);
  other.join();
  CHECK(values_of(x.grad()) == Values{2});
}

TEST_CASE("backwards that run each other's graph in two threads end: one is refused, the other goes on") {
  for (int round = 0; round < 20; ++round) {
    std::latch both_inside(2);
    Tensor a, b;
    std::atomic<int> first_calls{2};
    const auto runs = [&](const Tensor& other) {
      return std::function<void()>([&, root = &other] {
        if (first_calls.fetch_sub(1) <= 0) return;  // the inner backward that goes on
        both_inside.arrive_and_wait();
        root->backward({}, true);
      });
    };
    const std::function<void()> runs_b = runs(b), runs_a = runs(a);
    const Tensor x = leaf({3}), y = leaf({4});
    a = Calls::apply(x, &runs_b);
    b = Calls::apply(y, &runs_a);
    std::atomic<int> refused{0}, done{0};
    const auto run = [&](const Tensor& root) {
      try {
        root.backward({}, true);
        ++done;
      } catch (const Error& error) {
        if (std::string(error.what()).find("two backwards that run each other's graph") != std::string::npos) ++refused;
      }
    };
    std::thread one([&] { run(a); }), two([&] { run(b); });
    one.join();
    two.join();
    REQUIRE(refused == 1);
    REQUIRE(done == 1);
    // Nothing stays locked.
    a.backward({}, true);
    b.backward({}, true);
  }
}

TEST_CASE("a ring of waiting backwards of any length is refused to who closes it") {
  std::latch all_inside(kThreads);
  std::vector<Tensor> roots(kThreads);
  std::vector<std::function<void()>> calls(kThreads);
  std::atomic<int> first_calls{kThreads}, refused{0}, done{0};
  for (std::size_t i = 0; i < kThreads; ++i) {
    calls[i] = [&, i] {
      if (first_calls.fetch_sub(1) <= 0) return;
      all_inside.arrive_and_wait();
      roots[(i + 1) % kThreads].backward({}, true);
    };
    roots[i] = Calls::apply(leaf({1}), &calls[i]);
  }
  in_threads([&](int i) {
    try {
      roots[static_cast<std::size_t>(i)].backward({}, true);
      ++done;
    } catch (const Error&) {
      ++refused;
    }
  });
  CHECK(refused == 1);
  CHECK(done == kThreads - 1);
}

#if !defined(__SANITIZE_THREAD__)  // which has no threads in a forked child
TEST_CASE("a forked child renews the history of views as its parent did") {
  const auto renews = [] {
    const Tensor x = leaf({1, 2, 3, 4});
    Tensor y = x * 1;
    const Tensor row = y.slice(0, 0, 2);
    y.mul_(2);  // row's history is now that of y
    row.sum().backward();
    return values_of(x.grad()) == Values{2, 2, 0, 0};
  };
  REQUIRE(renews());
  CHECK(in_child(renews));
#if !defined(__SANITIZE_ADDRESS__)  // whose allocator has locks of its own, which a forked child may find taken
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) renews();
  });
  for (int round = 0; round < 20; ++round) CHECK(in_child(renews));
  stop = true;
  other.join();
#endif
}

TEST_CASE("a forked child is told of a node that another thread was running, and runs the others") {
  const Tensor x = leaf({1, 2});
  std::latch inside(1), go_on(1);
  const std::function<void()> call = [&] {
    inside.count_down();
    go_on.wait();
  };
  const Tensor y = Calls::apply(x, &call);
  const Tensor z = y.sum();
  std::thread other([&] { z.backward({}, true); });
  inside.wait();
  const auto in_time = [&] {
    const std::string text = error_of([&] { z.backward({}, true); });
    const Tensor own = leaf({3});
    (own * own).sum().backward();
    bool same = false;
    std::thread another([&] { same = error_of([&] { z.backward({}, true); }) == text; });
    another.join();
    return text.find("was being run by another thread when this process was forked") != std::string::npos &&
           values_of(own.grad()) == Values{6} && same;
  };
  CHECK(in_child(in_time));
  go_on.count_down();
  other.join();
  CHECK(values_of(x.grad()) == Values{1, 1});
}
#endif

namespace {
struct Plain final : autograd::Node {
  std::string name() const override { return "Plain"; }
  variable_list apply(variable_list&& grads) override { return std::move(grads); }
};
}  // namespace

TEST_CASE("threads that lock nodes in any order get them or an error, and each node one thread at a time") {
  constexpr int kNodes = 5, kRounds = 400;
  intrusive_ptr<Plain> nodes[kNodes];
  long counts[kNodes] = {};  // guarded by the nodes
  for (intrusive_ptr<Plain>& node : nodes) node = make_intrusive<Plain>();
  std::atomic<long> locked{0};
  in_threads([&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::size_t> held;
      try {
        for (auto wanted = 1 + random() % 4; wanted > 0; --wanted) {
          const std::size_t which = random() % kNodes;
          nodes[which]->lock();
          held.push_back(which);
          ++counts[which];
          ++locked;
          if (random() % 4 == 0) std::this_thread::yield();
        }
      } catch (const Error&) {  // who closes a ring lets go of what it holds
      }
      for (const std::size_t which : held) nodes[which]->unlock();
    }
  });
  long sum = 0;
  for (const long count : counts) sum += count;
  CHECK(sum == locked);
}
