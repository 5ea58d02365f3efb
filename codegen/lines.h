// for_each_line: the lines of a text file of names.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

namespace keyway::inline v1 {

// Calls f(line, number) for each line that has something: without blanks and without what follows a #.
template <typename F>
void for_each_line(const std::string& text, F f) {
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    if (!line.empty()) f(std::move(line), number);
  }
}

}  // namespace keyway::inline v1
