#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/line_breaks.h>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace keyway::inline v1 {
namespace {

struct Break {
  std::size_t at;  // the first character of the next line
  int depth;       // of parentheses and braces
  bool in_string;
};

// The place to break a line at, or nothing. None is before `first`, and what stands before it fits.
std::optional<Break> best_break(std::string_view line, std::size_t first) {
  std::optional<Break> best;
  const auto consider = [&](Break place) {
    const std::size_t width = place.in_string ? place.at + 1 : place.at - 1;  // with a quote, without the blank
    if (place.at <= first || width > kMaxColumns) return;
    const bool better = !best || (best->in_string && !place.in_string) ||
                        (best->in_string == place.in_string && place.depth <= best->depth);
    if (better) best = place;
  };
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && (i == 0 || line[i - 1] != '\\')) in_string = !in_string;
    if (in_string) {
      if (c == ' ' && i + 1 < line.size() && line[i + 1] != '"') consider({i + 1, 0, true});
      continue;
    }
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (c != ' ' || i < 2) continue;
    const std::string_view before = line.substr(i - 2, 2);
    if (before[1] == ',' || before == "||" || before == "&&") consider({i + 1, depth, false});
  }
  return best;
}

void append_broken(std::string_view line, std::string& out) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string next(indent + 4, ' ');
  std::string rest(line);
  std::size_t first = indent + 8;
  while (rest.size() > kMaxColumns) {
    const auto place = best_break(rest, first);
    if (!place) break;
    out += rest.substr(0, place->in_string ? place->at : place->at - 1);
    out += place->in_string ? "\"\n" : "\n";
    rest = next + (place->in_string ? "\"" : "") + rest.substr(place->at);
    first = next.size() + 4;
  }
  out += rest;
}

}  // namespace

std::string with_breaks(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t first = line.find_first_not_of(' ');
    const bool comment = first != std::string_view::npos && line.substr(first).starts_with("//");
    if (line.size() > kMaxColumns && !comment && !line.starts_with("#"))
      append_broken(line, out);
    else
      out += line;
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace keyway::inline v1
