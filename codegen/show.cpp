#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/registrations.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/codegen/show.h>

#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1 {
namespace {

constexpr std::size_t kColumns = 120;

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

// The keys of an entry, one a line; lists and objects have one element a line.
class EntryText {
 public:
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) put(key, json_string(value));
  }
  // Of elements that are JSON.
  void list(std::string_view key, const std::vector<std::string>& items) {
    if (!items.empty()) put(key, bracketed("[", items, "]", key.size() + 6));
  }
  void texts(std::string_view key, const std::vector<std::string>& items) { list(key, texts_of(items, json_string)); }
  void object(std::string_view key, const std::vector<std::pair<std::string, std::string>>& members) {
    const auto text_of = [](const auto& member) {
      return fmt::format("{}: {}", json_string(member.first), json_string(member.second));
    };
    put(key, members.empty() ? "{}" : bracketed("{ ", texts_of(members, text_of), " }", key.size() + 6));
  }
  std::string str() const { return fmt::format("{{ {} }}\n", joined(keys_, ",\n  ")); }

 private:
  // The items in brackets: on one line where they fit behind their key, else each below the first, in `column`.
  static std::string bracketed(std::string_view open, const std::vector<std::string>& items, std::string_view close,
                               std::size_t column) {
    std::string line = fmt::format("{}{}{}", open, joined(items), close);
    if (column + line.size() <= kColumns) return line;
    const std::string next = ",\n" + std::string(column + open.size(), ' ');
    return fmt::format("{}{}{}", open, joined(items, next), close);
  }
  void put(std::string_view key, const std::string& json) { keys_.push_back(fmt::format("\"{}\": {}", key, json)); }

  std::vector<std::string> keys_;
};

void put_recipe(EntryText& entry, const Op& op) {
  if (op.recipe.kind != RecipeKind::Kernels) entry.text(to_string(op.recipe.kind), op.recipe.function);
  entry.texts("kernels", op.recipe.kernels);
  entry.text("rule", op.rule);
}

void put_dtypes(EntryText& entry, const DTypes& dtypes) {
  entry.text("dtypes", dtypes.preset);
  std::vector<std::pair<std::string, std::string>> rules;
  for (const DTypeRule& rule : dtypes.rules) rules.emplace_back(joined(rule.names), rule.set.text.text);
  if (!rules.empty()) entry.object("dtypes", rules);
}

void put_variants(EntryText& entry, const Op& op) {
  std::vector<std::string> variants;
  if (op.variants.function) variants.emplace_back("function");
  if (op.variants.method) variants.emplace_back("method");
  if (op.variants.inplace) variants.emplace_back("inplace");
  if (op.variants.out) variants.emplace_back("out");
  entry.texts("variants", variants);
  if (op.variants.out) entry.text("out", fmt::format("{}({})", op.out.name, joined(op.out.arguments)));
}

void put_formulas(EntryText& entry, std::string_view key, const std::vector<Formula>& formulas) {
  entry.list(key, texts_of(formulas, [](const Formula& formula) {
               const std::string text = json_string(formula.text.text);
               return formula.about_index ? fmt::format("{{ \"index\": {} }}", text) : text;
             }));
}

void put_differentiation(EntryText& entry, const Op& op) {
  std::vector<std::pair<std::string, std::string>> formulas;
  for (const Derivative& derivative : op.derivatives)
    formulas.emplace_back(joined(derivative.inputs), derivative.formula.text.text);
  if (op.differentiability_stated) entry.object("derivatives", formulas);
  entry.text("autocast", to_string(op.autocast));
  entry.text("vmap", op.vmap.name);
  entry.text("jvp", op.jvp.name);
  if (op.counterpart) entry.text("counterpart", (*op.counterpart)->full_name());
}

void put_samples(EntryText& entry, const Op& op) {
  entry.texts("samples", texts_of(op.samples, [](const Example& sample) {
                return sample.error.empty() ? sample.text.text
                                            : fmt::format("{} raises {}", sample.text.text, sample.error);
              }));
}

}  // namespace

std::string show_entry(const Op& op) {
  EntryText entry;
  entry.text("func", op.func.text);
  put_recipe(entry, op);
  entry.text("namespace", op.python_namespace);
  put_dtypes(entry, op.dtypes);
  put_variants(entry, op);
  entry.texts("aliases", op.aliases);
  put_formulas(entry, "requires", op.contracts);
  put_formulas(entry, "values", op.values);
  put_differentiation(entry, op);
  put_formulas(entry, "domain", op.domain);
  put_samples(entry, op);
  entry.texts("tags", op.tags);
  entry.text("doc", op.doc);
  entry.text("example", op.example.text.text);
  return entry.str();
}

std::string show_entries(const std::vector<Family>& families, std::string_view name) {
  std::vector<std::string> entries;
  for (const Family& family : families)
    for (const Op& op : family.ops)
      if (op.name() == name || op.schema->name() == name) entries.push_back(show_entry(op));
  return joined(entries, "\n");
}

}  // namespace keyway::inline v1
