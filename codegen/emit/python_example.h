// The example of an entry as a Python user runs it: the lines of a doctest.
#pragma once

#include <keyway/codegen/emit/python_calls.h>

#include <string>
#include <vector>

namespace keyway::inline v1 {

//   >>> result = keyway.add(keyway.tensor([1, 2]), keyway.tensor([10, 20]))
//   >>> keyway.testing.assert_close(result, keyway.tensor([11, 22]))
std::vector<std::string> python_example(const PythonName& name, const PythonCall& call);

}  // namespace keyway::inline v1
