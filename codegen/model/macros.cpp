#include <keyway/codegen/base/brackets.h>
#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/macros.h>
#include <keyway/core/schema/lexer.h>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace keyway::inline v1 {

// `{name}`, `{name + 1}` or `{name(x, y)}` in a text.
struct MacroUse {
  TextPart whole;
  std::string_view name;
  std::string_view shift = {};  // "+ 1"
  bool called = false;
  std::vector<TextPart> arguments = {};
};

namespace {

// Far more than a schema file needs, far less than it takes to exhaust a machine.
constexpr std::size_t kMaxExpandedBytes = std::size_t{16} << 20;
constexpr int kMaxDepth = 16;

constexpr std::size_t kNone = std::string_view::npos;

using detail::is_digit;
using detail::is_name;
using detail::is_name_start;

bool is_identifier(std::string_view name) {
  return !name.empty() && is_name_start(name.front()) && std::ranges::all_of(name, is_name);
}

// Where "+ 1" or "- 1" behind blanks from `begin` on ends, or `begin`.
std::size_t end_of_shift(std::string_view text, std::size_t begin) {
  const std::size_t sign = text.find_first_not_of(' ', begin);
  if (sign == kNone || (text[sign] != '+' && text[sign] != '-')) return begin;
  const std::size_t first = text.find_first_not_of(' ', sign + 1);
  const std::size_t end = std::min(text.find_first_not_of("0123456789", first), text.size());
  return first == kNone || end == first || end - first > 3 ? begin : end;
}

// The use of a macro whose bracket opens at `open`. A set such as `{3, 4}` is none, nor is one of several names.
std::optional<MacroUse> use_at(std::string_view text, std::size_t open) {
  std::size_t end = open + 1;
  if (end == text.size() || !is_name_start(text[end])) return std::nullopt;
  while (end < text.size() && is_name(text[end])) ++end;
  MacroUse use{{open, 0}, text.substr(open + 1, end - open - 1)};
  if (end < text.size() && text[end] == '(') {
    const std::size_t close = closing_bracket(text, end);
    if (close == kNone) return std::nullopt;
    use.called = true;
    use.arguments = listed(text, {end + 1, close});
    end = close + 1;
  } else if (const std::size_t shifted = end_of_shift(text, end); shifted > end) {
    use.shift = text.substr(end, shifted - end);
    end = shifted;
  }
  use.whole.end = end + 1;
  return end < text.size() && text[end] == '}' ? std::optional(use) : std::nullopt;
}

// "+ 1" as a number.
int number_of(std::string_view shift) {
  int number = 0;
  for (const char c : shift)
    if (is_digit(c)) number = number * 10 + (c - '0');
  return shift.find('-') == kNone ? number : -number;
}

// The number that a text spells, if it has few digits and nothing else.
std::optional<int> number_in(const JsonValue& value) {
  const std::string& text = value.text.text;
  const std::string_view digits = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
  const bool is_number =
      value.kind == JsonKind::String && !digits.empty() && digits.size() <= 6 && std::ranges::all_of(digits, is_digit);
  return is_number ? std::optional(number_of(text)) : std::nullopt;
}

JsonValue as_string(LocatedText text) { return JsonValue::of(JsonKind::String, std::move(text)); }

JsonValue as_text(std::string_view text, Place place) {
  LocatedText out;
  out.place = place;
  out.append(text, place);
  return as_string(std::move(out));
}

std::optional<MacroUse> next_use(std::string_view text, std::size_t from) {
  for (std::size_t open = text.find('{', from); open != kNone; open = text.find('{', open + 1))
    if (auto use = use_at(text, open)) return use;
  return std::nullopt;
}

std::size_t size_of(const JsonValue& value) {
  std::size_t size = sizeof(JsonValue) + value.text.text.size();
  for (const JsonValue& item : value.items) size += size_of(item);
  for (const JsonMember& member : value.members) size += member.key.text.size() + size_of(member.value);
  return size;
}

// The value as a use of it stands for it: a number is its digits, to which "+ 1" adds.
JsonValue shifted(JsonValue value, const MacroUse& use, Place place, const Report& report) {
  if (value.kind == JsonKind::Number) value = as_text(value.text.text, value.text.place);
  if (use.shift.empty()) return value;
  if (const auto number = number_in(value))
    return as_text(std::to_string(*number + number_of(use.shift)), value.text.place);
  report.error(place, "{} is added to, but is no number", in_quotes(use.name));
  return value;
}

LocatedText slice(const LocatedText& text, TextPart part) {
  LocatedText out;
  out.place = text.at(part.begin);
  out.append(text, part.begin, part.end);
  return out;
}

}  // namespace

