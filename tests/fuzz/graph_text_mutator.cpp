#include <keyway/tests/fuzz/graph_text_mutator.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>

namespace keyway::fuzzing {
namespace {

constexpr std::string_view kTypes[] = {"float32", "float64", "int64",     "int32",    "bool",  "float16",
                                       "uint8",   "int8",    "complex64", "bfloat16", "int16", "complex128"};
constexpr std::string_view kIntegers[] = {"0",
                                          "1",
                                          "2",
                                          "3",
                                          "4",
                                          "-1",
                                          "-2",
                                          "7",
                                          "16",
                                          "64",
                                          "1000",
                                          "65536",
                                          "16777216",
                                          "2147483647",
                                          "-0",
                                          "128",
                                          "4096",
                                          "2147483648",
                                          "4294967296",
                                          "1099511627776",
                                          "4611686018427387904",
                                          "9223372036854775807",
                                          "-9223372036854775808"};
constexpr std::string_view kDescriptions[] = {
    " requires_grad", " state",         " with_grad",   " without_grad",  " on 'meta'",  " on 'cuda:0'", " stride [1]",
    " offset 1",      " stride [0, 1]", " offset 1000", " stride [1, 2]", " stride [2]", " stride [-1]", " no_grad"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

std::string replaced(const std::string& text, std::size_t at, std::size_t count, std::string_view by) {
  return text.substr(0, at).append(by).append(text, at + count);
}

// Where the results of a call end; 0 for a line without any.
std::size_t results_end(const std::string& line) {
  const std::size_t end = line.find(" = ");
  return end == std::string::npos ? 0 : end;
}

}  // namespace

GraphTextMutator::Lines GraphTextMutator::lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<GraphTextMutator::Word> GraphTextMutator::words_of(const std::string& line) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '%') {
      std::size_t end = at + 1;
      while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
      words.push_back({at, end - at, Word::Kind::Value});
      at = end;
    } else if (is_word(line[at]) || (line[at] == '-' && at + 1 < line.size() && is_word(line[at + 1]))) {
      std::size_t end = at + 1;
      while (end < line.size() && (is_word(line[end]) || line.compare(end, 2, "::") == 0))
        end += line[end] == ':' ? 2 : 1;
      const std::string_view word = std::string_view(line).substr(at, end - at);
      if (word.find("::") != std::string_view::npos)
        words.push_back({at, end - at, Word::Kind::Operator});
      else if (std::ranges::find(kTypes, word) != std::end(kTypes))
        words.push_back({at, end - at, Word::Kind::Type});
      else if (word.find_first_not_of("-0123456789.") == std::string_view::npos)
        words.push_back({at, end - at, Word::Kind::Integer});
      at = end;
    } else {
      ++at;
    }
  }
  return words;
}

std::string GraphTextMutator::value() {
  return choices_.one_in(16) ? "None" : "%" + std::to_string(choices_.below(values_));
}

std::string GraphTextMutator::integer() { return std::string(choices_.of(kIntegers)); }

std::size_t GraphTextMutator::any_call(const Lines& lines) {
  return lines.size() < 4 ? 0 : 1 + choices_.below(lines.size() - 3);
}

std::string GraphTextMutator::other_word(const Word& word, const std::string& line, const Lines& other) {
  switch (word.kind) {
    case Word::Kind::Value: return value();
    case Word::Kind::Type: return std::string(choices_.of(kTypes));
    case Word::Kind::Integer: {
      std::int64_t number = 0;
      std::from_chars(line.data() + word.begin, line.data() + word.begin + word.size, number);
      if (!choices_.one_in(3)) return integer();
      return std::to_string(static_cast<std::int64_t>(static_cast<std::uint64_t>(number) + choices_.below(3) - 1));
    }
    default: break;
  }
  const std::string& from = other[any_call(other)];
  for (const Word& found : words_of(from)) {
    if (found.kind == Word::Kind::Operator) return from.substr(found.begin, found.size);
  }
  return line.substr(word.begin, word.size);
}

void GraphTextMutator::change_word(std::string& line, const Lines& other) {
  const std::vector<Word> words = words_of(line);
  if (words.empty()) return;
  const Word& word = choices_.of(words);
  line = replaced(line, word.begin, word.size, other_word(word, line, other));
}

// Says something else of a value where it is made.
void GraphTextMutator::change_description(std::string& line) {
  std::vector<std::size_t> ends;
  for (std::size_t at = line.find("]"); at != std::string::npos; at = line.find("]", at + 1)) ends.push_back(at + 1);
  if (ends.empty()) return;
  const std::size_t at = choices_.of(ends);
  if (choices_.one_in(3)) {  // without what stands there
    const std::size_t end = line.find_first_of(",)=", at);
    if (end != std::string::npos) line.erase(at, end - at);
    return;
  }
  const std::size_t kind = choices_.below(4);
  line.insert(at, kind == 0   ? " in " + value()
                  : kind == 1 ? " grad_of " + value()
                              : std::string(choices_.of(kDescriptions)));
}

