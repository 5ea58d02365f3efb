#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/conform/conditions.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <chrono>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

using Seconds = std::chrono::duration<double>;

// The bytes of a tensor's storage.
Tensor bytes_of(const TensorBase& tensor) {
  const TensorBase bytes = make_view(tensor, {0}, {1}, 0);
  bytes.impl()->set_dtype(kByte);
  return Tensor(make_view(bytes, {static_cast<std::int64_t>(tensor.storage().nbytes())}, {1}, 0));
}

// Work that keeps a stream busy for some milliseconds while the host goes on: a product, as large as that takes. A
// device whose products are done when they are queued has none.
class Delay {
 public:
  explicit Delay(Device device) {
    const NoGradGuard no_grad;
    for (std::int64_t size = 64; size <= 8192; size *= 2) {
      const Tensor matrix = zeros({size, size}, TensorOptions().device(device));
      synchronize(device);
      const auto begin = std::chrono::steady_clock::now();
      (void)matrix.mm(matrix);
      const auto queued = std::chrono::steady_clock::now();
      synchronize(device);
      const Seconds call = queued - begin, rest = std::chrono::steady_clock::now() - queued;
      if (rest.count() > 2e-3) {
        matrix_ = matrix;
        return;
      }
      if (call.count() > 0.1) return;
    }
  }
  void queue() const {
    const NoGradGuard no_grad;
    if (matrix_.defined()) (void)matrix_.mm(matrix_);
  }

 private:
  Tensor matrix_;
};

class StreamJudge final : public Judge {
 public:
  StreamJudge(const OperatorHandle& op, DeviceType device) : Judge(device), op_(op) {}

  Outcome judge(const std::vector<Value>& values) const override {
    if (!can_be_made(values)) return {Verdict::NotServed, "tensors that cannot be copied"};
    const Device here = current_device(device());
    const Stream producer = new_stream(here), consumer = new_stream(here);
    if (producer == default_stream(here) || producer == consumer) return {Verdict::NotServed, "there are no streams"};
    static const Delay delay(here);  // of the child process, which judges one device type
    const ConformCall usual = op_.call(values, here);
    if (!usual.error.empty()) return {Verdict::Refused, usual.error};

    const Stack written = op_.arguments(values, here);
    Stack arguments = op_.arguments(values, here);
    for (const TensorBase& tensor : tensors_of(arguments)) clear(tensor);
    synchronize(here);
    Event is_written(device());
    {
      const StreamGuard in_producer(producer);
      delay.queue();
      write(arguments, written);
      is_written.record(producer);
    }
    const StreamGuard in_consumer(consumer);
    is_written.block(consumer);
    const ConformCall call = op_.queue(std::move(arguments), here);
    if (!call.error.empty()) return {Verdict::Differs, "refused in a stream beside others: " + call.error};
    if (!call.leaves_device) return {Verdict::Differs, "another device or stream is current after the call"};
    overwrite_freed_memory(call, here, producer);
    consumer.synchronize();
    const std::string problem = bits_difference(op_, call, usual);
    if (problem.empty()) return {};
    return {Verdict::Differs, "in a stream beside others, which its arguments come from, " + problem};
  }

 private:
  static void clear(const TensorBase& tensor) {
    const NoGradGuard no_grad;
    if (tensor.storage().nbytes() > 0 && !tensor.is_cpu()) bytes_of(tensor).zero_();
  }
  static void write(const Stack& to, const Stack& from) {
    const NoGradGuard no_grad;
    const std::vector<TensorBase> targets = tensors_of(to), sources = tensors_of(from);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i].storage().nbytes() > 0 && !targets[i].is_cpu()) bytes_of(targets[i]).copy_(bytes_of(sources[i]));
    }
  }
  // What is allocated in a stream may be what was given back in that stream.
  void overwrite_freed_memory(const ConformCall& call, Device here, const Stream& producer) const {
    const NoGradGuard no_grad;
    std::vector<std::size_t> sizes;
    for (const Stack& stack : {call.arguments, call.results}) {
      for (const TensorBase& tensor : tensors_of(stack)) sizes.push_back(tensor.nbytes());
    }
    for (const Stream& stream : {default_stream(here), new_stream(here)}) {
      if (stream == producer) continue;  // which has work to do before
      const StreamGuard in_stream(stream);
      std::vector<Tensor> held;
      for (const std::size_t size : sizes) {
        if (size == 0) continue;
        held.push_back(empty({static_cast<std::int64_t>(size)}, TensorOptions(kByte).device(here)));
        held.back().fill_(255);
      }
    }
  }

  ConformOperator op_;
};

}  // namespace

std::unique_ptr<Judge> make_stream_judge(const OperatorHandle& op, DeviceType device) {
  return std::make_unique<StreamJudge>(op, device);
}

}  // namespace keyway::inline v1::tools
