// Grad modes, and what a tensor says of itself: leaf or not, whether it requires a gradient.
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

// --- no_grad and enable_grad

TEST_CASE("no_grad records nothing, and enable_grad within it does") {
  const Tensor x = leaf({2});
  {
    const NoGradGuard no_grad;
    CHECK_FALSE(grad_enabled());
    const Tensor y = x * x;
    CHECK_FALSE(y.requires_grad());
    CHECK(y.is_leaf());
    {
      const AutoGradMode enable;
      CHECK((x * x).requires_grad());
      const AutoGradMode disable(false);
      CHECK_FALSE((x * x).requires_grad());
    }
    CHECK_FALSE((x * x).requires_grad());
    // A leaf says what it is, whatever the mode.
    CHECK(x.requires_grad());
    CHECK(leaf({1}).requires_grad());
  }
  CHECK((x * x).requires_grad());
}

TEST_CASE("a mode ends with its scope, by an exception too, and is the thread's own") {
  try {
    const NoGradGuard no_grad;
    const InferenceMode inference;
    std::thread([] {
      CHECK(grad_enabled());
      CHECK_FALSE(InferenceMode::is_enabled());
    }).join();
    (void)zeros({2}).view({3});
  } catch (const Error&) {
  }
  CHECK(grad_enabled());
  CHECK_FALSE(InferenceMode::is_enabled());
}

TEST_CASE("backward runs under no_grad") {
  const Tensor x = leaf({2});
  const Tensor y = x * x;
  const NoGradGuard no_grad;
  y.backward();
  CHECK(values_of(x.grad()) == Values{4});
  CHECK_FALSE(grad_enabled());
}

// --- Modes of a thread

namespace {
std::vector<std::string> seen;

void see(const OperatorEntry& op, const KernelBase&, DispatchKeySet, Stack& stack) {
  seen.push_back(op.short_name());
  const ExcludeDispatchKeyGuard below{DispatchKeySet(Functionality::Tracer)};
  call_boxed(op, stack);
}
}  // namespace

TEST_CASE("a mode sees the calls of backward, in the thread that has entered it") {
  Library mode(Library::Kind::Impl, "_", DispatchKey::Tracer);
  mode.fallback(&see);
  const RegistrationHandle registered = mode.commit();
  const Tensor x = leaf({2});
  const Tensor y = x.sin();
  const auto sees = [&](std::string_view name) {
    seen.clear();
    autograd::backward({y}, {}, true);
    return std::ranges::find(seen, name) != seen.end();
  };
  {
    const IncludeDispatchKeyGuard include{DispatchKeySet(Functionality::Tracer)};
    CHECK(sees("cos"));
    {
      // As a mode's own kernel calls what it serves: the method is an operator, and the mode sees it alone.
      const ExcludeDispatchKeyGuard exclude{DispatchKeySet(Functionality::Tracer)};
      CHECK_FALSE(sees("cos"));
    }
    seen.clear();
    y.backward({}, true);
    CHECK(seen == std::vector<std::string>{"_backward"});
    std::thread([&] { CHECK_FALSE(sees("cos")); }).join();
    CHECK(sees("cos"));
  }
  CHECK_FALSE(sees("cos"));
  CHECK(values_of(x.grad())[0] == Approx(6 * std::cos(2.0)));
}

TEST_CASE("backward begins above Autograd, wherever it is called") {
  const Tensor x = leaf({3});
  const Tensor y = x * x * x;
  const AutoDispatchBelowADInplaceOrView below;
  const Tensor first = autograd::grad({y}, {x}, {}, true, true)[0];
  CHECK(values_of(autograd::grad({first}, {x})[0]) == Values{18});
}

// --- Inference mode

TEST_CASE("inference mode records nothing, and what it makes is marked") {
  const Tensor x = leaf({2});
  Tensor made;
  {
    const InferenceMode inference;
    CHECK_FALSE(grad_enabled());
    made = x * x;
    CHECK_FALSE(made.requires_grad());
    CHECK(made.is_inference());
    CHECK_FALSE(x.is_inference());
    {
      const InferenceMode off(false);
      CHECK(grad_enabled());
      CHECK((x * x).requires_grad());
      CHECK_FALSE((x * x).is_inference());
    }
    CHECK(InferenceMode::is_enabled());
  }
  CHECK(made.is_inference());
  CHECK_FALSE(made.clone().is_inference());
}

