// Emitters: pure functions from the model to the text of a file. A new one is a file here and a line in
// emitter.cpp.
#pragma once

#include <keyway/codegen/model/model.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// Paths lie below the output folder, those of a library out of tree in one of its name. An empty text: there is no such
// file.
struct OutputFile {
  std::string path;
  std::string text;
};

// Everything that is generated from the families, sorted by path. Requires: there is one.
std::vector<OutputFile> emit_all(const std::vector<Family>& families);

// emit_docs.cpp: the reference of a family in Markdown.
std::string emit_docs(const Family& family);
// emit_declarations.cpp: declarations of the functions that a family's composites are, in namespace composite; what
// defines them, in ops/composite or autograd, and assembly include this.
std::string emit_composites(const Family& family);
// Those of the helpers that a family's file has, in namespace autograd; and of all families.
std::string emit_helpers(const Family& family);
std::string emit_all_helpers(const std::vector<Family>& families);
// emit_entries.cpp: the entries of a family's overloads, and their signatures.
std::string emit_entries(const Family& family);
// emit_functions.cpp: the functions that users call.
std::string emit_functions(const Family& family);
// emit_tensor.cpp: the class Tensor, the definitions of its methods, and its operators.
std::string emit_tensor(const std::vector<Family>& families);
std::string emit_methods(const std::vector<Family>& families);
std::string emit_tensor_operators(const std::vector<Family>& families);
// emit_wrappers.cpp: wrappers and tables of a family's operators; the plans that contracts make.
std::string emit_wrappers(const Family& family);
std::string emit_plans(const std::vector<Family>& families);
// emit_op_list.cpp: the list of operators; and the files of a build with some of them only: their list, and of the
// others the names that their entries have in the linker, as lines of a version script.
std::string emit_op_list(const std::vector<Family>& families);
// Operators that have no entry: graph/ registers them, and a build that selects one of them has both.
inline constexpr std::array<std::string_view, 2> kControlFlowOperators = {"keyway::cond", "keyway::while_loop"};
std::vector<OutputFile> emit_selected_ops(const std::vector<Family>& families, const std::set<std::string>& wanted);
// Every overload: its full name, and its identifier in generated code.
std::map<std::string, std::string> overload_names(const std::vector<Family>& families);
// emit_kernels.cpp: kernels of a backend, declared, and loops over functors; and what registers those of a backend that
// is a library of its own.
std::string emit_cpu_kernels(const Family& family);
std::vector<std::string> emit_cpu_loops(const Family& family);
std::string emit_cuda_kernels(const Family& family);
std::vector<std::string> emit_cuda_loops(const Family& family);
std::string emit_cuda_registrations(const std::vector<Family>& families);
// emit_functors.cpp: which functors pointwise operators have, for kernels that are made at run time.
std::string emit_functors(const std::vector<Family>& families);
// emit_autograd.cpp: nodes and kernels of a family at Autograd and ADInplaceOrView, and their declarations.
std::string emit_autograd(const Family& family);
std::string emit_autograd_kernels(const Family& family);
// emit_op_cases.cpp: calls and claims of the generated test suite.
std::string emit_op_cases(const std::vector<Family>& families);
// emit_python_names.cpp: where operators stand in Python.
std::string emit_python_names(const std::vector<Family>& families);
// emit_python_stubs.cpp: their types: functions and methods, those of nn.functional, and the classes of their results.
std::string emit_python_functions(const std::vector<Family>& families);
std::string emit_python_nn(const std::vector<Family>& families);
std::string emit_python_return_types(const std::vector<Family>& families);
// emit_functions.cpp: the header that includes all functions.
std::string emit_umbrella(const std::vector<Family>& families);

}  // namespace keyway::inline v1
