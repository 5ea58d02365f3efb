// Streams of backward: where nodes work, what waits for what, and whose memory is kept for whom. Emulated streams work
// as late as they may, so that a wait that is missing gives other numbers.
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/core/tensor/device_allocator.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <thread>
#include <vector>

using namespace keyway;
using namespace keyway::testing;
using autograd::AutogradContext;
using autograd::variable_list;

namespace {

constexpr std::int64_t kSize = 1024;
const Device kFirst("cuda:0");
const TensorOptions kThere = TensorOptions().device(kFirst);

Tensor filled(double value) { return full({kSize}, value, kThere); }
Tensor leaf(double value) { return filled(value).requires_grad_(); }

void wait(const Stream& waiting, const Stream& stream) {
  Event event(kCUDA);
  event.record(stream);
  event.block(waiting);
}

// What `work` gives, computed in `stream` after what is in the current one, which goes on after it.
Tensor in_stream(const Stream& stream, const std::function<Tensor()>& work) {
  const Stream here = current_stream(kCUDA);
  wait(stream, here);
  Tensor result;
  {
    const StreamGuard guard(stream);
    result = work();
  }
  wait(here, stream);
  return result;
}

// Takes what memory of the size of our tensors is free for `stream`, writes other numbers there, and sees to it that
// this is done before whatever else waits to be done.
void overwrite_what_is_free(const Stream& stream) {
  const StreamGuard guard(stream);
  std::vector<Tensor> taken;
  for (int i = 0; i < 8; ++i) taken.push_back(filled(1e9));
  stream.synchronize();
}

// All of whose elements are `value`, as the current stream sees it.
bool is_all(const Tensor& tensor, double value) {
  const Tensor here = tensor.detach().to(kCPU, kDouble);
  for (std::int64_t i = 0; i < here.numel(); ++i) {
    if (std::abs(here.data_ptr<double>()[i] - value) > 1e-5 * std::abs(value)) return false;
  }
  return true;
}

// The same tensor, whose backward tells `seen` of its current stream, then calls `then`.
struct Observed : autograd::Function<Observed> {
  using Call = std::function<Tensor(const Tensor& grad)>;
  static Tensor forward(AutogradContext&, const Tensor& x, const Call& call) {
    latest = call;
    return x.clone();
  }
  static variable_list backward(AutogradContext&, variable_list grads) { return {latest(grads[0])}; }
  static Call latest;
};
Observed::Call Observed::latest;

}  // namespace

TEST_CASE("a node works in the stream of its call, hooks with it, and the caller's stream stays current") {
  if (lacks_device()) return;
  const Stream side = new_stream(kCUDA), callers = new_stream(kCUDA);
  std::vector<Stream> node, hook, accumulated;
  const auto here = [] { return current_stream(kCUDA); };
  const Tensor x = leaf(2);
  const Tensor y = in_stream(side, [&] {
    return Observed::apply(x, Observed::Call([&](const Tensor& grad) {
                             node.push_back(here());
                             return grad;
                           }));
  });
  autograd::register_hook(y, [&](const Tensor&) {
    hook.push_back(here());
    return Tensor();
  });
  autograd::register_post_accumulate_grad_hook(x, [&](const Tensor&) { accumulated.push_back(here()); });
  for (const Stream& caller : {default_stream(kCUDA), callers}) {
    wait(caller, here());
    const StreamGuard guard(caller);
    y.sum().backward({}, true);
    CHECK(here() == caller);
    CHECK(is_all(x.grad(), caller == callers ? 2 : 1));
  }
  using Streams = std::vector<Stream>;
  CHECK(node == Streams{side, side});
  CHECK(hook == Streams{side, side});
  CHECK(accumulated == Streams{side, side});  // where the gradient was computed
}

TEST_CASE("what a node saved is free for its stream only when that has read it") {
  if (lacks_device()) return;
  const Stream side = new_stream(kCUDA);
  const Tensor x = leaf(1);
  Tensor loss = in_stream(side, [&] { return x.exp().sum(); });  // saves its result, memory of `side`
  loss.backward();
  overwrite_what_is_free(side);
  CHECK(is_all(x.grad(), std::exp(1)));
}

