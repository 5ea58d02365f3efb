#include <keyway/dispatch/call/generic_dict.h>
#include <keyway/dispatch/call/ivalue.h>

#include <algorithm>

namespace keyway::inline v1 {
namespace {

bool is_key(const IValue& value) {
  return value.is(ValueTag::String) || value.is(ValueTag::Int) || value.is(ValueTag::Double) ||
         value.is(ValueTag::Bool);
}

// Requires: both are keys.
bool equal(const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) return false;
  return a.is(ValueTag::String) ? a.to_string_ref() == b.to_string_ref() : a.to_scalar() == b.to_scalar();
}

}  // namespace

GenericDict::GenericDict() : entries_(std::make_shared<std::vector<DictEntry>>()) {}

std::size_t GenericDict::size() const { return entries_->size(); }

const DictEntry& GenericDict::entry(std::size_t i) const { return (*entries_)[i]; }

std::size_t GenericDict::place_of(const IValue& key) const {
  const auto found = std::ranges::find_if(*entries_, [&](const DictEntry& entry) { return equal(entry.key, key); });
  return static_cast<std::size_t>(found - entries_->begin());
}

bool GenericDict::insert(IValue key, IValue value, bool assign) const {
  KEYWAY_CHECK_AS(Type, is_key(key), "a key of a dictionary is a string, an integer, a float or a boolean, but got {}",
                  to_string(key.tag()));
  const std::size_t place = place_of(key);
  if (place == size()) {
    entries_->push_back({std::move(key), std::move(value)});
    return true;
  }
  if (assign) (*entries_)[place].value = std::move(value);
  return false;
}

bool GenericDict::erase(const IValue& key) const {
  const std::size_t place = place_of(key);
  if (place == size()) return false;
  entries_->erase(entries_->begin() + static_cast<std::ptrdiff_t>(place));
  return true;
}

void GenericDict::clear() const { entries_->clear(); }

}  // namespace keyway::inline v1
