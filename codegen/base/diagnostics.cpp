#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/base/names.h>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace keyway::inline v1 {

void Diagnostics::add(Diagnostic diagnostic) { list_.push_back(std::move(diagnostic)); }

std::string Diagnostics::str() const {
  std::vector<Diagnostic> sorted = list_;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string out;
  for (const Diagnostic& d : sorted)
    out += fmt::format("{}:{}:{}: error: {}\n", d.file, d.place.line, d.place.column, d.text);
  return out;
}

Report Report::in_op(std::string_view op) const {
  Report report = *this;
  report.op_ = shown(op);
  return report;
}

Report Report::for_words(std::string_view words) const {
  Report report = *this;
  report.words_ = shown(words);
  return report;
}

std::string Report::at(Place place) const { return fmt::format("{}:{}:{}", file_, place.line, place.column); }

void Report::error(Place place, std::string_view text) const {
  std::string full = op_.empty() ? std::string(text) : fmt::format("{}: {}", op_, text);
  if (!words_.empty()) full += fmt::format(" (for {})", words_);
  diagnostics_->add({file_, place, std::move(full)});
}

}  // namespace keyway::inline v1
