#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/core/schema/printer.h>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>

namespace keyway::inline v1 {
namespace {

constexpr std::string_view kTensorOptions[] = {"dtype", "layout", "device", "pin_memory"};

bool is_tensor(SchemaType type) { return type.is(TypeKind::Tensor); }
bool is_tensor_list(SchemaType type) { return type.is(TypeKind::List) && is_tensor(type.element()); }

// Names of alias sets that the arguments, but for the one that is replaced, do not use: a, b, ... in order.
class FreshSets {
 public:
  explicit FreshSets(FunctionSchema schema, std::optional<std::size_t> replaced = std::nullopt) {
    for (std::size_t i = 0; i < schema.arguments().size(); ++i)
      if (i != replaced) use(schema.arguments()[i].type());
  }

  std::string next() {
    while (used_.count(name()) > 0) ++next_;
    std::string fresh = name();
    ++next_;
    return fresh;
  }

 private:
  void use(SchemaType type) {
    for (const AliasSet& set : {type.alias().before(), type.alias().after()})
      for (std::size_t i = 0; i < set.size(); ++i) used_.emplace(set[i]);
    for (const SchemaType part : type.parts()) use(part);
  }
  // a ... z, then a1 ...: a schema has up to 64 results.
  std::string name() const {
    std::string name(1, static_cast<char>('a' + next_ % 26));
    return next_ < 26 ? name : name + std::to_string(next_ / 26);
  }

  std::set<std::string, std::less<>> used_;
  int next_ = 0;
};

std::string qualified(FunctionSchema schema, std::string_view name, std::string_view overload) {
  const std::string_view ns = schema.namespace_name();
  return fmt::format("{}{}{}{}{}", ns, ns.empty() ? "" : "::", name, overload.empty() ? "" : ".", overload);
}

std::string inplace_name(std::string_view name) {
  const bool dunder = name.size() > 4 && name.starts_with("__") && name.ends_with("__");
  return dunder ? fmt::format("__i{}", name.substr(2)) : fmt::format("{}_", name);
}

}  // namespace

std::string_view namespace_of(FunctionSchema schema) {
  return schema.namespace_name().empty() ? "keyway" : schema.namespace_name();
}

std::string qualified_name(FunctionSchema schema) {
  return fmt::format("{}{}", schema.namespace_name().empty() ? "keyway::" : "", schema.full_name());
}

std::string cpp_identifier(FunctionSchema schema) {
  const std::string_view overload = schema.overload_name();
  if (schema.name() == "std" && overload.empty()) return "std_all";  // a struct of that name would hide the namespace
  return fmt::format("{}{}{}", schema.name(), overload.empty() ? "" : "_", overload);
}

bool is_tensor_option(std::string_view name) { return contains(kTensorOptions, name); }

bool has_tensor_options(FunctionSchema schema) {
  return std::ranges::all_of(kTensorOptions,
                             [&](std::string_view name) { return schema.arguments().find(name).has_value(); });
}

bool can_be_inplace(FunctionSchema schema) {
  const ArgumentList arguments = schema.arguments();
  const bool writes_first = !arguments.empty() && arguments.find("self").value_or(0) == 0;
  return writes_first && is_tensor(arguments[0].type()) && !schema.is_mutable() && schema.returns().size() == 1 &&
         is_tensor(schema.returns()[0].type());
}

bool can_have_out(FunctionSchema schema) {
  if (schema.is_inplace() || schema.is_out() || schema.returns().empty()) return false;
  if (schema.returns().size() == 1 && is_tensor_list(schema.returns()[0].type())) return true;
  return std::ranges::all_of(schema.returns(), [](const Argument& result) { return is_tensor(result.type()); });
}

bool can_be_method(FunctionSchema schema) {
  const auto self = schema.arguments().find("self");
  return schema.namespace_name().empty() && self && is_tensor(schema.arguments()[*self].type()) &&
         *self < schema.positional_count();
}

Variants default_calls(FunctionSchema schema, bool has_namespace) {
  const bool method = can_be_method(schema) && (schema.is_inplace() || !has_namespace);
  return {.function = !schema.is_inplace() || !method, .method = method};
}

OutOverload default_out(FunctionSchema schema) {
  OutOverload out;
  const std::string_view overload = schema.overload_name();
  out.name = overload.empty() ? "out" : fmt::format("{}_out", overload);
  const std::size_t count = schema.returns().size();
  for (std::size_t i = 0; i < count; ++i) out.arguments.push_back(count == 1 ? "out" : fmt::format("out{}", i));
  return out;
}

std::string inplace_text(FunctionSchema schema) {
  const std::string set = FreshSets(schema, 0).next();
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    if (i == schema.positional_count()) arguments.emplace_back("*");
    arguments.push_back(i == 0 ? fmt::format("Tensor({}!) self", set) : to_string(schema.arguments()[i]));
  }
  return fmt::format("{}({}) -> Tensor({}!)", qualified(schema, inplace_name(schema.name()), schema.overload_name()),
                     joined(arguments), set);
}

std::string out_text(FunctionSchema schema, const OutOverload& out) {
  const bool factory = has_tensor_options(schema);
  std::vector<std::string> arguments;
  bool star = false;
  const auto put_star = [&] {
    if (!star) arguments.emplace_back("*");
    star = true;
  };
  for (const Argument argument : schema.arguments()) {
    if (factory && is_tensor_option(argument.name())) continue;
    if (argument.is_kwarg_only()) put_star();
    arguments.push_back(to_string(argument));
  }
  put_star();
  FreshSets sets(schema);
  std::vector<std::string> results;
  for (std::size_t i = 0; i < out.arguments.size(); ++i) {
    const Argument result = schema.returns()[i];
    const std::string type = fmt::format("Tensor({}!)", sets.next());
    const bool list = is_tensor_list(result.type());
    arguments.push_back(fmt::format("{}{} {}", type, list ? "[]" : "", out.arguments[i]));
    if (list) continue;  // a list that has been written to is not returned
    results.push_back(result.name().empty() ? type : fmt::format("{} {}", type, result.name()));
  }
  const bool bare = results.size() == 1;
  return fmt::format("{}({}) -> {}{}{}", qualified(schema, schema.name(), out.name), joined(arguments), bare ? "" : "(",
                     joined(results), bare ? "" : ")");
}

std::vector<Overload> expand_variants(const Op& op) {
  std::vector<Overload> overloads;
  overloads.push_back({OverloadKind::Functional, op.schema});
  if (op.variants.inplace) overloads.push_back({OverloadKind::Inplace, OwnedSchema(inplace_text(*op.schema))});
  if (op.variants.out) overloads.push_back({OverloadKind::Out, OwnedSchema(out_text(*op.schema, op.out))});
  return overloads;
}

}  // namespace keyway::inline v1
