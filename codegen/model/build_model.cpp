// Two passes over expanded entries: the first reads the files as far as the schemas of their entries, so that the
// second can read expressions knowing every operator there is.
#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/function_table.h>
#include <keyway/codegen/json/json_reader.h>
#include <keyway/codegen/model/build_model.h>
#include <keyway/codegen/model/dim_arguments.h>
#include <keyway/codegen/model/entries.h>
#include <keyway/codegen/model/entry_shape.h>
#include <keyway/codegen/model/helpers.h>
#include <keyway/codegen/model/library_entries.h>
#include <keyway/codegen/model/op_reader.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/codegen/model/wrapper_kind.h>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

namespace keyway::inline v1 {
namespace {

struct EntryDraft {
  const JsonValue* json;
  const EntryOrigin* origin;
  Report report;                      // names the op once it is known
  std::optional<OwnedSchema> schema;  // absent: it does not parse, which has been reported
  bool well_shaped;
};

struct FamilyDraft {
  Family family;  // without ops
  Report report;
  ExpandedFile file;
  std::vector<EntryDraft> entries;
};

// --- First pass

// The file's name without folders and extension.
std::string stem_of(std::string_view path) {
  path.remove_prefix(path.find_last_of('/') + 1);
  return std::string(path.substr(0, path.find('.')));
}

// Of an entry that is not to be reported only the schema is read, if it is right.
EntryDraft draft_entry(const JsonValue& json, const EntryOrigin& origin, const Report& file_report, bool is_reported) {
  EntryDraft draft{&json, &origin, file_report.for_words(origin.words), std::nullopt, false};
  Diagnostics unread;
  if (const JsonValue* func = json.find("func", JsonKind::String))
    draft.schema = read_schema(func->text, is_reported ? draft.report : Report(unread, file_report.file()));
  if (draft.schema) draft.report = draft.report.in_op((*draft.schema)->full_name());
  draft.well_shaped = is_reported && check_entry_shape(json, draft.report);
  return draft;
}

// Of an entry template the mistakes of its first wrong entry are reported: the others have them too. Where a macro is
// wrong, the rest of the entry is not looked at.
std::vector<EntryDraft> draft_entries(const ExpandedFile& file, const Report& report) {
  std::vector<EntryDraft> drafts;
  std::optional<std::size_t> wrong;
  const std::vector<JsonValue>& ops = file.json.find("ops")->items;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const EntryOrigin& origin = file.origins[i];
    const std::size_t errors = report.count();
    drafts.push_back(draft_entry(ops[i], origin, report, origin.whole && origin.written != wrong));
    if (report.count() > errors) wrong = origin.written;
  }
  return drafts;
}

FamilyDraft draft_family(const SourceFile& file, Diagnostics& diagnostics) {
  FamilyDraft draft{{stem_of(file.path), file.path, {}, {}, {}, {}, {}}, Report(diagnostics, file.path), {}, {}};
  if (const auto fault = name_fault(draft.family.name))
    draft.report.error({}, "the file's name is the family's, but {} {}", in_quotes(draft.family.name), *fault);
  const auto written = read_json(file.text, draft.report);
  if (!written) return draft;
  draft.file = expand_entries(*written, draft.report);
  if (!check_family_shape(draft.file.json, draft.report)) return draft;
  draft.family.doc = read_doc(*draft.file.json.find("doc"), draft.report);
  draft.family.helpers = read_helpers(draft.file.json, draft.report);
  draft.entries = draft_entries(draft.file, draft.report);
  return draft;
}

void check_families_unique(const std::vector<FamilyDraft>& drafts) {
  std::map<std::string_view, const FamilyDraft*> seen;
  for (const FamilyDraft& draft : drafts) {
    const auto [first, added] = seen.emplace(draft.family.name, &draft);
    if (!added)
      draft.report.error({}, "the family {} is also that of {}", in_quotes(draft.family.name),
                         first->second->family.file);
  }
}

auto sort_key(FunctionSchema schema) {
  return std::tuple(schema.namespace_name(), schema.name(), schema.overload_name());
}

// An entry template stands where its first entry does. An op that stands twice is reported as such, with both places,
// not as unsorted.
void check_order(const FamilyDraft& draft) {
  const EntryDraft* last = nullptr;
  for (const EntryDraft& entry : draft.entries) {
    if (!entry.schema || (last && entry.origin->written == last->origin->written)) continue;
    if (last && sort_key(**entry.schema) < sort_key(**last->schema))
      entry.report.error(entry.json->place(), "ops are sorted by name: this one stands before {}",
                         shown((*last->schema)->full_name()));
    else
      last = &entry;
  }
}

void check_entries_unique(const std::vector<FamilyDraft>& drafts) {
  std::map<std::string_view, std::string> origins;
  for (const FamilyDraft& draft : drafts) {
    for (const EntryDraft& entry : draft.entries) {
      if (!entry.schema) continue;
      const Place place = entry.json->find("func")->place();
      const auto [first, added] = origins.emplace((*entry.schema)->full_name(), entry.report.at(place));
      if (!added) entry.report.error(place, "stands already at {}", first->second);
    }
  }
}

// With the variants that an entry has, as far as can be said before it is read as a whole.
void add_operator(FunctionTable& table, const EntryDraft& entry) {
  const FunctionSchema schema = **entry.schema;
  Variants variants = default_calls(schema, entry.json->find("namespace") != nullptr);
  if (const JsonValue* list = entry.json->find("variants")) {
    const auto has = [&](std::string_view variant) {
      return std::ranges::any_of(list->items, [&](const JsonValue& item) { return item.text.text == variant; });
    };
    variants = {.function = has("function"), .method = has("method")};
  }
  table.add_operator(schema, variants.function, variants.method);
}

void add_functions(FunctionTable& table, const std::vector<FamilyDraft>& drafts) {
  for (const FamilyDraft& draft : drafts) {
    for (const EntryDraft& entry : draft.entries)
      if (entry.schema) add_operator(table, entry);
    for (const Helper& helper : draft.family.helpers) table.add_helper(*helper.schema);
  }
}

// Functions of `drafts` hide those of `base` that have their name.
void hide(FunctionTable& table, const std::vector<FamilyDraft>& drafts) {
  for (const FamilyDraft& draft : drafts) {
    for (const EntryDraft& entry : draft.entries)
      if (entry.schema) table.remove_operators((*entry.schema)->name());
    for (const Helper& helper : draft.family.helpers) table.remove_helpers(helper.schema->name());
  }
}

FunctionTable table_of(const std::vector<FamilyDraft>& drafts, const std::vector<FamilyDraft>& base) {
  FunctionTable table;
  add_functions(table, base);
  if (!base.empty()) hide(table, drafts);
  add_functions(table, drafts);
  return table;
}

std::vector<FamilyDraft> draft_families(const std::vector<SourceFile>& files, Diagnostics& diagnostics) {
  std::vector<FamilyDraft> drafts;
  for (const SourceFile& file : files) drafts.push_back(draft_family(file, diagnostics));
  check_families_unique(drafts);
  return drafts;
}

// The families become those of the library whose namespace their operators have.
void make_library(std::vector<Family>& families, const std::vector<FamilyDraft>& base, Diagnostics& diagnostics) {
  std::vector<OwnedSchema> schemas;
  for (const FamilyDraft& draft : base) {
    for (const EntryDraft& entry : draft.entries)
      if (entry.schema) schemas.push_back(*entry.schema);
    for (const Helper& helper : draft.family.helpers) schemas.push_back(helper.schema);
  }
  const std::string library = check_library(families, diagnostics);
  for (Family& family : families) {
    family.library = library;
    family.base = schemas;
  }
}

// --- Second pass

std::optional<Op> read_op(const EntryDraft& entry, const FunctionTable& functions) {
  const OpSource source{*entry.json, *entry.schema, functions, entry.report};
  const std::size_t errors = source.report.count();
  check_names(source);
  Recipe recipe = read_recipe(source);
  const Variants variants = read_variants(source, recipe);
  auto example = read_example(source);
  Op op{.schema = *entry.schema,
        .func = source.func(),
        .recipe = recipe,
        .rule = read_rule(source, recipe),
        .python_namespace = read_namespace(source),
        .dtypes = read_dtypes(source),
        .variants = variants,
        .out = read_out(source, variants),
        .aliases = read_aliases(source),
        .contracts = read_contracts(source, "requires", ExprContext::Contract),
        .values = read_contracts(source, "values", ExprContext::Data),
        .derivatives = read_derivatives(source, recipe),
        .differentiability_stated = entry.json->find("derivatives") != nullptr,
        .autocast = read_autocast(source),
        .vmap = read_vmap(source, recipe),
        .jvp = read_jvp(source, recipe),
        .counterpart = read_counterpart(source),
        .domain = read_contracts(source, "domain", ExprContext::Data),
        .samples = read_samples(source),
        .tags = read_tags(source, recipe),
        .doc = read_doc(*entry.json->find("doc"), entry.report),
        .example = {}};
  if (!example) return std::nullopt;
  op.example = std::move(*example);
  if (source.report.count() == errors) check_reduced_dims(op, source);
  if (source.report.count() == errors) check_promotions(op, source);
  return op;
}

// The ops of a family, sorted by name; of the entries with one "for", up to the first that is wrong.
void read_ops(FamilyDraft& draft, const FunctionTable& functions) {
  std::optional<std::size_t> wrong;
  for (const EntryDraft& entry : draft.entries) {
    if (!entry.schema || !entry.well_shaped || entry.origin->written == wrong) continue;
    const std::size_t errors = draft.report.count();
    auto op = read_op(entry, functions);
    if (op) draft.family.ops.push_back(std::move(*op));
    if (draft.report.count() > errors) wrong = entry.origin->written;
  }
  std::ranges::stable_sort(draft.family.ops, {}, [](const Op& op) { return sort_key(*op.schema); });
}

// Reports overloads that two entries generate: add.Tensor and add.Scalar may not both have add.out. Nor may overloads
// have one name in C++.
void check_overloads_unique(const std::vector<Family>& families, Diagnostics& diagnostics) {
  std::map<std::string, std::pair<std::string, std::string>> origins;  // of identifiers: the overload, and its entry
  for (const Family& family : families) {
    for (const Op& op : family.ops) {
      const Report report = Report(diagnostics, family.file).in_op(op.name());
      for (const Overload& overload : expand_variants(op)) {
        const std::string name(overload.schema->full_name());
        const std::string entry = fmt::format("{} at {}", op.name(), report.at(op.place()));
        const auto [first, added] = origins.emplace(cpp_identifier(*overload.schema), std::pair(name, entry));
        const auto& [other, other_entry] = first->second;
        if (added) continue;
        report.error(op.place(), other == name ? fmt::format("generates {}, and so does {}", name, other_entry)
                                               : fmt::format("generates {}, which is {} in C++, as is {} of {}", name,
                                                             first->first, other, other_entry));
      }
    }
  }
}

// Contracts may call operators: those run their guard and rule for others too. Reports calls of those that have no
// rule.
void mark_planned(std::vector<Family>& families, Diagnostics& diagnostics) {
  std::map<std::string_view, Op*> ops;
  for (Family& family : families)
    for (Op& op : family.ops) ops.emplace(op.name(), &op);
  const auto mark = [&](const Formula& contract, const Report& report) {
    each_node(contract.expr.root(), [&](const Expr& node) {
      const ExprNote& note = contract.expr.note(node);
      if (note.role != ExprRole::Operator) return;
      Op& called = *ops.at(note.target);
      called.planned = true;
      if (planned_results(called) == 0)
        report.error(contract.text.at(node.offset),
                     "a contract asks for results that are planned before the kernel runs, and {} has none",
                     in_quotes(called.name()));
    });
  };
  for (const Family& family : families)
    for (const Op& op : family.ops)
      for (const Formula& contract : op.contracts) mark(contract, Report(diagnostics, family.file).in_op(op.name()));
}

}  // namespace

std::optional<std::vector<Family>> build_model(const std::vector<SourceFile>& files, Diagnostics& diagnostics,
                                               const std::vector<SourceFile>& base) {
  std::vector<FamilyDraft> drafts = draft_families(files, diagnostics);
  const std::vector<FamilyDraft> base_drafts = draft_families(base, diagnostics);
  const FunctionTable functions = table_of(drafts, base_drafts);
  check_entries_unique(drafts);
  std::vector<Family> families;
  for (FamilyDraft& draft : drafts) {
    check_order(draft);
    read_ops(draft, functions);
    families.push_back(std::move(draft.family));
  }
  if (!base.empty()) make_library(families, base_drafts, diagnostics);
  if (diagnostics.empty()) check_overloads_unique(families, diagnostics);
  if (diagnostics.empty()) check_helpers(families, functions, diagnostics);
  if (diagnostics.empty()) check_aliases(families, diagnostics);
  if (diagnostics.empty()) mark_planned(families, diagnostics);
  if (!diagnostics.empty()) return std::nullopt;
  return families;
}

}  // namespace keyway::inline v1
