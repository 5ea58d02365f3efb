// A backend's part of a family: declarations of all its kernels, and those that are loops over a functor. Drivers are
// spelled alike on all backends, and so are the loops.
#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_dtypes.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
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

struct Backend {
  std::string_view key;        // as entries name it
  std::string_view name;       // its namespace
  std::string_view kernels;    // the header that declares its kernels of a family
  std::string_view pointwise;  // its drivers
  std::string_view reduction;
  bool own_drivers;  // in its namespace; else in Keyway's
};
constexpr Backend kCpu{
    "CPU", "cpu", "backends/cpu/kernels_{}.h", "keyway/backends/cpu/pointwise.h", "keyway/backends/cpu/reduction.h",
    false};
constexpr Backend kCuda{"CUDA",
                        "cuda",
                        "backends/cuda/kernels/kernels_{}.h",
                        "keyway/backends/cuda/driver/pointwise.cuh",
                        "keyway/backends/cuda/driver/reduction.cuh",
                        true};

bool is_loop(const Op& op) {
  return op.recipe.kind == RecipeKind::Pointwise || op.recipe.kind == RecipeKind::Reduction;
}

std::string head(const Op& op) { return fmt::format("{} {}(", kernel_result(op), cpp_identifier(*op.schema)); }

// What the driver runs, for elements of type T.
class Loop {
 public:
  explicit Loop(const Op& op)
      : op_(op), dtypes_(dtype_plan(op)), tensors_(tensor_arguments(op)), reduced_(reduced_dims(op)) {
    for (const Argument argument : op.schema->arguments()) {
      const std::string_view name = argument.name();
      const bool tensor = expr_type_of(argument.type()).base == ExprBase::Tensor;
      const bool geometry = name == reduced_.dims || name == reduced_.keepdim;
      if (tensor || geometry || describes_result(op, name)) continue;
      const bool number = expr_type_of(argument.type()).required().is(ExprBase::Scalar) && !reduces();
      const bool operand = contains(dtypes_.numbers, name);
      takes_number_ |= number;
      members_.emplace_back(fmt::format("{}{}({})", operand ? "operand" : "argument", number ? "<Element>" : "", name));
    }
  }

  std::string text() const {
    // A functor may round a number to what the elements are in memory.
    const Doc visit = reduces() ? Doc::list("visit_dtype<", {dtypes_.loop_types}, ">(")
                                : Doc::list("visit_loop_dtype<", {op_.recipe.function, dtypes_.loop_types}, ">(");
    const Doc rest = Doc::list("",
                               {dtypes_.loop_tensor + ".dtype()", cpp_string(op_.name()),
                                fmt::format("[&]<typename T{}>() {{", takes_number_ ? ", typename Element" : "")},
                               "");
    if ((visit + rest).fits(2)) return (visit + rest).lines(2) + body(4) + Doc("});").lines(2);
    return visit.lines(2) + rest.lines(6) + body(8) + Doc("});").lines(6);
  }

 private:
  bool reduces() const { return op_.recipe.kind == RecipeKind::Reduction; }

  std::string body(std::size_t indent) const {
    if (op_.dtypes.preset != "integers_to_int64") return call("T").lines(indent);
    return Doc("if constexpr (std::is_integral_v<T>) {").lines(indent) +
           Doc(fmt::format("if ({}.dtype() == ScalarType::Long) {{", result_variables(op_).front())).lines(indent + 2) +
           ("return " + call("T, std::int64_t")).lines(indent + 4) + Doc("}").lines(indent + 2) +
           Doc("}").lines(indent) + call("T").lines(indent);
  }

  Doc call(std::string_view types) const {
    std::vector<Doc> arguments{Doc::list(fmt::format("{}<{}>{{", op_.recipe.function, types), members_, "}")};
    for (const std::string& result : result_variables(op_)) arguments.emplace_back(result);
    for (const TensorArgument& tensor : tensors_) arguments.emplace_back(tensor.name);
    if (reduces()) arguments.emplace_back(dims());
    return Doc::list(reduces() ? "reduce(" : "pointwise(", std::move(arguments), ");");
  }

  // The dimensions to reduce over; none stands for all.
  std::string dims() const {
    const std::string& name = reduced_.dims;
    const auto index = op_.schema->arguments().find(name);
    if (!index) return "{}";
    const ExprType type = expr_type_of(op_.schema->arguments()[*index].type());
    if (type.depth > 0) return type.optional ? name + ".value_or(IntArrayRef())" : name;
    return fmt::format(fmt::runtime(type.optional ? "{0} ? DimVector{{*{0}}} : DimVector{{}}" : "{{{0}}}"), name);
  }

  const Op& op_;
  DTypePlan dtypes_;
  std::vector<TensorArgument> tensors_;
  ReducedDims reduced_;
  std::vector<Doc> members_;
  bool takes_number_ = false;
};

