// The CPU's part of a family: declarations of all its kernels, and those that are loops over a functor.
#include <keyway/codegen/emit/cpp_dtypes.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/line_breaks.h>
#include <keyway/codegen/emit/operands.h>
#include <keyway/codegen/emit/registrations.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/core/schema/printer.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

constexpr std::size_t kOpsPerShard = 12;

bool has_cpu_kernel(const Op& op) {
  return std::ranges::any_of(registrations_of(op, expand_variants(op).front()),
                             [](const Registration& r) { return r.key == "CPU"; });
}

bool is_loop(const Op& op) {
  return op.recipe.kind == RecipeKind::Pointwise || op.recipe.kind == RecipeKind::Reduction;
}

std::string head(const Op& op) { return fmt::format("{} {}(", kernel_result(op), cpp_identifier(*op.schema)); }

// What the driver runs, for elements of type T.
class Loop {
 public:
  explicit Loop(const Op& op) : op_(op), tensors_(tensor_arguments(op)) {
    for (const Argument argument : op.schema->arguments()) {
      const std::string_view name = argument.name();
      const bool tensor = expr_type_of(argument.type()).base == ExprBase::Tensor;
      const bool geometry = reduces() && (name == "dim" || name == "keepdim");
      if (!tensor && !geometry && !describes_result(op, name)) members_.push_back(fmt::format("argument({})", name));
    }
  }

  std::string text() const {
    const DTypePlan dtypes = dtype_plan(op_);
    std::string out = fmt::format("  visit_dtype<{}>({}.dtype(), \"{}\", [&]<typename T>() {{\n", dtypes.loop_types,
                                  dtypes.loop_tensor, op_.name());
    if (op_.dtypes.preset == "integers_to_int64") {
      out +=
          "    if constexpr (std::is_integral_v<T>) {\n"
          "      if (out.dtype() == ScalarType::Long) {\n" +
          call("        return ", "T, std::int64_t") + "      }\n    }\n";
    }
    return out + call("    ", "T") + "  });\n";
  }

 private:
  bool reduces() const { return op_.recipe.kind == RecipeKind::Reduction; }

  std::string call(std::string_view indent, std::string_view types) const {
    std::string functor = fmt::format("{}<{}>{{", op_.recipe.function, types);
    for (std::size_t i = 0; i < members_.size(); ++i) functor += (i > 0 ? ", " : "") + members_[i];
    std::vector<std::string> arguments{functor + "}"};
    for (const std::string& result : result_variables(op_)) arguments.push_back(result);
    for (const TensorArgument& tensor : tensors_) arguments.push_back(tensor.name);
    if (reduces()) arguments.push_back(dims());
    return listed(fmt::format("{}{}(", indent, reduces() ? "reduce" : "pointwise"), arguments, ");\n");
  }

  // The dimensions to reduce over; none stands for all.
  std::string dims() const {
    const auto index = op_.schema->arguments().find("dim");
    if (!index) return "{}";
    const ExprType type = expr_type_of(op_.schema->arguments()[*index].type());
    if (type.depth > 0) return type.optional ? "dim.value_or(IntArrayRef())" : "dim";
    return type.optional ? "dim ? DimVector{*dim} : DimVector{}" : "{dim}";
  }

  const Op& op_;
  std::vector<TensorArgument> tensors_;
  std::vector<std::string> members_;
};

// The drivers it needs, and the header of its functors, which is named after the family.
std::string loop_includes(const Family& family) {
  const auto uses = [&](RecipeKind kind) {
    return std::ranges::any_of(family.ops, [&](const Op& op) { return op.recipe.kind == kind; });
  };
  std::vector<std::string> headers{own_header(family, "backends/cpu/kernels_{}.h")};
  if (uses(RecipeKind::Pointwise)) headers.push_back("keyway/backends/cpu/pointwise.h");
  if (uses(RecipeKind::Reduction)) headers.push_back("keyway/backends/cpu/reduction.h");
  headers.insert(headers.end(),
                 {"keyway/core/scalar.h", "keyway/core/visit_dtype.h", own_header(family, "ops/functors/{}.h")});
  return includes(headers);
}

std::string loop_function(const Op& op) {
  std::vector<std::string> declared;
  for (const std::string& parameter : kernel_parameters(op)) {
    const bool unused = op.recipe.kind == RecipeKind::Reduction && parameter.ends_with(" keepdim");
    declared.push_back(unused ? parameter.substr(0, parameter.rfind(' ')) : parameter);
  }
  return comment(to_string(*op.schema)) + listed(head(op), declared, ") {\n") + Loop(op).text() + "}\n";
}

}  // namespace

std::string emit_cpu_kernels(const Family& family) {
  std::string declarations;
  for (const Op& op : family.ops) {
    if (!has_cpu_kernel(op)) continue;
    declarations += "\n" + comment(to_string(*op.schema)) + listed(head(op), kernel_parameters(op), ");\n");
  }
  if (declarations.empty()) return {};
  return file_banner(family) + "#pragma once\n\n" + includes({"keyway/dispatch/signature.h"}) + "\n" +
         open_namespace(family, "cpu") + declarations + "\n" + close_namespace(family, "cpu");
}

std::vector<std::string> emit_cpu_loops(const Family& family) {
  std::vector<std::string> shards;
  std::size_t count = 0;
  for (const Op& op : family.ops) {
    if (!is_loop(op)) continue;
    if (count++ % kOpsPerShard == 0) {
      shards.push_back(file_banner(family) + "\n" + loop_includes(family) + "\n" + open_namespace(family, "cpu"));
    }
    shards.back() += "\n" + loop_function(op);
  }
  for (std::string& shard : shards) shard = with_breaks(shard + "\n" + close_namespace(family, "cpu"));
  return shards;
}

}  // namespace keyway::inline v1
