// Dict<K, V>: a dictionary as operators take and return it, `Dict(str, Tensor)` in a schema. Copies share their
// entries, which keep the order in which they were inserted. PyTorch's c10::Dict has the same names.
//
//   Dict<std::string, Tensor> rows;
//   rows.insert("user", x);
//   for (const auto& entry : rows) use(entry.key(), entry.value());
#pragma once

#include <keyway/dispatch/call/boxing.h>
#include <keyway/dispatch/call/user_kernel.h>

#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace keyway::inline v1 {

template <typename K, typename V>
class Dict : public GenericDict {
 public:
  using key_type = K;
  using mapped_type = V;

  // A key and its value, which are made of the boxed ones when they are asked for.
  class Entry {
   public:
    explicit Entry(const DictEntry& entry) : entry_(&entry) {}
    K key() const { return value_of<K>(entry_->key); }
    V value() const { return value_of<V>(entry_->value); }

   private:
    const DictEntry* entry_;
  };

  // Valid until a key is inserted or erased.
  class iterator {
   public:
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    iterator(const Dict* dict, std::size_t place) : dict_(dict), place_(place) {}
    Entry operator*() const { return Entry(dict_->entry(place_)); }
    // `it->value()`: what a pointer to an Entry would give.
    auto operator->() const {
      struct Arrow {
        Entry entry;
        const Entry* operator->() const { return &entry; }
      };
      return Arrow{**this};
    }
    iterator& operator++() { return ++place_, *this; }
    iterator operator++(int) { return iterator(dict_, place_++); }
    friend bool operator==(const iterator& a, const iterator& b) { return a.place_ == b.place_; }

   private:
    const Dict* dict_ = nullptr;
    std::size_t place_ = 0;
  };

  Dict() = default;
  // Throws keyway::Error(Type) naming both types if a key or a value is of another one.
  explicit Dict(const GenericDict& dict) : GenericDict(dict) {
    for (const Entry& entry : *this) entry.key(), entry.value();
  }

  iterator begin() const { return {this, 0}; }
  iterator end() const { return {this, size()}; }
  iterator find(const K& key) const { return {this, place_of(boxed(key))}; }
  bool contains(const K& key) const { return place_of(boxed(key)) != size(); }
  std::size_t count(const K& key) const { return contains(key) ? 1 : 0; }
  // Throws std::out_of_range, as PyTorch's does, naming the key if there is none: kernels catch it.
  V at(const K& key) const {
    const IValue wanted = boxed(key);
    const std::size_t place = place_of(wanted);
    if (place == size()) throw std::out_of_range("a dictionary has no key " + to_string(wanted));
    return value_of<V>(entry(place).value);
  }
  // The second: whether the key is new. insert() leaves the value of one that is not.
  std::pair<iterator, bool> insert(const K& key, V value) const { return put(key, std::move(value), false); }
  std::pair<iterator, bool> insert_or_assign(const K& key, V value) const { return put(key, std::move(value), true); }
  std::size_t erase(const K& key) const { return GenericDict::erase(boxed(key)) ? 1 : 0; }
  void erase(const iterator& it) const { GenericDict::erase(boxed((*it).key())); }
  void reserve(std::size_t) const {}
  Dict copy() const {
    Dict made;
    for (const Entry& entry : *this) made.insert(entry.key(), entry.value());
    return made;
  }

 private:
  template <typename T>
  static IValue boxed(const T& value) {
    using Canonical = typename detail::Result<T>::Canonical;
    return detail::box(detail::convert_result<Canonical>(T(value)));
  }
  template <typename T>
  static T value_of(const IValue& value) {
    IValue held = value;
    return detail::convert_result<T>(detail::unbox_result<typename detail::Result<T>::Canonical>(held));
  }
  std::pair<iterator, bool> put(const K& key, V value, bool assign) const {
    IValue name = boxed(key);
    const bool is_new = GenericDict::insert(name, boxed(value), assign);
    return {iterator(this, place_of(name)), is_new};
  }
};

namespace detail {

template <typename K, typename V>
struct Param<Dict<K, V>> {
  using Canonical = const Dict<K, typename Result<V>::Canonical>&;
  static Dict<K, V> from(Canonical v) { return Dict<K, V>(v); }
};
template <typename K, typename V>
struct Result<Dict<K, V>> {
  using Canonical = Dict<K, typename Result<V>::Canonical>;
};

}  // namespace detail

}  // namespace keyway::inline v1
