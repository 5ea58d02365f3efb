#include <keyway/core/base/error.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/python/dispatch_keys.h>
#include <keyway/python/module.h>
#include <keyway/python/tensor_object.h>
#include <keyway/python/text.h>

#include <array>
#include <nanobind/operators.h>
#include <thread>
#include <type_traits>

namespace keyway::inline v1::python {
namespace {

// Those that have a name in the library; of other backends they are made by name.
constexpr std::array kNamedKeys{
    DispatchKey::Undefined,
    DispatchKey::CPU,
    DispatchKey::CUDA,
    DispatchKey::Meta,
    DispatchKey::QuantizedCPU,
    DispatchKey::QuantizedCUDA,
    DispatchKey::SparseCPU,
    DispatchKey::SparseCUDA,
    DispatchKey::CopyOnWrite,
    DispatchKey::BackendSelect,
    DispatchKey::Python,
    DispatchKey::Functionalize,
    DispatchKey::ADInplaceOrView,
    DispatchKey::AutogradCPU,
    DispatchKey::AutogradCUDA,
    DispatchKey::AutogradMeta,
    DispatchKey::Tracer,
    DispatchKey::ForwardAD,
    DispatchKey::AutocastCPU,
    DispatchKey::AutocastCUDA,
    DispatchKey::Batched,
    DispatchKey::Profiler,
    DispatchKey::Autograd,
    DispatchKey::CompositeExplicitAutograd,
    DispatchKey::Autocast,
    DispatchKey::CompositeImplicitAutograd,
};

DispatchKeySet set_of(nb::handle object) {
  DispatchKeySet set;
  return nb::try_cast(object, set) ? set : DispatchKeySet(dispatch_key_in(object));
}

// A guard of the library as an object whose scope is a `with` of one thread.
template <typename Guard>
class KeyGuard {
 public:
  // Wrapper tensors have no memory for kernels below the key Python: it is not excluded.
  explicit KeyGuard(DispatchKeySet keys)
      : keys_(std::is_same_v<Guard, ExcludeDispatchKeyGuard> ? keys.remove(Functionality::Python) : keys) {}

  void enter() {
    KEYWAY_CHECK(thread_ == std::thread::id(), "a guard of dispatch keys is entered already: make one for each `with`");
    added_ = Guard::enter(keys_);
    thread_ = std::this_thread::get_id();
  }
  void exit() {
    KEYWAY_CHECK(thread_ == std::this_thread::get_id(),
                 "a guard of dispatch keys is left on a thread that did not enter it");
    Guard::leave(added_);
    thread_ = {};
  }

 private:
  DispatchKeySet keys_;
  std::uint64_t added_ = 0;
  std::thread::id thread_;  // none: not entered
};

DispatchKeySet union_of(const nb::args& keys) {
  DispatchKeySet set;
  for (const nb::handle key : keys) set = set | set_of(key);
  return set;
}

template <typename Guard>
void add_guard(nb::module_& module, const char* name, const char* doc) {
  nb::class_<Guard>(module, name, doc)
      .def("__init__", [](Guard* self, const nb::args& keys) { new (self) Guard(union_of(keys)); })
      .def("__enter__", &Guard::enter)
      .def("__exit__", [](Guard& self, const nb::args&) { self.exit(); });
}

nb::list keys_of(DispatchKeySet set) {
  nb::list keys;
  for (const DispatchKey key : set.keys()) keys.append(nb::cast(DispatchKeyObject{key}));
  keys.attr("reverse")();
  return keys;
}

void add_key_class(nb::module_& module) {
  nb::class_<DispatchKeyObject> type(module, "DispatchKey",
                                     "A runtime or alias key: DispatchKey.CPU, DispatchKey('AutogradNPU').");
  type.def(
          "__init__",
          [](DispatchKeyObject* self, nb::handle name) { new (self) DispatchKeyObject{dispatch_key_in(name)}; },
          nb::arg("name"))
      .def_prop_ro(
          "name", [](DispatchKeyObject self) { return to_str(to_string(self.key)); }, "'AutogradCPU'.")
      .def_prop_ro(
          "is_alias", [](DispatchKeyObject self) { return is_alias(self.key); },
          "Whether it stands for other keys, as Autograd does: for registrations, in no set.")
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(self.type(),
                                   nb::make_tuple(to_str(to_string(nb::cast<DispatchKeyObject>(self).key))));
           })
      .def("__repr__", [](DispatchKeyObject self) { return to_str("DispatchKey." + to_string(self.key)); })
      .def("__hash__", [](DispatchKeyObject self) { return static_cast<std::size_t>(self.key); })
      .def(nb::self == nb::self);
  for (const DispatchKey key : kNamedKeys) type.attr(to_string(key).c_str()) = nb::cast(DispatchKeyObject{key});
}