TEST_CASE("a tensor of inference mode cannot become part of a graph") {
  const Tensor x = leaf({2});
  Tensor made;
  {
    const InferenceMode inference;
    made = numbers({3});
  }
  CHECK(lacks(error_of([&] { (void)(x * made); }), {"inference mode", "saved for backward", "clone()"}) == "");
  CHECK(lacks(error_of([&] { made.requires_grad_(); }), {"requires_grad_", "inference mode", "clone()"}) == "");
  CHECK(lacks(error_of([&] { made.mul_(x); }), {"mul_", "inference mode", "clone()"}) == "");
  CHECK(values_of(made) == Values{3});
  // What saves nothing takes it, and so does what records nothing.
  (x + made).backward();
  CHECK(values_of(x.grad()) == Values{1});
  CHECK(values_of(made * 2) == Values{6});
  (x * made.clone()).backward();
  CHECK(values_of(x.grad()) == Values{4});
}

TEST_CASE("a change in inference mode of what a graph saved is noticed") {
  const Tensor x = leaf({2});
  const Tensor h = x * 1;
  const Tensor y = h * h;
  {
    const InferenceMode inference;
    h.mul_(3);
  }
  CHECK(lacks(error_of([&] { y.backward(); }), {"MulBackward0", "changed in place"}) == "");
}

TEST_CASE("a view made in inference mode of a tensor of a graph cannot be changed in place outside") {
  const Tensor x = leaf({2, 3});
  const Tensor h = x * 1;
  Tensor view;
  {
    const InferenceMode inference;
    view = h.slice(0, 0, 1);
    view.mul_(2);
  }
  CHECK(values_of(h) == Values{4, 3});
  CHECK(lacks(error_of([&] { view.mul_(x.slice(0, 0, 1)); }), {"mul_", "inference mode"}) == "");
  CHECK(values_of(h) == Values{4, 3});
}

TEST_CASE("backward is refused in inference mode, by name") {
  const Tensor x = leaf({2});
  const Tensor y = x * x;
  const InferenceMode inference;
  CHECK(lacks(error_of([&] { y.backward(); }), {"backward", "inference mode"}) == "");
}

// --- requires_grad_

TEST_CASE("only floating and complex tensors can require gradients") {
  for (const ScalarType dtype : {kLong, kInt, kBool, kByte}) {
    const Tensor x = zeros({2}, dtype);
    CHECK(lacks(error_of([&] { x.requires_grad_(); }), {"requires_grad_", "floating", keyway::to_string(dtype)}) == "");
    CHECK_FALSE(x.requires_grad());
    x.requires_grad_(false);
  }
  for (const ScalarType dtype : {kDouble, kFloat, kHalf, kBFloat16, kComplexFloat}) {
    CHECK(zeros({2}, dtype).requires_grad_().requires_grad());
  }
}

TEST_CASE("a leaf can be told to require a gradient or none, what was computed only to require one") {
  const Tensor x = leaf({2});
  const Tensor y = x * x;
  CHECK(lacks(error_of([&] { y.requires_grad_(false); }), {"requires_grad_", "detach()"}) == "");
  y.requires_grad_();
  CHECK_FALSE(y.is_leaf());
  x.requires_grad_(false);
  CHECK_FALSE((x * x).requires_grad());
  // The graph that was made before has no leaf any more.
  y.backward();
  CHECK_FALSE(x.grad().defined());
}

TEST_CASE("results require a gradient if an input does and they are of a dtype that has one") {
  const Tensor x = leaf({2, 3}), constant = numbers({1, 1});
  CHECK((x + constant).requires_grad());
  CHECK_FALSE((x + constant).is_leaf());
  CHECK_FALSE((constant + constant).requires_grad());
  CHECK((constant + constant).is_leaf());
  CHECK_FALSE(x.gt(constant).requires_grad());
  CHECK_FALSE(x.argmax().requires_grad());
  CHECK_FALSE(x.to(kLong).requires_grad());
  CHECK(x.to(kFloat).requires_grad());
  CHECK(x.view({2, 1}).requires_grad());
  CHECK_FALSE(zeros_like(x).requires_grad());
}

