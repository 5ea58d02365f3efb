#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/entries.h>
#include <keyway/codegen/model/entry_shape.h>
#include <keyway/codegen/model/macros.h>

#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1 {
namespace {

// One text, as it is shown in an error.
std::string text_of(const JsonValue& value) {
  return value.text.text.empty() ? std::string(to_string(value.kind)) : value.text.text;
}

// A call in an example that begins with its arguments is one of the entry's operator.
void name_call(JsonValue& sample, std::string_view op) {
  if (sample.kind != JsonKind::String || !sample.text.text.starts_with('(')) return;
  LocatedText text;
  text.place = sample.text.place;
  text.append(op, sample.text.at(0));
  text.append(sample.text, 0, sample.text.text.size());
  sample.text = std::move(text);
}

// The name of the operator in a schema, without namespace and overload.
std::string_view name_in(std::string_view func) {
  func = func.substr(0, func.find_first_of(".("));
  const std::size_t colons = func.rfind("::");
  return colons == std::string_view::npos ? func : func.substr(colons + 2);
}

void name_calls(JsonValue& entry) {
  const JsonValue* func = entry.find("func", JsonKind::String);
  if (func == nullptr) return;
  const std::string op(name_in(func->text.text));
  for (JsonMember& member : entry.members) {
    if (member.key.text == "example") name_call(member.value, op);
    if (member.key.text != "samples") continue;
    for (JsonValue& sample : member.value.items) name_call(sample, op);
  }
}

// What macros make of the value of a key of a file or of an entry. Null leaves out the key.
void expand_key(const JsonMember& member, Macros& macros, std::vector<LocalMacro>& locals, const Report& report,
                JsonValue& out) {
  JsonValue value = macros.expand(member.value, locals, report);
  if (value.kind == JsonKind::Null && member.value.kind == JsonKind::String) return;
  if (is_text_key(member.key.text)) value = joined_text(std::move(value));
  out.members.push_back({member.key, std::move(value)});
}

JsonValue expand_entry(const JsonValue& entry, Macros& macros, std::vector<LocalMacro>& locals, const Report& report) {
  JsonValue out = JsonValue::of(JsonKind::Object, entry.text);
  for (const JsonMember& member : entry.members) {
    if (member.key.text == "for")
      out.members.push_back(member);
    else
      expand_key(member, macros, locals, report, out);
  }
  name_calls(out);
  return out;
}

// The number of entries that a template gives, 0 after an error.
std::size_t count_entries(const JsonValue& words, const Macros& macros, const Report& report) {
  std::size_t count = 0;
  const auto fail = [&](Place place, std::string_view why, const auto&... values) {
    report.error(place, why, values...);
    return std::size_t{0};
  };
  for (const JsonMember& word : words.members) {
    if (const std::string fault = macros.name_fault(word.key.text); !fault.empty()) return fail(word.key.place, fault);
    if (word.value.kind != JsonKind::Array || word.value.items.empty())
      return fail(word.value.place(), "{} has a list of values, one for each entry of the template",
                  in_quotes(word.key.text));
    if (count != 0 && word.value.items.size() != count)
      return fail(word.value.place(), "{} has {} values, but {} has {}", in_quotes(word.key.text),
                  word.value.items.size(), in_quotes(words.members.front().key.text), count);
    count = word.value.items.size();
  }
  return count != 0 ? count : fail(words.place(), "'for' names nothing");
}

void report_unused(const JsonValue& words, const std::vector<bool>& used, const Report& report) {
  for (std::size_t i = 0; i < used.size(); ++i)
    if (!used[i]) report.error(words.members[i].key.place, "nothing uses {}", in_quotes(words.members[i].key.text));
}

// The entries of a template, up to the first that has an error.
void expand_template(const JsonValue& entry, std::size_t written, Macros& macros, const Report& report,
                     ExpandedFile& out, JsonValue& ops) {
  const JsonValue& words = *entry.find("for");
  const std::size_t count = count_entries(words, macros, report);
  const std::size_t errors = report.count();
  std::vector<bool> used(words.members.size(), false);
  for (std::size_t i = 0; i < count && report.count() == errors; ++i) {
    std::vector<LocalMacro> none;
    std::vector<LocalMacro> locals;
    for (const JsonMember& word : words.members)
      locals.push_back({word.key.text, macros.expand(word.value.items[i], none, report)});
    const std::string first_word = fmt::format("{} = {}", locals.front().name, text_of(locals.front().value));
    ops.items.push_back(expand_entry(entry, macros, locals, report.for_words(first_word)));
    out.origins.push_back({written, first_word, report.count() == errors});
    for (std::size_t word = 0; word < used.size(); ++word) used[word] = used[word] || locals[word].used;
  }
  if (count != 0 && report.count() == errors) report_unused(words, used, report);
}

JsonValue expand_ops(const JsonValue& written, Macros& macros, const Report& report, ExpandedFile& out) {
  JsonValue ops = JsonValue::of(JsonKind::Array, written.text);
  for (std::size_t i = 0; i < written.items.size(); ++i) {
    const JsonValue& entry = written.items[i];
    std::vector<LocalMacro> none;
    if (entry.find("for", JsonKind::Object) != nullptr) {
      expand_template(entry, i, macros, report, out, ops);
    } else {
      const std::size_t errors = report.count();
      ops.items.push_back(entry.kind == JsonKind::Object ? expand_entry(entry, macros, none, report) : entry);
      out.origins.push_back({i, {}, report.count() == errors});
    }
  }
  return ops;
}

}  // namespace

ExpandedFile expand_entries(const JsonValue& file, const Report& report) {
  ExpandedFile out{file, {}};
  if (file.kind != JsonKind::Object) return out;
  out.json = JsonValue::of(JsonKind::Object, file.text);
  const std::size_t errors = report.count();
  Macros macros(file.find("macros", JsonKind::Object), report);
  std::vector<LocalMacro> none;
  for (const JsonMember& member : file.members) {
    if (member.key.text == "macros")
      out.json.members.push_back(member);
    else if (member.key.text == "ops" && member.value.kind == JsonKind::Array)
      out.json.members.push_back({member.key, expand_ops(member.value, macros, report, out)});
    else
      expand_key(member, macros, none, report, out.json);
  }
  if (report.count() == errors) macros.report_unused(report);
  return out;
}

}  // namespace keyway::inline v1
