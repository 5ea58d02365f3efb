// Graphs: what is captured once and replayed does what calling it each time does.
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/event.h>
#include <keyway/dispatch/inspect/device_ranges.h>
#include <keyway/nn/optim/adagrad.h>
#include <keyway/nn/optim/adam.h>
#include <keyway/nn/optim/rmsprop.h>
#include <keyway/nn/optim/sgd.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

using namespace keyway;
using namespace keyway::testing;

namespace {

bool has_graphs() { return !lacks_device() && keeps_memory(); }

const TensorOptions kThere = TensorOptions().device(kCUDA);

Tensor number(double x) { return full({}, x, kThere); }
double value_of(const Tensor& tensor) { return tensor.detach().sum().item<double>(); }

void capture(CUDAGraph& graph, const std::function<void()>& work) {
  CUDAGraphCapture scope(graph);
  work();
  scope.end();
}

// A small network with dropout, its optimizer, and what a step reads.
class Training {
 public:
  Training() {
    for (const Sizes& sizes : {Sizes{8, 5}, {8}, {3, 8}, {3}}) {
      const Tensor values = scattered(sizes, -9, 9, sizes[0]).to(kFloat).div(10.0);
      parameters_.push_back(on_cuda(values).requires_grad_());
    }
    optimizer_ = std::make_unique<optim::AdamW>(parameters_, optim::AdamWOptions(0.05).fused(true));
  }

  void read(std::int64_t step) {
    input_.copy_(scattered({4, 5}, -9, 9, step).to(kFloat).div(5.0));
    target_.copy_(scattered({4}, 0, 2, step));
  }
  void step() {
    optimizer_->zero_grad();
    const Tensor x = dropout(linear(input_, parameters_[0], parameters_[1]).relu(), 0.3, true);
    loss_ = cross_entropy_loss(linear(x, parameters_[2], parameters_[3]), target_);
    loss_.backward();
    optimizer_->step();
  }
  double loss() const { return value_of(loss_); }
  const std::vector<Tensor>& parameters() const { return parameters_; }
  const optim::Optimizer& optimizer() const { return *optimizer_; }

 private:
  Tensor input_ = zeros({4, 5}, kThere), target_ = zeros({4}, kThere.dtype(kLong)), loss_;
  std::vector<Tensor> parameters_;
  std::unique_ptr<optim::AdamW> optimizer_;
};

constexpr int kWarmUp = 2, kSteps = 7;

}  // namespace

TEST_CASE("a captured training step, replayed, trains as calling it does: the same losses and bits") {
  if (!has_graphs() || !has_products()) return;
  Training eager, replayed;
  std::vector<double> losses;
  manual_seed(21);
  for (std::int64_t i = 0; i < kSteps; ++i) {
    eager.read(i);
    eager.step();
    losses.push_back(eager.loss());
  }
  const GeneratorState end = default_generator(Device("cuda:0")).get_state();

  manual_seed(21);
  for (std::int64_t i = 0; i < kWarmUp; ++i) {
    replayed.read(i);
    replayed.step();
    CHECK(replayed.loss() == losses[static_cast<std::size_t>(i)]);
  }
  CUDAGraph graph;
  capture(graph, [&] { replayed.step(); });
  for (std::int64_t i = kWarmUp; i < kSteps; ++i) {
    replayed.read(i);
    // What others ask for meanwhile is not the graph's memory.
    const Tensor others = full({3000}, 7, kThere);
    graph.replay();
    CHECK(replayed.loss() == losses[static_cast<std::size_t>(i)]);
    CHECK(value_of(others) == 21000);
  }
  for (std::size_t i = 0; i < eager.parameters().size(); ++i) {
    CHECK(same_bits(replayed.parameters()[i].detach(), eager.parameters()[i].detach().to(kCPU)));
  }
  CHECK(default_generator(Device("cuda:0")).get_state() == end);
  // The steps are counted where the graph counts them.
  const auto dict = replayed.optimizer().state_dict();
  CHECK(dict.find("state.0.step")->item<double>() == kSteps);
}

