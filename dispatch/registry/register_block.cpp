#include <keyway/core/schema/evolution.h>
#include <keyway/core/schema/printer.h>
#include <keyway/dispatch/registry/block_collector.h>
#include <keyway/dispatch/registry/pin_library.h>
#include <keyway/dispatch/registry/register_block.h>

#include <optional>
#include <utility>

namespace keyway::inline v1 {

namespace {

// The schema that an operator has, or will have with what a library defines.
std::optional<OwnedSchema> schema_here(const std::string& name, const std::vector<DefRequest>& defs) {
  for (const DefRequest& def : defs) {
    if (def.schema.substr(0, def.schema.find('(')) == name) return OwnedSchema(def.schema);
  }
  const auto found = Dispatcher::singleton().find_op(name);
  if (!found) return std::nullopt;
  const std::string_view text = found->entry().info().schema;
  const bool has_namespace = text.substr(0, text.find('(')).find("::") != std::string_view::npos;
  return OwnedSchema(has_namespace ? std::string(text) : name.substr(0, name.find("::") + 2) + std::string(text));
}

}  // namespace

std::string ExpectedSchema::problem(const std::vector<DefRequest>& defs) const {
  const std::string name(schema->full_name());
  const std::optional<OwnedSchema> here = schema_here(name, defs);
  if (!here)
    return "at " + site.str() + ": there is no operator " + name +
           ", which the library was built for: " + to_string(*schema);
  const std::string difference = schema_difference(*schema, **here);
  if (difference.empty()) return {};
  return "at " + site.str() + ": " + name + " is not what the library was built for: " + difference;
}

void register_block(BlockRequest request, const void* code) {
  if (BlockCollector* const loading = BlockCollector::current()) {
    loading->add(std::move(request), code);
    return;
  }
  request.for_good = true;
  Dispatcher::singleton().commit(std::move(request)).release();
  if (code != nullptr) pin_library_of(code);
}

void expect_schema(std::string_view schema, const RegistrationSite& site) {
  ExpectedSchema expected{OwnedSchema(schema), site};
  if (BlockCollector* const loading = BlockCollector::current()) {
    loading->add(std::move(expected));
    return;
  }
  const std::string problem = expected.problem({});
  KEYWAY_CHECK_AS(Registration, problem.empty(), "{}", problem);
}

bool is_loading_library() { return BlockCollector::current() != nullptr; }

}  // namespace keyway::inline v1