TEST_CASE("what a node saved of another stream's memory is free for that only when it was read") {
  if (lacks_device()) return;
  const Stream side = new_stream(kCUDA), callers = current_stream(kCUDA);
  const Tensor x = leaf(1), w = leaf(1);
  const Tensor early = Observed::apply(x, Observed::Call([&](const Tensor& grad) {
                                         overwrite_what_is_free(callers);
                                         return grad;
                                       }));
  Tensor factor = filled(3);  // memory of the caller's stream
  const Tensor product = in_stream(side, [&] { return w * factor; });
  factor = Tensor();
  (product + early).sum().backward();  // the product's node runs before the other's
  CHECK(is_all(w.grad(), 3));
}

TEST_CASE("gradients are waited for where they pass from one stream to another") {
  if (lacks_device()) return;
  const Stream a = new_stream(kCUDA), b = new_stream(kCUDA);
  const Tensor x = leaf(0.5);
  const Tensor y = in_stream(a, [&] { return x * 2; });
  const Tensor z = in_stream(b, [&] { return y * y; });
  const Tensor u = in_stream(a, [&] { return z * y; });
  const Tensor v = z * u;  // in the caller's
  v.sum().backward();      // y^5, of y = 2x
  CHECK(is_all(x.grad(), 2 * 5 * 1.0));
}

TEST_CASE("a gradient is free for its stream only when the one that it passed to has read it") {
  if (lacks_device()) return;
  const Stream a = new_stream(kCUDA), b = new_stream(kCUDA);
  const Tensor x = leaf(1), other = leaf(1);
  // Its node runs last, in `a`.
  const Tensor last = in_stream(a, [&] {
    return Observed::apply(other, Observed::Call([&](const Tensor& grad) {
                             overwrite_what_is_free(a);
                             return grad;
                           }));
  });
  const Tensor y = in_stream(b, [&] { return x * 5; });
  const Tensor z = in_stream(a, [&] { return y * 7; });  // gives the gradient 7 to b
  (z + last).sum().backward();
  CHECK(is_all(x.grad(), 35));
}

TEST_CASE("a gradient that two streams read is not added to in place") {
  if (lacks_device()) return;
  const Stream side = new_stream(kCUDA);
  const Tensor x = leaf(1), p = leaf(1), weight = filled(4);
  const Tensor h = x * 2;
  const Tensor k = h * 5;
  const Tensor f = in_stream(side, [&] { return p * 3; });
  (((f + h) * weight).sum() + k.sum()).backward();
  CHECK(is_all(p.grad(), 12));
  CHECK(is_all(x.grad(), 18));
}

TEST_CASE("gradients that come from several streams are added up, each after it was computed") {
  if (lacks_device()) return;
  const Stream streams[] = {new_stream(kCUDA), new_stream(kCUDA), new_stream(kCUDA)};
  const Tensor x = leaf(1);
  const Tensor y = x * 2;
  Tensor sum = y * 3;
  for (const Stream& stream : streams) sum = sum + in_stream(stream, [&] { return y * 10; });
  sum.sum().backward();
  CHECK(is_all(x.grad(), 66));
}

TEST_CASE("streams of backward begin after the caller's, whether a gradient comes to them or not") {
  if (lacks_device()) return;
  struct Drops : autograd::Function<Drops> {
    static Tensor forward(AutogradContext&, const Tensor& x) { return x.clone(); }
    static variable_list backward(AutogradContext&, variable_list) { return {Tensor()}; }
  };
  const Stream side = new_stream(kCUDA);
  const Tensor x = leaf(1), w = filled(1);
  const Tensor y = in_stream(side, [&] {
    return Observed::apply(x, Observed::Call([&](const Tensor&) {
                             const Tensor twice = w * 2;
                             side.synchronize();  // and with it what it waits for
                             return twice;
                           }));
  });
  const Tensor loss = Drops::apply(y).sum();
  synchronize(kFirst);
  w.fill_(7);
  loss.backward();
  CHECK(is_all(x.grad(), 14));
}

