#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/model/op_reader.h>
#include <keyway/core/schema/printer.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace keyway::inline v1 {
namespace {

constexpr std::string_view kTags[] = {
    "across_devices",           // arguments may be on different devices
    "allocates",                // the kernel returns its results: their sizes are not known before
    "core",                     // of the Core ATen set
    "data_dependent_shape",     // sizes of results depend on data
    "factory",                  // makes a tensor from no tensor: implied by the schema
    "history",                  // changes what autograd knows of its argument, or whose memory it has, and no element
    "in_place_safe",            // out may be exactly one of the inputs, element on element
    "inplace_view",             // changes the geometry of its argument
    "nondeterministic",         // not the same value each time, but for no generator's sake
    "nondeterministic_seeded",  // draws from a generator: implied by an argument that is one
    "out_of_cast_dtype",  // an out= tensor may have any dtype that the result converts to, though nothing promotes
    "out_of_flags",       // an out= tensor may be of bool or uint8, whichever the result is
    "out_of_same_dtype",  // an out= tensor must have the result's dtype, though operands promote or it is a composite
    "overwrites",         // sets what it writes to in place, or parts of it, without reading what was there
    "pointwise",          // implied by the recipe
    "scalar_result",      // returns a number, not a tensor
    "uninitialized",      // its results have memory whose elements nobody has set
    "view_copy",          // a view's values in memory of their own
};

// Those that recipe and schema imply, so that its entry need not name them.
std::vector<std::string> implied_tags(const OpSource& source, const Recipe& recipe) {
  const auto is_tensor = [](const Argument& value) { return expr_type_of(value.type()).base == ExprBase::Tensor; };
  const auto is_generator = [](const Argument& value) { return to_string(value.type()).starts_with("Generator"); };
  const ArgumentList arguments = source.schema->arguments();
  std::vector<std::string> tags;
  if (std::ranges::none_of(arguments, is_tensor) && std::ranges::any_of(source.schema->returns(), is_tensor))
    tags.emplace_back("factory");
  if (std::ranges::any_of(arguments, is_generator)) tags.emplace_back("nondeterministic_seeded");
  if (recipe.kind == RecipeKind::Pointwise) tags.emplace_back("pointwise");
  return tags;
}

}  // namespace

std::vector<std::string> unique_words(const OpSource& source, const JsonValue& list, std::string_view what) {
  std::vector<std::string> words;
  for (const JsonValue& item : list.items) {
    const std::string& word = item.text.text;
    if (contains(words, word)) source.report.error(item.place(), "the {} {} stands here twice", what, in_quotes(word));
    words.push_back(word);
  }
  return words;
}

std::vector<std::string> known_tags() { return {std::begin(kTags), std::end(kTags)}; }

std::vector<std::string> read_tags(const OpSource& source, const Recipe& recipe) {
  std::vector<std::string> tags;
  if (const JsonValue* list = source.entry.find("tags")) {
    const auto known = known_tags();
    for (const JsonValue& item : list->items) {
      const std::string& tag = item.text.text;
      if (!contains(kTags, tag))
        source.report.error(item.place(), "unknown tag {}{}", in_quotes(tag), did_you_mean(tag, kTags));
    }
    tags = unique_words(source, *list, "tag");
    if (std::ranges::count_if(tags, [](std::string_view tag) { return tag.starts_with("out_of_"); }) > 1)
      source.report.error(list->place(), "the tags that begin with 'out_of_' exclude each other");
  }
  for (std::string& tag : implied_tags(source, recipe))
    if (!contains(tags, tag)) tags.push_back(std::move(tag));
  std::ranges::sort(tags);
  return tags;
}

std::string read_doc(const JsonValue& doc, const Report& report) {
  const std::string& text = doc.text.text;
  const auto fail = [&](std::string_view why, std::size_t offset = std::string::npos) {
    report.error(offset == std::string::npos ? doc.place() : doc.text.at(offset), "the doc {}", why);
  };
  if (text.empty()) fail("is empty");
  // It is printed in comments of generated code.
  if (std::ranges::any_of(text, is_control))
    fail("has a line break or another control character; it is one sentence on one line");
  if (const std::size_t brace = text.find('{'); brace != std::string::npos)
    fail("has '{', but what follows is no use of a macro: '{name}' or '{name(x, y)}'", brace);
  if (text.find("*/") != std::string::npos) fail("has '*/', which would end a comment");
  if (!text.empty() && text.back() == '\\') fail("ends in '\\', which would continue a comment");
  return text;
}

std::string read_namespace(const OpSource& source) {
  const JsonValue* value = source.entry.find("namespace");
  if (!value) return {};
  const std::string& name = value->text.text;
  if (const auto fault = name_fault(name))
    source.report.error(value->place(), "the namespace {} {}", in_quotes(name), *fault);
  if (name == "Tensor")
    source.report.error(value->place(), "methods of Tensor are said by 'variants'; a namespace has another name");
  return name;
}

