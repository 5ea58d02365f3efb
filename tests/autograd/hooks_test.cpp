// Hooks of tensors and nodes, and gradients that are retained.
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;
using autograd::register_hook;
using autograd::variable_list;

namespace {
// A hook that notes the gradient and changes nothing.
auto noting(std::vector<Values>& seen) {
  return [&seen](const Tensor& grad) {
    seen.push_back(values_of(grad));
    return Tensor();
  };
}
auto times(double factor) {
  return [factor](const Tensor& grad) { return grad * factor; };
}
}  // namespace

// --- Hooks of tensors

TEST_CASE("a hook sees the whole gradient once, of a leaf as of others, and need not replace it") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  std::vector<Values> of_x, of_y;
  register_hook(x, noting(of_x));
  register_hook(y, noting(of_y));
  (y * 2 + y * 5).backward();
  CHECK(of_y == std::vector<Values>{{7}});
  CHECK(of_x == std::vector<Values>{{42}});
  CHECK(values_of(x.grad()) == Values{42});
}

TEST_CASE("a hook replaces the gradient for what comes after") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  register_hook(y, times(10));
  (y * 2).backward();
  CHECK(values_of(x.grad()) == Values{120});
  register_hook(x, times(0.5));
  (x * 2).backward();
  CHECK(values_of(x.grad()) == Values{121});
}

TEST_CASE("hooks run in the order of their registration, each on what the one before it gave") {
  for (const bool of_leaf : {true, false}) {
    const Tensor x = leaf({1});
    const Tensor y = x * 1;
    const Tensor hooked = of_leaf ? x : y;
    std::vector<Values> seen;
    register_hook(hooked, times(2));
    register_hook(hooked, noting(seen));
    register_hook(hooked, times(3));
    register_hook(hooked, noting(seen));
    (y * 1).backward();
    CHECK(seen == std::vector<Values>{{2}, {6}});
    CHECK(values_of(x.grad()) == Values{6});
  }
}

TEST_CASE("a hook may register another, which runs from the next backward on") {
  for (const bool of_leaf : {true, false}) {
    const Tensor x = leaf({1});
    const Tensor y = x * 1;
    const Tensor hooked = of_leaf ? x : y;
    bool first = true;
    register_hook(hooked, [&](const Tensor&) {
      for (int i = 0; first && i < 10; ++i) register_hook(hooked, times(2));
      first = false;
      return Tensor();
    });
    y.backward({}, true);
    CHECK(values_of(x.grad()) == Values{1});
    y.backward();
    CHECK(values_of(x.grad()) == Values{1025});
  }
}

TEST_CASE("a hook of one output leaves the gradients of the others alone") {
  const Tensor x = leaf({1, 2, 3});
  const std::vector<Tensor> parts = x.unbind();
  register_hook(parts[1], times(10));
  std::vector<Values> seen;
  register_hook(parts[2], noting(seen));
  (parts[0] + parts[1]).backward();
  CHECK(values_of(x.grad()) == Values{1, 10, 0});
  // Nothing comes there.
  CHECK(seen.empty());
}

TEST_CASE("grad() gives what the hooks of its inputs gave, and calls none that it does not need") {
  const Tensor x = leaf({3}), w = leaf({2});
  const Tensor y = x * 1, v = w * 1;
  int calls = 0;
  const auto counts = [&](const Tensor&) {
    ++calls;
    return Tensor();
  };
  register_hook(x, times(2));
  register_hook(y, times(10));
  register_hook(w, counts);
  register_hook(v, counts);
  const variable_list grads = autograd::grad({y + v}, {x, y});
  CHECK(values_of(grads[0]) == Values{20});
  CHECK(values_of(grads[1]) == Values{10});
  CHECK(calls == 0);
}

TEST_CASE("a hook cannot change the shape or the dtype of a gradient") {
  for (const bool of_leaf : {true, false}) {
    const Tensor x = leaf({1, 2});
    const Tensor y = x * 1;
    Tensor given;
    register_hook(of_leaf ? x : y, [&](const Tensor&) { return given; });
    given = ones({3}, kDouble);
    CHECK(lacks(error_of([&] { y.sum().backward({}, true); }), {"hook", "[2]", "[3]"}) == "");
    given = ones({2}, kFloat);
    CHECK(lacks(error_of([&] { y.sum().backward({}, true); }), {"hook", "float64", "float32"}) == "");
    CHECK_FALSE(x.grad().defined());
  }
}

TEST_CASE("a tensor that requires no gradient has no hooks") {
  CHECK(lacks(error_of([] { register_hook(numbers({1}), times(1)); }), {"register_hook", "does not require grad"}) ==
        "");
  CHECK(lacks(error_of([] { register_hook(Tensor(), times(1)); }), {"register_hook", "undefined"}) == "");
}

TEST_CASE("a hook registered before an in-place change is called for the value before it") {
  const Tensor x = leaf({3});
  const Tensor y = x * 1;
  std::vector<Values> before, after;
  register_hook(y, noting(before));
  y.mul_(5);
  register_hook(y, noting(after));
  y.backward();
  CHECK(before == std::vector<Values>{{5}});
  CHECK(after == std::vector<Values>{{1}});
}

// --- retain_grad

TEST_CASE("retain_grad keeps the gradient of a tensor that is no leaf, and adds up") {
  const Tensor x = leaf({3});
  const Tensor y = x * x, z = x * x;
  y.retain_grad();
  y.retain_grad();
  CHECK(y.retains_grad());
  CHECK_FALSE(z.retains_grad());
  const Tensor loss = y * 2 + z;
  loss.backward({}, true);
  CHECK(values_of(y.grad()) == Values{2});
  CHECK_FALSE(z.grad().defined());
  loss.backward();
  CHECK(values_of(y.grad()) == Values{4});
  CHECK_FALSE(y.grad().requires_grad());
}

