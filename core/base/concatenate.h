// What values look like in a stream: those that have a to_string, and lists. concatenate() is the text of several, for
// messages that are written as a list of values.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/core/base/error.h>

#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace keyway::inline v1 {

// As error texts have it: "float32", "cuda:1", "[2, 3]".
template <detail::HasToString T>
requires((std::is_class_v<T> || std::is_enum_v<T>)&&!std::is_convertible_v<const T&, std::string_view>) std::ostream&
operator<<(std::ostream& out, const T& value) {
  return out << std::string(to_string(value));
}
template <typename T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  out << '[';
  for (std::size_t i = 0; i < list.size(); ++i) out << (i == 0 ? "" : ", ") << list[i];
  return out << ']';
}

template <typename... Args>
std::string concatenate(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

}  // namespace keyway::inline v1
