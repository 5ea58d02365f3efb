// intrusive_ptr<T> and weak_intrusive_ptr<T>: reference counting inside the object.
//
// Strong and weak count share one 64-bit word, so that the holder of the only reference sees by one plain
// load that nobody else can reach the object, and frees it without an atomic read-modify-write. That is the
// path of every temporary tensor. In a process of one thread no count takes one.
#pragma once

#include <keyway/core/base/single_threaded.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace keyway::inline v1 {

// Base of counted objects. Not polymorphic: intrusive_ptr<T> deletes a T, or calls T::destroy_counted if it has one.
// When the last strong reference goes while weak ones remain, T's release_resources() runs; the object itself
// goes with the last weak one.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  // Number of strong references; exact only while no other thread holds one.
  std::uint32_t use_count() const { return static_cast<std::uint32_t>(counts_.load(std::memory_order_acquire)); }

  void release_resources() {}

 protected:
  ~RefCounted() = default;

 private:
  template <typename T>
  friend class intrusive_ptr;
  template <typename T>
  friend class weak_intrusive_ptr;

  static constexpr std::uint64_t kStrong = 1;
  static constexpr std::uint64_t kWeak = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kOnlyOne = kStrong | kWeak;  // all strong ones together hold one weak

  // Adds to the counts, and gives what they were.
  std::uint64_t add(std::uint64_t number, std::memory_order order) const {
    if (is_single_threaded()) {
      const std::uint64_t before = counts_.load(std::memory_order_relaxed);
      counts_.store(before + number, std::memory_order_relaxed);
      return before;
    }
    return counts_.fetch_add(number, order);
  }
  void add_strong() const { add(kStrong, std::memory_order_relaxed); }
  void add_weak() const { add(kWeak, std::memory_order_relaxed); }
  bool add_strong_unless_dead() const {
    std::uint64_t counts = counts_.load(std::memory_order_relaxed);
    do {
      if (static_cast<std::uint32_t>(counts) == 0) return false;
    } while (
        !counts_.compare_exchange_weak(counts, counts + kStrong, std::memory_order_acquire, std::memory_order_relaxed));
    return true;
  }
  template <typename T>
  static void drop_strong(T* object) {
    const auto& counts = object->RefCounted::counts_;
    if (counts.load(std::memory_order_acquire) == kOnlyOne) {
      dispose(object);
    } else {
      drop_shared(object);
    }
  }
  template <typename T>
  static __attribute__((noinline)) void drop_shared(T* object) {
    const std::uint64_t before = object->RefCounted::add(-kStrong, std::memory_order_acq_rel);
    if (static_cast<std::uint32_t>(before) != 1) return;
    if (before != kOnlyOne) {
      if constexpr (requires { T::release_counted(object); }) {
        T::release_counted(object);
      } else {
        object->release_resources();
      }
    }
    drop_weak(object);
  }
  template <typename T>
  static void drop_weak(T* object) {
    const std::uint64_t before = object->RefCounted::add(-kWeak, std::memory_order_acq_rel);
    if (before >> 32 == 1) dispose(object);
  }
  template <typename T>
  static void dispose(T* object) {
    if constexpr (requires { T::destroy_counted(object); }) {
      T::destroy_counted(object);
    } else {
      delete object;
    }
  }

  mutable std::atomic<std::uint64_t> counts_{kOnlyOne};
};

namespace detail {
template <typename U, typename T>
concept PointsTo = std::is_convertible_v<U*, T*>;
}  // namespace detail

template <typename T>
class intrusive_ptr {
 public:
  using element_type = T;

  constexpr intrusive_ptr() = default;
  constexpr intrusive_ptr(std::nullptr_t) {}
  intrusive_ptr(const intrusive_ptr& other) : object_(other.object_) {
    if (object_ != nullptr) object_->RefCounted::add_strong();
  }
  intrusive_ptr(intrusive_ptr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <detail::PointsTo<T> U>
  intrusive_ptr(intrusive_ptr<U> other) noexcept : object_(other.release()) {}
  intrusive_ptr& operator=(const intrusive_ptr& other) {
    intrusive_ptr(other).swap(*this);
    return *this;
  }
  intrusive_ptr& operator=(intrusive_ptr&& other) noexcept {
    intrusive_ptr(std::move(other)).swap(*this);
    return *this;
  }
// g++ 12 cannot see that an empty std::optional does not destroy what it would hold.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
  ~intrusive_ptr() {
    if (object_ != nullptr) RefCounted::drop_strong(object_);
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void reset() { intrusive_ptr().swap(*this); }
  // PyTorch's spellings.
  bool defined() const { return object_ != nullptr; }
  std::size_t use_count() const { return object_ == nullptr ? 0 : object_->RefCounted::use_count(); }
  bool unique() const { return use_count() == 1; }
  template <typename... Args>
  static intrusive_ptr make(Args&&... args) {
    return adopt(new T(std::forward<Args>(args)...));
  }
  void swap(intrusive_ptr& other) noexcept { std::swap(object_, other.object_); }
  // Gives the reference away: the caller owes one adopt().
  [[nodiscard]] T* release() { return std::exchange(object_, nullptr); }
  // Takes over a reference that the caller already counts.
  static intrusive_ptr adopt(T* object) {
    intrusive_ptr p;
    p.object_ = object;
    return p;
  }
  // Adds a reference to an object that is alive.
  static intrusive_ptr retain(T* object) {
    if (object != nullptr) object->RefCounted::add_strong();
    return adopt(object);
  }
  friend bool operator==(const intrusive_ptr& a, const intrusive_ptr& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

template <typename T, typename... Args>
[[gnu::always_inline]] inline intrusive_ptr<T> make_intrusive(Args&&... args) {
  return intrusive_ptr<T>::adopt(new T(std::forward<Args>(args)...));
}

template <typename T>
class weak_intrusive_ptr {
 public:
  weak_intrusive_ptr() = default;
  explicit weak_intrusive_ptr(const intrusive_ptr<T>& strong) : object_(strong.get()) {
    if (object_ != nullptr) object_->RefCounted::add_weak();
  }
  weak_intrusive_ptr(const weak_intrusive_ptr& other) : object_(other.object_) {
    if (object_ != nullptr) object_->RefCounted::add_weak();
  }
  weak_intrusive_ptr(weak_intrusive_ptr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  weak_intrusive_ptr& operator=(weak_intrusive_ptr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~weak_intrusive_ptr() {
    if (object_ != nullptr) RefCounted::drop_weak(object_);
  }

  // The object if a strong reference is still alive, else null.
  intrusive_ptr<T> lock() const {
    if (object_ == nullptr || !object_->RefCounted::add_strong_unless_dead()) return {};
    return intrusive_ptr<T>::adopt(object_);
  }
  bool expired() const { return object_ == nullptr || object_->use_count() == 0; }

 private:
  T* object_ = nullptr;
};

}  // namespace keyway::inline v1
