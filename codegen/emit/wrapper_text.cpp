#include <keyway/codegen/emit/cpp_contract.h>
#include <keyway/codegen/emit/cpp_dtypes.h>
#include <keyway/codegen/emit/cpp_expr.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/emit/operands.h>
#include <keyway/codegen/emit/registrations.h>
#include <keyway/codegen/emit/wrapper_text.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/model/variants.h>
#include <keyway/core/schema/printer.h>

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <utility>

namespace keyway::inline v1 {
namespace {

// Indents every line by two more blanks.
std::string indented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    if (text[0] != '\n') out += "  ";
    out += text.substr(0, end);
    text.remove_prefix(end);
  }
  return out;
}

// A member function. `body` is two blanks in.
std::string member_function(const std::string& head, const std::vector<std::string>& parameters,
                            const std::string& body) {
  return listed(fmt::format("  static {}(", head), parameters, ") {\n") + indented(body) + "  }\n";
}

class Struct {
 public:
  explicit Struct(const Op& op) : op_(op), schema_(*op.schema), kind_(wrapper_kind(op)), dtypes_(dtype_plan(op)) {}

  std::string text() {
    std::string out = comment(to_string(schema_)) + fmt::format("struct {} {{\n", cpp_identifier(schema_));
    out += outputs();
    switch (kind_) {
      case WrapperKind::Computed:
      case WrapperKind::Mutating:
      case WrapperKind::Returning:
        out += fmt::format("  static constexpr bool kInPlaceSafe = {};\n",
                           op_.recipe.kind == RecipeKind::Pointwise || has_tag(op_, "in_place_safe"));
        out += listed(fmt::format("  using Kernel = {}(", kernel_result(op_)), kernel_parameters(op_), ");\n");
        out += "\n" + plan() + run();
        break;
      case WrapperKind::View:
        out += "\n" + member_function("auto geometry", canonical_parameters(schema_), geometry());
        break;
      case WrapperKind::Composite:
        out += listed(fmt::format("  using Function = {}(", public_result_type(schema_)), public_parameters(schema_),
                      ");\n");
        out += fmt::format("  static constexpr Function* kFunction = composite::{};\n", op_.recipe.function);
        out += "\n" + member_function("void check", canonical_parameters(schema_), guard());
        break;
    }
    if (op_.variants.out && has_tensor_options(schema_)) out += from_out();
    return out + "};\n";
  }

  std::vector<std::string> plan_parameters() const {
    std::vector<std::string> out{fmt::format("Plan<{}>& plan_", planned_results(op_))};
    for (std::string& parameter : canonical_parameters(schema_)) out.push_back(std::move(parameter));
    return out;
  }

 private:
  std::string outputs() const {
    std::string out;
    const std::size_t outputs = op_.variants.out ? op_.out.arguments.size() : planned_results(op_);
    if (outputs > 0) out += fmt::format("  static constexpr std::size_t kOutputs = {};\n", outputs);
    if (op_.variants.out)
      out += fmt::format("  static constexpr const char* kOutNames[] = {{\"{}\"}};\n",
                         fmt::join(op_.out.arguments, "\", \""));
    if (op_.variants.out) out += fmt::format("  static constexpr OutDtype kOutDtype = OutDtype::{};\n", out_dtype());
    return out;
  }

  // Which dtypes an out= tensor may have, as PyTorch has it: where operands promote, all that the result converts to.
  std::string_view out_dtype() const {
    if (has_tag(op_, "out_of_same_dtype")) return "Same";
    if (has_tag(op_, "out_of_flags")) return "Flags";
    if (kind_ == WrapperKind::Composite) return "CastFrom";
    if (op_.dtypes.preset == "integers_to_int64" && has_dtype_argument(op_)) return "AsResult";
    const bool promotes = dtypes_.promoted.size() + dtypes_.numbers.size() > 1 || dtypes_.to_float;
    const bool to_bool = op_.dtypes.preset == "promote_to_bool";
    return promotes || to_bool || has_dtype_argument(op_) || takes_list() || has_tag(op_, "out_of_cast_dtype")
               ? "CastFrom"
               : "Same";
  }
  bool takes_list() const { return std::ranges::any_of(tensor_arguments(op_), &TensorArgument::list); }