TEST_CASE("each replay draws new numbers, those of eager calls") {
  if (!has_graphs()) return;
  Tensor x = zeros({100}, kThere), y = zeros({50}, kThere);
  CUDAGraph graph;
  const GeneratorState before = default_generator(x.device()).get_state();
  capture(graph, [&] {
    x.normal_();
    y.uniform_(0, 1, default_generator(y.device()));
  });
  CHECK(default_generator(x.device()).get_state() == before);
  for (const std::uint64_t seed : {1, 2}) {
    Tensor expected_x = zeros({100}), expected_y = zeros({50});
    manual_seed(seed);
    for (int i = 0; i < 3; ++i) {
      expected_x.normal_();
      expected_y.uniform_();
      graph.replay();
      CHECK(same_bits(x, expected_x));
      CHECK(same_bits(y, expected_y));
    }
    CHECK(default_generator(x.device()).get_state().call == 6);
  }
  CUDAGraph other;
  CHECK(error_of([&] {
          capture(other, [&] { x.normal_(0, 1, Generator(Device("cuda:0"))); });
        }).find("replays draw from the default generator") != std::string::npos);
}

TEST_CASE("what the host would wait for is refused in a capture, and spoils it") {
  if (!has_graphs()) return;
  const Tensor x = number(3), here = ones({2});
  Event event(kCUDA);
  event.record(current_stream(kCUDA));
  const std::pair<const char*, std::function<void()>> refused[] = {
      {"reading an element on the host", [&] { x.item(); }},
      {"a copy to the host", [&] { x.to(kCPU); }},
      {"a copy from the host", [&] { here.to(kCUDA); }},
      {"waiting for a device", [&] { synchronize(x.device()); }},
      {"waiting for a stream", [&] { current_stream(kCUDA).synchronize(); }},
      {"a question about a stream", [&] { current_stream(kCUDA).query(); }},
      {"waiting for an event", [&] { event.synchronize(); }},
      {"a question about an event", [&] { event.query(); }},
      {"an event", [&] { Event(kCUDA).record(current_stream(kCUDA)); }},
      {"cannot be a part of a graph", [&] { nonzero(x); }},
  };
  for (const auto& [what, work] : refused) {
    INFO(what);
    CUDAGraph graph;
    CHECK(error_of([&, &doing = work] { capture(graph, doing); }).find(what) != std::string::npos);
    CHECK(error_of([&] { graph.replay(); }) == "the graph is empty: capture something first");
    // Who catches the error cannot end the capture either.
    const StreamGuard stream(new_stream(kCUDA));
    graph.capture_begin();
    CHECK_THROWS_AS(work(), Error);
    const std::string text = error_of([&] { graph.capture_end(); });
    CHECK(text.starts_with("what was captured is not whole: "));
    CHECK(text.find(what) != std::string::npos);
    CHECK(value_of(x) == 3);
  }
}

TEST_CASE("captures begin and end in order, in a stream of their own") {
  if (!has_graphs()) return;
  CUDAGraph graph, other;
  CHECK(error_of([&] { graph.capture_begin(); }).find("cannot be captured: make another stream current") !=
        std::string::npos);
  CHECK(error_of([&] { graph.capture_end(); }) == "nothing is being captured: call capture_begin() first");
  CHECK(error_of([&] { graph.pool(); }) == "the graph is empty: capture something first");
  const Tensor x = number(1);
  {
    const StreamGuard stream(new_stream(kCUDA));
    CHECK_FALSE(current_stream(kCUDA).is_capturing());
    graph.capture_begin();
    CHECK(current_stream(kCUDA).is_capturing());
    CHECK(error_of([&] { graph.replay(); }).find("still being captured") != std::string::npos);
    CHECK(error_of([&] { other.capture_begin(); }).find("already") != std::string::npos);
    x.add_(1);
    std::string elsewhere;
    std::thread([&] { elsewhere = error_of([&] { graph.capture_end(); }); }).join();
    CHECK(elsewhere == "a capture ends in the thread that began it");
    graph.capture_end();
    CHECK_FALSE(current_stream(kCUDA).is_capturing());
  }
  CHECK(error_of([&] { graph.capture_begin(); }) == "the graph holds something: reset() it first");
  CHECK(error_of([&] { graph.capture_end(); }) == "nothing is being captured: call capture_begin() first");
  CHECK(value_of(x) == 1);  // a capture does nothing
  graph.replay();
  graph.replay();
  CHECK(value_of(x) == 3);
  CUDAGraph moved = std::move(graph);
  moved.replay();
  CHECK(value_of(x) == 4);
  moved.reset();
  CHECK(error_of([&] { moved.replay(); }) == "the graph is empty: capture something first");
}

TEST_CASE("graphs share a pool, and results live as long as somebody holds them") {
  if (!has_graphs()) return;
  const Tensor x = number(5);
  Tensor doubled, tripled;
  CUDAGraph first, second;
  capture(first, [&] { doubled = x * 2; });
  {
    CUDAGraphCapture scope(second, first.pool());
    tripled = doubled + x;
    scope.end();
  }
  CHECK(second.pool() == first.pool());
  x.fill_(7);
  first.replay();
  second.replay();
  CHECK(value_of(tripled) == 21);
  second.reset();
  first.reset();
  const Tensor others = full({1000}, 1, kThere);
  CHECK(value_of(tripled) == 21);
  CHECK(value_of(others) == 1000);
}