std::optional<Macros::Macro> Macros::read(const JsonMember& member, const Report& report) const {
  const std::string_view text = member.key.text;
  Macro macro{member.key, std::string(text.substr(0, text.find('('))), {}, &member.value};
  if (macro.name.size() < text.size() && text.ends_with(')'))
    for (const TextPart part : listed(text, {macro.name.size() + 1, text.size() - 1}))
      macro.parameters.emplace_back(part.of(text));
  const bool named = is_identifier(macro.name) && std::ranges::all_of(macro.parameters, is_identifier) &&
                     (macro.name.size() == text.size() || !macro.parameters.empty());
  if (!named) {
    report.error(member.key.place, "a macro is named like 'name' or 'name(x, y)', not {}", in_quotes(text));
    return std::nullopt;
  }
  for (auto name = macro.parameters.begin(); name != macro.parameters.end(); ++name)
    if (std::find(macro.parameters.begin(), name, *name) != name) {
      report.error(member.key.place, "the macro {} has two parameters {}", in_quotes(macro.name), in_quotes(*name));
      return std::nullopt;
    }
  if (const std::string fault = name_fault(macro.name); !fault.empty()) {
    report.error(member.key.place, fault);
    return std::nullopt;
  }
  return macro;
}

Macros::Macros(const JsonValue* list, const Report& report) {
  if (list == nullptr) return;
  for (const JsonMember& member : list->members)
    if (auto macro = read(member, report)) macros_.push_back(std::move(*macro));
}

std::string Macros::name_fault(std::string_view name) const {
  if (!is_identifier(name)) return fmt::format("{} is no name", in_quotes(name));
  const auto found = std::ranges::find(macros_, name, &Macro::name);
  if (found == macros_.end()) return {};
  return fmt::format("there is a macro {} already, at {}:{}", in_quotes(name), found->key.place.line,
                     found->key.place.column);
}

void Macros::report_unused(const Report& report) const {
  for (const Macro& macro : macros_)
    if (!macro.used) report.error(macro.key.place, "nothing uses the macro {}", in_quotes(macro.name));
}

// Counts what a macro becomes, so that macros of macros cannot exhaust a machine.
JsonValue Macros::spend(JsonValue value, Place place, const Report& report) {
  const bool was_within = spent_ <= kMaxExpandedBytes;
  spent_ += size_of(value);
  if (was_within && spent_ > kMaxExpandedBytes)
    report.error(place, "macros make more than {} bytes of this file", kMaxExpandedBytes);
  return value;
}

JsonValue Macros::expand(const JsonValue& value, std::vector<LocalMacro>& locals, const Report& report) {
  return expand(value, {macros_.size(), locals, report, 0});
}

JsonValue Macros::expand(const JsonValue& value, const Scope& scope) {
  switch (value.kind) {
    case JsonKind::String: {
      const auto use = next_use(value.text.text, 0);
      const bool is_use = use && use->whole.begin == 0 && use->whole.end == value.text.text.size();
      return is_use ? value_of(*use, value.text, scope) : as_string(expand_text(value.text, scope));
    }
    case JsonKind::Array: return expand_list(value, scope);
    case JsonKind::Object: return expand_object(value, scope);
    default: return value;
  }
}

JsonValue Macros::expand_list(const JsonValue& list, const Scope& scope) {
  JsonValue out = JsonValue::of(JsonKind::Array, list.text);
  for (const JsonValue& item : list.items) {
    JsonValue expanded = expand(item, scope);
    const bool replaced = item.kind == JsonKind::String && expanded.kind != JsonKind::String;
    if (replaced && expanded.kind == JsonKind::Null) continue;
    if (replaced && expanded.kind == JsonKind::Array)
      std::ranges::move(expanded.items, std::back_inserter(out.items));
    else
      out.items.push_back(joined_text(std::move(expanded)));
  }
  return out;
}

