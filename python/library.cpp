#include <keyway/core/base/error.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/python/dispatch_keys.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/python_call.h>
#include <keyway/python/python_kernel.h>
#include <keyway/python/warnings.h>

#include <memory>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

using Block = keyway::Library;

bool interpreter_ends() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

// Each registration is a block of its own. The registry has locks of its own, and to undo a block is to wait for calls
// that may want the interpreter lock: nobody goes there with it.
class Registrations {
 public:
  Registrations(std::string ns, const std::string& kind, const std::string& file, int line) : ns_(std::move(ns)) {
    KEYWAY_CHECK(kind == "DEF" || kind == "FRAGMENT" || kind == "IMPL", "a library is DEF, FRAGMENT or IMPL, not '{}'",
                 kind);
    const SourceLocation where{file.c_str(), line};
    if (kind == "IMPL") {
      (void)Block(Block::Kind::Impl, ns_, DispatchKey::Undefined, where);  // which checks the namespace
      return;
    }
    Block block(kind == "DEF" ? Block::Kind::Def : Block::Kind::Fragment, ns_, std::nullopt, where);
    if (kind == "DEF") add(block, nullptr, {file, line});
  }
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;
  // When the interpreter ends, they stay: calls in their kernels may never return, and nobody makes others.
  ~Registrations() {
    if (!interpreter_ends()) undo_at_last();
    for (Registered& kept : registered_) {
      kept.handle.release();
      (void)kept.kernel.release();
    }
  }

  void define(const std::string& schema, const std::vector<std::string>& tags, const std::string& file, int line) {
    Block block(Block::Kind::Fragment, ns_, std::nullopt, {file.c_str(), line});
    block.def(schema, {file.c_str(), line});
    for (const std::string& tag : tags) block.tags({tag});
    add(block, nullptr, {file, line});
  }
  void impl(const std::string& op, nb::handle key, nb::object function, bool with_keys, bool all_arguments,
            const std::string& file, int line) {
    check_python_key(dispatch_key_in(key), function);
    Block block(Block::Kind::Impl, ns_, dispatch_key_in(key), {file.c_str(), line});
    auto kernel = kernel_of(std::move(function), {.keys = with_keys, .defaults = all_arguments});
    if (kernel) {
      block.impl_boxed(op, &PythonKernel::call, {file.c_str(), line});
    } else {
      block.impl(op, Fallthrough{}, {file.c_str(), line});
    }
    add(block, std::move(kernel), {file, line});
  }
  void fallback(nb::handle key, nb::object function, bool with_keys, const std::string& file, int line) {
    check_python_key(dispatch_key_in(key), function);
    Block block(Block::Kind::Impl, "_", dispatch_key_in(key), {file.c_str(), line});
    auto kernel = kernel_of(std::move(function), {.keys = with_keys, .op = true});
    if (kernel) {
      block.fallback(&PythonKernel::call, {file.c_str(), line});
    } else {
      block.fallback(Fallthrough{}, {file.c_str(), line});
    }
    add(block, std::move(kernel), {file, line});
  }

  // The latest first. Throws where one cannot be undone now; it and those before it stay. Throws a warning of what is
  // undone, where a filter makes it an error, when all is.
  void undo(const std::string& file, int line) { warn_in_python(undo_all(), {.file = file, .line = line}); }

 private:
  struct Registered {
    std::unique_ptr<PythonKernel> kernel;  // outlives what it is registered as
    RegistrationHandle handle;
  };

  static void check_python_key(DispatchKey key, nb::handle function) {
    KEYWAY_CHECK_AS(Registration, key != DispatchKey::Python || !function.is_none(),
                    "nothing falls through at the key Python: wrapper tensors have no memory for the kernels below");
  }
  // None for None, which stands for a fallthrough.
  static std::unique_ptr<PythonKernel> kernel_of(nb::object function, PythonKernel::Takes takes) {
    return function.is_none() ? nullptr : std::make_unique<PythonKernel>(std::move(function), takes);
  }

  // What it warns of.
  std::vector<std::string> undo_all() {
    HeldWarnings held;
    while (!registered_.empty()) undo_last();
    return held.take();
  }
  void undo_last() {
    Registered last = std::move(registered_.back());
    registered_.pop_back();
    try {
      unlocked([&] { last.handle.undo(); });
    } catch (...) {
      registered_.push_back(std::move(last));
      throw;
    }
  }
  // Nobody is there whom an error could reach.
  void undo_at_last() noexcept {
    const nb::error_scope scope;
    std::vector<std::string> texts;
    try {
      try {
        texts = undo_all();
      } catch (const std::exception& error) {
        texts = {"library " + ns_ + " stays registered: " + error.what()};
      }
      for (const std::string& text : texts) {
        try {
          warn_in_python({text});
        } catch (nb::python_error& error) {
          error.restore();
          tell_unraisable();
        }
      }
    } catch (const std::bad_alloc&) {  // it goes unsaid
    }
  }

  // A warning that a filter makes an error is thrown, and then nothing is registered.
  void add(Block& block, std::unique_ptr<PythonKernel> kernel, const PythonLine& where) {
    BlockRequest request = block.take_request();
    const auto serve = [&](auto& asked) {
      asked.kernel.kernel.context = kernel.get();
      asked.name = kernel->name();
      if (!kernel->site().file.empty()) asked.site = kernel->site();
    };
    if (kernel && !request.impls.empty()) serve(request.impls.back());
    if (kernel && !request.fallbacks.empty()) serve(request.fallbacks.back());
    RegistrationHandle handle;
    const std::vector<std::string> warnings =
        warnings_of([&] { handle = Dispatcher::singleton().commit(std::move(request)); });
    registered_.push_back({std::move(kernel), std::move(handle)});
    warn_or_undo(warnings, where, [&] { undo_last(); });
  }

  std::string ns_;
  std::vector<Registered> registered_;
};

}  // namespace

void add_library(nb::module_& module) {
  nb::class_<Registrations>(module, "_Registrations")
      .def(nb::init<std::string, const std::string&, const std::string&, int>())
      .def("define", &Registrations::define)
      .def("impl", &Registrations::impl, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg())
      .def("fallback", &Registrations::fallback, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg())
      .def("undo", &Registrations::undo);
}

}  // namespace keyway::inline v1::python
