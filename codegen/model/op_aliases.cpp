#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/op_reader.h>

#include <map>

namespace keyway::inline v1 {

std::vector<std::string> read_aliases(const OpSource& source) {
  const JsonValue* list = source.entry.find("aliases");
  if (!list) return {};
  if (list->items.empty()) source.report.error(list->place(), "'aliases' names none");
  for (const JsonValue& item : list->items) {
    const std::string& alias = item.text.text;
    if (const auto fault = name_fault(alias))
      source.report.error(item.place(), "the alias {} {}", in_quotes(alias), *fault);
    else if (is_python_keyword(alias))
      source.report.error(item.place(), "the alias {} is a Python keyword", in_quotes(alias));
  }
  return unique_words(source, *list, "alias");
}

void check_aliases(const std::vector<Family>& families, Diagnostics& diagnostics) {
  std::map<std::string, std::string, std::less<>> meanings;  // operators by the names that users call
  for (const Family& family : families)
    for (const Op& op : family.ops) meanings.emplace(op.schema->name(), op.schema->name());
  for (const Family& family : families) {
    for (const Op& op : family.ops) {
      for (const std::string& alias : op.aliases) {
        const auto [meaning, added] = meanings.emplace(alias, op.schema->name());
        if (added || meaning->second == op.schema->name()) continue;
        Report(diagnostics, family.file)
            .in_op(op.name())
            .error(op.place(), "the alias {} already means {}", in_quotes(alias), meaning->second);
      }
    }
  }
}

}  // namespace keyway::inline v1