JsonValue Macros::expand_object(const JsonValue& object, const Scope& scope) {
  JsonValue out = JsonValue::of(JsonKind::Object, object.text);
  for (const JsonMember& member : object.members) {
    JsonValue expanded = expand(member.value, scope);
    if (expanded.kind == JsonKind::Null && member.value.kind == JsonKind::String) continue;
    out.members.push_back({expand_text(member.key, scope), joined_text(std::move(expanded))});
  }
  return out;
}

LocatedText Macros::expand_text(const LocatedText& text, const Scope& scope) {
  LocatedText out;
  out.place = text.place;
  std::size_t done = 0;
  while (const auto use = next_use(text.text, done)) {
    const JsonValue value = joined_text(value_of(*use, text, scope));
    if (value.kind != JsonKind::String)
      scope.report.error(text.at(use->whole.begin), "the value of {} is {}, which no text can have in it",
                         in_quotes(use->name), value.kind);
    out.append(text, done, use->whole.begin);
    if (value.kind == JsonKind::String) out.append(value.text, 0, value.text.text.size());
    done = use->whole.end;
  }
  if (done == 0) return text;
  out.append(text, done, text.text.size());
  return out;
}

JsonValue Macros::value_of(const MacroUse& use, const LocatedText& text, const Scope& scope) {
  const Place place = text.at(use.whole.begin);
  JsonValue as_written = as_string(slice(text, use.whole));
  if (spent_ > kMaxExpandedBytes) return as_written;
  const auto local = std::ranges::find(scope.locals, use.name, &LocalMacro::name);
  if (local == scope.locals.end()) {
    std::optional<JsonValue> value = value_in_file(use, text, scope);
    return value ? spend(shifted(*std::move(value), use, place, scope.report), place, scope.report) : as_written;
  }
  local->used = true;
  if (!use.called) return spend(shifted(local->value, use, place, scope.report), place, scope.report);
  scope.report.error(place, "{} has no parameters", in_quotes(use.name));
  return as_written;
}

// Of a macro of the file, or nothing after an error.
std::optional<JsonValue> Macros::value_in_file(const MacroUse& use, const LocatedText& text, const Scope& scope) {
  const auto fail = [&](std::string_view why, const auto&... values) {
    scope.report.error(text.at(use.whole.begin), why, values...);
    return std::nullopt;
  };
  const auto macro = std::ranges::find(macros_, use.name, &Macro::name);
  if (macro == macros_.end()) {
    std::vector<std::string> names;
    for (const LocalMacro& known : scope.locals) names.push_back(known.name);
    for (const Macro& known : macros_) names.push_back(known.name);
    return fail("there is no macro {}{}", in_quotes(use.name), did_you_mean(use.name, names));
  }
  macro->used = true;
  const auto index = static_cast<std::size_t>(macro - macros_.begin());
  if (index >= scope.macros)
    return fail("a macro may use those before it, and {} is none of them", in_quotes(use.name));
  if (scope.depth == kMaxDepth) return fail("macros stand in each other more than {} deep", kMaxDepth);
  if (use.arguments.size() != macro->parameters.size())
    return fail("the macro {} has {} parameters, but {} arguments are given", in_quotes(use.name),
                macro->parameters.size(), use.arguments.size());
  std::vector<LocalMacro> arguments;
  for (std::size_t i = 0; i < use.arguments.size(); ++i)
    arguments.push_back(
        {macro->parameters[i], as_string(expand_text(slice(text, use.arguments[i]),
                                                     {scope.macros, scope.locals, scope.report, scope.depth + 1}))});
  return expand(*macro->value, {index, arguments, scope.report, scope.depth + 1});
}

JsonValue joined_text(JsonValue value) {
  const bool is_text =
      value.kind == JsonKind::Array && !value.items.empty() &&
      std::ranges::all_of(value.items, [](const JsonValue& item) { return item.kind == JsonKind::String; });
  if (!is_text) return value;
  LocatedText text = value.items.front().text;
  for (std::size_t i = 1; i < value.items.size(); ++i) {
    const LocatedText& part = value.items[i].text;
    text.append(" ", part.place);
    text.append(part, 0, part.text.size());
  }
  return as_string(std::move(text));
}

}  // namespace keyway::inline v1
