#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/op_reader.h>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace keyway::inline v1 {
namespace {

constexpr std::string_view kTags[] = {
    "across_devices",           // arguments may be on different devices
    "allocates",                // the kernel returns its results: their sizes are not known before
    "core",                     // of the Core ATen set
    "data_dependent_shape",     // sizes of results depend on data
    "factory",                  // makes a tensor from no tensor
    "in_place_safe",            // the kernel may write to one of its inputs
    "inplace_view",             // changes the geometry of its argument
    "nondeterministic",         // not the same value each time, but for no generator's sake
    "nondeterministic_seeded",  // draws from a generator
    "out_of_cast_dtype",  // an out= tensor may have any dtype that the result converts to, though nothing promotes
    "out_of_flags",       // an out= tensor may be of bool or uint8, whichever the result is
    "out_of_same_dtype",  // an out= tensor must have the result's dtype, though operands promote or it is a composite
    "pointwise",
    "scalar_result",  // returns a number, not a tensor
    "view_copy",      // a view's values in memory of their own
};

}  // namespace

std::vector<std::string> known_tags() { return {std::begin(kTags), std::end(kTags)}; }

std::vector<std::string> read_tags(const OpSource& source) {
  std::vector<std::string> tags;
  const JsonValue* list = source.entry.find("tags");
  if (!list) return tags;
  const auto known = known_tags();
  for (const JsonValue& item : list->items) {
    const std::string& tag = item.text.text;
    if (std::ranges::find(known, tag) == known.end())
      source.report.error(item.place(), fmt::format("unknown tag {}{}", in_quotes(tag), did_you_mean(tag, known)));
    if (std::ranges::find(tags, tag) != tags.end())
      source.report.error(item.place(), fmt::format("the tag {} stands here twice", in_quotes(tag)));
    tags.push_back(tag);
  }
  if (std::ranges::count_if(tags, [](std::string_view tag) { return tag.starts_with("out_of_"); }) > 1)
    source.report.error(list->place(), "the tags that begin with 'out_of_' exclude each other");
  return tags;
}

std::string read_doc(const JsonValue& doc, const Report& report) {
  const std::string& text = doc.text.text;
  const auto fail = [&](std::string_view why) { report.error(doc.place(), fmt::format("the doc {}", why)); };
  if (text.empty()) fail("is empty");
  // It is printed in comments of generated code.
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }))
    fail("has a line break or another control character; it is one sentence on one line");
  if (text.find("*/") != std::string::npos) fail("has '*/', which would end a comment");
  if (!text.empty() && text.back() == '\\') fail("ends in '\\', which would continue a comment");
  return text;
}

std::string read_namespace(const OpSource& source) {
  const JsonValue* value = source.entry.find("namespace");
  if (!value) return {};
  const std::string& name = value->text.text;
  if (const auto fault = name_fault(name))
    source.report.error(value->place(), fmt::format("the namespace {} {}", in_quotes(name), *fault));
  return name;
}

AutocastPolicy read_autocast(const OpSource& source) {
  const JsonValue* value = source.entry.find("autocast");
  if (!value) return AutocastPolicy::None;
  if (source.schema->is_mutable() || source.schema->is_alias())
    source.report.error(value->place(), "'autocast' is for an operator whose results are new tensors");
  constexpr std::pair<std::string_view, AutocastPolicy> kPolicies[] = {
      {"float32", AutocastPolicy::Float32}, {"lower", AutocastPolicy::Lower}, {"promote", AutocastPolicy::Promote}};
  for (const auto& [name, policy] : kPolicies)
    if (value->text.text == name) return policy;
  source.report.error(value->place(), fmt::format("'autocast' is {}; it is 'float32', 'lower' or 'promote'",
                                                  in_quotes(value->text.text)));
  return AutocastPolicy::None;
}

BatchWord read_batch(const OpSource& source, const Recipe& recipe) {
  const JsonValue* value = source.entry.find("batch");
  if (!value) {
    switch (recipe.kind) {
      case RecipeKind::Pointwise: return BatchWord::Pointwise;
      case RecipeKind::Reduction: return BatchWord::Reduction;
      case RecipeKind::View: return BatchWord::Shape;
      default: return BatchWord::Each;
    }
  }
  constexpr std::pair<std::string_view, BatchWord> kWords[] = {{"dims", BatchWord::Dims},
                                                               {"matrices", BatchWord::Matrices},
                                                               {"pointwise", BatchWord::Pointwise},
                                                               {"shape", BatchWord::Shape},
                                                               {"windows", BatchWord::Windows}};
  for (const auto& [word, batch] : kWords)
    if (value->text.text == word) return batch;
  source.report.error(value->place(),
                      fmt::format("'batch' is {}; it is 'dims', 'matrices', 'pointwise', 'shape' or 'windows'",
                                  in_quotes(value->text.text)));
  return BatchWord::Each;
}

ForwardWord read_forward(const OpSource& source, const Recipe& recipe) {
  const JsonValue* derivatives = source.entry.find("derivatives");
  const bool has_derivatives = derivatives != nullptr && !derivatives->members.empty();
  const JsonValue* value = source.entry.find("forward");
  if (!value) {
    if (has_derivatives && recipe.kind == RecipeKind::Pointwise) return ForwardWord::Pointwise;
    return has_derivatives && recipe.kind == RecipeKind::View ? ForwardWord::Linear : ForwardWord::General;
  }
  if (!has_derivatives)
    source.report.error(value->place(),
                        "'forward' says how the operator depends on the arguments that 'derivatives' names, but it "
                        "names none");
  if (value->text.text == "linear") return ForwardWord::Linear;
  if (value->text.text == "multilinear") return ForwardWord::Multilinear;
  source.report.error(value->place(),
                      fmt::format("'forward' is {}; it is 'linear' or 'multilinear'", in_quotes(value->text.text)));
  return ForwardWord::General;
}

}  // namespace keyway::inline v1
