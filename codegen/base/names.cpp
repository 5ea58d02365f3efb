#include <keyway/codegen/base/names.h>
#include <keyway/core/base/text.h>
#include <keyway/core/schema/lexer.h>

#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

constexpr std::string_view kKeywords[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};

constexpr std::string_view kPythonKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

// Functions that generated code calls by these names alone, where a parameter would hide them.
// clang-format off
constexpr std::string_view kCalled[] = {
    "accumulate_type", "any", "any_defined", "argument", "as_view", "as_views", "below_adinplace", "below_autograd",
    "bump_version", "check_common_dtype", "check_defined", "check_device", "check_dtype", "check_inplace",
    "check_layout", "check_number", "check_same_dtype", "check_underived", "check_unrecorded", "check_writable",
    "collect_edges", "common_device", "copy_of", "defined_or_zeros", "dtype_of", "each", "fail_contract", "fail_out",
    "fail_predicate", "fail_written_lists", "get_default_dtype", "is_finite", "is_integral", "item", "items", "len",
    "make_intrusive", "needs_grad", "number_tensor", "operand", "optional_tensors", "planned", "pointwise",
    "pointwise_meta", "product_of", "promote_types", "put", "rebase_history", "reduced_meta", "release", "same_device",
    "saved", "set_history", "should_compute_any_output", "should_compute_output", "sum_of", "to_complex", "to_float",
    "to_real", "unpack", "view_creation", "visit_dtype", "visit_loop_dtype", "wrap_dim", "wrap_optional_dim",
};
// clang-format on

// What generated code calls something else: types of elements, and a dtype.
constexpr std::string_view kOwn[] = {"Element", "T", "like"};

}  // namespace

std::optional<std::string> name_fault(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > kMaxNameLength)
    return fmt::format("has {} characters, but a name has {} at most", name.size(), kMaxNameLength);
  if (!detail::is_name_start(name.front()) || !std::ranges::all_of(name, detail::is_name))
    return "is not an identifier (letters, digits and underscores, no digit first)";
  if (contains(kKeywords, name)) return "is a C++ keyword";
  return std::nullopt;
}

std::optional<std::string> argument_name_fault(std::string_view name) {
  if (name.ends_with('_')) return "ends in an underscore, as the names of generated code do";
  if (contains(kCalled, name)) return "is a function that generated code calls";
  if (contains(kOwn, name)) return "is a name that generated code has for something else";
  // ATen's normal_ calls an argument std. What stands before :: is looked up among namespaces and types only.
  return name == "std" ? std::nullopt : name_fault(name);
}

bool is_python_keyword(std::string_view name) { return contains(kPythonKeywords, name); }

std::optional<std::string> qualified_name_fault(std::string_view name) {
  for (std::size_t separator = name.find("::"); separator != std::string_view::npos; separator = name.find("::")) {
    if (auto fault = name_fault(name.substr(0, separator))) return fault;
    name.remove_prefix(separator + 2);
  }
  return name_fault(name);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::size_t size = std::min(text.size(), kLongest);
  if (size < text.size())
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;  // no half character
  std::string out;
  for (const char c : text.substr(0, size)) {
    if (is_control(c))
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return size < text.size() ? out + "..." : out;
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", shown(text)); }

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string found = nearest_text(name, candidates);
  return found.empty() ? std::string() : fmt::format("; did you mean {}?", in_quotes(found));
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

}  // namespace keyway::inline v1
