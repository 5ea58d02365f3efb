// What a backward does, in one thread: accumulation, what it keeps and frees, what it returns, what it refuses.
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace keyway;
using namespace keyway::testing;
using autograd::variable_list;
using Catch::Matchers::Contains;

// --- Accumulation

TEST_CASE("gradients of two uses and of two calls add up") {
  const Tensor x = leaf({2, 3});
  (x * x + 5 * x).sum().backward();
  CHECK(values_of(x.grad()) == Values{9, 11});
  (x * 2).sum().backward();
  CHECK(values_of(x.grad()) == Values{11, 13});
}

TEST_CASE("several roots give the sum of their gradients, one that leads to another too") {
  const Tensor x = leaf({3});
  const Tensor y = x * 2;
  const Tensor z = y * y;
  autograd::backward({y, z, y}, {numbers({1}), numbers({10}), numbers({100})});
  CHECK(values_of(x.grad()) == Values{2 + 10 * 24 + 200});
}

TEST_CASE("a leaf is its own gradient's root") {
  const Tensor x = leaf({1, 2});
  x.backward(numbers({3, 4}));
  CHECK(values_of(x.grad()) == Values{3, 4});
}

TEST_CASE("backward with inputs computes their gradients only, and adds them in place") {
  const Tensor x = leaf({2}), w = leaf({3});
  const Tensor y = x * x;
  const Tensor loss = (y * w).sum();
  loss.backward({}, true, false, {x, y, x});
  CHECK(values_of(x.grad()) == Values{12});
  CHECK(values_of(y.grad()) == Values{3});
  CHECK_FALSE(w.grad().defined());
  const Tensor alias = x.grad();
  loss.backward({}, false, false, {x});
  CHECK(values_of(alias) == Values{24});
  CHECK(x.grad().is_same(alias));
}

// --- What stays of the graph

TEST_CASE("a second backward needs retain_graph, and says so, and what the first gave stays") {
  const Tensor x = leaf({3});
  const Tensor y = (x * x).sum();
  y.backward({}, true);
  y.backward();
  CHECK(values_of(x.grad()) == Values{12});
  CHECK(lacks(error_of([&] { y.backward(); }), {"MulBackward0", "second time", "retain_graph=true"}) == "");
  CHECK(values_of(x.grad()) == Values{12});
  (x * x).sum().backward();
  CHECK(values_of(x.grad()) == Values{18});
}

TEST_CASE("a graph that saved nothing can be run again") {
  const Tensor x = leaf({3});
  const Tensor y = x.sum();
  y.backward();
  y.backward();
  CHECK(values_of(x.grad()) == Values{2});
}

TEST_CASE("what lies behind the inputs that grad() is asked for is not freed") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  const Tensor z = (y * y).sum();
  CHECK(values_of(autograd::grad({z}, {y})[0]) == Values{18});
  y.backward(numbers({1}));
  CHECK(values_of(x.grad()) == Values{6});
}

// --- Higher derivatives

TEST_CASE("create_graph makes gradients that have gradients") {
  const Tensor x = leaf({2});
  const Tensor y = x * x * x * x;
  const Tensor first = autograd::grad({y}, {x}, {}, false, true)[0];
  const Tensor second = autograd::grad({first}, {x}, {}, false, true)[0];
  const Tensor third = autograd::grad({second}, {x}, {}, false, true)[0];
  CHECK(values_of(first) == Values{32});
  CHECK(values_of(second) == Values{48});
  CHECK(values_of(third) == Values{48});
  CHECK(third.requires_grad());
}

TEST_CASE("a gradient that was accumulated with create_graph has a history, else none") {
  const Tensor x = leaf({2});
  (x * x * x).sum().backward();
  CHECK_FALSE(x.grad().requires_grad());
  const Tensor y = leaf({2});
  (y * y * y).sum().backward({}, std::nullopt, true);
  REQUIRE(y.grad().requires_grad());
  const Tensor grad = y.grad();
  autograd::set_grad(y, Tensor());
  grad.sum().backward();
  CHECK(values_of(y.grad()) == Values{12});
}

TEST_CASE("the gradient of a given gradient is what it was multiplied with") {
  const Tensor x = leaf({2, 3}), g = leaf({1, 1});
  const Tensor first = autograd::grad({x * x}, {x}, {g}, false, true)[0];
  CHECK(values_of(autograd::grad({first.sum()}, {g})[0]) == Values{4, 6});
}

