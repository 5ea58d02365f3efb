// How a schema is written in Python: the types and values of signatures, in docstrings and in stubs.
#pragma once

#include <keyway/core/schema/schema.h>

#include <string>
#include <string_view>

namespace keyway::inline v1 {

// "Tensor", "Number", "int | Sequence[int]", "dtype | None"
std::string python_type(SchemaType type);
// Of one result: "Tensor", "tuple[Tensor, ...]"; of all: "return_types.sort", "None".
std::string python_result_type(SchemaType type);
std::string python_result_type(FunctionSchema schema);
// Whether the results are a named tuple, of the class that is called as the operator is.
bool has_named_results(FunctionSchema schema);

// What a named value of the schema language is: float32 -> keyway.float32, Mean -> 1, inf -> float('inf').
std::string python_constant(std::string_view name);
struct PythonDefault {
  std::string text;        // "1", "()", "keyway.contiguous_format"; empty for none
  bool is_literal = true;  // as in a stub, where nothing is evaluated
};
PythonDefault python_default(Argument argument);

}  // namespace keyway::inline v1
