#include <keyway/core/base/error.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/python/dispatch_keys.h>
#include <keyway/python/errors.h>
#include <keyway/python/function_overrides.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/operator_function.h>
#include <keyway/python/results.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/text.h>
#include <keyway/python/warnings.h>
#include <keyway/python/wrapper_tensor.h>

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <memory>
#include <structmember.h>
#include <unordered_map>
#include <utility>

namespace keyway::inline v1::python {
namespace {

struct OperatorFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* name;
  PyObject* doc;
  PyObject* weak_references;
  std::vector<Signature>* overloads;  // the one to be preferred first
};

PyTypeObject* function_class = nullptr;

OperatorFunction* as_function(PyObject* object) { return reinterpret_cast<OperatorFunction*>(object); }

std::string_view name_of(OperatorFunction* function) { return text_in(function->name); }

// "add.Tensor" of "keyway::add.Tensor".
std::string_view short_name_of(OperatorFunction* function) {
  const std::string_view name = name_of(function);
  const auto at = name.find("::");
  return at == name.npos ? name : name.substr(at + 2);
}

// The types of what was given: "(Tensor, int, dim=str)".
std::string types_of(const CallArguments& given) {
  std::string text;
  for (std::size_t i = 0; i < given.positional + given.keyword_count(); ++i) {
    if (i > 0) text += ", ";
    if (i >= given.positional) text += std::string(text_in(given.keyword(i - given.positional))) + "=";
    text += is_tensor(given.values[i]) ? "Tensor" : class_name(given.values[i]);
  }
  return "(" + text + ")";
}

[[noreturn]] void refuse(OperatorFunction* function, const CallArguments& given) {
  Stack stack;
  bool requires_grad = false;
  std::string why;
  if (function->overloads->size() == 1) {
    (void)function->overloads->front().parse(given, stack, requires_grad, &why);
    KEYWAY_FAIL(Type, "{}(): {}", name_of(function), why);
  }
  std::string list;
  for (const Signature& overload : *function->overloads) {
    (void)overload.parse(given, stack, requires_grad, &why);
    list += fmt::format("\n  {}{}\n      {}", name_of(function), overload.str(), why);
  }
  KEYWAY_FAIL(Type, "{}(): no overload takes {}:{}", name_of(function), types_of(given), list);
}

// The overload that takes the arguments, and these on the stack.
const Signature& choose(OperatorFunction* function, const CallArguments& given, Stack& stack, bool& requires_grad) {
  for (const Signature& overload : *function->overloads) {
    requires_grad = false;
    if (overload.parse(given, stack, requires_grad, nullptr)) return overload;
  }
  refuse(function, given);
}

bool lacks_gradients(const Stack& results) {
  return std::ranges::any_of(results, [](const IValue& value) {
    return any_tensor(value, [](const TensorBase& tensor) { return lacks_gradient(Tensor(tensor)); });
  });
}

// A call that loses a gradient, and is the first of its operator to do so: what Python warns of itself, with its
// filters.
class LostGradient {
 public:
  LostGradient(const Signature& overload, const Stack& arguments) {
    if (overload.is_built_in() || !grad_enabled()) return;
    const OperatorEntry& op = overload.op().entry();
    const DispatchKeySet keys = boxed_call_keys(op, arguments) & (kAfterAutograd | kAutogradKeys);
    if (loses_gradient(op, keys, arguments.data()) && claim_lost_gradient(op)) claimed_ = &op;
  }
  LostGradient(const LostGradient&) = delete;
  LostGradient& operator=(const LostGradient&) = delete;
  ~LostGradient() {
    if (claimed_ != nullptr) unclaim_lost_gradient(*claimed_);
  }
  // Says that the result is no longer what the arguments' gradients come from, if it is not.
  void see(const Stack& results) {
    if (claimed_ == nullptr || !lacks_gradients(results)) return;
    const OperatorEntry& op = *std::exchange(claimed_, nullptr);
    unlocked([&] { settle_lost_gradient(op); });
    warn_user(lost_gradient_text(op).c_str());
  }