  // Arguments are there, and the contracts hold.
  std::string guard() const {
    std::string out;
    for (const TensorArgument& tensor : tensor_arguments(op_)) {
      if (!tensor.optional) out += fmt::format("  check_defined(\"{0}\", {0});\n", tensor.name);
      if (tensor.written && kind_ != WrapperKind::Composite)
        out += fmt::format("  check_writable(\"{0}\", {0});\n", tensor.name);
    }
    out += contract_statements(op_);
    return out + (has_tensor_options(schema_) ? "  check_layout(layout);\n" : "");
  }

  std::string plan() {
    std::string body = guard() + device() + dtypes_.statements;
    if (kind_ == WrapperKind::Computed) body += meta();
    return member_function("void plan", plan_parameters(), body);
  }

  std::string device() const {
    std::vector<std::string> single, lists;
    std::string first;
    bool required = false;
    for (const TensorArgument& tensor : tensor_arguments(op_)) {
      if (first.empty() && !tensor.list) first = tensor.name;
      required = required || (!tensor.list && !tensor.optional);
      (tensor.list ? lists : single).push_back(tensor.name);
    }
    // Of tensors that may all be absent, none says where the call runs.
    if (!required && !lists.empty()) std::ranges::move(std::exchange(single, {}), std::back_inserter(lists));
    std::string device;
    if (single.empty() && lists.empty()) {
      if (!schema_.arguments().find("device")) return {};
      device = "DeviceType::CPU";
    } else if (single.empty()) {
      device = fmt::format("same_device(\"{0}\", {0})", lists.front());
      lists.erase(lists.begin());
    } else if (single.size() == 1 || has_tag(op_, "across_devices")) {
      device = first + ".device()";
    } else {
      std::vector<std::string> named;
      for (const std::string& name : single) named.push_back(fmt::format("{{\"{0}\", {0}}}", name));
      const bool converts = op_.recipe.kind == RecipeKind::Pointwise || !dtypes_.promoted.empty();
      device = fmt::format("{}_device({{{}}})", converts ? "common" : "same", fmt::join(named, ", "));
    }
    if (has_tensor_options(schema_)) device = fmt::format("device.value_or({})", device);
    std::string out = fmt::format("  plan_.device = {};\n", device);
    if (!has_tag(op_, "across_devices"))
      for (const std::string& list : lists) out += fmt::format("  check_device(\"{0}\", {0}, plan_.device);\n", list);
    return out;
  }

  std::string meta() const {
    const std::size_t count = planned_results(op_);
    const std::string_view all = count == 1 ? "  plan_.meta[0] = {}(" : "  plan_.set_all({}(";
    const std::string_view tail = count == 1 ? ");\n" : "));\n";
    if (op_.recipe.kind == RecipeKind::Pointwise) {
      std::vector<std::string> operands;
      for (const TensorArgument& tensor : tensor_arguments(op_)) operands.push_back("&" + tensor.name);
      operands.front() = "{" + operands.front();
      operands.back() += "}";
      if (count == 1) operands.emplace_back("plan_.meta[0]");
      return listed(count == 1 ? "  pointwise_meta(" : "  plan_.set_all(pointwise_meta(", operands, tail);
    }
    if (op_.recipe.kind == RecipeKind::Reduction) {
      const ArgumentList arguments = schema_.arguments();
      const std::vector<std::string> parts{tensor_arguments(op_).front().name,
                                           arguments.find("dim") ? "dim" : "std::nullopt",
                                           arguments.find("keepdim") ? "keepdim" : "false"};
      return listed(fmt::format(fmt::runtime(all), "reduced_meta"), parts, tail);
    }
    const std::string_view own = count == 1 ? "  plan_.meta[0] = rules::{}(" : "  plan_.set(rules::{}(";
    return listed(fmt::format(fmt::runtime(own), op_.rule), arguments(), tail);
  }

  std::string geometry() const {
    return guard() + listed(fmt::format("  return rules::{}(", op_.recipe.function), arguments(), ");\n");
  }

  // The arguments of a rule: all of them, dims wrapped.
  std::vector<std::string> arguments() const {
    std::vector<std::string> out;
    for (const Argument argument : schema_.arguments()) out.push_back(wrapped(std::string(argument.name())));
    return out;
  }

