// A signal writes its frame below the stack pointer of the thread that it meets: code that keeps anything else in that
// register lets it write over data. So all that multiplies matrices runs under thousands of signals a second here, and
// must compute what it computes without them, with the stack pointer always on the thread's stack.
#include <keyway/autograd/engine.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/nn/modules/rnn.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <dirent.h>
#include <functional>
#include <pthread.h>
#include <string>
#include <ucontext.h>

using namespace keyway;
using keyway::testing::some_tensor;

namespace {

std::atomic<long> signals{0}, astray{0};
std::uintptr_t main_stack_begin = 0, main_stack_end = 0;
std::size_t thread_stack_bytes = 0;
pthread_t main_thread;

// The stack of a thread that is not the first lies right below what pthread_self() points to.
bool is_on_stack(std::uintptr_t pointer) {
  if (pthread_equal(pthread_self(), main_thread)) return pointer >= main_stack_begin && pointer < main_stack_end;
  const auto end = static_cast<std::uintptr_t>(pthread_self());
  return pointer < end && end - pointer < thread_stack_bytes;
}

void on_signal(int, siginfo_t*, [[maybe_unused]] void* context) {
  signals.fetch_add(1, std::memory_order_relaxed);
#if defined(__x86_64__)
  const auto pointer = static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
  if (!is_on_stack(pointer)) astray.fetch_add(1, std::memory_order_relaxed);
#endif
}

void find_stacks() {
  main_thread = pthread_self();
  pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t bytes = 0;
  REQUIRE(pthread_getattr_np(main_thread, &attributes) == 0);
  pthread_attr_getstack(&attributes, &begin, &bytes);
  main_stack_begin = reinterpret_cast<std::uintptr_t>(begin);
  main_stack_end = main_stack_begin + bytes;
  pthread_attr_destroy(&attributes);
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &thread_stack_bytes);
  pthread_attr_destroy(&attributes);
}