// A list with an item more or less.
void GraphTextMutator::change_list(std::string& line) {
  std::vector<std::size_t> begins;
  for (std::size_t at = line.find('['); at != std::string::npos; at = line.find('[', at + 1)) begins.push_back(at + 1);
  if (begins.empty()) return;
  const std::size_t at = choices_.of(begins);
  const std::size_t end = line.find_first_of(",]", at);
  if (end == std::string::npos) return;
  if (choices_.one_in(2)) {
    line.erase(at, end - at + (line[end] == ',' ? 1 : 0));
  } else {
    const std::string item = choices_.one_in(3) ? value() : integer();
    line.insert(at, item + (line[at] == ']' ? "" : ", "));
  }
}

void GraphTextMutator::change_return(std::string& line) {
  const std::size_t open = line.find('(');
  if (open == std::string::npos) return;
  if (choices_.one_in(3)) {
    const std::size_t end = line.find_first_of(",)", open);
    if (end != std::string::npos && end > open + 1) line.erase(open + 1, end - open - (line[end] == ',' ? 0 : 1));
    return;
  }
  line.insert(open + 1, value() + (line.compare(open, 2, "()") == 0 ? "" : ", "));
}

void GraphTextMutator::change_lines(Lines& lines, const Lines& other) {
  const std::size_t at = any_call(lines);
  if (at == 0) return;
  switch (choices_.below(4)) {
    case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at)); break;
    case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), lines[at]); break;
    case 2: std::swap(lines[at], lines[any_call(lines)]); break;
    default: {
      std::size_t from = any_call(other);
      for (std::size_t left = from == 0 ? 0 : 1 + choices_.below(3); left > 0 && from + 2 < other.size();
           --left, ++from)
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), other[from]);
    }
  }
}

void GraphTextMutator::change(Lines& lines, const Lines& other) {
  const std::size_t at = any_call(lines);
  switch (choices_.below(12)) {
    case 0:
    case 1: return change_lines(lines, other);
    case 2: return change_description(lines[choices_.one_in(3) ? 0 : at]);
    case 3: return change_list(lines[at]);
    case 4: return change_return(lines[lines.size() < 2 ? 0 : lines.size() - 2]);
    case 5: return change_word(lines[0], other);
    case 6: {
      std::string& line = choices_.of(lines).empty() ? lines[0] : lines[choices_.below(lines.size())];
      if (!line.empty()) line[choices_.below(line.size())] = static_cast<char>(choices_.below(256));
      return;
    }
    default: return change_word(lines[at], other);
  }
}

void GraphTextMutator::number_values(Lines& lines) {
  std::map<std::string, std::string> numbers;
  const auto renamed = [&](const std::string& old, bool may_make) {
    if (const auto found = numbers.find(old); found != numbers.end()) return found->second;
    if (!may_make) return numbers.empty() ? old : "%" + std::to_string(choices_.below(numbers.size()));
    return numbers.emplace(old, "%" + std::to_string(numbers.size())).first->second;
  };
  const auto rename = [&](const std::string& line, std::size_t begin, std::size_t end, bool makes) {
    std::string text;
    std::size_t from = begin;
    for (const Word& word : words_of(line)) {
      if (word.kind != Word::Kind::Value || word.begin < begin || word.begin >= end) continue;
      const std::string_view before = std::string_view(line).substr(0, word.begin);
      const bool is_use = before.ends_with(" in ") || before.ends_with("grad_of ");
      text.append(line, from, word.begin - from).append(renamed(line.substr(word.begin, word.size), makes && !is_use));
      from = word.begin + word.size;
    }
    return text.append(line, from, end - from);
  };
  int nested = 0;  // a graph within a call has numbers of its own
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string& line = lines[i];
    const bool opens = i > 0 && line.ends_with('{');
    if (nested > 0) {
      const std::size_t first = line.find_first_not_of(' ');
      if (first != std::string::npos && line[first] == '}') --nested;
      if (opens) ++nested;
      if (nested > 0 || opens) continue;
    }
    if (opens) ++nested;
    const std::size_t split = i == 0 ? line.size() : results_end(line);
    const std::size_t inner = std::min(line.find("graph "), line.size());
    const std::size_t end = i == 0 || inner < split ? line.size() : inner;
    const std::string uses = rename(line, split, end, false);
    line = rename(line, 0, split, true) + uses + line.substr(end);
  }
  values_ = std::max<std::size_t>(numbers.size(), 1);
}

std::string GraphTextMutator::mutated(std::string_view text, std::string_view other) {
  Lines lines = lines_of(text), others = lines_of(other);
  if (lines.empty()) lines.emplace_back();
  if (others.empty()) others = lines;
  number_values(lines);
  for (std::size_t left = 1 + choices_.below(choices_.one_in(3) ? 6 : 2); left > 0; --left) change(lines, others);
  if (!choices_.one_in(8)) number_values(lines);
  std::string result;
  for (const std::string& line : lines) result.append(line).append("\n");
  return result;
}

}  // namespace keyway::fuzzing
