// PythonKernel: a Python function as a kernel. It serves calls from both languages: it takes the interpreter lock,
// gives the function what the schema calls its arguments, and takes back results that the schema allows.
#pragma once

#include <keyway/dispatch/registry/library.h>
#include <keyway/python/nanobind.h>

#include <string>

namespace keyway::inline v1::python {

// Lives, at one address, until no call can reach it: until its registration was undone. Its members need the
// interpreter lock.
class PythonKernel {
 public:
  // The function gets the arguments, and before them what it asked for: the key set of the call, and the operator (a
  // fallback does). Throws keyway::Error if it cannot be called.
  struct Takes {
    bool keys = false;
    bool op = false;
    bool defaults = false;  // also the last arguments that have their default value
  };
  PythonKernel(nb::object function, Takes takes);

  // The kernel's function, whose context is a PythonKernel.
  static void call(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack);

  // "scale", for people, and where it was written; of what is no Python function, nothing.
  const std::string& name() const { return name_; }
  const RegistrationSite& site() const { return site_; }

 private:
  void run(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) const;

  nb::object function_;
  Takes takes_;
  std::string name_;
  RegistrationSite site_;
};

}  // namespace keyway::inline v1::python