TEST_CASE("a gradient comes in the dtype of its leaf") {
  const Tensor x = ones({2}, kFloat).requires_grad_();
  (x.to(kDouble) * numbers({2, 3})).sum().backward();
  CHECK(x.grad().dtype() == kFloat);
  CHECK(values_of(x.grad().to(kDouble)) == Values{2, 3});
}

// --- detach, detach_, set_data

TEST_CASE("detach shares memory and version, and has no history") {
  const Tensor x = leaf({2, 3});
  const Tensor h = x * 1;
  const Tensor cut = h.detach();
  CHECK(cut.data_ptr() == h.data_ptr());
  CHECK_FALSE(cut.requires_grad());
  CHECK(cut.is_leaf());
  const Tensor y = h * h;
  cut.mul_(2);
  CHECK(values_of(h) == Values{4, 6});
  CHECK(lacks(error_of([&] { y.sum().backward(); }), {"changed in place"}) == "");
  // Whoever gets a history over that memory does not give it to the other.
  cut.mul_(x);
  CHECK(cut.requires_grad());
  CHECK(h.requires_grad());
  h.sum().backward();
  CHECK(values_of(x.grad()) == Values{1, 1});
}

TEST_CASE("detach_ makes a leaf of a tensor, and earlier results keep their history") {
  const Tensor x = leaf({2});
  const Tensor h = x * 3;
  const Tensor before = h * 2;
  h.detach_();
  CHECK(h.is_leaf());
  CHECK_FALSE(h.requires_grad());
  CHECK_FALSE((h * 2).requires_grad());
  before.backward();
  CHECK(values_of(x.grad()) == Values{6});
  h.requires_grad_();
  (h * 7).backward();
  CHECK(values_of(h.grad()) == Values{7});
  CHECK(lacks(error_of([&] { before.view({1, 1}).detach_(); }), {"detach_", "view", "detach()"}) == "");
}

TEST_CASE("set_data exchanges memory and sizes, and leaves the tensor its place in the graph") {
  const Tensor x = leaf({2, 3});
  const Tensor data = numbers({5, 6, 7});
  x.set_data(data);
  CHECK(x.requires_grad());
  CHECK(x.is_leaf());
  CHECK(x.data_ptr() == data.data_ptr());
  (x * x).sum().backward();
  CHECK(values_of(x.grad()) == Values{10, 12, 14});
  CHECK(lacks(error_of([&] { x.set_data(zeros({2}, kLong)); }), {"set_data", "new_data", "int64", "requires grad"}) ==
        "");
  CHECK(lacks(error_of([&] { (x * 1).view({3, 1}).set_data(data); }), {"set_data", "view"}) == "");
}

TEST_CASE("set_data to another shape or dtype is heeded by graphs that are made after it") {
  const Tensor x = leaf({2, 3});
  const Tensor before = x * 2;
  x.set_data(ones({3}, kFloat));
  (x * 3).sum().backward();
  REQUIRE(x.grad().dtype() == kFloat);
  CHECK(values_of(x.grad().to(kDouble)) == Values{3, 3, 3});
}

TEST_CASE("set_data to another device is heeded by calls and by graphs that are made after it") {
  const Tensor x = leaf({2, 3});
  const Tensor before = x * 2;
  x.set_data(empty({2}, TensorOptions(kMeta).dtype(kDouble)));
  CHECK(x.device() == Device(kMeta));
  CHECK(x.key_set().has(Functionality::Autograd));
  CHECK(error_of([&] { x + before; }).find("meta") != std::string::npos);
  (x * x).sum().backward();
  CHECK(x.grad().is_meta());
}

TEST_CASE("a change of data() that backward needs is noticed") {
  const Tensor x = leaf({2});
  const Tensor h = x * 1;
  const Tensor y = h * h;
  h.data().mul_(5);
  CHECK(values_of(h) == Values{10});
  CHECK(error_of([&] { y.backward(); }).find("was changed in place") != std::string::npos);
  CHECK_FALSE(h.data().requires_grad());
}
