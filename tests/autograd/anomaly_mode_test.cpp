// Anomaly mode: which node's backward failed, or returned a NaN, and in whose backward that was recorded.
#include <keyway/autograd/anomaly_mode.h>
#include <keyway/autograd/node_origin.h>
#include <keyway/core/base/warning.h>
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

#include <atomic>
#include <limits>
#include <stdexcept>
#include <thread>

using namespace keyway;
using namespace keyway::testing;
using autograd::AnomalyMode;
using autograd::AutogradContext;
using autograd::DetectAnomalyGuard;
using autograd::variable_list;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Returns NaN in the gradients that `where` has a bit for, and for those of 0x10 no gradient.
struct NanBackward : autograd::Function<NanBackward> {
  static Tensor forward(AutogradContext& ctx, const Tensor& a, const Tensor& b, std::int64_t where) {
    ctx.saved_data["where"] = where;
    return a + b;
  }
  static variable_list backward(AutogradContext& ctx, variable_list grads) {
    const std::int64_t where = ctx.saved_data["where"].to_int();
    const Tensor nan = grads[0] * kNan;
    return {(where & 0x10) != 0 ? Tensor() : (where & 1) != 0 ? nan : grads[0], (where & 2) != 0 ? nan : grads[0]};
  }
};

// Its backward throws what it is told to.
struct Throws : autograd::Function<Throws> {
  static Tensor forward(AutogradContext& ctx, const Tensor& x, std::int64_t what) {
    ctx.saved_data["what"] = what;
    return x * 1;
  }
  static variable_list backward(AutogradContext& ctx, variable_list grads) {
    if (ctx.saved_data["what"].to_int() == 0) throw std::runtime_error("of another type");
    return {grads[0] + ones({2, 3}, kDouble) + ones({5}, kDouble)};
  }
};

// Collects what is warned while it is there.
class Warned {
 public:
  Warned() : before_(set_warning_handler([this](std::string_view text) { texts.emplace_back(text); })) {}
  ~Warned() { set_warning_handler(before_); }
  std::vector<std::string> texts;

 private:
  WarningHandler before_;
};

std::string error_of_backward(const Tensor& y) {
  return error_of([&] { y.sum().backward(); });
}

}  // namespace

// --- The mode

TEST_CASE("anomaly mode is off at first, and would check for NaN") {
  CHECK_FALSE(AnomalyMode::is_enabled());
  CHECK(AnomalyMode::should_check_nan());
}

TEST_CASE("set_enabled changes both flags of the mode") {
  AnomalyMode::set_enabled(true, false);
  CHECK(AnomalyMode::is_enabled());
  CHECK_FALSE(AnomalyMode::should_check_nan());
  AnomalyMode::set_enabled(false);
  CHECK_FALSE(AnomalyMode::is_enabled());
  CHECK(AnomalyMode::should_check_nan());
}

TEST_CASE("guards of anomaly mode nest, and restore it after an exception") {
  {
    const DetectAnomalyGuard outer;
    try {
      const DetectAnomalyGuard inner(false);
      CHECK_FALSE(AnomalyMode::should_check_nan());
      throw std::runtime_error("leaves the block");
    } catch (const std::runtime_error&) {
    }
    CHECK(AnomalyMode::is_enabled());
    CHECK(AnomalyMode::should_check_nan());
  }
  CHECK_FALSE(AnomalyMode::is_enabled());
}

// --- NaN

TEST_CASE("a NaN that a node of an operator returns is an error with the node's name") {
  const Tensor x = leaf({0, 4});
  const Tensor y = x.sqrt() * 0;
  y.sum().backward();
  CHECK(std::isnan(values_of(x.grad())[0]));
  const DetectAnomalyGuard guard;
  CHECK(lacks(error_of_backward(x.sqrt() * 0), {"Function 'SqrtBackward0' returned nan values in its 0th output."}) ==
        "");
}

