#include <keyway/dispatch/inspect/explain.h>
#include <keyway/python/dispatch_keys.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/operator_function.h>
#include <keyway/python/text.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <string>

namespace keyway::inline v1::python {
namespace {

nb::object key_object(DispatchKey key) { return nb::cast(DispatchKeyObject{key}); }

void add_kernel_site(nb::module_& module) {
  nb::class_<RegisteredKernel>(module, "RegisteredKernel", "A kernel, and where it was registered.")
      .def_prop_ro(
          "key", [](const RegisteredKernel& self) { return key_object(self.key); }, "What it was registered to.")
      .def_ro("name", &RegisteredKernel::name)
      .def_prop_ro(
          "site", [](const RegisteredKernel& self) { return self.site.str(); }, "'file:line'.")
      .def("__repr__", [](const RegisteredKernel& self) {
        return to_string(self.key) + " " + self.name + " (" + self.site.str() + ")";
      });
}

void add_explanation(nb::module_& module) {
  nb::class_<Explanation>(module, "Explanation",
                          "Why a call of an operator ends where it ends; str() says it in lines.")
      .def_ro("op", &Explanation::op)
      .def_prop_ro(
          "arguments",
          [](const Explanation& self) {
            nb::dict keys;
            for (const ArgumentKeys& argument : self.arguments) keys[to_str(argument.name)] = nb::cast(argument.keys);
            return keys;
          },
          "The keys that arguments bring, by their names.")
      .def_ro("included", &Explanation::included, "By the thread.")
      .def_ro("excluded", &Explanation::excluded, "By the thread.")
      .def_ro("asked", &Explanation::asked, "All of these.")
      .def_ro("effective", &Explanation::effective, "Those of them that do not fall through.")
      .def_prop_ro(
          "key", [](const Explanation& self) { return key_object(self.key); }, "Where the call goes first.")
      .def_prop_ro("rule", [](const Explanation& self) { return to_str(to_string(self.rule)); })
      .def_ro("kernel", &Explanation::kernel, "The kernel that is called; None if there is none: the call throws.")
      .def_prop_ro(
          "passed",
          [](const Explanation& self) {
            nb::list passed;
            for (const PassedKey& key : self.passed)
              passed.append(nb::make_tuple(key_object(key.key), to_str(key.why)));
            return passed;
          },
          "Keys above it, and why the call passes them.")
      .def_prop_ro(
          "others",
          [](const Explanation& self) {
            nb::list others;
            for (const OtherKernel& other : self.others) others.append(nb::make_tuple(other.kernel, to_str(other.why)));
            return others;
          },
          "The operator's other kernels, and why they are not called.")
      .def("to_json", [](const Explanation& self) { return to_json(self); })
      .def("__repr__", [](const Explanation& self) { return to_string(self); });
}

Explanation explain_call(nb::handle function, const nb::args& args, const nb::kwargs& kwargs) {
  const ParsedCall call = parse_call(function, args, kwargs);
  const LockReleased unlocked;
  return explain(call.op, call.stack);
}

}  // namespace

void add_explain(nb::module_& module) {
  add_kernel_site(module);
  add_explanation(module);
  module.def("_explain", explain_call);
  module.def("_explain_slot", [](const std::string& op, nb::handle key) {
    const DispatchKey slot = dispatch_key_in(key);
    const LockReleased unlocked;
    return std::string(to_string(explain_slot(Dispatcher::singleton().op(op), slot).rule));
  });
  module.def("_what_if", [](const std::string& op, nb::handle key) {
    const DispatchKey registered = dispatch_key_in(key);
    const auto changes = unlocked([&] { return what_if(Dispatcher::singleton().op(op), registered); });
    nb::list list;
    for (const SlotChange& change : changes)
      list.append(
          nb::make_tuple(key_object(change.key), to_str(to_string(change.before)), to_str(to_string(change.after))));
    return list;
  });
}

}  // namespace keyway::inline v1::python
