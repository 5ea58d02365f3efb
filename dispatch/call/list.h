// List<T>: PyTorch's list of values, as operators take it and IValue::toIntList() gives it. Copies share their
// elements.
#pragma once

#include <keyway/core/base/concatenate.h>
#include <keyway/dispatch/call/user_kernel.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

template <typename T>
class List {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using iterator = typename std::vector<T>::iterator;

  List() : elements_(std::make_shared<std::vector<T>>()) {}
  List(std::initializer_list<T> elements) : List(std::vector<T>(elements)) {}
  explicit List(ArrayRef<T> elements) : List(elements.vec()) {}
  explicit List(std::vector<T> elements) : elements_(std::make_shared<std::vector<T>>(std::move(elements))) {}

  std::size_t size() const { return elements_->size(); }
  bool empty() const { return elements_->empty(); }
  // Throw std::out_of_range, as PyTorch's does, if there is no element i.
  decltype(auto) get(std::size_t i) const { return (*elements_)[checked(i)]; }
  decltype(auto) operator[](std::size_t i) const { return (*elements_)[checked(i)]; }
  void set(std::size_t i, T value) const { (*elements_)[checked(i)] = std::move(value); }
  void push_back(T value) const { elements_->push_back(std::move(value)); }
  template <typename... Args>
  void emplace_back(Args&&... args) const {
    elements_->emplace_back(std::forward<Args>(args)...);
  }
  void reserve(std::size_t capacity) const { elements_->reserve(capacity); }
  void resize(std::size_t size) const { elements_->resize(size); }
  void clear() const { elements_->clear(); }
  iterator begin() const { return elements_->begin(); }
  iterator end() const { return elements_->end(); }
  // Elements that lie side by side, so that a List serves where an ArrayRef is asked for.
  const T* data() const requires(!std::is_same_v<T, bool>) { return elements_->data(); }
  const std::vector<T>& vec() const { return *elements_; }
  List copy() const { return List(*elements_); }
  bool is(const List& other) const { return elements_ == other.elements_; }

  friend bool operator==(const List& a, const List& b) { return *a.elements_ == *b.elements_; }

 private:
  std::size_t checked(std::size_t i) const {
    if (i < size()) return i;
    throw std::out_of_range(concatenate("a list of ", size(), " elements has no element ", i));
  }

  std::shared_ptr<std::vector<T>> elements_;
};

namespace detail {

template <typename T>
struct Param<List<T>> {
  using Canonical = typename Param<std::vector<T>>::Canonical;
  static List<T> from(Canonical v) { return List<T>(Param<std::vector<T>>::from(v)); }
};
template <typename T>
struct Result<List<T>> : Result<std::vector<T>> {};
template <typename T>
struct ObjectTypes<List<T>> : ObjectTypes<T> {};

}  // namespace detail

}  // namespace keyway::inline v1