TEST_CASE("what a replayed kernel refuses is an error of the next synchronisation, each time") {
  if (!has_graphs()) return;
  const Tensor ones = full({50}, 1, kThere.dtype(kInt)), by = full({50}, 1, kThere.dtype(kInt));
  CUDAGraph graph;
  Tensor quotient;
  capture(graph, [&] { quotient = floor_divide(ones, by); });
  graph.replay();
  CHECK(value_of(quotient) == 50);
  by.zero_();
  for (int i = 0; i < 2; ++i) {
    graph.replay();
    CHECK(error_of([] { synchronize(current_stream(kCUDA)); }).find("floor_divide: integer division by zero") !=
          std::string::npos);
  }
  synchronize(Device("cuda:0"));
}

TEST_CASE("steps that the host decides about cannot be captured") {
  if (!has_graphs()) return;
  const auto captured_step = [](optim::Optimizer& optimizer, const Tensor& parameter) {
    CUDAGraph graph;
    return error_of([&] {
      capture(graph, [&] {
        parameter.mul(2).sum().backward();
        optimizer.step();
      });
    });
  };
  const Tensor a = number(1).requires_grad_(), b = number(1).requires_grad_();
  optim::Adam fused({a}), plain({b}, optim::AdamOptions().fused(false));
  CHECK(captured_step(fused, a).find("take a step before one is captured") != std::string::npos);
  CHECK(captured_step(plain, b).find("where steps are not fused") != std::string::npos);
  optim::SGD sgd({a}, optim::SGDOptions(0.1).momentum(0.9));
  CHECK(captured_step(sgd, a).find("SGD: the first step makes the optimizer's state") != std::string::npos);
  CHECK(fused.state_dict()["state.0.step"].item<double>() == 0);

  optim::AdamW adamw({a});
  CHECK(captured_step(adamw, a).find("AdamW: the first step makes") != std::string::npos);
  optim::Adagrad adagrad({b});
  optim::RMSprop rmsprop({b});
  const std::string on_host = "Adagrad: the number of the step stands on the host";
  CHECK(captured_step(adagrad, b).find(on_host) != std::string::npos);
  CHECK(captured_step(rmsprop, b).find("RMSprop: the first step makes the optimizer's state") != std::string::npos);
  b.mul(2).sum().backward();
  adagrad.step();
  rmsprop.step();
  CHECK(captured_step(adagrad, b).find(on_host) != std::string::npos);
  const double before = value_of(b);
  CUDAGraph graph;
  capture(graph, [&] { rmsprop.step(); });
  CHECK(value_of(b) == before);
  graph.replay();
  CHECK(value_of(b) < before);
}

TEST_CASE("a profile has the times of devices, and leaves a capture alone") {
  if (!has_graphs()) return;
  const Tensor x = full({64, 64}, 2, kThere);
  CUDAGraph graph;
  const auto profile = std::make_shared<Profile>(Profile::Options{.device_times = true});
  {
    const ThreadListenerGuard listening(profile), ranges(std::make_shared<DeviceRanges>(kCUDA));
    x.mul_(2);
    capture(graph, [&] { x.add_(1); });
  }
  graph.replay();
  CHECK(value_of(x) == 5 * 64 * 64);
  int timed = 0;
  for (const Profile::Row& row : profile->rows()) {
    if (row.op.starts_with("mul_")) timed += row.device_total_seconds > 0 ? 1 : 0;
    if (row.op.starts_with("add_")) timed += row.device_total_seconds == 0 ? 1 : 0;
  }
  CHECK(timed == 2);
}

TEST_CASE("replays of a graph in two streams draw what they would in one") {
  if (!has_graphs()) return;
  Tensor noise = zeros({50}, kThere), total = zeros({50}, kThere);
  CUDAGraph graph;
  capture(graph, [&] { total.add_(noise.normal_()); });
  manual_seed(3);
  const Tensor expected = zeros({50});
  for (int i = 0; i < 2; ++i) Tensor(expected).add_(randn({50}, TensorOptions()));
  manual_seed(3);
  const Stream first = new_stream(kCUDA), second = new_stream(kCUDA);
  synchronize(Device("cuda:0"));
  for (const Stream& stream : {first, second}) {
    const StreamGuard guard(stream);
    graph.replay();
  }
  (void)first.query();  // an emulated device does the first piece of its work, and then all of the other stream's
  second.synchronize();
  first.synchronize();
  CHECK(same_bits(total, expected));
}

