#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_contract.h>
#include <keyway/codegen/emit/cpp_dtypes.h>
#include <keyway/codegen/emit/cpp_metadata.h>
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
#include <iterator>
#include <utility>

namespace keyway::inline v1 {
namespace {

// A member function. The lines of `body` are indented by four.
std::string member_function(const std::string& head, const std::vector<std::string>& parameters,
                            const std::string& body) {
  return Doc::list(fmt::format("static {}(", head), parameters, ") {").lines(2) + body + "  }\n";
}

// A statement of a member function: a call.
std::string call_statement(std::string_view function, std::vector<Doc> arguments) {
  return Doc::list(fmt::format("{}(", function), std::move(arguments), ");").lines(4);
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
        out += Doc::list(fmt::format("using Kernel = {}(", kernel_result(op_)), kernel_parameters(op_), ");").lines(2);
        out += "\n" + plan() + run();
        break;
      case WrapperKind::View:
        out += "\n" + member_function("auto geometry", canonical_parameters(schema_), geometry());
        break;
      case WrapperKind::Composite:
        out += Doc::list(fmt::format("using Function = {}(", public_result_type(schema_)), public_parameters(schema_),
                         ");")
                   .lines(2);
        out += fmt::format("  static constexpr Function* kFunction = composite::{};\n", op_.recipe.function);
        out += "\n" + member_function("void check", canonical_parameters(schema_), guard());
        break;
    }
    if (op_.variants.out && has_tensor_options(schema_)) out += from_out();
    return out + "};\n";
  }

  std::vector<std::string> plan_parameters() const {
    return concatenated({fmt::format("Plan<{}>& plan_", planned_results(op_))}, canonical_parameters(schema_));
  }

