#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/fallback.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/recorder.h>

#include <atomic>

namespace keyway::inline v1::graph {
namespace {

constinit thread_local Recorder* current = nullptr;

constinit std::atomic<CallSite> site_of_calls{nullptr};

constexpr Functionality functionality_of_level(Level level) {
  return level == Level::Program ? Functionality::Tracer : Functionality::Functionalize;
}

// What stands at the key of each level, for every operator.
template <Level kLevel>
void record_call(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  KEYWAY_CHECK_AS(NotImplemented, current != nullptr && current->level() == kLevel,
                  "the call has the key {}, but its thread is in no capture: a program that is captured makes its calls in one "
                  "thread",
                  to_string(functionality_of_level(kLevel)));
  const DispatchKeySet below = keys & DispatchKeySet::full_after(functionality_of_level(kLevel));
  with_arguments(op, stack, [&](Stack& values) { current->call(op, below, values); });
}

// Once for the process: programs that never capture anything have no such kernels.
template <Level kLevel>
void register_kernel(DispatchKey key) {
  static const bool registered = [key] {
    Library library(Library::Kind::Impl, "_", key);
    library.fallback(&record_call<kLevel>);
    library.commit().release();
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace

Capture::Capture(Level level, Refusal refusal) : recorder_(std::make_unique<Recorder>(level, refusal)) {
  KEYWAY_CHECK(current == nullptr, "a capture begins within another one of its thread");
  if (level == Level::Program)
    register_kernel<Level::Program>(DispatchKey::Tracer);
  else
    register_kernel<Level::Executed>(DispatchKey::Functionalize);
  listener_before_ = autograd::exchange_alias_listener(
      [](const TensorBase& of, const TensorBase& alias) { current->add_tensor_over(of, alias); });
  added_ = IncludeDispatchKeyGuard::enter(DispatchKeySet(functionality_of_level(level)));
  current = recorder_.get();
}

void Capture::abandon() {
  if (current != recorder_.get()) return;
  IncludeDispatchKeyGuard::leave(added_);
  autograd::exchange_alias_listener(listener_before_);
  current = nullptr;
}

Capture::~Capture() { abandon(); }

void Capture::add_argument(const Tensor& tensor, std::string name) {
  recorder_->add_argument(tensor, std::move(name));
}

Graph Capture::finish(const std::vector<Tensor>& outputs) {
  KEYWAY_CHECK(current == recorder_.get(), "the capture has ended, or is another thread's");
  abandon();
  return recorder_->finish(outputs);
}

bool is_capturing() { return current != nullptr; }

void refuse_within_capture(std::string_view asked) {
  if (current != nullptr) [[unlikely]]
    current->refuse(std::string(asked) +
                    " gives numbers or memory to the program, which a graph cannot follow: compute with tensors instead");
}

void set_call_site(CallSite site) { site_of_calls = site; }

std::string call_site() {
  const CallSite site = site_of_calls;
  return site == nullptr ? std::string() : site();
}

}  // namespace keyway::inline v1::graph
