// nlohmann's SAX parser tells what it finds but not where. It reads through an iterator that counts, and
// after each event the count is just behind the token, or one byte further: a number ends with the first byte
// that is no part of it. Only white space and separators lie between two tokens, so the next token begins
// behind them.
#include <keyway/codegen/base/names.h>
#include <keyway/codegen/json/json_reader.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace keyway::inline v1 {
namespace {

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* count) : at_(at), count_(count) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  std::size_t* count_;
};

// Turns offsets into places. Offsets come in rising order, so the text is walked once.
class PlaceFinder {
 public:
  explicit PlaceFinder(std::string_view text) : text_(text) {}

  Place at(std::size_t offset) {
    for (; offset_ < offset; ++offset_) {
      if (text_[offset_] != '\n') continue;
      ++line_;
      line_start_ = offset_ + 1;
    }
    return {line_, static_cast<int>(std::max(offset, line_start_) - line_start_) + 1};
  }

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

// The code unit that four hexadecimal digits spell. Requires: they are digits (the parser has seen to that).
unsigned code_unit(std::string_view digits) {
  unsigned value = 0;
  for (const char c : digits.substr(0, 4))
    value = value * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  return value;
}

// The stretches of a string literal, given what is written between its quotes, from `place` on: each escape is one, and
// what follows it.
std::vector<LocatedText::Stretch> stretches_of(std::string_view written, Place place) {
  std::vector<LocatedText::Stretch> stretches;
  const auto at = [&](std::size_t i) { return Place{place.line, place.column + static_cast<int>(i)}; };
  std::size_t decoded_end = 0;
  for (std::size_t i = 0; i < written.size();) {
    std::size_t length = 1;
    std::size_t decoded = 1;
    if (written[i] == '\\') {
      length = 2;
      if (written[i + 1] == 'u') {
        const unsigned unit = code_unit(written.substr(i + 2));
        const bool pair = unit >= 0xD800 && unit < 0xDC00;
        length = pair ? 12 : 6;
        decoded = pair ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
      }
      stretches.push_back({decoded_end, at(i), true});
      stretches.push_back({decoded_end + decoded, at(i + length)});
    }
    i += length;
    decoded_end += decoded;
  }
  return stretches;
}

// nlohmann's text without its prefix "[json.exception...] parse error at line 1, column 2: " and on one line.
std::string cause_of(std::string_view what) {
  const std::size_t prefix = what.find(": ");
  if (prefix != std::string_view::npos) what.remove_prefix(prefix + 2);
  constexpr std::string_view kWhere = "syntax error while parsing ";
  if (what.substr(0, kWhere.size()) == kWhere) what.remove_prefix(kWhere.size());
  what = what.substr(0, what.find("; last read"));
  std::string text(what.substr(0, 200));
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// Builds the tree. Every event returns whether to go on.
class Builder {
 public:
  Builder(std::string_view text, const std::size_t& count, const Report& report, const JsonLimits& limits)
      : text_(text), count_(count), places_(text), report_(report), limits_(limits) {}

  bool null() { return value({}); }
  bool boolean(bool flag) {
    JsonValue boolean = JsonValue::of(JsonKind::Bool);
    boolean.flag = flag;
    return value(std::move(boolean));
  }
  bool number_integer(std::int64_t number) { return spelled(std::to_string(number)); }
  bool number_unsigned(std::uint64_t number) { return spelled(std::to_string(number)); }
  bool number_float(double, const std::string& spelling) { return spelled(spelling); }
  bool string(const std::string& text) {
    JsonValue string = JsonValue::of(JsonKind::String);
    return literal(text, string.text) && add(std::move(string));
  }
  bool key(const std::string& text) {
    JsonMember member;
    if (!literal(text, member.key)) return false;
    open_.back()->members.push_back(std::move(member));
    return true;
  }
  bool start_object(std::size_t) { return open(JsonKind::Object); }
  bool start_array(std::size_t) { return open(JsonKind::Array); }
  bool end_object() {
    report_duplicates(open_.back()->members);
    return close();
  }
  bool end_array() { return close(); }
  bool binary(const nlohmann::json::binary_t&) { return false; }
  // The parser has read up to `position`, and one further at the end of the text. A wrong separator or
  // bracket is what it read last; other tokens that are wrong, such as a string without its closing quote,
  // follow the last right one.
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) {
    const bool at_symbol = position > 0 && position <= text_.size() && kSymbols.find(text_[position - 1]) != kNone;
    return fail(at_symbol ? places_.at(position - 1) : begin(), "syntax error in {}", cause_of(error.what()));
  }

  bool has_duplicates() const { return has_duplicates_; }
  JsonValue take() { return std::move(root_); }

 private:
  static constexpr std::string_view kSymbols = "[]{},:";
  static constexpr std::string_view kBetweenTokens = " \t\r\n,:\xEF\xBB\xBF";
  static constexpr std::size_t kNone = std::string_view::npos;

  // Where the token of this event begins.
  Place begin() {
    while (end_ < count_ && kBetweenTokens.find(text_[end_]) != kNone) ++end_;
    return places_.at(end_);
  }

  bool fail(Place place, std::string_view text, const auto&... values) {
    report_.error(place, text, values...);
    return false;
  }

  // A string of a value or key whose token has just been read.
  bool literal(const std::string& text, LocatedText& out) {
    out.place = begin();
    if (text.size() > limits_.string_bytes)
      return fail(out.place, "a string of {} bytes, but {} are the limit", text.size(), limits_.string_bytes);
    const std::string_view written = text_.substr(end_ + 1, count_ - end_ - 2);
    if (written.size() != text.size()) out.stretches = stretches_of(written, {out.place.line, out.place.column + 1});
    out.text = text;
    end_ = count_;
    return true;
  }

  bool spelled(std::string spelling) {
    JsonValue number = JsonValue::of(JsonKind::Number);
    number.text.text = std::move(spelling);
    return value(std::move(number));
  }

  bool value(JsonValue value) {
    value.text.place = begin();
    end_ = count_;
    return add(std::move(value));
  }

  bool add(JsonValue&& value) {
    slot() = std::move(value);
    return true;
  }

  bool open(JsonKind kind) {
    JsonValue value = JsonValue::of(kind);
    value.text.place = begin();
    end_ = count_;
    if (open_.size() == limits_.depth) return fail(value.text.place, "nested more than {} deep", limits_.depth);
    JsonValue& stored = slot();
    stored = std::move(value);
    open_.push_back(&stored);
    return true;
  }

  bool close() {
    open_.pop_back();
    end_ = count_;
    return true;
  }

  // Where the next value goes. Pointers to open values stay valid: only the innermost one grows.
  JsonValue& slot() {
    if (open_.empty()) return root_;
    JsonValue& parent = *open_.back();
    if (parent.kind == JsonKind::Array) return parent.items.emplace_back();
    return parent.members.back().value;
  }

  void report_duplicates(const std::vector<JsonMember>& members) {
    std::vector<const LocatedText*> keys;
    for (const JsonMember& member : members) keys.push_back(&member.key);
    std::stable_sort(keys.begin(), keys.end(), [](auto* a, auto* b) { return a->text < b->text; });
    for (std::size_t i = 1; i < keys.size(); ++i) {
      const LocatedText& first = *keys[i - 1];
      if (keys[i]->text != first.text) continue;
      has_duplicates_ = true;
      report_.error(keys[i]->place, "duplicate key {}; it stands already at {}:{}", in_quotes(first.text),
                    first.place.line, first.place.column);
    }
  }

  std::string_view text_;
  const std::size_t& count_;
  PlaceFinder places_;
  const Report& report_;
  const JsonLimits& limits_;
  std::size_t end_ = 0;  // of the last token
  JsonValue root_;
  std::vector<JsonValue*> open_;
  bool has_duplicates_ = false;
};

}  // namespace

std::optional<JsonValue> read_json(std::string_view text, const Report& report, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    report.error({}, "a file of {} bytes, but {} are the limit", text.size(), limits.bytes);
    return std::nullopt;
  }
  std::size_t count = 0;
  Builder builder(text, count, report, limits);
  const CountingIterator first(text.data(), &count);
  const CountingIterator last(text.data() + text.size(), &count);
  if (!nlohmann::json::sax_parse(first, last, &builder) || builder.has_duplicates()) return std::nullopt;
  return builder.take();
}

}  // namespace keyway::inline v1
