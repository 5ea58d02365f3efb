// CallObserver: sees every kernel that the process calls, at every key that a call passes. What the dispatch trace, the
// recorder and the schema checks are made of.
//
// While one is there, operators have other tables: of the same keys and slots, with kernels that call the observers
// around the real ones. When the last one goes, the tables before are back: calls pay nothing for observers that are
// not there, not a test of a flag.
#pragma once

#include <keyway/dispatch/registry/dispatcher.h>

#include <exception>
#include <memory>
#include <utility>

namespace keyway::inline v1 {

// A kernel that is about to be called.
struct ObservedCall {
  const OperatorEntry& op;
  const KernelInfo& kernel;  // of a missing kernel, which throws, the key is Undefined
  DispatchKeySet keys;       // what the kernel is called with
  Stack& stack;              // arguments on top; afterwards results in their place
  std::size_t first;         // of the arguments on the stack

  // Calls the next observer or, after the last one, the kernel. Requires: called once.
  void proceed() const { next(*this); }

  void (*next)(const ObservedCall&);
  const void* chain;  // the observers' own
  std::size_t position;
};

class KEYWAY_API CallObserver {
 public:
  virtual ~CallObserver();
  // From any thread, several at a time. Calls call.proceed(), and may look at the stack before and after. Its own calls
  // of operators are observed too. While a call that writes is observed, lazy clones are made at once.
  virtual void call(const ObservedCall& call) = 0;
};

// Takes an observer away when it goes. Calls that began before may still be under way in it: they keep it alive.
class KEYWAY_API ObserverHandle {
 public:
  ObserverHandle() = default;
  explicit ObserverHandle(std::shared_ptr<CallObserver> observer) : observer_(std::move(observer)) {}
  ObserverHandle(ObserverHandle&&) noexcept = default;
  ObserverHandle& operator=(ObserverHandle&& other) noexcept {
    std::swap(observer_, other.observer_);
    return *this;
  }
  // Should memory run out meanwhile, the observer stays.
  ~ObserverHandle() {
    try {
      remove();
    } catch (const std::exception&) {
    }
  }

  // All of it, or throws std::bad_alloc and nothing.
  void remove();
  // Keeps it for good.
  void release() { observer_.reset(); }

 private:
  std::shared_ptr<CallObserver> observer_;
};

// The latest one is called first. Throws std::bad_alloc, and then nothing is observed.
[[nodiscard]] KEYWAY_API ObserverHandle observe_calls(std::shared_ptr<CallObserver> observer);

// If `table` calls observers, the table that it wraps; else `table`.
KEYWAY_API const Table& unobserved(const Table& table);

}  // namespace keyway::inline v1