TEST_CASE("pinned memory that is freed while a stream that has used it is captured can be had again afterwards") {
  if (!has_graphs()) return;
  const StreamGuard guard(new_stream(kCUDA));
  Tensor there = zeros({50}, kThere), pinned = ones({50}).pin_memory();
  there.copy_(pinned, /*non_blocking=*/true);
  CUDAGraph graph;
  graph.capture_begin();
  there.add_(1);
  pinned = Tensor();
  CHECK(ones({50}).pin_memory().sum().item<double>() == 50);
  graph.capture_end();
  for (int i = 0; i < 2; ++i) CHECK(ones({50}).pin_memory().sum().item<double>() == 50);
  graph.replay();
  CHECK(value_of(there) == 100);
}

TEST_CASE("a capture that another thread spoils is given up, with what the runtime says of it") {
  if (!has_graphs()) return;
  CUDAGraph graph;
  const StreamGuard guard(new_stream(kCUDA));
  const Stream stream = current_stream(kCUDA);
  graph.capture_begin();
  std::string refused;
  std::thread([&] { refused = error_of([&] { stream.synchronize(); }); }).join();
  CHECK(refused.find("cudaErrorStreamCaptureUnsupported") != std::string::npos);
  const std::string text = error_of([&] { graph.capture_end(); });
  CHECK(text.find("gave the capture of") != std::string::npos);
  CHECK(text.find("cudaErrorStreamCaptureInvalidated") != std::string::npos);
  CHECK(value_of(number(2)) == 2);
}

TEST_CASE("what one thread captures another one does not reset") {
  if (!has_graphs()) return;
  const StreamGuard guard(new_stream(kCUDA));
  const Tensor x = number(1);
  CUDAGraph graph;
  graph.capture_begin();
  x.add_(1);
  std::string elsewhere;
  std::thread([&] { elsewhere = error_of([&] { graph.reset(); }); }).join();
  CHECK(elsewhere.find("another thread is capturing the graph") != std::string::npos);
  graph.capture_end();
  graph.replay();
  CHECK(value_of(x) == 2);
}

TEST_CASE("a product of a graph may be the first of the process") {
  if (!has_graphs() || !has_products()) return;
  const Tensor a = scattered({4, 5}, -3, 3).to(kFloat), b = scattered({5, 6}, -3, 3, 1).to(kFloat);
  const Tensor a_there = on_cuda(a), b_there = on_cuda(b);
  Tensor product;
  CUDAGraph graph;
  capture(graph, [&] { product = mm(a_there, b_there); });
  graph.replay();
  CHECK(same_values(product, mm(a, b)));
}

TEST_CASE("what is captured has a stream that nobody is given") {
  if (!has_graphs()) return;
  const Tensor x = number(1);
  CUDAGraph graph;
  std::vector<Stream> others;
  bool is_other = true;
  std::thread([&] {
    for (int i = 0; i < 200; ++i) others.push_back(new_stream(kCUDA));
  }).join();
  {
    CUDAGraphCapture scope(graph);
    for (const Stream& other : others) is_other = is_other && other != current_stream(kCUDA);
    // Another thread works in the streams that it has.
    std::thread([&] {
      for (std::size_t i = 0; i < 32; ++i) {
        const StreamGuard guard(others[i]);
        CHECK_FALSE(current_stream(kCUDA).is_capturing());
        x.add_(1);
        others[i].synchronize();
      }
    }).join();
    scope.end();
  }
  CHECK(is_other);
  CHECK(value_of(x) == 33);
}

TEST_CASE("captures of several threads are made one after the other") {
  if (!has_graphs()) return;
  const Tensor x = number(1);
  CUDAGraph graph;
  std::atomic<bool> has_begun = false;
  std::string error;
  std::thread other;
  {
    CUDAGraphCapture scope(graph);
    other = std::thread([&] {
      error = [&]() -> std::string {
        try {
          CUDAGraph own;
          CUDAGraphCapture inner(own);
          has_begun = true;
          full({3}, 7, kThere);
          inner.end();
          own.replay();
          return {};
        } catch (const Error& failed) {
          return failed.what();
        }
      }();
    });
    x.add_(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK_FALSE(has_begun);
    CHECK(error_of([&] {
            CUDAGraph own;
            const CUDAGraphCapture nested(own);
          }) == "this thread is capturing a graph already");
    scope.end();
  }
  other.join();
  CHECK(error.empty());
  CHECK(has_begun);
  graph.replay();
  CHECK(value_of(x) == 2);
}
