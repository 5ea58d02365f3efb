#include <keyway/core/base/error.h>
#include <keyway/core/schema/owned.h>
#include <keyway/dispatch/call/operator_entry.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace keyway::inline v1 {

std::string OperatorEntry::full_name() const {
  const OpInfo& own = info();
  std::string name(own.name);
  if (!own.overload.empty()) name += "." + std::string(own.overload);
  return name;
}

std::string OperatorEntry::short_name() const {
  const std::string name = full_name();
  return name.starts_with("keyway::") ? name.substr(8) : name;
}

bool OperatorEntry::has_tag(std::string_view tag) const {
  std::string_view rest = info().tags;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == tag) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

const FunctionSchema& OperatorEntry::schema() const {
  const OwnedSchema* parsed = schema_.load(std::memory_order_acquire);
  if (parsed == nullptr) {
    auto fresh = std::make_unique<const OwnedSchema>(info().schema);
    // Of several threads that parse it at once, the first one's stays.
    if (schema_.compare_exchange_strong(parsed, fresh.get(), std::memory_order_acq_rel)) parsed = fresh.release();
  }
  return **parsed;
}

std::size_t OperatorEntry::position_of(std::string_view argument) const {
  const std::optional<std::size_t> position = schema().arguments().find(argument);
  KEYWAY_CHECK_AS(Internal, position, "{} has no argument '{}', which is asked for", short_name(), argument);
  return *position;
}

}  // namespace keyway::inline v1
