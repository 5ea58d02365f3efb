#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/doc.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

constexpr std::size_t kNoWidth = 1U << 20U;

}  // namespace

// Lays a document out from left to right. Where a run could begin in two places it tries both.
class DocPrinter {
 public:
  explicit DocPrinter(std::size_t indent) : text_(indent, ' '), column_(indent), indent_(indent) {}

  std::string text(const Doc& doc) && {
    print(doc, 0, 1);
    return std::move(text_) + "\n";
  }

 private:
  static constexpr std::size_t kMostOpen = 8;
  // A break counts this much more for each level that it is further in.
  static constexpr std::size_t kDeeper = 3;

  void put(std::string_view text) {
    text_ += text;
    column_ += text.size();
    over_ += column_ > kMaxColumns ? std::min(text.size(), column_ - kMaxColumns) : 0;
  }

  void end_line(std::size_t indent, std::size_t weight) {
    text_ += '\n' + std::string(indent, ' ');
    column_ = indent;
    breaks_ += weight;
  }

  static bool is_rows(const Doc& doc) { return doc.kind_ == Doc::Kind::Brackets && doc.parts_.front().ends_lines_; }

  bool fits(std::size_t width) const { return column_ + width <= kMaxColumns; }

  // How much has to stand in the line where a document begins.
  static std::size_t begin_of(const Doc& doc) {
    if (doc.kind_ == Doc::Kind::Run) return begin_of(doc.parts_.front()) + doc.glue_.before.size();
    return doc.kind_ == Doc::Kind::Sequence ? begin_of(doc, 0, 0) : doc.text_.size();
  }
  // The same of the parts from `first` on; `tail` is behind them.
  static std::size_t begin_of(const Doc& sequence, std::size_t first, std::size_t tail) {
    std::size_t width = 0;
    for (std::size_t i = first; i < sequence.parts_.size(); ++i) {
      width += begin_of(sequence.parts_[i]);
      if (sequence.parts_[i].kind_ != Doc::Kind::Text) return width;
    }
    return width + tail;
  }

  // `tail`: how much of what follows has to stand in the last line. `weight`: what a break counts.
  void print(const Doc& doc, std::size_t tail, std::size_t weight) {
    if (fits(doc.width_ + tail) || doc.kind_ == Doc::Kind::Text) return put(doc.flat());
    if (doc.kind_ == Doc::Kind::Run) return print_run(doc, tail, weight);
    if (doc.kind_ == Doc::Kind::Brackets) return print_brackets(doc, tail, weight);
    for (std::size_t i = 0; i < doc.parts_.size(); ++i) print(doc.parts_[i], begin_of(doc, i + 1, tail), weight);
  }

  void print_run(const Doc& run, std::size_t tail, std::size_t weight) {
    const std::size_t column = column_;
    const std::size_t outer = std::exchange(indent_, column);
    for (std::size_t i = 0; i < run.parts_.size(); ++i) {
      const Doc& item = run.parts_[i];
      const std::size_t rest = i + 1 < run.parts_.size() ? run.glue_.before.size() : tail;
      const auto print_item = [&] {
        const std::size_t before = breaks_;
        print(item, rest, weight * kDeeper);
        next_begins_line_ = run.ends_lines_ || breaks_ > before;
      };
      const auto in_line = [&] {
        if (i > 0) put(run.glue_.flat);
        print_item();
      };
      const auto in_next_line = [&] {
        put(run.glue_.before);
        indent_ = column + run.glue_.indent;
        end_line(indent_, weight);
        put(run.glue_.after);
        print_item();
      };
      const std::size_t width = item.width_ + rest;
      const std::size_t next_column = column + run.glue_.indent + run.glue_.after.size();
      if (i == 0 || (fits(run.glue_.flat.size() + width) && !next_begins_line_))
        in_line();
      else if (next_begins_line_ || is_rows(item) || next_column + width <= kMaxColumns)
        in_next_line();
      else
        better_of(in_line, in_next_line, rest);
    }
    indent_ = outer;
  }

  void print_brackets(const Doc& doc, std::size_t tail, std::size_t weight) {
    const Doc& run = doc.parts_.front();
    const std::size_t rest = doc.close_.size() + tail;
    const auto aligned = [&] {
      put(doc.text_);
      print_run(run, rest, weight);
      put(doc.close_);
    };
    const auto below = [&] {
      put(doc.text_);
      end_line(indent_ + 4, weight);
      print_run(run, rest, weight);
      put(doc.close_);
    };
    if (doc.only_below_) return below();
    better_of(aligned, below, tail);
  }

