#include <keyway/codegen/base/place.h>

#include <algorithm>

namespace keyway::inline v1 {

LocatedText::Stretch LocatedText::stretch_at(std::size_t offset) const {
  const auto next = std::ranges::upper_bound(stretches, offset, {}, &Stretch::begin);
  const Stretch stretch = next == stretches.begin() ? Stretch{0, {place.line, place.column + 1}} : *(next - 1);
  if (stretch.at_once) return {offset, stretch.place, true};
  return {offset, {stretch.place.line, stretch.place.column + static_cast<int>(offset - stretch.begin)}};
}

Place LocatedText::at(std::size_t offset) const { return stretch_at(offset).place; }

void LocatedText::append(const LocatedText& other, std::size_t begin, std::size_t end) {
  Stretch first = other.stretch_at(begin);
  first.begin = text.size();
  stretches.push_back(first);
  for (Stretch stretch : other.stretches) {
    if (stretch.begin <= begin || stretch.begin >= end) continue;
    stretch.begin += text.size() - begin;
    stretches.push_back(stretch);
  }
  text.append(other.text, begin, end - begin);
}

void LocatedText::append(std::string_view other, Place where) {
  stretches.push_back({text.size(), where, true});
  text += other;
}

}  // namespace keyway::inline v1
