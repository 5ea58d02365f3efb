// How a schema is written in C++. Canonical types are those of tables, kernels and typed handles
// (dispatch/call/signature.h); public ones those of the functions and methods that users call, which are ATen's.
#pragma once

#include <keyway/core/schema/schema.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// What a word is called in C++, where that is something else.
struct CppWord {
  std::string_view word;
  std::string_view cpp;
};
// That of a table, or `otherwise`.
std::string_view cpp_word(std::span<const CppWord> table, std::string_view word, std::string_view otherwise);

// What a named value of the schema language is: int64 -> ScalarType::Long. Other names stay as they are.
std::string_view cpp_constant(std::string_view name);

// --- Canonical: core types only.

// "const TensorBase&", "std::int64_t", "ArrayRef<std::int64_t>"
std::string canonical_type(SchemaType type);
// Whether that is a std::optional: a tensor and a generator that may be absent are undefined ones.
bool is_std_optional(SchemaType type);
// "TensorBase", "TensorBase&", "std::tuple<TensorBase, TensorBase>", "void"
std::string canonical_result_type(FunctionSchema schema);
// Of each argument: "const TensorBase& self".
std::vector<std::string> canonical_parameters(FunctionSchema schema);

// --- Public. Composites are written with these types too, their arguments in the order of the schema.

// "const Tensor&", "const std::optional<Tensor>&", "OptionalIntArrayRef"
std::string public_type(SchemaType type);
// "Tensor", "Tensor&", "std::tuple<Tensor, Tensor>", "std::vector<Tensor>", "void"
std::string public_result_type(FunctionSchema schema);
// Of each argument: "const Tensor& self".
std::vector<std::string> public_parameters(FunctionSchema schema);
// What a C++ default argument says: "1", "{}", "MemoryFormat::Contiguous". Requires: argument.has_default().
std::string public_default(Argument argument);

}  // namespace keyway::inline v1
