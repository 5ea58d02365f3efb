// GenericDict: a dictionary of boxed values, as IValue keeps it. Dict (dict.h) is the same with the types of its keys
// and values.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace keyway::inline v1 {

class IValue;
struct DictEntry;  // a key and its value: ivalue.h

// In the order in which keys were inserted. Copies share their entries. Keys are strings, integers, floats or booleans;
// they are looked for one after the other, as operators take few.
class KEYWAY_API GenericDict {
 public:
  GenericDict();

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  // Requires: i < size().
  const DictEntry& entry(std::size_t i) const;
  // The place of a key; size() if there is none.
  std::size_t place_of(const IValue& key) const;
  // Whether the key is new. If not, its value stays as it was, or becomes the new one if `assign`.
  // Throws keyway::Error(Type) for a key of another type.
  bool insert(IValue key, IValue value, bool assign) const;
  // Whether there was one.
  bool erase(const IValue& key) const;
  void clear() const;
  bool is(const GenericDict& other) const { return entries_ == other.entries_; }

 private:
  std::shared_ptr<std::vector<DictEntry>> entries_;
};

}  // namespace keyway::inline v1