TEST_CASE("gradients belong to the caller: they are there for its stream, and free only when that has read them") {
  if (lacks_device()) return;
  const Stream side = new_stream(kCUDA);
  const Tensor x = leaf(1);
  const Tensor y = in_stream(side, [&] { return x * 3; });
  const Tensor z = in_stream(side, [&] { return y * 5; });
  y.retain_grad();
  const Tensor loss = z.sum();
  Tensor found = autograd::grad({loss}, {x}, {}, true)[0];
  loss.backward();
  const Tensor read = found * 2, read_leaf = x.grad() * 2, read_retained = y.grad() * 2;
  found = Tensor();
  autograd::set_grad(x, Tensor());
  autograd::set_grad(y, Tensor());
  overwrite_what_is_free(side);
  CHECK(is_all(read, 30));
  CHECK(is_all(read_leaf, 30));
  CHECK(is_all(read_retained, 20));  // of both backwards
}

TEST_CASE("a leaf's gradient of the caller's memory, replaced in another stream, is free only when that has read it") {
  if (lacks_device()) return;
  const Stream side = new_stream(kCUDA), callers = current_stream(kCUDA);
  const Tensor x = leaf(1), other = leaf(1);
  autograd::set_grad(x, filled(100));
  const Tensor late = Observed::apply(other, Observed::Call([&](const Tensor& grad) {
                                        overwrite_what_is_free(callers);
                                        return grad;
                                      }));
  const Tensor y = in_stream(side, [&] { return x * 3; });
  autograd::backward({(y + late).sum()}, {}, false, /*create_graph=*/true);  // the sum is a new tensor
  CHECK(is_all(x.grad(), 103));
  autograd::set_grad(x, Tensor());
}

TEST_CASE("backwards whose callers work in different streams add to a leaf one after the other") {
  if (lacks_device()) return;
  const Stream streams[] = {new_stream(kCUDA), new_stream(kCUDA)};
  const Tensor x = leaf(1);
  synchronize(kFirst);
  for (const Stream& stream : streams) {
    const StreamGuard guard(stream);
    (x * 3).sum().backward();
  }
  const StreamGuard guard(streams[1]);
  CHECK(is_all(x.grad(), 6));

  const Tensor y = leaf(1);
  synchronize(kFirst);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const StreamGuard own(new_stream(kCUDA));
      for (int round = 0; round < 20; ++round) (y * 3).sum().backward();
    });
  }
  for (std::thread& thread : threads) thread.join();
  synchronize(kFirst);
  CHECK(is_all(y.grad(), 4 * 20 * 3));
}

TEST_CASE("a failing backward leaves nothing that its caller's stream does not wait for") {
  if (lacks_device()) return;
  const Stream side = new_stream(kCUDA);
  const Tensor x = leaf(1), written = filled(0);
  const Tensor y = in_stream(side, [&] {
    return Observed::apply(x, Observed::Call([&](const Tensor&) -> Tensor {
                             Tensor(written).fill_(8);
                             KEYWAY_FAIL(Value, "from backward");
                           }));
  });
  CHECK_THROWS_AS(y.sum().backward(), Error);
  CHECK(is_all(written, 8));
}

TEST_CASE("backward within a backward is work of the node's stream, and second derivatives of its own") {
  if (lacks_device()) return;
  const Stream side = new_stream(kCUDA);
  const Tensor x = leaf(3);
  const Tensor y = in_stream(side, [&] { return x * x * x; });
  const Tensor first = autograd::grad({y.sum()}, {x}, {}, true, true)[0];
  CHECK(autograd::grad_fn(first)->stream() == side);
  CHECK(is_all(autograd::grad({first.sum()}, {x})[0], 18));

  const Tensor inner = leaf(2);
  const Tensor square = (inner * inner).sum();  // in the caller's
  const Tensor z = in_stream(side, [&] {
    return Observed::apply(
        x, Observed::Call([&](const Tensor& grad) { return grad * autograd::grad({square}, {inner}, {}, true)[0]; }));
  });
  CHECK(is_all(autograd::grad({z.sum()}, {x})[0], 4));
}

TEST_CASE("streams of several devices wait for each other") {
  if (lacks_device() || device_count(kCUDA) < 2) return;
  const Device second("cuda:1");
  const Stream near = new_stream(kFirst), far = new_stream(second);
  const Tensor x = leaf(2);
  const Tensor w = full({kSize}, 3.0, TensorOptions().device(second)).requires_grad_();
  const Tensor y = in_stream(near, [&] { return x * x; });
  Tensor product;
  {
    wait(far, current_stream(second));
    const StreamGuard guard(far);
    product = y.to(second) * w;
  }
  wait(current_stream(second), far);
  const Tensor back = product.to(kFirst);
  back.sum().backward();
  CHECK(is_all(x.grad(), 12));
  CHECK(is_all(w.grad(), 4));
}

