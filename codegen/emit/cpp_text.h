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

// #include lines, sorted, each once.
std::string includes(std::vector<std::string> paths);

// What is generated of a family stands in Keyway's folders and namespaces or, of a library out of tree, in folders and
// namespaces of the same names below the library's own.

// The family's header of a pattern, {} for its name: "keyway/ops/unary_entries.h".
std::string own_header(const Family& family, std::string_view pattern);
// `namespace keyway::inline v1::ops {`, and its end; `name` may be empty.
std::string open_namespace(const Family& family, std::string_view name);
std::string close_namespace(const Family& family, std::string_view name);

}  // namespace keyway::inline v1
