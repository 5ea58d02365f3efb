// Json: a value of the file of cases.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace keyway::inline v1::testing {

class Json {
 public:
  Json() = default;  // null
  // Throws if there is no such file, or if it is no JSON.
  static Json read(const std::string& path);

  bool is_null() const;
  bool is_array() const;
  bool is_string() const;
  // Of an object. Null where there is no such member.
  Json operator[](const std::string& name) const;
  bool has(const std::string& name) const;
  std::vector<std::string> names() const;
  // Of an array. Requires: i < size().
  Json operator[](std::size_t i) const;
  std::size_t size() const;
  // The value itself. Throws if it is of another kind.
  double number() const;
  std::int64_t integer() const;
  bool flag() const;
  std::string text() const;

 private:
  struct Value;
  explicit Json(std::shared_ptr<const Value> value) : value_(std::move(value)) {}
  std::shared_ptr<const Value> value_;
};

// Writes lists of names as an object.
void write_json(std::ostream& stream, const std::map<std::string, std::vector<std::string>>& lists);

}  // namespace keyway::inline v1::testing
