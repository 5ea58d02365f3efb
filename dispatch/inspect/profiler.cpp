#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/dispatch/inspect/profiler.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/dispatch/registry/registry_notifications.h>

#include <mutex>
#include <utility>

namespace keyway::inline v1 {

namespace {

// The latest of this thread.
thread_local const ThreadListenerGuard* innermost = nullptr;

// Tells a listener of a call's begin, and of its end when it goes.
class CallScope {
 public:
  CallScope(CallListener& listener, const CallEvent& call) : listener_(listener), call_(call) {
    listener_.begin(call_);
  }
  ~CallScope() { listener_.end(call_, threw_); }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  void returned() { threw_ = false; }

 private:
  CallListener& listener_;
  const CallEvent& call_;
  bool threw_ = true;
};

}  // namespace

CallListener::~CallListener() = default;

struct ThreadListeners {
  // Calls the operator below Profiler, with `listening` and those around it told of it.
  static void call(const ThreadListenerGuard* listening, const CallEvent& event, DispatchKeySet keys, Stack& stack) {
    if (listening == nullptr) return redispatch_boxed(event.op, keys, stack);
    CallScope scope(*listening->listener_, event);
    call(listening->outer_, event, keys, stack);
    scope.returned();
  }

  static void kernel(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
    const DispatchKeySet below = keys.remove(Functionality::Profiler);
    const std::size_t arguments = op.info().boxed.arguments;
    call(innermost, {op, op.table().find_past_mark(below).keys, stack, stack.size() - arguments}, below, stack);
  }
};

namespace detail {

namespace {
// Never destroyed: threads may end in any order.
struct Shared {
  ForkSafeMutex mutex{LockOrder::Profiler};
  std::size_t users = 0;
  RegistrationHandle handle;
  static Shared& get() {
    static Shared& shared = *new Shared;
    return shared;
  }
};
}  // namespace

ProfilerFallback::ProfilerFallback() {
  Shared& shared = Shared::get();
  const DeferNotificationsGuard no_listener_waits;
  const std::lock_guard lock(shared.mutex);
  if (shared.users == 0) {
    Library library(Library::Kind::Impl, "_", DispatchKey::Profiler);
    library.fallback(&ThreadListeners::kernel);
    shared.handle = library.commit();
  }
  ++shared.users;
}

ProfilerFallback::~ProfilerFallback() {
  Shared& shared = Shared::get();
  const DeferNotificationsGuard no_listener_waits;
  const std::lock_guard lock(shared.mutex);
  if (--shared.users == 0) shared.handle = {};
}

}  // namespace detail

ThreadListenerGuard::ThreadListenerGuard(std::shared_ptr<CallListener> listener)
    : include_(DispatchKeySet(Functionality::Profiler)),
      listener_(std::move(listener)),
      outer_(std::exchange(innermost, this)) {}

ThreadListenerGuard::~ThreadListenerGuard() { innermost = outer_; }

namespace {

// A call passes an observer once for every key; a listener hears of it once.
class AllThreads : public CallObserver {
 public:
  explicit AllThreads(std::shared_ptr<CallListener> listener) : listener_(std::move(listener)) {}

  void call(const ObservedCall& call) override {
    if (is_in(call.op)) return call.proceed();  // the same call, at its next key
    Frame frame{*this, call.op, frames};
    frames = &frame;
    const CallEvent event{call.op, call.keys, call.stack, call.first};
    CallScope scope(*listener_, event);
    call.proceed();
    scope.returned();
  }

 private:
  // An operator that a thread is in, and who told of it.
  struct Frame {
    const AllThreads& by;
    const OperatorEntry& op;
    Frame* outer;
    ~Frame() { frames = outer; }
  };
  static thread_local Frame* frames;

  bool is_in(const OperatorEntry& op) const {
    const Frame* frame = frames;
    while (frame != nullptr && &frame->by != this) frame = frame->outer;
    return frame != nullptr && &frame->op == &op;
  }

  std::shared_ptr<CallListener> listener_;
};
constinit thread_local AllThreads::Frame* AllThreads::frames = nullptr;

}  // namespace

ObserverHandle listen_to_all_threads(std::shared_ptr<CallListener> listener) {
  return observe_calls(std::make_shared<AllThreads>(std::move(listener)));
}

}  // namespace keyway::inline v1