void add_set_class(nb::module_& module) {
  nb::class_<DispatchKeySet>(module, "DispatchKeySet",
                             "A set of keys: DispatchKeySet('CPU', DispatchKey.AutogradCPU). Backends and "
                             "functionalities are stored apart: differences and remove() take functionalities only.")
      .def("__init__", [](DispatchKeySet* self, const nb::args& keys) { new (self) DispatchKeySet(union_of(keys)); })
      .def_static("full", &DispatchKeySet::full, "Every backend and every functionality.")
      .def_static(
          "full_after",
          [](nb::handle key) {
            const DispatchKey after = dispatch_key_in(key);
            if (after == DispatchKey::Autograd) return kAfterAutograd;
            KEYWAY_CHECK(!is_alias(after), "{} stands for no one position in the order of keys", to_string(after));
            return DispatchKeySet::full_after(functionality_of(after));
          },
          nb::arg("key"),
          "Every backend, and what is of lower priority than the key: where its kernel redispatches to.")
      .def("__or__", [](DispatchKeySet self, nb::handle other) { return self | set_of(other); })
      .def("__and__", [](DispatchKeySet self, nb::handle other) { return self & set_of(other); })
      .def("__sub__", [](DispatchKeySet self, nb::handle other) { return self - set_of(other); })
      .def(
          "add", [](DispatchKeySet self, nb::handle key) { return self | set_of(key); }, nb::arg("key"))
      .def(
          "remove", [](DispatchKeySet self, nb::handle key) { return self - set_of(key); }, nb::arg("key"))
      .def(
          "has", [](DispatchKeySet self, nb::handle key) { return self.has(dispatch_key_in(key)); }, nb::arg("key"))
      .def("__contains__", [](DispatchKeySet self, nb::handle key) { return self.has(dispatch_key_in(key)); })
      .def(
          "highest_priority_key", [](DispatchKeySet self) { return DispatchKeyObject{self.highest_priority_key()}; },
          "Where a call with this set goes first.")
      .def("keys", keys_of, "The runtime keys, the one of highest priority first.")
      .def("__iter__", [](DispatchKeySet self) { return keys_of(self).attr("__iter__")(); })
      .def("__bool__", [](DispatchKeySet self) { return !self.empty(); })
      .def(
          "raw_repr", [](DispatchKeySet self) { return self.raw(); },
          "The set as one number, which has the same meaning wherever the same device types were registered in the "
          "same order.")
      .def_static(
          "from_raw_repr",
          [](std::uint64_t raw) { return DispatchKeySet::from_raw(raw & DispatchKeySet::full().raw()); },
          nb::arg("raw"))
      .def("__reduce__",
           [](nb::handle self) {
             return nb::make_tuple(nb::module_::import_("keyway._library.ops").attr("_key_set_of"),
                                   nb::make_tuple(nb::cast<DispatchKeySet>(self).raw()));
           })
      .def("__repr__", [](DispatchKeySet self) { return to_str("DispatchKeySet(" + to_string(self) + ")"); })
      .def("__hash__", [](DispatchKeySet self) { return static_cast<std::size_t>(self.raw()); })
      .def(nb::self == nb::self);
}

}  // namespace

DispatchKey dispatch_key_in(nb::handle object) {
  DispatchKeyObject given{};
  if (nb::try_cast(object, given)) return given.key;
  KEYWAY_CHECK_AS(Type, PyUnicode_Check(object.ptr()), "a dispatch key is a keyway.DispatchKey or its name, not {}",
                  class_name(object));
  const std::string_view name = text_in(object.ptr());
  const auto key = parse_dispatch_key(name);
  KEYWAY_CHECK(key, "'{}' is no dispatch key; of a backend that is not loaded there are none", name);
  return *key;
}

void add_dispatch_keys(nb::module_& module) {
  add_key_class(module);
  add_set_class(module);
  add_guard<KeyGuard<IncludeDispatchKeyGuard>>(
      module, "IncludeDispatchKeyGuard",
      "`with IncludeDispatchKeyGuard(keys)`: this thread's calls carry these keys too. They keep "
      "their backends.");
  add_guard<KeyGuard<ExcludeDispatchKeyGuard>>(
      module, "ExcludeDispatchKeyGuard",
      "`with ExcludeDispatchKeyGuard(keys)`: this thread's calls pass over these keys. They keep "
      "their backends, and the key Python.");
  module.def(
      "dispatch_keys", [](const Tensor& tensor) { return tensor.key_set(); }, nb::arg("tensor"),
      "The keys that a tensor brings to a call.");
}

}  // namespace keyway::inline v1::python
