// The functors of pointwise operators, as data: what a compiler at run time makes kernels of several calls from.
#include <keyway/codegen/emit/cpp_dtypes.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/operands.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/model/variants.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

constexpr std::string_view kHeader = "backends/cuda/graph/functors.h";

// Whether its functor takes one tensor's elements each and gives one tensor's, and its wrapper leaves numbers as they
// are, which that of a comparison does not.
bool is_simple(const Op& op, const DTypePlan& plan) {
  const std::vector<TensorArgument> tensors = tensor_arguments(op);
  return op.recipe.kind == RecipeKind::Pointwise && result_variables(op).size() == 1 && !tensors.empty() &&
         std::ranges::none_of(tensors, [](const TensorArgument& tensor) { return tensor.list || tensor.optional; }) &&
         !(plan.compares && tensors.size() == 1) && op.dtypes.preset != "integers_to_int64";
}

// "{\"keyway::add.Tensor\", \"binary\", \"Add\", 0, 3, {{2, false}}}"
std::string row(const Family& family, const Op& op, const DTypePlan& plan) {
  std::string members;
  unsigned promoted = 0, position = 0, loop = 0;
  for (const Argument argument : op.schema->arguments()) {
    const std::string_view name = argument.name();
    if (expr_type_of(argument.type()).base == ExprBase::Tensor) {
      if (contains(plan.promoted, name)) promoted |= 1u << position;
      if (name == plan.loop_tensor) loop = position;
    } else if (!describes_result(op, name)) {
      members += fmt::format("{}{{{}, {}}}", members.empty() ? "" : ", ", position, contains(plan.numbers, name));
    }
    ++position;
  }
  return fmt::format("    {{{}, {}, {}, {}, {}, {{{}}}}},\n", cpp_string(qualified_name(*op.schema)),
                     cpp_string(family.name), cpp_string(op.recipe.function), loop, promoted, members);
}

}  // namespace

std::string emit_functors(const std::vector<Family>& families) {
  std::vector<std::string> rows;
  for (const Family& family : families) {
    for (const Op& op : family.ops) {
      if (const DTypePlan plan = dtype_plan(op); is_simple(op, plan)) rows.push_back(row(family, op, plan));
    }
  }
  std::ranges::sort(rows);
  std::string text = file_banner(families) + "\n" + includes({std::string("keyway/") + std::string(kHeader)}) + "\n" +
                     open_namespace(families.front(), "cuda") + "\nconst FunctorInfo kFunctors[] = {\n";
  for (const std::string& each : rows) text += each;
  return text + fmt::format("}};\nconst std::size_t kFunctorCount = {};\n\n", rows.size()) +
         close_namespace(families.front(), "cuda");
}

}  // namespace keyway::inline v1
