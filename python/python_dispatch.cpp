#include <keyway/autograd/alias.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/base/error.h>
#include <keyway/core/keys/thread_bound.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/fallback.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/python/errors.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/kernel_arguments.h>
#include <keyway/python/module.h>
#include <keyway/python/operator_function.h>
#include <keyway/python/python_call.h>
#include <keyway/python/python_dispatch.h>
#include <keyway/python/recursion.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/tuples.h>
#include <keyway/python/wrapper_tensor.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

// The modes that the thread's calls come to, the innermost one last: a tuple, which is never changed, or null for none.
// Owned; it is let go of by whoever puts another one in its place.
PyObject* modes() { return static_cast<PyObject*>(thread_bound.python_modes); }

// As long as there are modes, every call passes the key.
void put_modes(PyObject* tuple) {
  constexpr std::uint64_t kKey = DispatchKeySet(Functionality::Python).raw();
  thread_bound.python_modes = tuple;
  thread_state.included = tuple != nullptr ? thread_state.included | kKey : thread_state.included & ~kKey;
}

nb::object modes_as_object() { return modes() == nullptr ? checked(PyTuple_New(0)) : nb::borrow(modes()); }

void set_modes(const nb::tuple& wanted) {
  if (wanted.size() != 0) register_dispatch_fallback();
  PyObject* const before = modes();
  put_modes(wanted.size() == 0 ? nullptr : Py_NewRef(wanted.ptr()));
  Py_XDECREF(before);  // last, for it may run anything
}

// While it lives, calls are made outside of the innermost mode. What the mode does to the thread's modes ends with it.
class OutsideInnermostMode {
 public:
  OutsideInnermostMode() : all_(modes()) {
    const Py_ssize_t outer = PyTuple_GET_SIZE(all_) - 1;
    nb::object others;
    if (outer > 0) others = checked(PyTuple_GetSlice(all_, 0, outer));
    put_modes(others.release().ptr());
  }
  OutsideInnermostMode(const OutsideInnermostMode&) = delete;
  OutsideInnermostMode& operator=(const OutsideInnermostMode&) = delete;
  ~OutsideInnermostMode() {
    PyObject* const left = modes();
    put_modes(all_);
    const nb::error_scope scope;
    Py_XDECREF(left);
  }

 private:
  PyObject* all_;
};

// The keys above Python, which have done what they were to do before a call comes here. Profilers see what is called
// within, too.
constexpr DispatchKeySet kAbovePython = (DispatchKeySet::full() - DispatchKeySet::full_after(Functionality::Python))
                                            .remove(Functionality::Python)
                                            .remove(Functionality::Profiler);

// One wrapper tensor of each class among the arguments, in the order in which the classes are asked: subclasses before
// their bases, else as they stand in the call.
class Wrappers {
 public:
  explicit Wrappers(const Stack& values) {
    for_each_tensor(values, [&](const TensorBase& tensor) {
      if (is_wrapper(tensor)) insert(to_object(tensor));
    });
  }
  const std::vector<nb::object>& types() const { return types_; }
  nb::tuple as_tuple() const {
    return nb::tuple(tuple_of(types_.size(), [&](std::size_t i) { return types_[i]; }));
  }

 private:
  void insert(const nb::object& object) {
    PyTypeObject* const type = Py_TYPE(object.ptr());
    const auto is_it = [&](const nb::object& known) { return known.ptr() == reinterpret_cast<PyObject*>(type); };
    if (find_dispatch_method(type) == nullptr || std::ranges::any_of(types_, is_it)) return;
    const auto next = std::ranges::find_if(types_, [&](const nb::object& known) {
      return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(known.ptr())) != 0;
    });
    types_.insert(next, nb::borrow(object.type()));
  }
  std::vector<nb::object> types_;
};

struct Answer {
  nb::object value;
  std::string who;  // for people
};

bool is_answer(const nb::object& value) { return !value.is(nb::handle(Py_NotImplemented)); }

std::string who_is(nb::handle type) {
  return std::string(reinterpret_cast<PyTypeObject*>(type.ptr())->tp_name) + ".__keyway_dispatch__";
}

std::string names_of(const Wrappers& wrappers) {
  std::string names;
  for (const nb::object& type : wrappers.types())
    names += (names.empty() ? "" : ", ") + std::string(reinterpret_cast<PyTypeObject*>(type.ptr())->tp_name);
  return names.empty() ? "none" : names;
}

