// Text of C++ files as a person would lay it out: lines of 120 columns, wrapped as clang-format does.
#pragma once

#include <keyway/codegen/model/model.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

inline constexpr std::size_t kMaxColumns = 120;

// The first line of every generated file: where it comes from.
std::string file_banner(const Family& family);
std::string file_banner(const std::vector<Family>& families);

// A comment of whole words: lines that begin with `indent` and "// ".
std::string comment(std::string_view text, std::string_view indent = {});

// `head` + items, separated by commas + `tail`: in one line if it fits, else broken after commas, with the
// items under each other's column where there is room for that. `head` ends in the open parenthesis or brace
// and may have indentation and lines before the last.
//
//   inline Tensor add(const Tensor& self, const Tensor& other,
//                     const Scalar& alpha = 1) {
std::string listed(std::string_view head, const std::vector<std::string>& items, std::string_view tail);

// `outer` + `inner` + items + `)`, then the other arguments of the outer call + `);`. Both end in an open
// parenthesis.
std::string nested(std::string_view outer, std::string_view inner, const std::vector<std::string>& items,
                   const std::vector<std::string>& more = {});

// A string literal.
std::string cpp_string(std::string_view text);

// #include lines of `paths` below keyway/, sorted, each once.
std::string includes(std::vector<std::string> paths);

}  // namespace keyway::inline v1
