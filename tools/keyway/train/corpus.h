// Corpus: a text as numbers. Every byte that occurs in it is a character; they are numbered in byte order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

using Characters = std::span<const std::uint8_t>;

class Corpus {
 public:
  // Holds the last `held_out` of the text back. Throws keyway::Error if the text is too short to learn from.
  Corpus(const std::string& text, double held_out);

  // The byte of each character.
  const std::string& alphabet() const { return alphabet_; }
  Characters all() const { return characters_; }
  Characters training() const { return all().first(training_size_); }
  Characters held_out() const { return all().subspan(training_size_); }
  std::string text(Characters characters) const;

 private:
  std::string alphabet_;
  std::vector<std::uint8_t> characters_;
  std::size_t training_size_;
};

// The bytes of a file, or, without a path, the licence texts that every Debian system carries, by name.
// Throws keyway::Error if there is nothing to read.
std::string read_training_text(const std::string& path);

}  // namespace keyway::inline v1::tools
