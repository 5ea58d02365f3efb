#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/emit/operands.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/model/variants.h>

#include <fmt/format.h>

namespace keyway::inline v1 {

std::vector<TensorArgument> tensor_arguments(const Op& op) {
  std::vector<TensorArgument> out;
  for (const Argument argument : op.schema->arguments()) {
    const ExprType type = expr_type_of(argument.type());
    if (type.base != ExprBase::Tensor) continue;
    out.push_back(
        {std::string(argument.name()), type.depth > 0, type.optional || type.optional_items, argument.is_write()});
  }
  return out;
}

bool has_dtype_argument(const Op& op) {
  const auto index = op.schema->arguments().find("dtype");
  if (!index) return false;
  const ExprType type = expr_type_of(op.schema->arguments()[*index].type());
  return type.base == ExprBase::DType && type.optional;
}

bool describes_result(const Op& op, std::string_view argument) {
  if (has_tensor_options(*op.schema)) return is_tensor_option(argument) || argument == "memory_format";
  return argument == "dtype" && has_dtype_argument(op);
}

ReducedDims reduced_dims(const Op& op) {
  ReducedDims out;
  if (op.recipe.kind != RecipeKind::Reduction) return out;
  for (const DimArgument& dim : dim_arguments(op)) out.dims = dim.name;
  for (const Argument argument : op.schema->arguments())
    if (expr_type_of(argument.type()).is(ExprBase::Bool)) out.keepdim = argument.name();
  return out;
}

std::vector<std::string> result_variables(const Op& op) {
  if (!op.out.arguments.empty()) return op.out.arguments;
  std::vector<std::string> names;
  const std::size_t count = planned_results(op);
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = count == 1 ? "out" : fmt::format("out{}", i);
    if (op.schema->arguments().find(name)) name += "_";
    names.push_back(std::move(name));
  }
  return names;
}

std::string kernel_result(const Op& op) {
  return wrapper_kind(op) == WrapperKind::Returning ? canonical_result_type(*op.schema) : "void";
}

std::vector<std::string> kernel_parameters(const Op& op, std::string_view unread) {
  std::vector<std::string> out;
  for (const Argument argument : op.schema->arguments()) {
    if (describes_result(op, argument.name())) continue;
    const std::string type = canonical_type(argument.type());
    out.push_back(argument.name() == unread ? type : fmt::format("{} {}", type, argument.name()));
  }
  if (planned_results(op) > 0)
    for (const std::string& name : result_variables(op)) out.push_back("TensorBase& " + name);
  return out;
}

}  // namespace keyway::inline v1