AutocastPolicy read_autocast(const OpSource& source) {
  const JsonValue* value = source.entry.find("autocast");
  if (!value) return AutocastPolicy::None;
  if (source.schema->is_mutable() || source.schema->is_alias())
    source.report.error(value->place(), "'autocast' is for an operator whose results are new tensors");
  const auto* word = std::ranges::find(kAutocastWords, std::string_view(value->text.text));
  if (word != std::end(kAutocastWords) && !word->empty()) return static_cast<AutocastPolicy>(word - kAutocastWords);
  source.report.error(value->place(), "'autocast' is {}; it is 'float32', 'lower' or 'promote'",
                      in_quotes(value->text.text));
  return AutocastPolicy::None;
}

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// The argument of the rule's that the operator has not; empty if it has all.
std::string missing_argument(const OpSource& source, const TransformRule& rule) {
  for (const std::string& argument : words_of(rule.arguments))
    if (!source.schema->arguments().find(argument)) return argument;
  return {};
}

// The rule that the entry names at `key`; null if it names none, or one that the operator cannot have.
const TransformRule* named_rule(const OpSource& source, std::string_view key, std::span<const TransformRule> rules) {
  const JsonValue* value = source.entry.find(key);
  if (!value) return nullptr;
  const auto rule = std::ranges::find(rules, std::string_view(value->text.text), &TransformRule::name);
  if (rule == rules.end()) {
    source.report.error(value->place(), "there is no rule {} of {}{}", in_quotes(value->text.text), key,
                        did_you_mean(value->text.text, rules, &TransformRule::name));
    return nullptr;
  }
  if (const std::string missing = missing_argument(source, *rule); !missing.empty()) {
    source.report.error(value->place(), "the rule {} reads an argument {}, which the operator has not",
                        in_quotes(rule->name), in_quotes(missing));
    return nullptr;
  }
  if (rule->has_counterpart && !source.entry.find("counterpart"))
    source.report.error(value->place(),
                        "the rule {} calls the operator that 'counterpart' names, but the entry names none",
                        in_quotes(rule->name));
  return &*rule;
}

// Whether an argument names dimensions or sizes: one of those that the rules of reductions and views change for a batch
// (batching/shift.h, batching/views.cpp). Without any, such an operator may be about all dimensions.
bool names_geometry(const OpSource& source) {
  constexpr std::string_view kNames[] = {"dim", "dims", "dim0", "dim1", "dim2", "dimension", "size", "shape"};
  return std::ranges::any_of(source.schema->arguments(),
                             [&](const Argument& argument) { return contains(kNames, argument.name()); });
}

}  // namespace

// That of the recipe, if the operator has the arguments that it reads: a library's reduction may call its tensor
// otherwise.
TransformRule read_vmap(const OpSource& source, const Recipe& recipe) {
  if (const TransformRule* rule = named_rule(source, "vmap", kVmapRules)) return *rule;
  std::string_view name = "each";
  if (recipe.kind == RecipeKind::Pointwise) name = "pointwise";
  if (recipe.kind == RecipeKind::Reduction && names_geometry(source)) name = "reduction";
  if (recipe.kind == RecipeKind::View && names_geometry(source)) name = "shape";
  const TransformRule rule = kVmapRules[vmap_rule(name)];
  return missing_argument(source, rule).empty() ? rule : kVmapRules[vmap_rule("each")];
}

TransformRule read_jvp(const OpSource& source, const Recipe& recipe) {
  const JsonValue* derivatives = source.entry.find("derivatives");
  const bool has_derivatives = derivatives != nullptr && !derivatives->members.empty();
  const TransformRule* rule = named_rule(source, "jvp", kJvpRules);
  if (rule == nullptr) {
    if (has_derivatives && recipe.kind == RecipeKind::Pointwise) return kJvpRules[jvp_rule("pointwise")];
    return kJvpRules[jvp_rule(has_derivatives && recipe.kind == RecipeKind::View ? "linear" : "general")];
  }
  const std::uint8_t number = jvp_rule(rule->name);
  const bool is_of_derivatives = number != jvp_rule("general") && number != jvp_rule("primal");
  if (is_of_derivatives && !has_derivatives)
    source.report.error(source.entry.find("jvp")->place(),
                        "'jvp' says how the operator depends on the arguments that 'derivatives' names, but it names "
                        "none");
  return *rule;
}

std::optional<OwnedSchema> read_counterpart(const OpSource& source) {
  const JsonValue* value = source.entry.find("counterpart");
  if (!value) return std::nullopt;
  const std::string& full_name = value->text.text;
  const std::string_view name = std::string_view(full_name).substr(0, full_name.find('.'));
  const JsonValue* vmap = source.entry.find("vmap");
  const std::uint8_t rule = vmap ? vmap_rule(vmap->text.text) : vmap_rule("each");
  if (rule >= std::size(kVmapRules) || !kVmapRules[rule].has_counterpart)
    source.report.error(value->place(), "'counterpart' names what the rule of 'vmap' calls, but this one calls none");
  const std::span<const Signature> overloads = source.functions.operators_named(name);
  const auto found = std::ranges::find(overloads, full_name, &Signature::full_name);
  if (found != overloads.end()) {
    const ArgumentList arguments = found->schema.arguments();
    if (rule == vmap_rule("whole_reduction") &&
        (arguments.size() < 3 || arguments[1].name() != "dim" || arguments[2].name() != "keepdim"))
      source.report.error(value->place(),
                          "the counterpart of a whole reduction takes 'self', 'dim' and 'keepdim' first");
    return OwnedSchema(std::string(found->schema.text()));
  }
  source.report.error(value->place(), "there is no operator {}{}", in_quotes(full_name),
                      did_you_mean(name, source.functions.operator_names()));
  return std::nullopt;
}

}  // namespace keyway::inline v1