// --- grad()

TEST_CASE("grad() returns gradients in the order of its inputs and accumulates none") {
  const Tensor a = leaf({2}), b = leaf({3});
  const Tensor product = a * b;
  const Tensor loss = product * product;
  const variable_list grads = autograd::grad({loss}, {b, product, a, b, loss});
  CHECK(values_of(grads[0]) == Values{24});
  CHECK(values_of(grads[1]) == Values{12});
  CHECK(values_of(grads[2]) == Values{36});
  CHECK(values_of(grads[3]) == Values{24});
  CHECK(values_of(grads[4]) == Values{1});
  CHECK_FALSE(a.grad().defined());
  CHECK_FALSE(b.grad().defined());
}

TEST_CASE("an input that the outputs do not depend on is an error, or has no gradient with allow_unused") {
  const Tensor x = leaf({2}), other = leaf({3});
  const Tensor y = x * x;
  CHECK(lacks(error_of([&] { autograd::grad({y}, {x, other}, {}, true); }), {"grad", "input 1", "allow_unused"}) == "");
  const variable_list grads = autograd::grad({y}, {x, other}, {}, false, false, true);
  CHECK(values_of(grads[0]) == Values{4});
  CHECK_FALSE(grads[1].defined());
}

TEST_CASE("grad() gives the gradient of what an in-place change of a view was made from") {
  const Tensor x = leaf({2, 3, 4}), w = leaf({5});
  const Tensor base = x * 1;
  base.slice(0, 0, 1).mul_(w);
  const Tensor loss = base.sum();
  CHECK(values_of(autograd::grad({loss}, {x}, {}, true)[0]) == Values{5, 1, 1});
  CHECK(values_of(autograd::grad({loss}, {w})[0]) == Values{2});
}

TEST_CASE("gradients for the outputs have their number and their shapes") {
  const Tensor x = leaf({2, 3});
  const Tensor y = x * x;
  CHECK(lacks(error_of([&] { autograd::grad({y}, {x}, {numbers({1, 1, 1})}); }), {"grad: ", "[2]", "[3]"}) == "");
  CHECK(lacks(error_of([&] { autograd::grad({y, y}, {x}, {numbers({1, 1})}); }), {"grad: ", "2 ", "1 "}) == "");
  CHECK(lacks(error_of([&] { autograd::backward({y}, {numbers({1, 1, 1})}); }), {"backward: ", "[2]", "[3]"}) == "");
  CHECK(lacks(error_of([&] { y.backward(numbers({1})); }), {"backward", "[2]", "[1]"}) == "");
  // None of these calls has freed anything.
  CHECK(values_of(autograd::grad({y}, {x}, {numbers({1, 1})})[0]) == Values{4, 6});
}

TEST_CASE("inputs of grad() must require a gradient, and there must be some") {
  const Tensor x = leaf({2});
  CHECK(lacks(error_of([&] { autograd::grad({x * x}, {}); }), {"grad: no inputs"}) == "");
  CHECK(lacks(error_of([&] {
                autograd::grad({x * x}, {x, numbers({1})});
              }),
              {"grad: ", "input 1", "require grad"}) == "");
  CHECK(lacks(error_of([&] { autograd::grad({x * x}, {Tensor()}); }), {"grad: ", "input 0", "undefined"}) == "");
  CHECK(lacks(error_of([&] { (x * x).backward({}, false, false, {numbers({1})}); }),
              {"backward: ", "input 0", "require grad"}) == "");
}

// --- Roots

TEST_CASE("a root without a gradient has one element, and is real") {
  const Tensor x = leaf({2, 3});
  CHECK(lacks(error_of([&] { (x * x).backward(); }), {"backward: tensor 0 of shape [2]", "one element"}) == "");
  const Tensor z = zeros({1}, kComplexDouble).requires_grad_();
  CHECK(lacks(error_of([&] { (z * z).backward(); }), {"backward: tensor 0", "complex128", "real"}) == "");
}

