#include <keyway/tests/nn/languages/json.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace keyway::inline v1::testing {

struct Json::Value {
  nlohmann::json json;
};

Json Json::read(const std::string& path) {
  std::ifstream file(path);
  return Json(std::make_shared<const Value>(Value{nlohmann::json::parse(file)}));
}

bool Json::is_null() const { return value_ == nullptr || value_->json.is_null(); }
bool Json::is_array() const { return value_ != nullptr && value_->json.is_array(); }
bool Json::is_string() const { return value_ != nullptr && value_->json.is_string(); }

bool Json::has(const std::string& name) const { return !is_null() && value_->json.contains(name); }

Json Json::operator[](const std::string& name) const {
  return has(name) ? Json(std::make_shared<const Value>(Value{value_->json[name]})) : Json();
}

Json Json::operator[](std::size_t i) const { return Json(std::make_shared<const Value>(Value{value_->json[i]})); }

std::size_t Json::size() const { return is_null() ? 0 : value_->json.size(); }

std::vector<std::string> Json::names() const {
  std::vector<std::string> all;
  if (is_null()) return all;
  for (const auto& [name, member] : value_->json.items()) all.push_back(name);
  return all;
}

double Json::number() const { return value_->json.get<double>(); }
std::int64_t Json::integer() const { return value_->json.get<std::int64_t>(); }
bool Json::flag() const { return value_->json.get<bool>(); }
std::string Json::text() const { return value_->json.get<std::string>(); }

void write_json(std::ostream& stream, const std::map<std::string, std::vector<std::string>>& lists) {
  stream << nlohmann::json(lists) << "\n";
}

}  // namespace keyway::inline v1::testing
