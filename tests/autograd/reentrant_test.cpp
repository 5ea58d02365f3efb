// Backward within backward, after an exception, and in several threads.
#include <keyway/tests/autograd/in_threads.h>
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

#include <functional>
#include <stdexcept>
#include <thread>

using namespace keyway;
using namespace keyway::testing;
using autograd::AutogradContext;
using autograd::variable_list;

// --- Within a backward

TEST_CASE("a hook may run a backward of another graph, and of its own leaf") {
  const Tensor x = leaf({2});
  const Tensor y = x * x;
  autograd::register_hook(y, [&](const Tensor& grad) {
    const AutoGradMode enable;
    (x * 10).sum().backward();
    return grad * autograd::grad({x * x * x}, {x})[0];
  });
  y.backward();
  CHECK(values_of(x.grad()) == Values{10 + 4 * 12});
}

TEST_CASE("a hook may run the rest of the graph that is being run") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  const Tensor z = y * 2;
  autograd::register_hook(z, [&](const Tensor&) {
    y.backward({}, true);
    return Tensor();
  });
  z.backward();
  CHECK(values_of(x.grad()) == Values{6 + 12});
}

namespace {

// Computes forward again in backward, as checkpointing does, to any depth.
struct Again : autograd::Function<Again> {
  static Tensor forward(AutogradContext& ctx, const Tensor& x, std::int64_t depth) {
    ctx.save_for_backward({x});
    ctx.saved_data["depth"] = depth;
    return x * 2;
  }
  static variable_list backward(AutogradContext& ctx, variable_list grads) {
    const std::int64_t depth = ctx.saved_data["depth"].to_int();
    const Tensor x = ctx.saved_tensors()[0].detach().requires_grad_();
    const AutoGradMode enable;
    const Tensor y = depth == 0 ? x * 2 : Again::apply(x, depth - 1);
    y.backward(grads[0]);
    return {x.grad()};
  }
};

}  // namespace

TEST_CASE("a node may run a backward whose nodes do the same") {
  const Tensor x = leaf({1, 2});
  Again::apply(x, std::int64_t{50}).sum().backward();
  CHECK(values_of(x.grad()) == Values{2, 2});
}

// --- After an exception

TEST_CASE("an exception of a hook comes through, and the graph and the thread stay usable") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  bool fails = true;
  autograd::register_hook(y, [&](const Tensor&) -> Tensor {
    if (fails) throw std::runtime_error("from a hook");
    return {};
  });
  const Tensor z = y + 0;
  CHECK_THROWS_WITH(z.backward(), "from a hook");
  CHECK(grad_enabled());
  CHECK_FALSE(x.grad().defined());
  fails = false;
  z.backward();
  CHECK(values_of(x.grad()) == Values{6});
}

TEST_CASE("an exception of one node leaves what it saved, so that the next backward can run it") {
  struct Fails : autograd::Function<Fails> {
    static Tensor forward(AutogradContext& ctx, const Tensor& x, bool* fails) {
      ctx.save_for_backward({x});
      ctx.saved_data["fails"] = reinterpret_cast<std::int64_t>(fails);
      return x * x;
    }
    static variable_list backward(AutogradContext& ctx, variable_list grads) {
      if (*reinterpret_cast<bool*>(ctx.saved_data["fails"].to_int())) throw std::runtime_error("not yet");
      return {2 * ctx.saved_tensors()[0] * grads[0]};
    }
  };
  bool fails = true;
  const Tensor x = leaf({3});
  const Tensor y = Fails::apply(x, &fails);
  CHECK_THROWS_WITH(y.backward(), "not yet");
  // The lock of the node is free for others.
  std::thread([&] { CHECK_THROWS_WITH(y.backward(), "not yet"); }).join();
  fails = false;
  y.backward();
  CHECK(values_of(x.grad()) == Values{6});
}

// --- Threads

namespace {
constexpr int kRounds = 200;
}  // namespace

TEST_CASE("threads run graphs of their own") {
  std::vector<Tensor> leaves;
  for (int i = 0; i < kThreads; ++i) leaves.push_back(leaf({static_cast<double>(i)}));
  in_threads([&](int i) {
    const Tensor& x = leaves[static_cast<std::size_t>(i)];
    for (int round = 0; round < kRounds; ++round) (x * x).backward();
  });
  for (int i = 0; i < kThreads; ++i) {
    CHECK(values_of(leaves[static_cast<std::size_t>(i)].grad()) == Values{2.0 * i * kRounds});
  }
}

TEST_CASE("no gradient is lost where graphs of several threads share a leaf") {
  const Tensor x = leaf({1, 2, 3});
  in_threads([&](int i) {
    for (int round = 0; round < kRounds; ++round) {
      const Tensor y = (x * (i + 1)).sum();
      if (round % 2 == 0) {
        y.backward();
      } else {
        y.backward({}, false, false, {x});
      }
    }
  });
  CHECK(values_of(x.grad()) == Values(3, 10.0 * kRounds));
}

TEST_CASE("no gradient is lost where threads run one graph") {
  const Tensor x = leaf({3}), w = leaf({2});
  const Tensor y = (x * w * x).sum();
  in_threads([&](int) {
    for (int round = 0; round < kRounds; ++round) y.backward({}, true);
  });
  CHECK(values_of(x.grad()) == Values{12.0 * kThreads * kRounds});
  CHECK(values_of(w.grad()) == Values{9.0 * kThreads * kRounds});
}

TEST_CASE("threads that run one graph without retain_graph are right or refused") {
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = leaf({3});
    const Tensor y = (x * x).sum();
    std::atomic<int> right{0};
    in_threads([&](int) {
      try {
        y.backward();
        ++right;
      } catch (const Error&) {
      }
    });
    REQUIRE(right >= 1);
    REQUIRE(values_of(x.grad()) == Values{6.0 * right});
  }
}
