#include <keyway/graph/fit.h>
#include <keyway/graph/program_text.h>
#include <keyway/graph/value_text.h>

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>

namespace keyway::inline v1::graph {
namespace {

constexpr std::int64_t kMaxSize = 1 << 16;  // of a dimension in a capture, so that products of three do not overflow

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t integer = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return integer;
}

template <typename T>
std::string listed(const std::vector<T>& items) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 < items.size() ? ", " : " and ", items[i]);
  return text;
}

// The formulas that fit integers of the captures.
using Fits = std::map<std::vector<std::int64_t>, std::vector<std::string>>;

// The same line of the texts of several captures, as one with formulas.
class LineMerger {
 public:
  LineMerger(const std::vector<std::string_view>& lines, const std::vector<Dimensions>& sizes, Fits& fits)
      : lines_(lines), sizes_(sizes), fits_(fits) {}

  std::string merged() {
    std::vector<detail::Lexer> lexers;
    for (const std::string_view line : lines_) lexers.emplace_back(line);
    std::string text;
    std::size_t copied = 0;
    bool is_number_of_value = false;
    for (detail::Lexer& first = lexers.front(); !first.at(detail::TokenKind::End);) {
      const bool is_alike =
          std::ranges::all_of(lexers, [&](const detail::Lexer& lexer) { return lexer.text() == first.text(); });
      if (!is_alike) {
        if (is_number_of_value) fail_other_calls();
        const auto& [kind, begin, end] = first.token();
        text += lines_.front().substr(copied, begin - copied);
        text += formula_of(lexers);
        copied = end;
      }
      is_number_of_value = first.at('%');
      for (detail::Lexer& lexer : lexers) lexer.advance();
    }
    if (!std::ranges::all_of(lexers, [](const detail::Lexer& lexer) { return lexer.at(detail::TokenKind::End); }))
      fail_other_calls();
    return text + std::string(lines_.front().substr(copied));
  }

 private:
  std::string formula_of(const std::vector<detail::Lexer>& lexers) const {
    std::vector<std::int64_t> integers;
    std::vector<std::string_view> texts;
    for (const detail::Lexer& lexer : lexers) {
      texts.push_back(lexer.text());
      if (const auto integer = integer_in(lexer.text())) integers.push_back(*integer);
    }
    if (integers.size() < lexers.size()) {
      const auto is_number = [](const detail::Lexer& lexer) { return lexer.at(detail::TokenKind::Number); };
      if (!std::ranges::all_of(lexers, is_number)) fail_other_calls();
      KEYWAY_FAIL(Value, "the call '{}' has the numbers {}, which are computed from sizes: compute them with tensors",
                  call(), listed(texts));
    }
    const auto [found, is_new] = fits_.try_emplace(integers);
    if (is_new) found->second = fitted_formulas(integers, sizes_);
    if (!found->second.empty()) return found->second.front();
    std::vector<std::string> names;
    for (const auto& [name, size] : sizes_.front()) {
      std::vector<std::int64_t> its_sizes;
      for (const Dimensions& sizes : sizes_) its_sizes.push_back(sizes.at(name));
      names.push_back(fmt::format("{} = {}", name, listed(its_sizes)));
    }
    KEYWAY_FAIL(Value, "the call '{}' has the integers {}, and no formula gives these for {}", call(), listed(integers),
                listed(names));
  }
  std::string_view call() const {
    std::string_view line = lines_.front();
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    return line;
  }
  [[noreturn]] void fail_other_calls() const {
    std::string_view other = lines_.front();
    for (const std::string_view line : lines_) {
      if (line != lines_.front()) other = line;
    }
    other.remove_prefix(std::min(other.find_first_not_of(' '), other.size()));
    KEYWAY_FAIL(Value, "the program makes other calls for other sizes: '{}', but '{}'", call(), other);
  }

  const std::vector<std::string_view>& lines_;
  const std::vector<Dimensions>& sizes_;
  Fits& fits_;
};

std::string merged_text(const std::vector<Graph>& captures, const std::vector<Dimensions>& sizes, Fits& fits) {
  KEYWAY_CHECK(!captures.empty() && captures.size() == sizes.size(),
               "a program is made of captures, and of the sizes of each");
  for (const Dimensions& its_sizes : sizes) {
    const bool is_alike = std::ranges::equal(its_sizes, sizes.front(), {}, &Dimensions::value_type::first,
                                             &Dimensions::value_type::first);
    KEYWAY_CHECK(is_alike, "all captures have sizes for the same dimensions");
    for (const auto& [name, size] : its_sizes)
      KEYWAY_CHECK(size >= 0 && size <= kMaxSize, "the size of '{}' is {}: a capture has sizes up to {}", name, size,
                   kMaxSize);
  }
  std::vector<std::string> texts;
  for (const Graph& capture : captures) texts.push_back(program_text(capture));
  std::vector<std::vector<std::string_view>> lines;
  for (const std::string& text : texts) lines.push_back(lines_of(text));
  std::string merged;
  for (std::size_t i = 0; i < lines.front().size(); ++i) {
    std::vector<std::string_view> same;
    for (const auto& its_lines : lines) same.push_back(i < its_lines.size() ? its_lines[i] : std::string_view());
    const bool is_alike = std::ranges::all_of(same, [&](std::string_view line) { return line == same.front(); });
    merged += (is_alike ? std::string(same.front()) : LineMerger(same, sizes, fits).merged()) + "\n";
  }
  return merged;
}

}  // namespace

std::string program_text(const std::vector<Graph>& captures, const std::vector<Dimensions>& sizes) {
  Fits fits;
  return merged_text(captures, sizes, fits);
}

std::optional<Dimensions> telling_sizes(const std::vector<Graph>& captures, const std::vector<Dimensions>& sizes,
                                        const Dimensions& lowest, const Dimensions& highest) {
  Fits fits;
  merged_text(captures, sizes, fits);
  for (const auto& [integers, formulas] : fits) {
    if (auto telling = telling_sizes(formulas, sizes.front(), lowest, highest)) return telling;
  }
  return std::nullopt;
}

}  // namespace keyway::inline v1::graph
