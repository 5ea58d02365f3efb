// OrderedDict: a map that keeps the order in which its keys came.
#pragma once

#include <keyway/core/base/error.h>

#include <cstddef>
#include <initializer_list>
#include <unordered_map>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// Iteration gives items: `for (const auto& [name, tensor] : dict)`, or item.key() and item.value().
template <typename Key, typename Value>
class OrderedDict {
 public:
  struct Item : std::pair<const Key, Value> {
    using std::pair<const Key, Value>::pair;
    const Key& key() const { return this->first; }
    Value& value() { return this->second; }
    const Value& value() const { return this->second; }
  };

  OrderedDict() = default;
  OrderedDict(std::initializer_list<std::pair<Key, Value>> items) {
    for (const auto& [key, value] : items) insert(key, value);
  }

  std::size_t size() const { return items_.size(); }
  bool is_empty() const { return items_.empty(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  // Requires: i < size().
  Item& operator[](std::size_t i) { return items_[i]; }
  const Item& operator[](std::size_t i) const { return items_[i]; }

  // Null if there is none. Valid until the next insert().
  Value* find(const Key& key) {
    const auto at = index_.find(key);
    return at == index_.end() ? nullptr : &items_[at->second].value();
  }
  const Value* find(const Key& key) const { return const_cast<OrderedDict*>(this)->find(key); }
  bool contains(const Key& key) const { return index_.contains(key); }
  // Throws keyway::Error(Index) if there is none.
  Value& operator[](const Key& key) {
    Value* value = find(key);
    KEYWAY_CHECK_AS(Index, value != nullptr, "there is no '{}'", key);
    return *value;
  }
  const Value& operator[](const Key& key) const { return const_cast<OrderedDict&>(*this)[key]; }

  // Throws keyway::Error if the key is there already.
  Value& insert(Key key, Value value) {
    KEYWAY_CHECK(index_.emplace(key, items_.size()).second, "there is a '{}' already", key);
    return items_.emplace_back(std::move(key), std::move(value)).value();
  }

  std::vector<Key> keys() const {
    std::vector<Key> all;
    for (const Item& item : items_) all.push_back(item.key());
    return all;
  }
  std::vector<Value> values() const {
    std::vector<Value> all;
    for (const Item& item : items_) all.push_back(item.value());
    return all;
  }

 private:
  std::vector<Item> items_;
  std::unordered_map<Key, std::size_t> index_;
};

}  // namespace keyway::inline v1