TEST_CASE("a root has a graph") {
  CHECK(lacks(error_of([&] { numbers({1}).backward(); }), {"backward: tensor 0 does not require grad"}) == "");
  CHECK(lacks(error_of([&] {
                autograd::backward({leaf({1}).sum(), Tensor()});
              }),
              {"backward: tensor 1 is undefined"}) == "");
  CHECK(lacks(error_of([&] { autograd::grad({numbers({1})}, {leaf({1})}); }), {"grad: tensor 0 does not"}) == "");
}

// --- Long graphs

namespace {
// A stack that grew with a chain would overflow at a tenth, whose frames sanitizers make larger.
#if defined(KEYWAY_SANITIZED)
constexpr int kNodes = 100'000;
#else
constexpr int kNodes = 1'000'000;
#endif

Tensor long_chain(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < kNodes; ++i) y = y + x;
  return y;
}
}  // namespace

TEST_CASE("a very long chain is run and freed without a deep stack") {
  const Tensor x = ones({}, kDouble).requires_grad_();
  {
    const Tensor y = long_chain(x);
    CHECK(values_of(autograd::grad({y}, {x}, {}, true)[0]) == Values{kNodes + 1});
    y.backward();
  }
  CHECK(values_of(x.grad()) == Values{kNodes + 1});
}

TEST_CASE("a long chain is freed without a backward, through views and saved tensors too") {
  const Tensor x = ones({1}, kDouble).requires_grad_();
  { const Tensor y = long_chain(x); }
  {
    Tensor y = x * 1;
    for (int i = 0; i < kNodes / 10; ++i) {
      y = y.view({1, 1}) * y;
      y = y.view({1});
      y.select(0, 0).mul_(x[0]);
    }
  }
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("a long chain of gradients that have gradients is freed without a deep stack") {
  Tensor x = ones({1});
  for (int i = 0; i < kNodes / 2; ++i) {
    const Tensor next = ones({1}).requires_grad_();
    autograd::set_grad(next, x);
    x = next;
  }
  CHECK(x.grad().grad().grad().defined());
}

// --- Callbacks

namespace {
// Calls `note` for each gradient of x, and leaves the gradient as it is.
void on_gradient(const Tensor& x, std::function<void()> note) {
  autograd::register_hook(x, [note = std::move(note)](const Tensor&) {
    note();
    return Tensor();
  });
}
}  // namespace

TEST_CASE("callbacks run once all gradients are there, in order, and may queue others") {
  const Tensor x = leaf({3}), y = leaf({5});
  std::vector<std::string> calls;
  const auto queue = [&](const char* name) {
    autograd::queue_callback([&, name] {
      CHECK((x.grad().defined() && y.grad().defined()));
      calls.push_back(name);
      if (calls.size() == 1) autograd::queue_callback([&] { calls.push_back("last"); });
    });
  };
  on_gradient(y, [&] { queue("y"); });
  on_gradient(x, [&] { queue("x"); });
  (x * y).sum().backward();
  REQUIRE(calls.size() == 3);
  CHECK((calls[0] + calls[1] == "xy" || calls[0] + calls[1] == "yx"));
  CHECK(calls[2] == "last");
  (x * y).sum().backward();  // each backward has its own
  CHECK(calls.size() == 5);
}

TEST_CASE("a callback that throws ends the backward, and outside of one there are none") {
  CHECK_THROWS_AS(autograd::queue_callback([] {}), Error);
  const Tensor x = leaf({3});
  on_gradient(x, [] { autograd::queue_callback([] { throw std::runtime_error("from a callback"); }); });
  CHECK_THROWS_WITH((x * 2).sum().backward(), Contains("from a callback"));
  CHECK(values_of(x.grad()) == Values{2});
  CHECK(autograd::running_node() == nullptr);
}

TEST_CASE("a callback belongs to the innermost backward") {
  const Tensor x = leaf({3});
  std::vector<std::string> calls;
  on_gradient(x, [&] {
    autograd::queue_callback([&] { calls.push_back("outer"); });
    const AutoGradMode recorded(true);
    const Tensor inner = leaf({1});
    on_gradient(inner, [&] { autograd::queue_callback([&] { calls.push_back("inner"); }); });
    (inner * 2).sum().backward();
    calls.push_back("hook");
  });
  (x * 2).sum().backward();
  CHECK(calls == std::vector<std::string>{"inner", "hook", "outer"});
}
