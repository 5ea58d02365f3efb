// Observers over the operators of the library: training steps, every kind of wrapper, and what their kernels keep to.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/dispatch/inspect/dispatch_recording.h>
#include <keyway/dispatch/inspect/profiler.h>
#include <keyway/dispatch/inspect/schema_check.h>
#include <keyway/tests/assembly/values.h>
#include <keyway/tests/catch.h>

#include <algorithm>

using namespace keyway;
using namespace keyway::testing;

namespace {

// A step of a small model: views, in-place, out=, composites, reductions, backward.
std::vector<double> step() {
  const Tensor weight = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3}).requires_grad_();
  const Tensor x = tensor_of({1, -1, 2, 0.5}, {2, 2});
  Tensor hidden = x.matmul(weight) + 1;
  hidden.select(0, 0).mul_(2);
  hidden = hidden.relu();
  const Tensor loss = (hidden.transpose(0, 1) * hidden.transpose(0, 1)).sum();
  loss.backward();
  Tensor out = tensor_of({}, {0});
  {
    const NoGradGuard no_grad;
    add_out(out, weight, weight.grad());
  }
  return values_of(out);
}

}  // namespace

TEST_CASE("an observed training step is the same, and every kernel of it keeps its contract") {
  const std::vector<double> plain = step();
  const ObserverHandle checks = observe_calls(schema_checker());
  CHECK(step() == plain);
}

TEST_CASE("a recorded training step replays without a difference") {
  const auto recorder = std::make_shared<DispatchRecorder>();
  {
    const ObserverHandle on = observe_calls(recorder);
    step();
  }
  const DispatchRecording recording = recorder->recording();
  CHECK(recording.differences().empty());
  const std::vector<std::string> operators = recording.operators();
  for (const char* name : {"keyway::mm", "keyway::relu", "keyway::mul_.Scalar", "keyway::sum", "keyway::add.out"}) {
    INFO(name);
    CHECK(std::ranges::count(operators, std::string(name)) == 1);
  }
}

TEST_CASE("a profile of a thread shows both kernels of a call that is differentiated, and backward") {
  const auto profile = std::make_shared<Profile>();
  const Tensor x = tensor_of({1, 1, 1}, {3}).requires_grad_();
  {
    const ThreadListenerGuard listening(profile);
    x.mul(x).sum().backward();
  }
  CHECK(values_of(x.grad()) == std::vector<double>{2, 2, 2});
  std::uint64_t products = 0, differentiated = 0;
  for (const Profile::Row& row : profile->rows()) {
    products += row.op == "mul.Tensor" ? row.calls : 0;
    differentiated += row.keys.starts_with("AutogradCPU, ") ? 1 : 0;
    CHECK_FALSE(row.kernel.empty());
  }
  CHECK(products == 3);  // one forward, and two for its gradients
  CHECK(differentiated > 0);
}
