#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/op_reader.h>
#include <keyway/core/schema/parser.h>
#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/signature_code.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {

std::optional<OwnedSchema> read_schema(const LocatedText& func, const Report& report) {
  const ParseResult parsed = parse_schema(func.text);
  if (parsed.error.code == SchemaErrorCode::None) return OwnedSchema(func.text);
  std::string message;
  append_message(message, parsed.error);
  report.error(func.at(parsed.error.column - 1), message);
  return std::nullopt;
}

Place OpSource::place_of(std::string_view piece) const {
  return func().at(static_cast<std::size_t>(piece.data() - schema->text().data()));
}

namespace {

void check_name(const OpSource& source, std::string_view what, std::string_view name) {
  if (const auto fault = name_fault(name))
    source.report.error(source.place_of(name), "the {} {} {}", what, in_quotes(name), *fault);
}

// What a wrapper's struct, which has the operator's name, calls its members, and the namespaces that they refer to.
constexpr std::string_view kWrapperWords[] = {"Function", "Kernel", "check", "composite", "contract", "from_out",
                                              "geometry", "lists",  "plan",  "rules",     "run"};

// One spelling of a schema, so that equal texts are equal schemas, and no line break gets into generated
// code.
void check_spelling(const OpSource& source) {
  const std::string& text = source.func().text;
  const std::string canonical = to_string(*source.schema);
  if (text == canonical) return;
  const auto [written, right] = std::mismatch(text.begin(), text.end(), canonical.begin(), canonical.end());
  const auto offset = static_cast<std::size_t>(written - text.begin());
  source.report.error(source.func().at(offset), "the schema is spelled otherwise from here on: {}",
                      in_quotes(std::string(right, canonical.end())));
}

// Whether generated code has values of the type: what kernels take, but of lists only those of tensors, numbers and
// bools: of others expressions, examples and saved values know nothing.
bool can_be_generated(SchemaType type) {
  std::string code;
  if (!append_code(code, type) || code.find_first_of("{o") != std::string::npos) return false;
  constexpr std::string_view kElements = "Tidbs";
  for (std::size_t list = code.find('['); list != std::string::npos; list = code.find('[', list + 1)) {
    if (list + 1 == code.size() || kElements.find(code[list + 1]) == std::string_view::npos) return false;
  }
  return true;
}

void check_types(const OpSource& source) {
  const auto check = [&](std::string_view what, const Argument& value, Place place) {
    if (can_be_generated(value.type())) return;
    const std::string type = to_string(value.type());
    source.report.error(place,
                        "the {} is {}, which generated operators cannot have; define the operator "
                        "in C++, with KEYWAY_LIBRARY",
                        what, in_quotes(type));
  };
  for (const Argument argument : source.schema->arguments())
    check(fmt::format("argument {}", in_quotes(argument.name())), argument, source.place_of(argument.name()));
  for (const Argument result : source.schema->returns()) check("result", result, source.func().place);
}

}  // namespace

void check_names(const OpSource& source) {
  const FunctionSchema schema = *source.schema;
  check_spelling(source);
  if (!schema.namespace_name().empty()) check_name(source, "namespace", schema.namespace_name());
  check_name(source, "operator name", schema.name());
  if (is_python_keyword(schema.name()))
    source.report.error(source.place_of(schema.name()), "the operator name {} is a Python keyword",
                        in_quotes(schema.name()));
  if (contains(kWrapperWords, schema.name()))
    source.report.error(source.place_of(schema.name()), "the operator name {} has a meaning within generated wrappers",
                        in_quotes(schema.name()));
  const std::string_view overload = schema.overload_name();
  if (overload.size() > kMaxNameLength) check_name(source, "overload name", overload);  // may be a keyword: select.int
  for (const Argument argument : schema.arguments())
    if (const auto fault = argument_name_fault(argument.name()))
      source.report.error(source.place_of(argument.name()), "the argument name {} {}", in_quotes(argument.name()),
                          *fault);
  for (const Argument result : schema.returns())
    if (!result.name().empty()) check_name(source, "result name", result.name());
  if (schema.is_vararg() || schema.is_varret())
    source.report.error(source.func().place, "an operator with '...' cannot be generated");
  check_types(source);
}

}  // namespace keyway::inline v1