// What the innermost mode says, or else the classes of the arguments, whose calls come to the modes again.
Answer ask(const OperatorEntry& op, const Stack& values) {
  const Wrappers wrappers(values);
  const nb::tuple types = wrappers.as_tuple();
  const KernelArguments::Objects given = KernelArguments::of(op).objects(values);
  const nb::object function = overload_function(OperatorHandle(op));
  std::string mode_name;
  if (modes() != nullptr) {
    const nb::object mode = nb::borrow(PyTuple_GET_ITEM(modes(), PyTuple_GET_SIZE(modes()) - 1));
    const nb::object method = checked(PyObject_GetAttr(mode.ptr(), dispatch_method_name()));
    mode_name = class_name(mode);
    const OutsideInnermostMode outside;
    nb::object value = call_function(method, function, types, given.positional, given.named);
    if (is_answer(value)) return {std::move(value), who_is(mode.type())};
  }
  for (const nb::object& type : wrappers.types()) {
    const nb::object method = checked(PyObject_GetAttr(type.ptr(), dispatch_method_name()));
    nb::object value = call_function(method, function, types, given.positional, given.named);
    if (is_answer(value)) return {std::move(value), who_is(type)};
  }
  KEYWAY_FAIL(Type,
              "nobody answers the call: the innermost mode ({}) and the classes of wrapper tensors among the arguments "
              "({}) returned NotImplemented from __keyway_dispatch__, or have none",
              mode_name.empty() ? "none" : mode_name, names_of(wrappers));
}

// What stands above the key takes a result for a new tensor, and gives it a history or makes it a view. So one that is
// not new, or that an argument is a view of, becomes an alias. Of a view that is a wrapper, the storage is that of what
// it is a view of: versions are shared.
class Results {
 public:
  Results(const OperatorEntry& op, const Stack& arguments, Stack& results) : schema_(op.schema()), results_(results) {
    for_each_tensor(arguments, [&](const TensorBase& tensor) {
      for (TensorBase base = tensor; base.defined(); base = autograd::view_base(base)) known_.push_back(base.impl());
    });
    const ArgumentList all = schema_.arguments();
    for (std::size_t i = 0; i < all.size() && !schema_.is_mutable() && !base_.defined(); ++i)
      if (all[i].is_alias() && arguments[i].is_tensor()) base_ = arguments[i].to_tensor();
  }

  void make_new() {
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (!schema_.returns()[i].is_write()) update_tensors({&results_[i], 1}, [&](TensorBase& t) { make_new(t); });
  }
  void share_storage() {
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (schema_.returns()[i].is_alias()) for_each_tensor({&results_[i], 1}, [&](const TensorBase& t) { share(t); });
  }

 private:
  void make_new(TensorBase& tensor) {
    const bool is_known = std::ranges::find(known_, tensor.impl()) != known_.end();
    if (is_known || tensor.impl()->autograd_meta() != nullptr) tensor = autograd::alias_of(tensor);
    known_.push_back(tensor.impl());
  }
  void share(const TensorBase& tensor) const {
    if (!base_.defined() || !is_wrapper(base_) || !is_wrapper(tensor) || tensor.is_alias_of(base_)) return;
    if (tensor.device() == base_.device()) tensor.impl()->set_storage(base_.storage());
  }

  const FunctionSchema& schema_;
  Stack& results_;
  std::vector<const TensorImpl*> known_;
  TensorBase base_;  // of views
};

// The arguments become the results.
void call_handler(const OperatorEntry& op, Stack& values) {
  const bool is_watched = excluded_keys().has_any(kAutogradRelated);
  const LockHeld lock;
  const Recursion recursion;
  const Stack arguments = values;
  {
    const ExcludeDispatchKeyGuard below(kAbovePython);
    const Answer answer = ask(op, values);
    KernelArguments::of(op).take_results(answer.value, answer.who, values, /*some_undefined=*/true);
  }
  Results results(op, arguments, values);
  if (is_watched) results.make_new();
  results.share_storage();
}

void call_values(const OperatorEntry& op, DispatchKeySet below, Stack& values) {
  const bool has_wrappers = any_tensor_in(values, [](const TensorBase& tensor) { return is_wrapper(tensor); });
  if (has_wrappers) below = below.add(Functionality::Dense);
  // What the function calls comes here.
  if (is_written_with_others(op, below) || (modes() == nullptr && !has_wrappers))
    return redispatch_boxed(op, below, values);
  KEYWAY_CHECK_AS(Registration, Py_IsInitialized(), "the call is answered in Python, and Python has ended");
  call_handler(op, values);
}

void call_in_python(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  with_arguments(op, stack, [&](Stack& values) { call_values(op, keys.remove(Functionality::Python), values); });
}

}  // namespace

void register_dispatch_fallback() {
  static bool registered = false;  // guarded by the interpreter lock
  if (registered) return;
  unlocked([] {
    static const bool done = [] {
      Library library(Library::Kind::Impl, "_", DispatchKey::Python);
      library.fallback(&call_in_python).debug("__keyway_dispatch__");
      library.commit().release();
      return true;
    }();
    static_cast<void>(done);
  });
  registered = true;
}

void add_dispatch_modes(nb::module_& module) {
  module.def("_dispatch_modes", modes_as_object, "The modes that calls of this thread come to, the innermost last.");
  module.def("_set_dispatch_modes", set_modes, nb::arg("modes"), "Has these be the modes of this thread.");
}

}  // namespace keyway::inline v1::python
