// LoadChanges: what the code of a library changes in the process while a thread loads it, so that it can be put back.
#pragma once

#include <keyway/core/base/macros.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// Settings that hold a pointer into a library go through set_noted() or add(); else they would dangle once the library
// is gone.
class KEYWAY_API LoadChanges {
 public:
  // Notes what this thread changes, as long as the scope lives.
  class KEYWAY_API Scope {
   public:
    explicit Scope(LoadChanges& changes) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LoadChanges* outer_;
  };
  // Of the innermost scope; null if this thread loads nothing.
  static LoadChanges* current() noexcept;

  void add(std::function<void()> undo) { undos_.push_back(std::move(undo)); }
  // Puts back what was changed, the latest change first, and forgets it. What others changed later stays.
  void undo() noexcept;
  // The library serves this device type in some way.
  void serves(unsigned device_type) { device_types_ |= std::uint32_t{1} << device_type; }
  // A bit for each.
  std::uint32_t device_types() const { return device_types_; }

 private:
  std::vector<std::function<void()>> undos_;
  std::uint32_t device_types_ = 0;
};

// Puts the changes back when it goes, unless they stay.
class PutBack {
 public:
  explicit PutBack(LoadChanges& changes) : changes_(&changes) {}
  ~PutBack() {
    if (changes_ != nullptr) changes_->undo();
  }
  PutBack(const PutBack&) = delete;
  PutBack& operator=(const PutBack&) = delete;
  void leave() { changes_ = nullptr; }

 private:
  LoadChanges* changes_;
};

// Sets `slot`, whose life is the process's, and returns what it held before.
template <typename T>
T set_noted(std::atomic<T>& slot, T value) {
  if (LoadChanges* const changes = LoadChanges::current()) {
    changes->add([&slot, before = slot.load(), value]() mutable { slot.compare_exchange_strong(value, before); });
  }
  return slot.exchange(value, std::memory_order_acq_rel);
}

}  // namespace keyway::inline v1
