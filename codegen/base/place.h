// Place and LocatedText: where a text stands in its source file, to the byte.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// Line and column from 1; columns count bytes, as compilers do.
struct Place {
  int line = 1;
  int column = 1;

  friend auto operator<=>(const Place&, const Place&) = default;
};

// A string of a source file, decoded. It knows where each of its bytes was written, so that an error inside the text (a
// formula, a schema) points into the file. It may be put together from parts that are written apart.
struct LocatedText {
  // One segment of a source map: bytes from `begin` on come from `place` on, or (at_once) all from `place` itself, as
  // those of an escape do.
  struct Stretch {
    std::size_t begin;
    Place place;
    bool at_once = false;
  };

  std::string text;
  Place place;                     // of the opening quote
  std::vector<Stretch> stretches;  // in order; before the first, the text follows the quote

  // Where byte `offset` of the text is written.
  Place at(std::size_t offset) const;

  // Bytes [begin, end) of another text, which keep their places.
  void append(const LocatedText& other, std::size_t begin, std::size_t end);
  // A text that is written nowhere, because of what stands at `place`.
  void append(std::string_view other, Place place);

 private:
  Stretch stretch_at(std::size_t offset) const;
};

}  // namespace keyway::inline v1
