#include <keyway/core/base/error.h>
#include <keyway/core/schema/owned.h>
#include <keyway/dispatch/operator_entry.h>

#include <memory>
#include <mutex>
#include <unordered_map>

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

const FunctionSchema& OperatorEntry::schema() const {
  // Parsed schemas, kept for good: an operator that is defined again may have another one.
  struct Parsed {
    std::mutex mutex;
    std::unordered_map<const OpInfo*, std::unique_ptr<OwnedSchema>> schemas;
  };
  static Parsed& parsed = *new Parsed;
  const OpInfo& own = info();
  KEYWAY_CHECK_AS(Registration, !own.schema.empty(), "{} has kernels, but no schema: nobody has defined it",
                  full_name());
  const std::lock_guard lock(parsed.mutex);
  std::unique_ptr<OwnedSchema>& schema = parsed.schemas[&own];
  if (!schema) schema = std::make_unique<OwnedSchema>(own.schema);
  return **schema;
}

}  // namespace keyway::inline v1
