// Place and LocatedText: where a text stands in its source file, to the byte.
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

namespace keyway::inline v1 {

// Line and column from 1; columns count bytes, as compilers do.
struct Place {
  int line = 1;
  int column = 1;

  friend auto operator<=>(const Place&, const Place&) = default;
};

// A string literal of a source file, decoded. It knows where each of its bytes was written, so that an error
// inside the text (a formula, a schema) points into the file.
struct LocatedText {
  // `written` bytes of source, an escape such as \", stand for the `decoded` bytes of text that end at `end`.
  struct Escape {
    std::size_t end;
    std::size_t written;
    std::size_t decoded;
  };

  std::string text;
  Place place;                  // of the opening quote
  std::vector<Escape> escapes;  // in order; nearly always empty

  // Where byte `offset` of the text is written. A literal never spans lines.
  Place at(std::size_t offset) const {
    std::size_t column = static_cast<std::size_t>(place.column) + 1 + offset;
    for (const Escape& escape : escapes)
      if (escape.end <= offset) column += escape.written - escape.decoded;
    return {place.line, static_cast<int>(column)};
  }
};

}  // namespace keyway::inline v1
