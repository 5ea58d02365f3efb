#include <keyway/core/base/error.h>
#include <keyway/core/schema/printer.h>
#include <keyway/dispatch/inspect/schema_check.h>
#include <keyway/dispatch/inspect/snapshot.h>
#include <keyway/dispatch/inspect/trace.h>
#include <keyway/dispatch/registry/dangling_kernels.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/python/batching.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/operator_function.h>
#include <keyway/python/tensor_object.h>

#include <memory>
#include <mutex>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

// The registry's locks are never taken with the interpreter lock: who holds them may want that.
std::vector<OperatorHandle> all_operators() {
  return unlocked([] { return Dispatcher::singleton().ops(); });
}

// The function of one overload by its full name; None if it is not defined.
nb::object find_overload(const std::string& name) {
  const auto op = unlocked([&] { return Dispatcher::singleton().find_op(name); });
  return op ? overload_function(*op) : nb::none();
}

// The function of all overloads of "ns::name"; None if there are none.
nb::object find_packet(const std::string& name) {
  std::vector<OperatorHandle> overloads;
  for (const OperatorHandle& op : all_operators()) {
    if (op.entry().info().name == name) overloads.push_back(op);
  }
  if (overloads.empty()) return nb::none();
  if (overloads.size() == 1) return overload_function(overloads.front());
  return make_operator_function(name, overloads, CallStyle::Operator,
                                std::string(overloads.front().entry().info().doc));
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const OperatorHandle& op : all_operators()) names.push_back(op.name());
  return names;
}

// Of an overload: arguments as (name, type, keyword-only, written to, has a default), and the types of results.
nb::object schema_of(nb::handle function) {
  const std::string name = nb::cast<std::string>(function.attr("name")());
  const FunctionSchema& schema = unlocked([&] { return Dispatcher::singleton().op(name); }).schema();
  nb::list arguments, results;
  for (const Argument argument : schema.arguments())
    arguments.append(nb::make_tuple(argument.name(), to_string(argument.type()), argument.is_kwarg_only(),
                                    argument.is_write(), argument.has_default()));
  for (const Argument result : schema.returns()) results.append(to_string(result.type()));
  return nb::make_tuple(arguments, results);
}

// An observer of every call while a `with` block is run.
class Observing {
 public:
  explicit Observing(std::shared_ptr<CallObserver> observer) : observer_(std::move(observer)) {}
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;
  ~Observing() {
    if (entered_) exit();
  }
  void enter() {
    KEYWAY_CHECK(!std::exchange(entered_, true), "it is entered already");
    handle_ = unlocked([&] { return observe_calls(observer_); });
  }
  void exit() {
    KEYWAY_CHECK(std::exchange(entered_, false), "it is not entered");
    unlocked([handle = std::move(handle_)]() mutable { handle.remove(); });
  }

 private:
  std::shared_ptr<CallObserver> observer_;
  bool entered_ = false;
  ObserverHandle handle_;
};

// The dispatch trace, line by line. They are kept here: who writes them must not want the interpreter lock.
class Trace : public Observing {
 public:
  Trace() : Trace(std::make_shared<Lines>()) {}
  std::vector<std::string> lines() const {
    const std::scoped_lock lock(lines_->mutex);
    return lines_->lines;
  }

 private:
  struct Lines {
    mutable std::mutex mutex;
    std::vector<std::string> lines;
  };
  explicit Trace(const std::shared_ptr<Lines>& lines)
      : Observing(dispatch_trace([lines](std::string_view line) {
          const std::scoped_lock lock(lines->mutex);
          lines->lines.emplace_back(line);
        })),
        lines_(lines) {}
  std::shared_ptr<Lines> lines_;
};

}  // namespace

void add_registry(nb::module_& module) {
  module.def("_find_overload", find_overload, "The function of the overload 'ns::name.overload', or None.");
  module.def("_find_packet", find_packet, "The function of all overloads of 'ns::name', or None.");
  module.def("_operator_names", operator_names, "Full names of all operators.");
  module.def("_schema_of", schema_of);
  module.def("_share_memory", [](const Tensor& a, const Tensor& b) {
    return a.storage() && b.storage() && a.nbytes() > 0 && b.nbytes() > 0 && a.is_alias_of(b);
  });
  module.def(
      "_is_cow_tensor", [](const Tensor& tensor) { return tensor.storage().is_shared(); },
      "Whether the tensor's bytes may be shared with a _lazy_clone(), until one of the two is written to.");
  module.def(
      "_fills_storage",
      [](const Tensor& tensor) {
        return tensor.storage() && tensor.is_contiguous() && tensor.nbytes() == tensor.storage().nbytes();
      },
      "Whether its elements are all that its storage has, in row-major order.");
  module.def(
      "_data_address",
      [](const Tensor& tensor) {
        check_has_memory(tensor, "_data_address");
        return reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr());
      },
      "The address of the first element to read at: unlike data_ptr() it ends no sharing.");
  module.def("_bump_version", [](const Tensor& tensor) { tensor.impl()->bump_version(); });
  module.def("_registry_generation", [] { return Dispatcher::singleton().generation(); });
  module.def("_registry_snapshot",
             [](const std::string& pattern) { return unlocked([&] { return registry_snapshot(pattern); }); });
  module.def("_take_dangling_warnings", [] { return unlocked([] { return take_dangling_warnings(); }); });
  nb::class_<Observing>(module, "_Observing")
      .def("__enter__",
           [](nb::handle self) {
             nb::cast<Observing&>(self).enter();
             return nb::borrow(self);
           })
      .def("__exit__", [](Observing& self, const nb::args&) { self.exit(); });
  nb::class_<Trace, Observing>(module, "_Trace").def(nb::init<>()).def("lines", &Trace::lines);
  module.def("_check_schemas", [] { return std::make_unique<Observing>(schema_checker()); });
}

}  // namespace keyway::inline v1::python
