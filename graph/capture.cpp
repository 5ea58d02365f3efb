#include <keyway/autograd/capture_listener.h>
#include <keyway/core/base/error.h>
#include <keyway/core/random/generator_listener.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/fallback.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/deferred_region.h>
#include <keyway/graph/recorder.h>

#include <algorithm>
#include <atomic>
#include <iterator>

namespace keyway::inline v1::graph {
namespace {

// Of the captures that the thread is in, by their level.
constinit thread_local Recorder* recorders[2] = {};

constinit thread_local std::uint64_t added_keys = 0;  // to the thread's, for these

Recorder*& recorder_at(Level level) { return recorders[static_cast<int>(level)]; }

template <typename F>
void for_each_recorder(F&& f) {
  for (Recorder* const recorder : recorders) {
    if (recorder != nullptr) f(*recorder);
  }
}

constexpr autograd::CaptureListener kListener = {
    [](const TensorBase& of, const TensorBase& alias) {
      for_each_recorder([&](Recorder& r) { r.alias_made(of, alias); });
    },
    [](const TensorBase& leaf) { for_each_recorder([&](Recorder& r) { r.grad_asked(leaf); }); },
    [](const TensorBase& leaf, const TensorBase& grad) {
      for_each_recorder([&](Recorder& r) { r.grad_set(leaf, grad); });
    },
    [](const TensorBase& tensor, const char* how) {
      for_each_recorder([&](Recorder& r) { r.history_changed(tensor, how); });
    },
};

constinit std::atomic<CallSite> site_of_calls{nullptr};
constinit std::atomic<int> open_captures{0};

[[noreturn]] void refuse_other_thread(Functionality key) {
  KEYWAY_FAIL(
      NotImplemented,
      "the call has the key {}, but its thread is in no capture: a program that is captured makes its calls in one "
      "thread",
      to_string(key));
}

// What stands at Tracer, for every operator.
void record_as_written(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  Recorder* const recorder = recorder_at(Level::Program);
  if (recorder == nullptr) refuse_other_thread(Functionality::Tracer);
  const DispatchKeySet below = keys & DispatchKeySet::full_after(Functionality::Tracer);
  with_arguments(op, stack, [&](Stack& values) { recorder->call(op, below, values); });
}

void begin_listening() {
  autograd::capture_listener = &kListener;
  exchange_generator_listener(
      [] { refuse_captures("a generator is made or seeded by the program, or its state is set or read"); });
}

void end_listening() {
  autograd::capture_listener = nullptr;
  exchange_generator_listener(is_deferring() ? &flush_before_seed : nullptr);
}

// Has the thread's calls pass the keys that its captures need, and no others.
void update_keys() {
  IncludeDispatchKeyGuard::leave(added_keys);
  DispatchKeySet needed;
  if (is_capturing()) needed = needed.add(Functionality::Functionalize);
  if (recorder_at(Level::Program) != nullptr) needed = needed.add(Functionality::Tracer);
  added_keys = IncludeDispatchKeyGuard::enter(needed);
}

}  // namespace

// Once for the process: programs that never capture anything have no such kernels. In one request, as each that has a
// fallback makes the tables of all operators anew.
void register_graph_kernels() {
  static const bool registered = [] {
    Library written(Library::Kind::Impl, "_", DispatchKey::Tracer);
    Library executed(Library::Kind::Impl, "_", DispatchKey::Functionalize);
    BlockRequest request = written.fallback(&record_as_written).take_request();
    BlockRequest other = executed.fallback(&record_as_executed).take_request();
    std::ranges::move(other.fallbacks, std::back_inserter(request.fallbacks));
    request.for_good = true;
    Dispatcher::singleton().commit(std::move(request)).release();
    return true;
  }();
  static_cast<void>(registered);
}

// A capture at Tracer alone has to know which tensors calls make for themselves.
void record_as_executed(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  Recorder* const recorder = recorder_at(Level::Executed);
  Recorder* const as_written = recorder_at(Level::Program);
  const bool is_watched = recorder != nullptr || as_written != nullptr;
  if (!is_watched && !is_deferring() && open_captures != 0 && included_keys().has(Functionality::Functionalize))
    refuse_other_thread(Functionality::Functionalize);
  const DispatchKeySet below = keys & DispatchKeySet::full_after(Functionality::Functionalize);
  with_arguments(op, stack, [&](Stack& values) {
    settle_deferred(values);
    if (!is_watched) return call_deferred(op, below, values);
    if (recorder != nullptr)
      recorder->call(op, below, values);
    else
      redispatch_boxed(op, below, values);
    if (as_written != nullptr) as_written->note_within_call(values);
  });
}

void refuse_captures(const std::string& reason) {
  for_each_recorder([&](Recorder& recorder) { recorder.refuse(reason); });
}

Recorder* recorder_of(Level level) {
  const Functionality key = level == Level::Program ? Functionality::Tracer : Functionality::Functionalize;
  return excluded_keys().has(key) ? nullptr : recorder_at(level);
}

CapturesSetAside::CapturesSetAside() {
  std::ranges::copy(recorders, kept_);
  std::ranges::fill(recorders, nullptr);
  update_keys();
  end_listening();
  const DispatchKeySet keys = DispatchKeySet(Functionality::Tracer) | DispatchKeySet(Functionality::Functionalize);
  kept_keys_ = (excluded_keys() & keys).raw();
  thread_state.excluded &= ~kept_keys_;
}

CapturesSetAside::~CapturesSetAside() {
  thread_state.excluded |= kept_keys_;
  std::ranges::copy(kept_, recorders);
  update_keys();
  if (is_capturing()) begin_listening();
}

Capture::Capture(Level level, Refusal refusal) : recorder_(std::make_unique<Recorder>(level, refusal)) {
  KEYWAY_CHECK(current() == nullptr, "a capture begins within another one of its thread");
  flush_deferred("a capture begins");
  register_graph_kernels();
  ++open_captures;
  current() = recorder_.get();
  update_keys();
  begin_listening();
}

Recorder*& Capture::current() const { return recorder_at(recorder_->level()); }

void Capture::abandon() {
  if (current() != recorder_.get()) return;
  --open_captures;
  current() = nullptr;
  update_keys();
  if (!is_capturing()) end_listening();
}

Capture::~Capture() { abandon(); }

void Capture::add_argument(const Tensor& tensor, std::string name) { recorder_->add_argument(tensor, std::move(name)); }

Graph Capture::finish(const std::vector<Tensor>& outputs) {
  KEYWAY_CHECK(current() == recorder_.get(), "the capture has ended, or is another thread's");
  abandon();
  return recorder_->finish(outputs);
}

bool Capture::keeps_results(const std::vector<Tensor>& outputs) const { return recorder_->keeps_results(outputs); }

void Capture::keep_inputs() { recorder_->keep_inputs(); }

std::size_t Capture::call_count() const { return recorder_->call_count(); }

bool is_capturing() { return recorders[0] != nullptr || recorders[1] != nullptr; }

void refuse_within_capture(std::string_view asked) {
  flush_deferred(asked);
  if (!is_capturing()) return;
  refuse_captures(std::string(asked) +
                  " gives numbers or memory to the program, which a graph cannot follow: compute with tensors instead");
}

void set_call_site(CallSite site) { site_of_calls = site; }

// While a call is recorded at Level::Program, the calls that it makes have its site.
std::string call_site() {
  const Recorder* const written = recorder_at(Level::Program);
  if (written != nullptr && written->site() != nullptr) return *written->site();
  const CallSite site = site_of_calls;
  return site == nullptr ? std::string() : site();
}

}  // namespace keyway::inline v1::graph
