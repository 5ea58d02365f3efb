// The names that operators have in Python, and how each is called: what signature.cpp of the extension does with a
// schema at run time, in text.
#pragma once

#include <keyway/codegen/emit/python_types.h>
#include <keyway/codegen/expr/expr_type.h>
#include <keyway/codegen/model/model.h>
#include <keyway/codegen/model/variants.h>

#include <cstddef>
#include <string>
#include <vector>

namespace keyway::inline v1 {

struct PythonParameter {
  std::string name;     // "input"
  std::string type;     // "Tensor"
  ExprType what;        // the same in the words of schemas
  PythonDefault value;  // by default
  bool keyword_only;
  std::size_t position;  // in the schema; behind its arguments: `out` and `requires_grad`
};

// What an overload takes. An out= overload that takes the same as its functional one is an argument `out` of that.
struct PythonCall {
  const Op* op;
  OverloadKind kind;
  OwnedSchema schema;
  std::vector<PythonParameter> parameters;
  bool open_list;  // the last positional parameter may be written without brackets: `x.view(2, 3)`
};

struct PythonName {
  std::string owner;  // "" for `keyway.`, "nn" for `keyway.nn.functional.`, "Tensor" for its methods
  std::string name;
  std::vector<std::string> overloads;  // full names
  std::vector<PythonCall> calls;       // those of an operator one after the other

  bool is_method() const { return owner == "Tensor"; }
};

// Sorted by owner and name.
std::vector<PythonName> python_names(const std::vector<Family>& families);

// The lines "sort(input: Tensor, dim: int = -1) -> return_types.sort\n"; of a call with an open list two.
std::string python_signatures(const PythonName& name, const PythonCall& call);
// The same as definitions of a stub, where all must be Python: `from` is `from_`, by position only; `...` for what has
// no literal. `is_overload`: of several.
std::string python_stubs(const PythonName& name, const PythonCall& call, bool is_overload);

// python_doc.cpp: of each operator behind the name its signatures, its sentence, what it says of shapes, dtypes and
// gradients, and its example.
std::string python_docstring(const PythonName& name);
// python_example.cpp: the example of an entry as a Python user runs it, the lines of a doctest:
//   >>> result = keyway.add(keyway.tensor([1, 2]), keyway.tensor([10, 20]))
//   >>> keyway.testing.assert_close(result, keyway.tensor([11, 22]))
std::vector<std::string> python_example(const PythonName& name, const PythonCall& call);

}  // namespace keyway::inline v1