TEST_CASE("what is captured of backward is work of the captured stream, wherever forward was") {
  if (lacks_device() || !keeps_memory()) return;
  const Stream side = new_stream(kCUDA);
  const Tensor x = leaf(2), factor = filled(5);
  CUDAGraph forward, backward, eager_forward;
  Tensor loss, grad;
  {
    CUDAGraphCapture capture(forward);
    loss = (x * x * factor).sum();
    capture.end();
  }
  {
    CUDAGraphCapture capture(backward, 0, new_stream(kCUDA));  // in another stream
    grad = autograd::grad({loss}, {x}, {}, true)[0];
    capture.end();
  }
  for (const double value : {5.0, 6.0}) {
    factor.fill_(value);
    forward.replay();
    backward.replay();
    CHECK(is_all(grad, 4 * value));
  }
  const Tensor eager = in_stream(side, [&] { return (x * x * factor).sum(); });
  synchronize(kFirst);
  {
    CUDAGraphCapture capture(eager_forward);
    grad = autograd::grad({eager}, {x}, {}, true)[0];
    capture.end();
  }
  eager_forward.replay();
  CHECK(is_all(grad, 24));
}

namespace {

// A program of a few operators on tensors of some streams, on the device or, in one thread, on the CPU.
class Program {
 public:
  Program(std::mt19937& random, bool on_device) : random_(random), on_device_(on_device) {}

  std::vector<Tensor> gradients(const std::vector<Stream>& streams) {
    for (std::int64_t i = 0; i < 3; ++i) {
      const Tensor values = scattered({kSize}, -9, 9, i).to(kFloat).div(9.0);
      leaves_.push_back((on_device_ ? on_cuda(values) : values).requires_grad_());
    }
    std::vector<Made> made;
    for (const Tensor& each : leaves_) made.push_back({each, streams[0]});
    for (int step = 0; step < 12; ++step) made.push_back(one_more(made, streams));
    Tensor loss = made.back().tensor.sum();
    for (std::size_t i = leaves_.size(); i < made.size(); ++i) {
      if (on_device_) wait(streams[0], made[i].stream);
      loss = loss + made[i].tensor.sum();
    }
    made.clear();
    loss.backward();
    std::vector<Tensor> grads;
    for (const Tensor& each : leaves_)
      if (each.grad().defined()) grads.push_back(each.grad());
    return grads;
  }

 private:
  struct Made {
    Tensor tensor;
    Stream stream;
  };

  Made one_more(const std::vector<Made>& made, const std::vector<Stream>& streams) {
    const Made a = made[random_() % made.size()], b = made[random_() % made.size()];
    const Stream stream = streams[random_() % streams.size()];
    const auto kind = random_() % 4;
    std::optional<StreamGuard> guard;
    if (on_device_) {
      wait(stream, a.stream);
      wait(stream, b.stream);
      guard.emplace(stream);
      record_stream(a.tensor, stream);
      record_stream(b.tensor, stream);
    }
    switch (kind) {
      case 0: return {a.tensor + b.tensor, stream};
      case 1: return {a.tensor.sin() * b.tensor, stream};
      case 2: return {a.tensor * b.tensor * 0.5, stream};
      default: return {(a.tensor - b.tensor).tanh(), stream};
    }
  }

  std::mt19937& random_;
  bool on_device_;
  std::vector<Tensor> leaves_;
};

}  // namespace

TEST_CASE("random programs in several streams have the CPU's gradients") {
  if (lacks_device()) return;
  std::vector<Stream> streams{current_stream(kCUDA)};
  for (int i = 0; i < 3; ++i) streams.push_back(new_stream(kCUDA));
  for (unsigned seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 here(seed), there(seed), order(seed);
    const std::vector<Tensor> expected = Program(here, false).gradients(streams);
    const std::vector<Tensor> found = Program(there, true).gradients(streams);
    std::vector<Stream> others(streams.begin() + 1, streams.end());
    std::shuffle(others.begin(), others.end(), order);
    for (const Stream& stream : others) overwrite_what_is_free(stream);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(is_close(found[i], expected[i], 1e-4));
  }
}
