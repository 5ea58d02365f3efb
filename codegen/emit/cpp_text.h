// What all generated files consist of: where they come from, comments, includes, namespaces.
#pragma once

#include <keyway/codegen/emit/doc.h>
#include <keyway/codegen/model/model.h>

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// The first line of every generated file: where it comes from.
std::string file_banner(const Family& family);
std::string file_banner(const std::vector<Family>& families);

// A comment of whole words: lines that begin with `indent` and "// ".
std::string comment(std::string_view text, std::string_view indent = {});

// #include lines, sorted, each once.
std::string includes(std::vector<std::string> paths);

// What is generated of a family stands in Keyway's folders and namespaces or, of a library out of tree, in folders and
// namespaces of the same names below the library's own.

// The family's header of a pattern, {} for its name: "keyway/ops/unary_entries.h".
std::string own_header(const Family& family, std::string_view pattern);
// What a file that includes `header`, which the author of a library writes, begins with: an error where it is missing,
// which says that `what` belong there. Nothing for Keyway's own.
std::string missing_header_check(const Family& family, std::string_view header, std::string_view what);
// `namespace keyway::inline v1::ops {`, and its end; `name` may be empty.
std::string open_namespace(const Family& family, std::string_view name);
std::string close_namespace(const Family& family, std::string_view name);
// A header: `head`, the banner and what it says of itself, and `body` in that namespace.
std::string header_text(std::string_view head, std::vector<std::string> paths, const Family& family,
                        std::string_view name, std::string_view body);

}  // namespace keyway::inline v1
