// Settings of the process that libraries may set too. What a library set goes when the library does, wherever it
// stands:
//
//   set by the program, plug-in P, plug-in Q:   a, b, c   c is in force
//   P goes:                                     a, c      c is in force still
//   Q goes:                                     a         no value of a library that is gone is left
//
// A value belongs to the library that this thread is loading, or else to the program (LibraryUndoLog). So what a
// plug-in sets once it is loaded counts as the program's and outlives it: it should set things in its setup function
// only.
#pragma once

#include <keyway/core/base/library_undo_log.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// The values of one setting, each with the library that set it, null for the program. The last one is in force. Not
// thread-safe.
template <typename T>
class SettingStack {
 public:
  struct Layer {
    T value;
    LibraryResources* library;
  };

  // `first` is in force as long as nobody sets another.
  explicit SettingStack(T first) : first_{std::move(first), nullptr} {}
  const Layer& top() const { return layers_.empty() ? first_ : layers_.back(); }
  bool has(const LibraryResources* library) const {
    return std::any_of(layers_.begin(), layers_.end(), [&](const Layer& layer) { return layer.library == library; });
  }

  // Replaces the owner's value if it is on top, else pushes a new one. Pushes nothing if the value can be compared and
  // equals the one below. Returns the value that was in force.
  T set(T value, LibraryResources* library) {
    T before = top().value;
    if (!layers_.empty() && layers_.back().library == library) {
      before = std::move(layers_.back().value);
      layers_.pop_back();
    }
    if constexpr (std::equality_comparable<T>) {
      if (value == top().value) return before;
    }
    layers_.push_back({std::move(value), library});
    return before;
  }

  // Removes all of an owner's values and returns them, so that the caller can destroy them without a lock. If this
  // leaves two values of one owner adjacent, only the later stays; the earlier is returned too.
  std::vector<Layer> remove(const LibraryResources* library) {
    return remove_if([library](const Layer& layer) { return layer.library == library; });
  }
  // The same of the values that satisfy a condition.
  template <typename Condition>
  std::vector<Layer> remove_if(Condition goes) {
    std::vector<Layer> gone, left;
    for (Layer& layer : layers_) {
      if (goes(layer)) {
        gone.push_back(std::move(layer));
      } else if (!left.empty() && left.back().library == layer.library) {
        gone.push_back(std::exchange(left.back(), std::move(layer)));
      } else {
        left.push_back(std::move(layer));
      }
    }
    layers_ = std::move(left);
    return gone;
  }

 private:
  Layer first_;
  std::vector<Layer> layers_;
};

namespace detail {

class KEYWAY_API PointerSetting {
 public:
  // A value that is in force, and the library that set it; never changed nor freed.
  struct Entry {
    void* value;
    LibraryResources* library;
  };
  constexpr PointerSetting() = default;
  // Null: the value is null.
  const Entry* entry() const noexcept { return entry_.load(std::memory_order_acquire); }
  void* set(void* value);
  void remove(void* value);

 private:
  void publish();

  std::atomic<const Entry*> entry_{nullptr};
  SettingStack<void*>* layers_ = nullptr;  // null: nothing was set yet; guarded by a mutex that all settings share
};

}  // namespace detail

// A pointer to an object or a function, null at first, that is read without a lock. It lives as long as the process.
template <typename T>
requires std::is_pointer_v<T>
class Setting : private detail::PointerSetting {
 public:
  using Entry = detail::PointerSetting::Entry;
  using detail::PointerSetting::entry;

  constexpr Setting() = default;
  T get() const noexcept { return value_of(entry()); }
  static T value_of(const Entry* entry) noexcept { return entry == nullptr ? nullptr : std::bit_cast<T>(entry->value); }
  // Null takes back what the owner, the library that this thread is loading or else the program, has set. Returns the
  // value that was in force. Thread-safe.
  T set(T next) { return std::bit_cast<T>(PointerSetting::set(std::bit_cast<void*>(next))); }
  // Takes a value back wherever it stands, whoever set it. Thread-safe.
  void remove(T value) { PointerSetting::remove(std::bit_cast<void*>(value)); }
};

}  // namespace keyway::inline v1
