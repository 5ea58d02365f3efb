// ApiNames: where operators stand in Python, as the generator reads it off the schema files (python/api_names.cpp).
#pragma once

#include <cstddef>

namespace keyway::inline v1::python {

// One name of one owner, and the overloads that a call of it chooses from.
struct ApiName {
  const char* owner;      // "" for `keyway.`, "nn" for `keyway.nn.functional.`, "Tensor" for its methods
  const char* name;       // "add"
  const char* overloads;  // "add.Tensor add.Scalar add.out"
  const char* doc;        // its docstring
};

struct ApiNames {
  const ApiName* first;
  std::size_t size;
  const ApiName* begin() const { return first; }
  const ApiName* end() const { return first + size; }
};
extern const ApiNames kApiNames;

}  // namespace keyway::inline v1::python
