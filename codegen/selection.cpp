#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/json/json_reader.h>
#include <keyway/codegen/selection.h>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1 {

namespace {

constexpr std::string_view kNamespace = "keyway::";

// A name a line, without blanks and without what follows a #.
std::vector<LocatedText> names_in_lines(const std::string& text) {
  std::vector<LocatedText> names;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    if (!line.empty()) names.push_back({std::move(line), {number, 1}, {}});
  }
  return names;
}

std::vector<LocatedText> names_in_recording(const SourceFile& file, Diagnostics& diagnostics) {
  const Report report(diagnostics, file.path);
  const auto recording = read_json(file.text, report);
  if (!recording) return {};
  const JsonValue* decisions = recording->find("decisions", JsonKind::Array);
  if (decisions == nullptr) {
    report.error(recording->place(), "this is no recording: it has no list of decisions");
    return {};
  }
  std::vector<LocatedText> names;
  for (const JsonValue& decision : decisions->items) {
    const JsonValue* op = decision.find("op", JsonKind::String);
    if (op == nullptr) {
      report.error(decision.place(), "a decision names no operator");
    } else if (op->text.text.starts_with(kNamespace)) {
      names.push_back(op->text);
    }
  }
  return names;
}

}  // namespace

std::set<std::string> read_selection(const SourceFile& file, const std::vector<Family>& families,
                                     Diagnostics& diagnostics) {
  auto known = overload_names(families);
  for (const std::string_view op : kControlFlowOperators) known.emplace(op, "");
  const auto short_name_of = [](const auto& overload) { return overload.first.substr(kNamespace.size()); };
  std::set<std::string> selection;
  const bool is_recording = file.text.starts_with("{");
  for (const LocatedText& name : is_recording ? names_in_recording(file, diagnostics) : names_in_lines(file.text)) {
    const std::string full = name.text.starts_with(kNamespace) ? name.text : std::string(kNamespace) + name.text;
    if (known.contains(full)) {
      selection.insert(full);
    } else {
      const std::string short_name = full.substr(kNamespace.size());
      diagnostics.add({file.path, name.place,
                       fmt::format("there is no operator {}{}", in_quotes(short_name),
                                   did_you_mean(short_name, known, short_name_of))});
    }
  }
  return selection;
}

}  // namespace keyway::inline v1