TEST_CASE("the error of a NaN is one of autograd") {
  const DetectAnomalyGuard guard;
  const Tensor y = leaf({0}).sqrt() * 0;
  try {
    y.backward();
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Autograd);
    CHECK(error.message() == "Function 'SqrtBackward0' returned nan values in its 0th output.");
  }
}

TEST_CASE("the first output with a NaN is named; one that is undefined has none") {
  const DetectAnomalyGuard guard;
  const Tensor a = leaf({1}), b = leaf({2});
  CHECK(lacks(error_of_backward(NanBackward::apply(a, b, std::int64_t{3})), {"NanBackward'", "in its 0th output"}) ==
        "");
  CHECK(lacks(error_of_backward(NanBackward::apply(a, b, std::int64_t{2})), {"NanBackward'", "in its 1th output"}) ==
        "");
  CHECK(lacks(error_of_backward(NanBackward::apply(a, b, std::int64_t{0x12})), {"in its 1th output"}) == "");
  CHECK_NOTHROW(NanBackward::apply(a, b, std::int64_t{0x10}).backward());
}

TEST_CASE("anomaly mode without the check lets a NaN through") {
  const DetectAnomalyGuard guard(/*check_nan=*/false);
  const Tensor x = leaf({0});
  (x.sqrt() * 0).backward();
  CHECK(std::isnan(values_of(x.grad())[0]));
}

TEST_CASE("infinite gradients are none that anomaly mode looks for") {
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({0});
  x.sqrt().backward();
  CHECK(std::isinf(values_of(x.grad())[0]));
}

TEST_CASE("the check sees what hooks of a node made of its gradients") {
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  autograd::grad_fn(y)->add_post_hook([](variable_list& grads, const variable_list&) { grads[0] = grads[0] * kNan; });
  CHECK(lacks(error_of_backward(y), {"'MulBackward0' returned nan values in its 0th output"}) == "");
}

TEST_CASE("a NaN in an imaginary part is one, and integers and tensors without data have none") {
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({1}).to(kComplexDouble).detach().requires_grad_();
  const Tensor y = x * 2;
  autograd::grad_fn(y)->add_post_hook([](variable_list& grads, const variable_list&) {
    grads[0] = view_as_complex(numbers({0, kNan}).view({1, 2}));
  });
  CHECK(lacks(error_of([&] { y.backward(ones_like(y)); }), {"'MulBackward0' returned nan values"}) == "");

  const Tensor z = leaf({1, 2}) * 2;
  autograd::grad_fn(z)->add_post_hook(
      [](variable_list& grads, const variable_list&) { grads[0] = grads[0].to(kLong); });
  CHECK_NOTHROW(z.sum().backward());

  const Tensor meta = ones({3}, TensorOptions(kDouble).device(kMeta)).requires_grad_();
  CHECK_NOTHROW(meta.sqrt().sum().backward());
}

// --- Errors of nodes

TEST_CASE("an error of Keyway names the node that called the operator") {
  const Tensor x = leaf({1, 2, 3});
  const std::string plain = error_of_backward(Throws::apply(x, std::int64_t{1}));
  CHECK(plain.find("Throws") == std::string::npos);
  const DetectAnomalyGuard guard;
  const std::string text = error_of_backward(Throws::apply(x, std::int64_t{1}));
  CHECK(lacks(text, {"add.Tensor: shapes ", "called from ", "Throws"}) == "");
}

TEST_CASE("an exception of another type passes as it is, after a warning") {
  const DetectAnomalyGuard guard;
  const Tensor y = Throws::apply(leaf({1}), std::int64_t{0});
  const Warned warned;
  CHECK_THROWS_AS(y.backward(), std::runtime_error);
  REQUIRE(warned.texts.size() == 1);
  CHECK(lacks(warned.texts[0], {"Error detected in ", "Throws."}) == "");
}

TEST_CASE("errors of hooks name the node that they are run with") {
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  autograd::register_hook(y, [](const Tensor&) -> Tensor { KEYWAY_FAIL(Value, "of a hook"); });
  CHECK(lacks(error_of_backward(y), {"MulBackward0: of a hook"}) == "");
  autograd::register_hook(x, [](const Tensor&) -> Tensor { KEYWAY_FAIL(Value, "of a leaf's hook"); });
  CHECK(lacks(error_of_backward(x * 2), {"AccumulateGrad: of a leaf's hook"}) == "");
}

