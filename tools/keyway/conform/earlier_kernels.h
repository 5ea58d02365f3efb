// EarlierKernels: calls operators as they were before plug-ins registered other kernels of them.
#pragma once

#include <keyway/dispatch/registry/observer.h>
#include <keyway/tools/keyway/conform/registry_before.h>

#include <atomic>
#include <memory>

namespace keyway::inline v1::tools {

// Observes all calls of the process. While a Scope lives, each operator's kernels are those of its table before; what
// came later has its own.
class EarlierKernels final : public CallObserver {
 public:
  // Requires: `before` outlives it.
  explicit EarlierKernels(const RegistryBefore& before) : before_(before) {}
  void call(const ObservedCall& call) override;

  class Scope {
   public:
    explicit Scope(EarlierKernels& kernels) : kernels_(kernels) { ++kernels_.scopes_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { --kernels_.scopes_; }

   private:
    EarlierKernels& kernels_;
  };

 private:
  const RegistryBefore& before_;
  std::atomic<int> scopes_{0};
};

}  // namespace keyway::inline v1::tools
