// Library blocks for tests, with sites that the test chooses: "test.cpp:7".
#pragma once

#include <keyway/core/base/warning.h>
#include <keyway/dispatch/registry/library.h>

#include <string>
#include <utility>

namespace keyway::inline v1::testing {

inline TensorBase tensor(DeviceType device = DeviceType::CPU) {
  const std::int64_t sizes[] = {2, 3};
  return make_tensor(sizes, kFloat, Device(device));
}

// A kernel of no weight, and one that leaves the stack as it is.
inline std::int64_t counts_one(const TensorBase&) { return 1; }
inline void boxed(const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack&) {}

struct Block {
  BlockRequest request;

  explicit Block(int line = 1) { request.site = {"test.cpp", line}; }
  Block& owns(std::string ns) {
    request.owns.push_back({std::move(ns), request.site});
    return *this;
  }
  Block& def(std::string schema, int line = 1) {
    request.defs.push_back({std::move(schema), "", {"test.cpp", line}});
    return *this;
  }
  template <typename F>
  Block& impl(std::string op, DispatchKey key, F fn, int line = 1) {
    request.impls.push_back({std::move(op), key, make_kernel(std::move(fn)), "", {"test.cpp", line}});
    return *this;
  }
  Block& impl_boxed(std::string op, DispatchKey key, BoxedFn fn, int line = 1) {
    request.impls.push_back({std::move(op), key, make_boxed_kernel(fn), "", {"test.cpp", line}});
    return *this;
  }
  Block& fallback(DispatchKey key, BoxedFn fn, int line = 1) {
    request.fallbacks.push_back({key, make_boxed_kernel(fn), "", {"test.cpp", line}});
    return *this;
  }
  Block& fallthrough(DispatchKey key, int line = 1) {
    request.fallbacks.push_back({key, make_kernel(Fallthrough{}), "", {"test.cpp", line}});
    return *this;
  }
  [[nodiscard]] RegistrationHandle commit() const { return Dispatcher::singleton().commit(request); }
};

// No warnings as long as it lives: random registrations take gradients away all the time.
class Quiet {
 public:
  Quiet() : before_(set_warning_handler({})) {}
  ~Quiet() { set_warning_handler(std::move(before_)); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  WarningHandler before_;
};

inline OperatorHandle op(std::string_view name) { return Dispatcher::singleton().op(name); }

// A kernel that says which it is.
template <std::int64_t n>
std::int64_t gives(const TensorBase&) {
  return n;
}

}  // namespace keyway::inline v1::testing