  // What goes less far beyond the last column, then what breaks fewer lines: the first if they are equal.
  // Each decision within another doubles the time, so the first is taken where many are open.
  void better_of(const auto& first, const auto& second, std::size_t tail) {
    if (open_ == kMostOpen) return first();
    const std::size_t open = open_++;
    DocPrinter other = *this;
    first();
    std::swap(*this, other);
    second();
    const auto excess = [tail](const DocPrinter& printer) {
      return printer.over_ + (printer.fits(tail) ? 0 : printer.column_ + tail - kMaxColumns);
    };
    const std::size_t mine = excess(*this);
    const std::size_t its = excess(other);
    if (its < mine || (its == mine && other.breaks_ <= breaks_)) *this = std::move(other);
    open_ = open;
  }

  std::string text_;
  std::size_t column_;
  std::size_t indent_;             // of the line or the run that is being printed
  std::size_t over_ = 0;           // columns beyond the last
  std::size_t breaks_ = 0;         // the sum of their weights
  std::size_t open_ = 0;           // decisions that are being made
  bool next_begins_line_ = false;  // behind an item of several lines
};

Doc::Doc(Kind kind, std::vector<Doc> parts, Glue glue) : kind_(kind), glue_(std::move(glue)), parts_(std::move(parts)) {
  for (const Doc& part : parts_) width_ += part.width_;
  if (!parts_.empty()) width_ += (parts_.size() - 1) * glue_.flat.size();
}

Doc operator+(Doc left, Doc right) {
  if (left.kind_ == Doc::Kind::Text && right.kind_ == Doc::Kind::Text) return left.text_ + right.text_;
  if (left.kind_ != Doc::Kind::Sequence) return Doc(Doc::Kind::Sequence, {std::move(left), std::move(right)});
  left.width_ += right.width_;
  left.parts_.push_back(std::move(right));
  return left;
}

Doc Doc::list(std::string_view open, std::vector<Doc> items, std::string_view close) {
  if (items.empty()) return fmt::format("{}{}", open, close);
  Doc out(Kind::Brackets, {Doc(Kind::Run, std::move(items), {", ", ",", "", 0})});
  out.text_ = open;
  out.close_ = close;
  out.width_ += open.size() + close.size();
  return out;
}

Doc Doc::rows(std::string_view open, std::vector<Doc> items, std::string_view close) {
  Doc out = list(open, std::move(items), close);
  if (out.parts_.empty()) return out;
  out.parts_.front().ends_lines_ = true;
  out.width_ += kNoWidth;
  return out;
}

Doc Doc::below(Doc brackets) {
  brackets.only_below_ = true;
  return brackets;
}

Doc Doc::infix(Doc left, std::string_view op, Doc right) {
  const std::string flat = fmt::format(" {} ", op);
  if (left.kind_ != Kind::Run || left.glue_.flat != flat)
    left = Doc(Kind::Run, {std::move(left)}, {flat, fmt::format(" {}", op), "", 0});
  left.width_ += flat.size() + right.width_;
  left.parts_.push_back(std::move(right));
  return left;
}

Doc Doc::assignment(std::string_view name, Doc value) {
  return Doc(Kind::Run, {fmt::format("{} =", name), std::move(value)}, {" ", "", "", 4});
}

Doc Doc::choice(Doc condition, Doc yes, Doc no) {
  Doc out(Kind::Run, {std::move(condition), "? " + std::move(yes), ": " + std::move(no)}, {" ", "", "", 4});
  out.ends_lines_ = true;
  return out;
}

Doc Doc::conditional(Doc condition, std::string_view end) {
  return "if (" + Doc(Kind::Run, {std::move(condition)}) + end;
}

Doc Doc::conditional(Doc condition, std::string_view end, Doc statement) {
  return Doc(Kind::Run, {conditional(std::move(condition), end), std::move(statement)}, {" ", "", "", 2});
}

Doc Doc::literal(std::string_view text, std::size_t indent) {
  std::vector<Doc> words;
  const std::string quoted = cpp_string(text);
  for (std::size_t begin = 0; begin < quoted.size();) {
    const std::size_t blank = std::min(quoted.find(' ', begin), quoted.size());
    const std::size_t next = std::min(quoted.find_first_not_of(' ', blank), quoted.size() - 1);
    const std::size_t end = blank < quoted.size() && next + 1 < quoted.size() ? next : quoted.size();
    words.emplace_back(quoted.substr(begin, end - begin));
    begin = end;
  }
  if (words.size() == 1) return words.front();
  return Doc(Kind::Run, std::move(words), {"", "\"", "\"", indent});
}

std::string Doc::flat() const {
  std::string out = text_;
  for (std::size_t i = 0; i < parts_.size(); ++i) out += (i > 0 ? glue_.flat : "") + parts_[i].flat();
  return out + close_;
}

std::string Doc::lines(std::size_t indent) const { return DocPrinter(indent).text(*this); }

std::string cpp_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (is_control(c))
      out += fmt::format("\\{:03o}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

}  // namespace keyway::inline v1