TEST_CASE("an error within a backward within a backward names both nodes") {
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  autograd::register_hook(y, [](const Tensor&) {
    const AutoGradMode enable;
    (leaf({0}).sqrt() * 0).backward();
    return Tensor();
  });
  const std::string text = error_of_backward(y);
  CHECK(lacks(text, {"SqrtBackward0, recorded in the backward of MulBackward0: Function 'SqrtBackward0' returned nan",
                     "(called from ", "MulBackward0"}) == "");
}

TEST_CASE("after an error a backward goes as before") {
  const Tensor x = leaf({0, 4});
  {
    const DetectAnomalyGuard guard;
    CHECK(error_of_backward(x.sqrt() * 0) != "");
    CHECK(autograd::running_node() == nullptr);
  }
  (x * 2).sum().backward();
  CHECK(values_of(x.grad()) == Values{2, 2});
}

// --- Where nodes were recorded

TEST_CASE("a node that a backward records knows of which node it was, and of which that one was") {
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({2});
  const Tensor y = x.pow(4);
  CHECK(autograd::grad_fn(y)->made_in() == "");
  const Tensor dy = autograd::grad({y}, {x}, {}, false, /*create_graph=*/true)[0];
  CHECK(autograd::grad_fn(dy)->made_in() == "PowBackward0");
  const Tensor ddy = autograd::grad({dy}, {x}, {}, false, /*create_graph=*/true)[0];
  CHECK(values_of(ddy) == Values{48});
  CHECK(autograd::grad_fn(ddy)->made_in() == "PowBackward0, recorded in that of PowBackward0");
  CHECK(autograd::grad_fn(x * 2)->made_in() == "");
}

TEST_CASE("a NaN of a second derivative names the first one's node") {
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({0});
  const Tensor dy = autograd::grad({x.pow(1.5)}, {x}, {}, false, /*create_graph=*/true)[0];
  CHECK(lacks(error_of_backward(dy * 0), {"returned nan values", "recorded in the backward of PowBackward0"}) == "");
}

TEST_CASE("nothing is remembered while the mode is off") {
  const Tensor x = leaf({1});
  const Tensor y = x.exp();
  const Tensor dy = autograd::grad({y}, {x}, {}, false, /*create_graph=*/true)[0];
  CHECK(autograd::grad_fn(dy)->made_in() == "");
  CHECK(autograd::grad_fn(dy)->binding() == nullptr);
}

TEST_CASE("views whose base was changed in place are recorded in anomaly mode too") {
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({1, 2, 3});
  Tensor base = x * 2;
  const Tensor view = base.select(0, 1);
  base.mul_(3);
  CHECK(autograd::grad_fn(view)->name() == "AsStridedBackward0");
  view.backward();
  CHECK(values_of(x.grad()) == Values{0, 6, 0});
}

TEST_CASE("a graph of anomaly mode goes with what holds it") {
  weak_intrusive_ptr<TensorImpl> kept;
  {
    const DetectAnomalyGuard guard;
    const Tensor x = leaf({1});
    kept = weak_intrusive_ptr<TensorImpl>(x.impl_ptr());
    const Tensor dy = autograd::grad({x.exp()}, {x}, {}, false, /*create_graph=*/true)[0];
    const Tensor ddy = autograd::grad({dy}, {x}, {}, false, /*create_graph=*/true)[0];
    CHECK(error_of_backward((ddy * kNan) * 1) != "");
    CHECK_FALSE(kept.expired());
  }
  CHECK(kept.expired());
}

// --- Another language