// The drivers it needs, and the header of its functors, which is named after the family.
std::string loop_includes(const Family& family, const Backend& backend) {
  const auto uses = [&](RecipeKind kind) {
    return std::ranges::any_of(family.ops, [&](const Op& op) { return op.recipe.kind == kind; });
  };
  std::vector<std::string> headers{own_header(family, backend.kernels)};
  if (uses(RecipeKind::Pointwise)) headers.emplace_back(backend.pointwise);
  if (uses(RecipeKind::Reduction)) headers.emplace_back(backend.reduction);
  const std::string functors = own_header(family, "ops/functors/{}.h");
  headers.insert(headers.end(), {"keyway/core/dtype/scalar.h", "keyway/core/dtype/visit_dtype.h", functors});
  if (std::ranges::any_of(family.ops, [](const Op& op) { return is_loop(op) && !dtype_plan(op).numbers.empty(); }))
    headers.emplace_back("keyway/ops/functors/operand.h");
  return missing_header_check(family, functors, "functors") + includes(headers);
}

std::string loop_function(const Op& op) {
  // The results have their shapes when the kernel is called.
  const std::vector<std::string> parameters = kernel_parameters(op, reduced_dims(op).keepdim);
  return comment(to_string(*op.schema)) + Doc::list(head(op), parameters, ") {").lines() + Loop(op).text() + "}\n";
}

std::string declarations(const Family& family, const Backend& backend) {
  std::string declarations;
  for (const Op& op : family.ops) {
    if (!has_native_kernel(op, backend.key)) continue;
    declarations += "\n" + comment(to_string(*op.schema)) + Doc::list(head(op), kernel_parameters(op), ");").lines();
  }
  if (declarations.empty()) return {};
  return header_text(file_banner(family), {"keyway/dispatch/call/signature.h"}, family, backend.name, declarations);
}

// Where a backend's drivers stand in its own namespace, a library's kernels look for them there.
std::string uses_drivers(const Family& family, const Backend& backend) {
  if (family.library.empty() || !backend.own_drivers) return {};
  return fmt::format("using namespace keyway::{};\n", backend.name);
}

std::vector<std::string> loops(const Family& family, const Backend& backend) {
  std::vector<std::string> shards;
  std::size_t count = 0;
  for (const Op& op : family.ops) {
    if (!is_loop(op)) continue;
    if (count++ % kOpsPerShard == 0) {
      shards.push_back(file_banner(family) + "\n" + loop_includes(family, backend) + "\n" +
                       open_namespace(family, backend.name) + uses_drivers(family, backend));
    }
    shards.back() += "\n" + loop_function(op);
  }
  for (std::string& shard : shards) shard += "\n" + close_namespace(family, backend.name);
  return shards;
}

// The lines that register the kernels of a family.
std::string served(const Family& family, const Backend& backend) {
  std::string lines;
  for (const Op& op : family.ops) {
    if (!has_native_kernel(op, backend.key)) continue;
    const std::string id = cpp_identifier(*op.schema);
    lines += (Doc::list("serve<", {cpp_string(qualified_name(*op.schema)), id}, ">") +
              Doc::list("(", {"m", cpp_string(fmt::format("{}::{}", backend.name, id))}, ");"))
                 .lines(2);
  }
  return lines;
}

}  // namespace

std::string emit_cpu_kernels(const Family& family) { return declarations(family, kCpu); }
std::vector<std::string> emit_cpu_loops(const Family& family) { return loops(family, kCpu); }

std::string emit_cuda_kernels(const Family& family) { return declarations(family, kCuda); }
std::vector<std::string> emit_cuda_loops(const Family& family) { return loops(family, kCuda); }

std::string emit_cuda_registrations(const std::vector<Family>& families) {
  std::vector<std::string> headers{"keyway/backends/cuda/kernels/serve.h"};
  std::string lines;
  for (const Family& family : families) {
    const std::string own = served(family, kCuda);
    if (own.empty()) continue;
    headers.push_back(own_header(family, kCuda.kernels));
    lines += own;
  }
  const std::string& library = families.front().library;
  if (!library.empty() && lines.empty()) return {};
  // The backend registers its kernels when it is loaded; a library's come with the library.
  const std::string head = library.empty() ? "void register_kernels(Library& m) {\n"
                                           : fmt::format("KEYWAY_LIBRARY_IMPL({}, CUDA, m) {{\n", library);
  return file_banner(families) + "\n" + includes(std::move(headers)) + "\n" +
         open_namespace(families.front(), kCuda.name) + uses_drivers(families.front(), kCuda) + "\n" + head + lines +
         "}\n\n" + close_namespace(families.front(), kCuda.name);
}

}  // namespace keyway::inline v1
