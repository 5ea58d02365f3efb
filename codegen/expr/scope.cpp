#include <keyway/codegen/expr/scope.h>

#include <algorithm>

namespace keyway::inline v1 {

const Symbol* Scope::find(std::string_view name) const {
  const auto found = std::find_if(symbols_.rbegin(), symbols_.rend(), [&](const Symbol& s) { return s.name == name; });
  return found == symbols_.rend() ? nullptr : &*found;
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> names;
  for (const Symbol& symbol : symbols_) names.push_back(symbol.name);
  return names;
}

}  // namespace keyway::inline v1
