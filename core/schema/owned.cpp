#include <keyway/core/base/error.h>
#include <keyway/core/schema/owned.h>
#include <keyway/core/schema/parser.h>

#include <memory>
#include <string>
#include <vector>

namespace keyway::inline v1 {

namespace {

// Text and tables at their final size. Never copied: `schema` points into it.
struct SchemaBlock {
  SchemaBlock(std::string_view source, const detail::LargestSchemaTables& tables)
      : text(source),
        header(tables.header),
        slots(tables.slots, tables.slots + tables.header.arguments + tables.header.returns),
        nodes(tables.nodes, tables.nodes + tables.header.nodes),
        schema(text, &header, slots.data(), nodes.data()) {}
  SchemaBlock(const SchemaBlock&) = delete;
  SchemaBlock& operator=(const SchemaBlock&) = delete;

  const std::string text;
  const detail::SchemaHeader header;
  const std::vector<detail::ArgumentSlot> slots;
  const std::vector<detail::TypeNode> nodes;
  const FunctionSchema schema;
};

}  // namespace

OwnedSchema::OwnedSchema(std::string_view text) {
  const ParseResult result = parse_schema(text);
  if (!result.ok()) {
    std::string quoted;
    detail::append_escaped(quoted, text);
    KEYWAY_FAIL(Parse, "schema '{}', column {}: {}", quoted, result.column(), result.message());
  }
  const auto block = std::make_shared<const SchemaBlock>(text, result.tables);
  schema_ = std::shared_ptr<const FunctionSchema>(block, &block->schema);
}

}  // namespace keyway::inline v1