TEST_CASE("a retained gradient is what all hooks left, whenever they were registered") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  register_hook(y, times(2));
  y.retain_grad();
  register_hook(y, times(5));
  y.backward();
  CHECK(values_of(y.grad()) == Values{10});
}

TEST_CASE("a retained gradient is nobody else's memory") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  const Tensor given = numbers({1});
  y.retain_grad();
  y.backward(given);
  CHECK(y.grad().data_ptr() != given.data_ptr());
  CHECK(y.grad().data_ptr() != x.grad().data_ptr());
}

TEST_CASE("a retained gradient is that of the tensor as an in-place change left it") {
  const Tensor x = leaf({3, 4});
  const Tensor y = x * 1;
  y.retain_grad();
  y.mul_(5);
  const Tensor view = y.slice(0, 0, 1);
  view.mul_(7);
  y.sum().backward();
  CHECK(values_of(y.grad()) == Values{1, 1});
  CHECK(values_of(x.grad()) == Values{35, 5});

  const Tensor w = leaf({3, 4});
  const Tensor base = w * 1;
  const Tensor part = base.slice(0, 0, 1);
  part.retain_grad();
  base.mul_(5);
  (part * 2).sum().backward();
  CHECK(values_of(part.grad()) == Values{2});
}

TEST_CASE("retain_grad of a leaf changes nothing, and of a constant is an error") {
  const Tensor x = leaf({3});
  x.retain_grad();
  CHECK_FALSE(x.retains_grad());
  (x * 2).backward();
  CHECK(values_of(x.grad()) == Values{2});
  CHECK(lacks(error_of([] { numbers({1}).retain_grad(); }), {"retain_grad", "does not require grad"}) == "");
}

TEST_CASE("retaining a gradient keeps no tensor alive") {
  const Tensor x = leaf({3});
  Tensor y = x * x;
  const weak_intrusive_ptr<TensorImpl> weak(y.impl_ptr());
  y.retain_grad();
  const Tensor z = y * 2;
  y = Tensor();
  CHECK(weak.expired());
  z.backward();
  CHECK(values_of(x.grad()) == Values{12});
}

// --- Hooks of nodes

TEST_CASE("hooks of a node see and replace what comes in and what goes out, after the hooks of the tensor") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  std::vector<std::string> order;
  const intrusive_ptr<autograd::Node> node = autograd::grad_fn(y);
  node->add_pre_hook([&](variable_list& grads) {
    order.push_back("pre");
    CHECK(values_of(grads[0]) == Values{20});
    grads[0] = grads[0] + 1;
  });
  node->add_post_hook([&](variable_list& grad_inputs, const variable_list& grad_outputs) {
    order.push_back("post");
    CHECK(values_of(grad_outputs[0]) == Values{21});
    CHECK(values_of(grad_inputs[0]) == Values{63});
    grad_inputs[0] = Tensor();
  });
  register_hook(y, [&](const Tensor& grad) {
    order.push_back("tensor");
    return grad * 10;
  });
  (y * 2).backward();
  CHECK(order == std::vector<std::string>{"tensor", "pre", "post"});
  CHECK(values_of(x.grad()) == Values{63});
}

TEST_CASE("the hooks of a node that only holds an input of grad() are not called") {
  const Tensor x = leaf({3});
  const Tensor y = x * x;
  int calls = 0;
  autograd::grad_fn(y)->add_pre_hook([&](variable_list&) { ++calls; });
  autograd::grad_fn(y)->add_post_hook([&](variable_list&, const variable_list&) { ++calls; });
  autograd::grad({y * 2}, {y});
  CHECK(calls == 0);
}

TEST_CASE("hooks of the node of a leaf run around its accumulation") {
  const Tensor x = leaf({3});
  const autograd::Edge edge = autograd::gradient_edge(x);
  std::vector<Values> seen;
  edge.node->add_pre_hook([&](variable_list& grads) { seen.push_back(values_of(grads[0])); });
  edge.node->add_post_hook([&](variable_list&, const variable_list&) { seen.push_back(values_of(x.grad())); });
  (x * 2).backward();
  CHECK(seen == std::vector<Values>{{2}, {2}});
}

// --- Hooks after accumulation

TEST_CASE("a hook after accumulation sees the leaf with its gradient, once a backward, and may take that") {
  Tensor x = leaf({3});
  std::vector<Values> seen;
  autograd::register_post_accumulate_grad_hook(x, [&](const Tensor& tensor) {
    seen.push_back(values_of(tensor.grad()));
    autograd::set_grad(tensor, Tensor());
  });
  (x * 2 + x * 5).backward();
  (x * 3).backward();
  CHECK(seen == std::vector<Values>{{7}, {3}});
  CHECK_FALSE(x.grad().defined());
  (void)autograd::grad({x * 2}, {x});
  CHECK(seen.size() == 2);
}

TEST_CASE("only leaves that require grad have hooks after accumulation") {
  const auto nothing = [](const Tensor&) {};
  CHECK(error_of([&] { autograd::register_post_accumulate_grad_hook(leaf({1}) * 2, nothing); }).find("no leaf") !=
        std::string::npos);
  CHECK(error_of([&] { autograd::register_post_accumulate_grad_hook(ones({1}), nothing); }).find("no leaf") !=
        std::string::npos);
}
