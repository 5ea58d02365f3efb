// Diagnostics: the errors of one run, in the form of a compiler's, so that editors jump to them.
#pragma once

#include <keyway/codegen/base/place.h>
#include <keyway/core/base/error.h>

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

struct Diagnostic {
  std::string file;
  Place place;
  std::string text;

  friend auto operator<=>(const Diagnostic&, const Diagnostic&) = default;
};

class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  // `file:line:column: error: text`, one a line, in the order of files and places, each once.
  std::string str() const;

 private:
  std::vector<Diagnostic> list_;
};

// What a stage of the generator reports to: the diagnostics of one file, or of one operator in it.
// Refers to the diagnostics; copies are cheap.
class Report {
 public:
  Report(Diagnostics& diagnostics, std::string file) : diagnostics_(&diagnostics), file_(std::move(file)) {}

  // The same file, with the operator's name in front of each text.
  Report in_op(std::string_view op) const;
  // The same, with the words of an entry template behind each text: "(for N = 2)".
  Report for_words(std::string_view words) const;
  void error(Place place, std::string_view text) const;
  // A text in which each {} stands for the next value.
  template <typename... Values>
  void error(Place place, std::string_view text, const Values&... values) const requires(sizeof...(Values) > 0) {
    error(place, format(text, {FormatArg(values)...}));
  }
  const std::string& file() const { return file_; }
  // "file:line:column", for an error elsewhere.
  std::string at(Place place) const;
  // How many errors there are so far, of all files.
  std::size_t count() const { return diagnostics_->size(); }

 private:
  Diagnostics* diagnostics_;
  std::string file_;
  std::string op_;
  std::string words_;
};

}  // namespace keyway::inline v1
