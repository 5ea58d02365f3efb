// What keyway/futures.py is made of: tasks that call functions of Python, and what waits for them. Values and
// exceptions stay in Python, where the garbage collector sees them.
#include <keyway/core/base/error.h>
#include <keyway/python/default_device.h>
#include <keyway/python/function_overrides.h>
#include <keyway/python/held_object.h>
#include <keyway/python/module.h>
#include <keyway/python/python_call.h>
#include <keyway/tasks/launch.h>

#include <memory>
#include <optional>
#include <vector>

namespace keyway::inline v1::python {
namespace {

// What the ThreadLocalState of a thread has for Python alone: kept, and in force in another thread.
struct PythonState {
  std::optional<Device> device = default_device();
  bool are_overrides_disabled = overrides_are_disabled();

  void exchange() {
    device = exchange_default_device(device);
    are_overrides_disabled = exchange_overrides_disabled(are_overrides_disabled);
  }
};

// A function of Python that throws nothing. It has the state of the thread that made this.
class Quiet {
 public:
  explicit Quiet(nb::object function) : function_(std::move(function)) {}

  void operator()() {
    const LockHeld lock;
    PythonState here = state_;
    here.exchange();
    call();
    here.exchange();
  }

 private:
  void call() const {
    try {
      (void)call_python(function_.get(), nullptr, 0);
    } catch (nb::python_error& error) {
      error.restore();
      tell_unraisable();
    }
  }

  HeldObject function_;
  PythonState state_;
};

// Whether something is done: by a task, if it has a function, else by who calls begin() and complete().
struct Completion {
  std::shared_ptr<keyway::detail::Task> task;  // null: none, or launched
  std::shared_ptr<keyway::detail::FutureState> state;
};

void make_completion(Completion* self, nb::object function, const std::vector<Completion*>& after) {
  std::vector<std::shared_ptr<keyway::detail::Task>> tasks;
  for (const Completion* each : after) {
    tasks.insert(tasks.end(), each->state->tasks().begin(), each->state->tasks().end());
  }
  std::shared_ptr<keyway::detail::Task> task;
  if (!function.is_none()) {
    using Function = keyway::detail::WithState<Quiet>;
    auto made = std::make_shared<keyway::detail::TaskOf<void, Function>>(Function(Quiet(std::move(function))));
    made->completes(
        std::make_shared<keyway::detail::FutureValue<void>>(std::vector<std::shared_ptr<keyway::detail::Task>>()));
    tasks.push_back(made);
    task = std::move(made);
  }
  new (self) Completion{std::move(task), std::make_shared<keyway::detail::FutureState>(std::move(tasks))};
}

}  // namespace

void add_futures(nb::module_& module) {
  nb::class_<Completion>(module, "_Completion")
      .def("__init__", make_completion, nb::arg("function").none(), nb::arg("after"))
      .def("launch",
           [](Completion& self) {
             const std::shared_ptr<keyway::detail::Task> task = std::move(self.task);
             unlocked([&] { keyway::detail::launch_task(task); });
           })
      .def("done", [](const Completion& self) { return self.state->done(); })
      .def("wait",
           [](const Completion& self) {
             const std::shared_ptr<keyway::detail::FutureState> state = self.state;
             if (!state->done()) unlocked([&] { state->wait(); });
           })
      .def("begin", [](const Completion& self) { return self.state->begin_completion(); })
      .def("complete",
           [](const Completion& self) {
             const std::shared_ptr<keyway::detail::FutureState> state = self.state;
             unlocked([&] { state->complete(); });
           })
      .def("when_done", [](const Completion& self, nb::object callback) {
        const std::shared_ptr<keyway::detail::FutureState> state = self.state;
        state->when_done([quiet = std::make_shared<Quiet>(std::move(callback))] { (*quiet)(); });
      });
  // A thread of the pool that wants the interpreter's lock at the end of the process would wait for ever, and the end
  // for it.
  nb::module_::import_("atexit").attr("register")(
      nb::cpp_function([] { unlocked([] { keyway::detail::end_interop_threads(); }); }));
}

}  // namespace keyway::inline v1::python