  // An argument, counted from the front if a contract says that it is a dimension.
  std::string wrapped(const std::string& name) const {
    for (const DimArgument& dim : dim_arguments(op_)) {
      if (dim.name != name) continue;
      CppExpr cpp(dim.contract->expr, schema_);
      const std::string rank = cpp.text(*dim.rank);
      if (cpp.uses_text() || uses_lets(dim.contract->expr, *dim.rank)) return name;
      if (dim.list) return fmt::format("WrappedDims({}, {})", name, rank);
      if (dim.optional) return fmt::format("wrap_optional_dim({}, {})", name, rank);
      return fmt::format("wrap_dim({}, {})", name, rank);
    }
    return name;
  }

  // The same in a call whose results are there: of tensors that are to be joined none by itself has the rank.
  std::string wrapped_in_run(const std::string& name) const {
    return name == joined_dim(op_) ? fmt::format("wrap_dim({}, out_[0]->dim())", name) : wrapped(name);
  }

  static bool uses_lets(const CheckedExpr& expr, const Expr& node) {
    if (expr.note(node).role == ExprRole::Let) return true;
    return std::ranges::any_of(children(node), [&](const ExprPtr& child) { return uses_lets(expr, *child); });
  }

  std::string run() const {
    const auto tensors = tensor_arguments(op_);
    std::vector<std::string> values;
    for (const Argument argument : schema_.arguments()) {
      const std::string name(argument.name());
      if (describes_result(op_, name)) continue;
      const auto tensor = std::ranges::find(tensors, name, &TensorArgument::name);
      const bool promoted = std::ranges::find(dtypes_.promoted, name) != dtypes_.promoted.end();
      if (tensor == tensors.end() || tensor->written)
        values.push_back(wrapped_in_run(name));
      else if (promoted)
        values.push_back(
            fmt::format("{}({}, plan_.common, plan_.device)", tensor->list ? "Operands" : "Operand", name));
      else if (op_.recipe.kind == RecipeKind::Pointwise && tensors.size() > 1)
        values.push_back(fmt::format("Operand({}, plan_.device)", name));
      else
        values.push_back(name);
    }
    std::vector<std::string> parameters{"Kernel* kernel_", fmt::format("const Plan<{}>& plan_", planned_results(op_))};
    for (std::string& parameter : canonical_parameters(schema_)) parameters.push_back(std::move(parameter));
    std::string before;
    if (dtypes_.compares) {
      before = listed("  const auto compared_ = compared(", {argument(0), argument(1), "plan_.common", "plan_.device"},
                      ");\n");
      values = {"compared_.self()", "compared_.other()"};
    }
    for (std::size_t i = 0; i < planned_results(op_); ++i) values.push_back(fmt::format("*out_[{}]", i));
    if (planned_results(op_) > 0) parameters.emplace_back("TensorBase* const* out_");
    const bool returns = kind_ == WrapperKind::Returning;
    return member_function(kernel_result(op_) + " run", parameters,
                           before + listed(returns ? "  return kernel_(" : "  kernel_(", values, ");\n"));
  }

  std::string argument(std::size_t i) const { return std::string(schema_.arguments()[i].name()); }

  // The arguments of a call that makes a tensor like `out`.
  std::string from_out() const {
    std::vector<std::string> parameters{"const TensorBase& out_"}, types, values;
    for (const Argument argument : schema_.arguments()) {
      const std::string name(argument.name());
      types.push_back(canonical_type(argument.type()));
      if (!is_tensor_option(name)) {
        parameters.push_back(fmt::format("{} {}", types.back(), name));
        values.push_back(name);
      } else {
        values.push_back(name == "dtype" || name == "device" ? fmt::format("out_.{}()", name) : "std::nullopt");
      }
    }
    const std::string body = listed("  return std::tuple<", types, ">(\n") + listed("      ", values, ");\n");
    return member_function("auto from_out", parameters, body);
  }

  const Op& op_;
  FunctionSchema schema_;
  WrapperKind kind_;
  DTypePlan dtypes_;
};

}  // namespace

std::string wrapper_struct(const Op& op) { return Struct(op).text(); }

std::string plan_declaration(const Op& op, std::string_view tail) {
  return listed(fmt::format("void {}(", cpp_identifier(*op.schema)), Struct(op).plan_parameters(), tail);
}

}  // namespace keyway::inline v1