namespace {

std::atomic<int> bindings{0};
class Binding final : public autograd::NodeBinding {
 public:
  Binding() { ++bindings; }
  ~Binding() override { --bindings; }
};

class Recorder final : public autograd::AnomalyRecorder {
 public:
  std::unique_ptr<autograd::NodeBinding> record(autograd::Node* parent) override {
    if (fails) throw std::runtime_error("nothing can be remembered");
    parents.push_back(parent == nullptr ? "" : parent->name());
    return std::make_unique<Binding>();
  }
  void report(autograd::Node& node) noexcept override { reported.push_back(node.name()); }

  bool fails = false;
  std::vector<std::string> parents;
  std::vector<std::string> reported;
};

// Installs a recorder while it lives. The recorder itself stays for ever.
class RecorderGuard {
 public:
  RecorderGuard() { autograd::set_anomaly_recorder(recorder_); }
  ~RecorderGuard() { autograd::set_anomaly_recorder(nullptr); }
  Recorder* operator->() const { return recorder_; }

 private:
  static inline std::vector<std::unique_ptr<Recorder>> all_;
  Recorder* recorder_ = all_.emplace_back(std::make_unique<Recorder>()).get();
};

}  // namespace

TEST_CASE("an AnomalyRecorder is asked for each node, also the leaf's, and reports failures alone") {
  const RecorderGuard recorder;
  {
    const DetectAnomalyGuard guard;
    const Tensor x = leaf({0});
    const Tensor y = x.sqrt();
    CHECK(recorder->parents == std::vector<std::string>{"", ""});
    CHECK(bindings == 2);
    CHECK(autograd::grad_fn(y)->binding() != nullptr);
    CHECK(autograd::gradient_edge(x).node->binding() != nullptr);
    CHECK(error_of([&] { autograd::grad({y}, {x}, {zeros({1}, kDouble)}); }) ==
          "Function 'SqrtBackward0' returned nan values in its 0th output.");
    CHECK(recorder->reported == std::vector<std::string>{"SqrtBackward0"});
  }
  CHECK(bindings == 0);
  CHECK(autograd::grad_fn(leaf({1}) * 2)->binding() == nullptr);
}

TEST_CASE("an AnomalyRecorder hears in whose backward a call is made") {
  const RecorderGuard recorder;
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({1});
  const Tensor y = x.exp();
  recorder->parents.clear();
  const Tensor dy = autograd::grad({y}, {x}, {}, false, /*create_graph=*/true)[0];
  CHECK(recorder->parents == std::vector<std::string>{"ExpBackward0"});
}

TEST_CASE("an AnomalyRecorder that fails fails the call, and nothing is lost") {
  const RecorderGuard recorder;
  const DetectAnomalyGuard guard;
  const Tensor x = leaf({1});
  recorder->fails = true;
  CHECK_THROWS_AS(x * 2, std::runtime_error);
  recorder->fails = false;
  (x * 2).backward();
  CHECK(values_of(x.grad()) == Values{2});
}

// --- Threads

TEST_CASE("threads record and run backward while another turns anomaly mode on and off") {
  std::atomic<bool> stop{false};
  std::thread switching([&] {
    while (!stop) {
      const DetectAnomalyGuard guard;
      std::this_thread::yield();
    }
  });
  const Tensor shared = leaf({1, 2});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const Tensor y = (shared * 2).exp().sum();
        const Tensor dy = autograd::grad({y}, {shared}, {}, false, /*create_graph=*/true)[0];
        const Tensor ddy = autograd::grad({dy.sum()}, {shared})[0];
        if (!allclose(ddy, (shared * 2).exp() * 4)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop = true;
  switching.join();
  CHECK(wrong == 0);
}

TEST_CASE("threads may ask for one view's node in anomaly mode") {
  const DetectAnomalyGuard guard;
  for (int i = 0; i < 20; ++i) {
    const Tensor x = leaf({1, 2, 3});
    Tensor base = x * 2;
    const Tensor view = base.select(0, 1);
    base.mul_(3);
    std::vector<std::thread> threads;
    std::atomic<int> named{0};
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] { named += autograd::grad_fn(view)->name() == "AsStridedBackward0" ? 1 : 0; });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(named == 3);
  }
}