 private:
  std::string outputs() const {
    std::string out;
    const std::size_t outputs = op_.variants.out ? op_.out.arguments.size() : planned_results(op_);
    if (outputs > 0) out += fmt::format("  static constexpr std::size_t kOutputs = {};\n", outputs);
    if (op_.variants.out)
      out += fmt::format("  static constexpr const char* kOutNames[] = {{\"{}\"}};\n",
                         joined(op_.out.arguments, "\", \""));
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
      if (!tensor.optional) out += fmt::format("    check_defined(\"{0}\", {0});\n", tensor.name);
      if (tensor.written && kind_ != WrapperKind::Composite)
        out += fmt::format("    check_writable(\"{0}\", {0});\n", tensor.name);
    }
    out += contract_statements(op_, 4);
    return out + (has_tensor_options(schema_) ? "    check_layout(layout);\n" : "");
  }

  std::string plan() {
    std::string body = guard() + device();
    for (const Doc& statement : dtypes_.statements) body += statement.lines(4);
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
    Doc device;
    if (single.empty() && lists.empty()) {
      if (!schema_.arguments().find("device")) return {};
      device = "DeviceType::CPU";
    } else if (single.empty()) {
      device = fmt::format("same_device(\"{0}\", {0})", lists.front());
      lists.erase(lists.begin());
    } else if (single.size() == 1 || has_tag(op_, "across_devices")) {
      device = first + ".device()";
    } else {
      std::vector<Doc> named;
      for (const std::string& name : single) named.emplace_back(fmt::format("{{\"{0}\", {0}}}", name));
      const bool converts = op_.recipe.kind == RecipeKind::Pointwise || !dtypes_.promoted.empty();
      device = Doc::list(converts ? "common_device({" : "same_device({", std::move(named), "})");
    }
    if (has_tensor_options(schema_)) device = Doc::list("device.value_or(", {device}, ")");
    std::string out = (Doc::assignment("plan_.device", std::move(device)) + ";").lines(4);
    if (!has_tag(op_, "across_devices"))
      for (const std::string& list : lists)
        out += call_statement("check_device", {cpp_string(list), list, "plan_.device"});
    return out;
  }

  std::string meta() const {
    const bool one = planned_results(op_) == 1;
    if (op_.recipe.kind == RecipeKind::Pointwise) {
      std::vector<Doc> operands;
      for (const TensorArgument& tensor : tensor_arguments(op_)) operands.emplace_back("&" + tensor.name);
      const Doc list = Doc::list("{", std::move(operands), "}");
      if (one) return call_statement("pointwise_meta", {list, "plan_.meta[0]"});
      return call_statement("plan_.set_all", {Doc::list("pointwise_meta(", {list}, ")")});
    }
    const auto planned = [&](const Doc& meta, std::string_view set) {
      return one ? (Doc::assignment("plan_.meta[0]", meta) + ";").lines(4) : call_statement(set, {meta});
    };
    if (op_.recipe.kind == RecipeKind::Reduction) {
      const ReducedDims reduced = reduced_dims(op_);
      return planned(
          Doc::list("reduced_meta(",
                    {tensor_arguments(op_).front().name, reduced.dims.empty() ? "std::nullopt" : reduced.dims,
                     reduced.keepdim.empty() ? "false" : reduced.keepdim},
                    ")"),
          "plan_.set_all");
    }
    return planned(rule(op_.rule), "plan_.set");
  }

  std::string geometry() const { return guard() + ("return " + rule(op_.recipe.function) + ";").lines(4); }

  // The call of a rule.
  Doc rule(const std::string& function) const {
    return Doc::list(fmt::format("rules::{}(", function), arguments(), ")");
  }

  // The arguments of a rule: all of them, dims wrapped.
  std::vector<Doc> arguments() const {
    std::vector<Doc> out;
    for (const Argument argument : schema_.arguments()) out.push_back(wrapped(std::string(argument.name())));
    return out;
  }

  // An argument, counted from the front if a contract says that it is a dimension.
  Doc wrapped(const std::string& name) const {
    for (const DimArgument& dim : dim_arguments(op_)) {
      if (dim.name != name) continue;
      MetadataExpr cpp(dim.contract->expr, schema_);
      const Doc rank = cpp.text(*dim.rank);
      if (cpp.uses_text() || has_role(dim.contract->expr, *dim.rank, ExprRole::Let)) return name;
      return Doc::list(dim.list       ? "WrappedDims("
                       : dim.optional ? "wrap_optional_dim("
                                      : "wrap_dim(",
                       {name, rank}, ")");
    }
    return name;
  }

  // The same in a call whose results are there: of tensors that are to be joined none by itself has the rank.
  Doc wrapped_in_run(const std::string& name) const {
    return name == joined_dim(op_) ? fmt::format("wrap_dim({}, out_[0]->dim())", name) : wrapped(name);
  }

  std::string run() const {
    const auto tensors = tensor_arguments(op_);
    std::vector<Doc> values;
    for (const Argument argument : schema_.arguments()) {
      const std::string name(argument.name());
      if (describes_result(op_, name)) continue;
      const auto tensor = std::ranges::find(tensors, name, &TensorArgument::name);
      const bool promoted = contains(dtypes_.promoted, name);
      if (tensor == tensors.end() || tensor->written)
        values.push_back(wrapped_in_run(name));
      else if (promoted)
        values.push_back(
            Doc::list(tensor->list ? "Operands(" : "Operand(", {name, "plan_.common", "plan_.device"}, ")"));
      else if (op_.recipe.kind == RecipeKind::Pointwise && tensors.size() > 1)
        values.push_back(Doc::list("Operand(", {name, "plan_.device"}, ")"));
      else
        values.emplace_back(name);
    }
    auto parameters = concatenated({"Kernel* kernel_", fmt::format("const Plan<{}>& plan_", planned_results(op_))},
                                   canonical_parameters(schema_));
    std::string before;
    if (dtypes_.compares) {
      before =
          call_statement("const auto compared_ = compared", {argument(0), argument(1), "plan_.common", "plan_.device"});
      values = {"compared_.self()", "compared_.other()"};
    }
    for (std::size_t i = 0; i < planned_results(op_); ++i) values.emplace_back(fmt::format("*out_[{}]", i));
    if (planned_results(op_) > 0) parameters.emplace_back("TensorBase* const* out_");
    const bool returns = kind_ == WrapperKind::Returning;
    return member_function(kernel_result(op_) + " run", parameters,
                           before + call_statement(returns ? "return kernel_" : "kernel_", std::move(values)));
  }

  std::string argument(std::size_t i) const { return std::string(schema_.arguments()[i].name()); }

  // The arguments of a call that makes a tensor like `out`.
  std::string from_out() const {
    std::vector<std::string> parameters{"const TensorBase& out_"};
    std::vector<Doc> types, values;
    for (const Argument argument : schema_.arguments()) {
      const std::string name(argument.name());
      const std::string type = canonical_type(argument.type());
      types.emplace_back(type);
      if (!is_tensor_option(name)) {
        parameters.push_back(fmt::format("{} {}", type, name));
        values.emplace_back(name);
      } else {
        values.emplace_back(name == "dtype" || name == "device" ? fmt::format("out_.{}()", name) : "std::nullopt");
      }
    }
    const Doc type = Doc::list("std::tuple<", std::move(types), ">");
    return member_function("auto from_out", parameters,
                           ("return " + type + Doc::list("(", std::move(values), ");")).lines(4));
  }

  const Op& op_;
  FunctionSchema schema_;
  WrapperKind kind_;
  DTypePlan dtypes_;
};

}  // namespace

std::string wrapper_struct(const Op& op) { return Struct(op).text(); }

std::string plan_declaration(const Op& op, std::string_view tail) {
  return Doc::list(fmt::format("void {}(", cpp_identifier(*op.schema)), Struct(op).plan_parameters(), tail).lines();
}

}  // namespace keyway::inline v1
