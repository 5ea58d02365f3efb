#include <keyway/core/base/error.h>
#include <keyway/dispatch/inspect/memory_profile.h>
#include <keyway/dispatch/inspect/profiler.h>
#include <keyway/python/caller_frame.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>

#include <memory>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

Profile::Column column_of(const std::string& name) {
  if (name == "op") return Profile::Column::Op;
  if (name == "calls") return Profile::Column::Calls;
  if (name == "self") return Profile::Column::Self;
  if (name == "total") return Profile::Column::Total;
  KEYWAY_CHECK(name == "mean", "a profile is sorted by op, calls, self, total or mean, not by '{}'", name);
  return Profile::Column::Mean;
}

// A profile that listens between start and stop, with one of memory if that is asked for.
class Profiling {
 public:
  Profiling(bool events, bool shapes, bool memory)
      : profile_(std::make_shared<Profile>(Profile::Options{.events = events, .shapes = shapes})),
        memory_(memory ? std::make_shared<MemoryProfile>(call_site) : nullptr) {}
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;
  // What a thread listens to is undone by that thread only, in order: one that was never stopped goes on.
  ~Profiling() {
    for (auto& guard : thread_listening_) (void)guard.release();
    const LockReleased unlocked;
    all_listening_.clear();
  }

  void start(bool all_threads) {
    KEYWAY_CHECK(!std::exchange(running_, true), "the profiler is running already");
    const LockReleased unlocked;
    std::vector<std::shared_ptr<CallListener>> listeners = {profile_};  // the first, which stands next to the call
    if (memory_ != nullptr) listeners.push_back(memory_);
    for (auto& listener : listeners) {
      if (all_threads)
        all_listening_.push_back(listen_to_all_threads(std::move(listener)));
      else
        thread_listening_.push_back(std::make_unique<ThreadListenerGuard>(std::move(listener)));
    }
    thread_ = std::this_thread::get_id();
  }
  void stop() {
    KEYWAY_CHECK(running_, "the profiler is not running");
    KEYWAY_CHECK(thread_listening_.empty() || thread_ == std::this_thread::get_id(),
                 "the profiler was started on another thread");
    running_ = false;
    const LockReleased unlocked;
    while (!thread_listening_.empty()) thread_listening_.pop_back();
    all_listening_.clear();
  }
  const Profile& profile() const { return *profile_; }
  const MemoryProfile& memory() const {
    KEYWAY_CHECK(memory_ != nullptr, "no memory was recorded: profile with profile_memory=True");
    return *memory_;
  }

 private:
  bool running_ = false;  // guarded by the interpreter lock, as the others are not
  std::shared_ptr<Profile> profile_;
  std::shared_ptr<MemoryProfile> memory_;
  std::vector<std::unique_ptr<ThreadListenerGuard>> thread_listening_;  // the latest last
  std::thread::id thread_;
  std::vector<ObserverHandle> all_listening_;
};

}  // namespace

void add_profiler(nb::module_& module) {
  nb::class_<Profile::Row>(module, "_ProfileRow")
      .def_ro("op", &Profile::Row::op)
      .def_ro("keys", &Profile::Row::keys)
      .def_ro("kernel", &Profile::Row::kernel)
      .def_ro("calls", &Profile::Row::calls)
      .def_ro("self_seconds", &Profile::Row::self_seconds)
      .def_ro("total_seconds", &Profile::Row::total_seconds);
  nb::class_<Profiling>(module, "_Profiling")
      .def(nb::init<bool, bool, bool>())
      .def("start", &Profiling::start)
      .def("stop", &Profiling::stop)
      .def("rows", [](const Profiling& self, const std::string& by) { return self.profile().rows(column_of(by)); })
      .def("table", [](const Profiling& self, const std::string& by,
                       std::size_t most) { return self.profile().table(column_of(by), most); })
      .def("trace", [](const Profiling& self) { return self.profile().trace(); })
      .def("memory_table", [](const Profiling& self, std::size_t most) { return self.memory().table(most); })
      .def("memory_blocks", [](const Profiling& self) { return self.memory().json(); })
      .def_static("thread_number", &Profile::thread_number);
}

}  // namespace keyway::inline v1::python