class ThreadCount {
 public:
  explicit ThreadCount(int n) : before_(get_num_threads()) { set_num_threads(n); }
  ~ThreadCount() { set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

// While it lives, each thread that there is now gets 20,000 signals a second.
class Bombardment {
 public:
  explicit Bombardment(bool alternate_stack) {
    find_stacks();
    if (alternate_stack) {
      stack_.resize(1 << 16);
      const stack_t own{stack_.data(), 0, stack_.size()};
      REQUIRE(sigaltstack(&own, &stack_before_) == 0);
    }
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | (alternate_stack ? SA_ONSTACK : 0);
    REQUIRE(sigaction(SIGUSR1, &action, &action_before_) == 0);
    DIR* const threads = opendir("/proc/self/task");
    REQUIRE(threads != nullptr);
    while (const dirent* const entry = readdir(threads)) {
      if (entry->d_name[0] != '.') start_timer(std::stoi(entry->d_name));
    }
    closedir(threads);
  }
  ~Bombardment() {
    for (const timer_t timer : timers_) timer_delete(timer);
    // What is on its way still arrives before the handler goes.
    sigset_t pending;
    while (sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1) {
    }
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGUSR1, &ignore, nullptr);
    sigaction(SIGUSR1, &action_before_, nullptr);
    if (!stack_.empty()) sigaltstack(&stack_before_, nullptr);
  }
  Bombardment(const Bombardment&) = delete;
  Bombardment& operator=(const Bombardment&) = delete;

 private:
  void start_timer(int thread) {
    constexpr long kPeriod = 50'000;  // nanoseconds
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event._sigev_un._tid = thread;
    timer_t timer;
    REQUIRE(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    timers_.push_back(timer);
    const itimerspec times{{0, kPeriod}, {0, kPeriod}};
    REQUIRE(timer_settime(timer, 0, &times, nullptr) == 0);
  }

  std::vector<char> stack_;
  stack_t stack_before_ = {};
  struct sigaction action_before_ = {};
  std::vector<timer_t> timers_;
};

struct Case {
  std::string name;
  std::function<std::vector<Tensor>()> run;
};

// f's result and its gradients.
template <typename F>
Case with_gradients(std::string name, std::vector<Tensor> inputs, F f) {
  for (Tensor& input : inputs) input = input.detach().requires_grad_();
  return {std::move(name), [inputs, f] {
            const Tensor result = f(inputs);
            std::vector<Tensor> all = autograd::grad({result}, inputs, {ones_like(result)});
            all.push_back(result.detach());
            return all;
          }};
}

void add_products(std::vector<Case>& cases, ScalarType dtype) {
  const auto make = [&](IntArrayRef sizes) { return some_tensor(sizes, 1, dtype); };
  struct Shape {
    std::int64_t m, k, n;
  };
  for (const auto& [m, k, n] :
       {Shape{16, 16, 16}, {100, 100, 100}, {8, 784, 256}, {300, 64, 150}, {1, 300, 300}, {40, 700, 1}}) {
    const Tensor a = make({m, k}), b = make({k, n}), at = make({k, m}).t(), bt = make({n, k}).t(), bias = make({n});
    cases.push_back({"mm", [=] { return std::vector{mm(a, b), mm(at, bt), mm(a, bt), mm(at, b)}; }});
    cases.push_back({"addmm", [=] { return std::vector{addmm(bias, a, b), addmm(bias, a, bt, 2, 0.5)}; }});
  }
  const Tensor batch = make({6, 70, 70}), vector = make({70});
  cases.push_back({"bmm, mv", [=] { return std::vector{bmm(batch, batch), mv(batch.select(0, 1), vector)}; }});
  cases.push_back(with_gradients("linear", {make({64, 200}), make({90, 200}), make({90})},
                                 [](const auto& x) { return linear(x[0], x[1], x[2]); }));
  const Tensor heads = make({1, 2, 130, 32});
  cases.push_back(with_gradients("attention", {heads, heads, heads},
                                 [](const auto& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }));
}

void add_convolutions(std::vector<Case>& cases, ScalarType dtype) {
  const auto make = [&](IntArrayRef sizes) { return some_tensor(sizes, 1, dtype); };
  struct Layer {
    std::int64_t in, out, kernel, stride, dilation, groups;
  };
  for (const auto& [in, out, kernel, stride, dilation, groups] : {Layer{3, 16, 3, 1, 1, 1},
                                                                  {32, 32, 3, 1, 1, 1},
                                                                  {128, 128, 1, 2, 1, 1},
                                                                  {32, 32, 3, 1, 2, 32},
                                                                  {80, 96, 3, 2, 1, 4}}) {
    cases.push_back(
        with_gradients("conv2d", {make({2, in, 14, 14}), make({out, in / groups, kernel, kernel}), make({out})},
                       [=](const auto& x) { return conv2d(x[0], x[1], x[2], stride, 1, dilation, groups); }));
  }
  cases.push_back(with_gradients("conv1d", {make({2, 16, 100}), make({8, 16, 5})},
                                 [](const auto& x) { return conv1d(x[0], x[1]); }));
  cases.push_back(with_gradients("conv3d", {make({1, 4, 7, 7, 7}), make({8, 4, 3, 3, 3})},
                                 [](const auto& x) { return conv3d(x[0], x[1]); }));
  cases.push_back(with_gradients("conv_transpose2d", {make({2, 16, 9, 9}), make({16, 8, 3, 3})},
                                 [](const auto& x) { return conv_transpose2d(x[0], x[1]); }));
}

template <typename Layer>
void add_recurrent(std::vector<Case>& cases, ScalarType dtype) {
  const Layer layer(nn::RNNOptions(40, 64).num_layers(2));
  layer->to(dtype);
  std::vector<Tensor> inputs = layer->parameters();
  const Tensor x = some_tensor({5, 8, 40}, 1, dtype);
  cases.push_back({"recurrent layer", [=] {
                     const Tensor result = std::get<0>(layer(x));
                     return autograd::grad({result}, inputs, {ones_like(result)});
                   }});
}

// Runs each case with signals for some milliseconds, and compares it, bit by bit, with what it computed without.
void check_under_signals(ScalarType dtype, bool alternate_stack) {
  std::vector<Case> cases;
  add_products(cases, dtype);
  add_convolutions(cases, dtype);
  add_recurrent<nn::LSTM>(cases, dtype);
  add_recurrent<nn::GRU>(cases, dtype);
  for (const Case& each : cases) {
    CAPTURE(each.name, dtype);
    const std::vector<Tensor> expected = each.run();
    signals = 0;
    astray = 0;
    bool same = true;
    {
      const Bombardment bombardment(alternate_stack);
      using Clock = std::chrono::steady_clock;
      const auto begin = Clock::now(), end = begin + std::chrono::milliseconds(12),
                 last = begin + std::chrono::seconds(10);
      do {
        const std::vector<Tensor> got = each.run();
        for (std::size_t i = 0; i < got.size(); ++i) same = same && equal(got[i], expected[i]);
      } while (Clock::now() < end || (signals < 20 && Clock::now() < last));
    }
    CHECK(same);
    CHECK(astray == 0);
    CHECK(signals >= 20);
  }
}

}  // namespace

TEST_CASE("signals on an alternate stack change no product and no convolution") {
  const ThreadCount one(1);
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kHalf}) check_under_signals(dtype, true);
}

TEST_CASE("signals on the stacks of two threads change no product and no convolution") {
  const ThreadCount two(2);
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16, kHalf}) check_under_signals(dtype, false);
}
