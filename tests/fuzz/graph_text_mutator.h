// Changes of the texts of graphs and programs that leave most of them texts of graphs: other values, sizes, operators
// and descriptions, and lines that are left out, repeated, moved or taken from another text.
#pragma once

#include <keyway/tests/fuzz/fuzzing.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::fuzzing {

class GraphTextMutator {
 public:
  explicit GraphTextMutator(std::uint64_t seed) : choices_(seed) {}

  // The text with a few changes. Lines are taken from `other`, too.
  std::string mutated(std::string_view text, std::string_view other);

 private:
  using Lines = std::vector<std::string>;
  // Where a word stands in a line.
  struct Word {
    std::size_t begin, size;
    enum class Kind { Value, Integer, Type, Operator } kind;
  };

  void change(Lines& lines, const Lines& other);
  void change_lines(Lines& lines, const Lines& other);
  void change_word(std::string& line, const Lines& other);
  void change_description(std::string& line);
  void change_list(std::string& line);
  void change_return(std::string& line);
  std::string other_word(const Word& word, const std::string& line, const Lines& other);
  std::string value();
  std::string integer();
  std::size_t any_call(const Lines& lines);

  static Lines lines_of(std::string_view text);
  static std::vector<Word> words_of(const std::string& line);
  // Numbers values in the order in which they are made, as a text has to.
  void number_values(Lines& lines);

  Choices choices_;
  std::size_t values_ = 1;  // that the text has, as far as is known
};

}  // namespace keyway::fuzzing