 private:
  const OperatorEntry* claimed_ = nullptr;
};

nb::object run(const Signature& overload, Stack& stack, bool requires_grad) {
  LostGradient lost(overload, stack);
  unlocked([&] { overload.op().call_boxed(stack); });
  lost.see(stack);
  if (requires_grad) Tensor(stack.back().to_tensor()).requires_grad_();
  return results(overload.op(), stack);
}

nb::object call(PyObject* callable, PyObject* const* values, std::size_t flags, PyObject* keywords) {
  OperatorFunction* const function = as_function(callable);
  const CallArguments given{values, static_cast<std::size_t>(PyVectorcall_NARGS(flags)), keywords};
  if (has_overrides(given)) [[unlikely]]
    return call_overrides(callable, given);
  Stack stack;
  bool requires_grad = false;
  const Signature& overload = choose(function, given, stack, requires_grad);
  return run(overload, stack, requires_grad);
}

// Below the key Python wrapper tensors would be taken for tensors with memory.
void check_wrappers(const OperatorHandle& op, DispatchKeySet keys, const Stack& stack) {
  KEYWAY_CHECK_AS(Type, keys.has(Functionality::Python) || !any_tensor_in(stack, is_wrapper),
                  "{}.redispatch: an argument is a wrapper tensor, and the keys {} are without Python: its class would "
                  "not be asked",
                  op.name(), to_string(keys));
}

// Kernels of a backend believe that their tensors are there: the keys of a redispatch choose among what stands over a
// backend, and not another backend than that of the arguments.
void check_backend(const OperatorHandle& op, DispatchKeySet keys, const Stack& stack) {
  const DispatchKeySet own = boxed_call_keys(op.entry(), stack);
  const int wanted = keys.highest_backend_number();
  KEYWAY_CHECK_AS(Type, wanted == 0 || own.highest_backend_number() == 0 || wanted == own.highest_backend_number(),
                  "{}.redispatch: the keys {} are of another backend than the arguments, whose keys are {}: keys come "
                  "from a kernel registered with_keyset, or from keyway.dispatch_keys(tensor)",
                  op.name(), to_string(keys), to_string(own));
}

// redispatch(keys, ...): a call by these keys, and by CopyOnWrite if an argument has it by now.
nb::object redispatch(PyObject* self, PyObject* const* values, Py_ssize_t size, PyObject* keywords) {
  DispatchKeySet keys;
  KEYWAY_CHECK_AS(Type, size > 0 && nb::try_cast(nb::handle(values[0]), keys),
                  "{}.redispatch: the first argument is a keyway.DispatchKeySet", name_of(as_function(self)));
  const CallArguments given{values + 1, static_cast<std::size_t>(size - 1), keywords};
  Stack stack;
  bool requires_grad = false;
  const OperatorHandle op = choose(as_function(self), given, stack, requires_grad).op();
  check_backend(op, keys, stack);
  check_wrappers(op, keys, stack);
  unlocked([&] { op.redispatch_boxed(keys, stack); });
  return results(op, stack);
}

PyObject* bind(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("<operator %U>", as_function(self)->name); }

// "keyway.add", of an overload "keyway.add.Tensor".
nb::object str(PyObject* self) {
  const std::string_view full = as_function(self)->overloads->front().op().entry().info().name;
  return to_str(fmt::format("{}.{}", full.substr(0, full.find("::")), short_name_of(as_function(self))));
}

nb::object overload_list(PyObject* self, void*) {
  nb::list names;
  for (const Signature& overload : *as_function(self)->overloads) names.append(to_str(overload.op().name()));
  return names;
}

void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  if (as_function(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  delete as_function(self)->overloads;
  Py_XDECREF(as_function(self)->name);
  Py_XDECREF(as_function(self)->doc);
  type->tp_free(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

const OperatorHandle& only_overload(PyObject* self) {
  const std::vector<Signature>& overloads = *as_function(self)->overloads;
  KEYWAY_CHECK_AS(Type, overloads.size() == 1, "{} has {} overloads: ask one of them", name_of(as_function(self)),
                  overloads.size());
  return overloads.front().op();
}

nb::object full_name(PyObject* self, PyObject*) { return to_str(only_overload(self).name()); }
nb::object schema_text(PyObject* self, void*) { return to_str(only_overload(self).entry().info().schema); }
nb::object tags(PyObject* self, void*) { return to_str(only_overload(self).entry().info().tags).attr("split")(); }

nb::object overload_name(PyObject* self, void*) {
  const std::string_view overload = only_overload(self).entry().info().overload;
  return to_str(overload.empty() ? "default" : overload);
}
nb::object overload_packet(PyObject* self, void*) {
  const std::string_view name = only_overload(self).entry().info().name;
  const nb::object ops = nb::module_::import_("keyway._library.ops").attr("ops");
  const nb::object found = nb::getattr(ops, to_str(name.substr(0, name.find("::"))));
  return nb::getattr(found, to_str(name.substr(name.find("::") + 2)));
}

nb::object short_name(PyObject* self, void*) { return to_str(short_name_of(as_function(self))); }
// Of several overloads there is no one signature.
nb::object signature(PyObject* self, void*) {
  const std::vector<Signature>& overloads = *as_function(self)->overloads;
  if (overloads.size() != 1) throw_python_error(PyExc_AttributeError, "__signature__");
  return overloads.front().python_signature();
}
nb::object reduce(PyObject* self, PyObject*) {
  return nb::module_::import_("keyway._library.ops").attr("_reduce_function")(nb::handle(self));
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperatorFunction, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(OperatorFunction, weak_references), READONLY, nullptr},
    {"__doc__", T_OBJECT, offsetof(OperatorFunction, doc), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyGetSetDef attributes[] = {
    {"__name__", guarded<short_name>, nullptr, nullptr, nullptr},
    {"__qualname__", guarded<short_name>, nullptr, nullptr, nullptr},
    {"__signature__", guarded<signature>, nullptr, nullptr, nullptr},
    {"overloads", guarded<overload_list>, nullptr, "Full names of the overloads, in the order in which they are tried.",
     nullptr},
    {"overloadpacket", guarded<overload_packet>, nullptr, "Of an overload, all of them: keyway.ops.keyway.add.",
     nullptr},
    {"_overloadname", guarded<overload_name>, nullptr, "The name of an overload: 'Tensor'.", nullptr},
    {"schema", guarded<schema_text>, nullptr, "The schema of an overload.", nullptr},
    {"_schema", guarded<schema_text>, nullptr, "The schema of an overload.", nullptr},
    {"tags", guarded<tags>, nullptr, "The tags of an overload: ['core', 'pointwise'].", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef methods[] = {
    {"name", guarded<full_name>, METH_NOARGS, "The full name of an overload: 'keyway::add.Tensor'."},
    {"__reduce__", guarded<reduce>, METH_NOARGS, nullptr},
    {"redispatch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(guarded<redispatch>)),
     METH_FASTCALL | METH_KEYWORDS, "redispatch(keys, *args, **kwargs): calls the kernel that these keys come to."},
    {nullptr, nullptr, 0, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
    {Py_tp_repr, reinterpret_cast<void*>(repr)},
    {Py_tp_str, reinterpret_cast<void*>(guarded<str>)},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, nullptr},
};
// A method descriptor: `x.add(y)` calls it with both, and makes no bound method.
PyType_Spec spec = {
    "keyway.OperatorFunction", sizeof(OperatorFunction), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    slots};

}  // namespace

void add_operator_function_class(nb::module_& module) {
  nb::object type = checked(PyType_FromSpec(&spec));
  function_class = reinterpret_cast<PyTypeObject*>(type.ptr());
  module.attr("OperatorFunction") = type;
  (void)type.release();  // as long as the program
}

nb::object make_operator_function(const std::string& name, const std::vector<OperatorHandle>& overloads,
                                  CallStyle style, const std::string& doc) {
  auto signatures = std::make_unique<std::vector<Signature>>();
  for (const OperatorHandle& op : overloads) {
    const Signature signature(op, style);
    const auto next = std::ranges::find_if(*signatures, [&](const Signature& s) { return s.yields_to(signature); });
    signatures->insert(next, signature);
  }
  if (std::ranges::any_of(*signatures, &Signature::has_out))
    std::ranges::for_each(*signatures, &Signature::take_no_out);
  if (std::ranges::any_of(*signatures, &Signature::is_factory))
    std::ranges::for_each(*signatures, &Signature::take_options_of_out);
  nb::object made = checked(function_class->tp_alloc(function_class, 0));
  OperatorFunction* const function = as_function(made.ptr());
  function->vectorcall = guarded<call>;
  function->overloads = signatures.release();
  function->name = to_str(name).release().ptr();
  function->doc = to_str(doc).release().ptr();
  return made;
}

nb::object overload_function(const OperatorHandle& op) {
  static auto* const known = new std::unordered_map<const OperatorEntry*, nb::object>();  // entries are for ever
  nb::object& function = (*known)[&op.entry()];
  if (!function.is_valid()) {
    const OpInfo& info = op.entry().info();
    const std::string overload(info.overload.empty() ? "default" : info.overload);
    function = make_operator_function(
        std::string(info.name) + "." + overload, {op}, CallStyle::Operator,
        info.doc.empty() ? std::string(info.schema) : fmt::format("{}\n\n{}", info.schema, info.doc));
  }
  return function;
}

ParsedCall parse_call(nb::handle function, const nb::args& args, const nb::kwargs& kwargs) {
  KEYWAY_CHECK_AS(Type, Py_TYPE(function.ptr()) == function_class, "{} is no operator",
                  nb::cast<std::string>(nb::repr(function)));
  std::vector<PyObject*> values;
  nb::list names;
  for (const nb::handle value : args) values.push_back(value.ptr());
  for (const auto& [name, value] : kwargs) {
    names.append(name);
    values.push_back(value.ptr());
  }
  const nb::tuple keywords(names);
  Stack stack;
  bool requires_grad = false;
  const CallArguments given{values.data(), args.size(), keywords.ptr()};
  const Signature& overload = choose(as_function(function.ptr()), given, stack, requires_grad);
  return {overload.op(), std::move(stack)};
}

}  // namespace keyway::inline v1::python
