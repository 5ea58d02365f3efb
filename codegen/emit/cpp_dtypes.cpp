#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_dtypes.h>
#include <keyway/codegen/emit/cpp_metadata.h>
#include <keyway/codegen/emit/operands.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/expr/vocabulary.h>
#include <keyway/codegen/model/op_scope.h>
#include <keyway/codegen/model/variants.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

bool is_none(const Argument& argument) { return argument.default_value()->kind() == DefaultKind::None; }

// `promote`, `promote_to_float`, `compare`, or one of them with a set: promote(integral|bool).
struct PromotionRule {
  bool compares = false;
  bool to_float = false;
  const Expr* within = nullptr;
};
std::optional<PromotionRule> promotion_of(const Expr& set) {
  const std::string_view word = promotion_word(set);
  if (word.empty()) return std::nullopt;
  const auto* call = as<CallExpr>(set);
  return PromotionRule{word == "compare", word == "promote_to_float", call ? call->arguments[0].value.get() : nullptr};
}

class Planner {
 public:
  explicit Planner(const Op& op) : op_(op), results_(planned_results(op)), dtypes_(results_) {
    for (TensorArgument& tensor : tensor_arguments(op))
      (tensor.written && results_ > 0 ? others_ : tensors_).push_back(std::move(tensor));
  }

  DTypePlan run() {
    if (!op_.dtypes.rules.empty())
      rules();
    else
      preset(op_.dtypes.preset.empty() ? implied() : op_.dtypes.preset);
    finish();
    return std::move(plan_);
  }

 private:
  std::string_view implied() const { return op_.recipe.kind == RecipeKind::Pointwise ? "promote" : "same"; }

  void say(Doc statement) { plan_.statements.push_back(std::move(statement) + ";"); }
  void set_common(Doc dtype) { say(Doc::assignment("plan_.common", std::move(dtype))); }
  void check_same(const std::string& name, const std::string& like, const Doc& dtype) {
    say(Doc::list("check_same_dtype(", {cpp_string(name), name, cpp_string(like), dtype}, ")"));
  }

  // --- Presets

  void preset(std::string_view name) {
    if (tensors_.empty()) return without_tensors();
    plan_.loop_tensor = tensors_.front().name;
    plan_.loop_types = name == "promote_to_float" ? "kFloatingAndComplexTypes" : "kAnyTypes";
    if (name == "same") return same();
    std::vector<std::string> names;
    for (const TensorArgument& tensor : tensors_) names.push_back(tensor.name);
    if (name == "integers_to_int64") return integers_to_int64();
    promote(names, {.to_float = name == "promote_to_float"}, nullptr);
    dtypes_.assign(results_, name == "promote_to_bool" ? "ScalarType::Bool" : "plan_.common");
  }

  void without_tensors() {
    dtypes_.assign(results_, has_dtype_argument(op_) ? dtype_or("get_default_dtype()") : "get_default_dtype()");
  }

  void same() {
    const TensorArgument& first = tensors_.front();
    std::string dtype = own_dtype(first);
    if (!first.list && !first.optional) {
      say(fmt::format("check_dtype(\"{}\", {}, kAnyTypes)", first.name, first.name));
    } else {
      say("const ScalarType like = " + dtype);
      dtype = "like";
    }
    for (const TensorArgument& tensor : tensors_)
      if (&tensor != &first || first.list) check_same(tensor.name, first.name, dtype);
    if (has_dtype_argument(op_) && results_ > 0) {
      set_common(dtype_or(dtype));
      plan_.promoted = {first.name};
      dtype = "plan_.common";
    }
    dtypes_.assign(results_, dtype);
  }

  void integers_to_int64() {
    const TensorArgument& first = tensors_.front();
    const std::string dtype = own_dtype(first);
    Doc sum = Doc::list("integers_to_int64(", {dtype}, ")");
    if (has_dtype_argument(op_)) {
      set_common(dtype_or(dtype));
      plan_.promoted = {first.name};
      sum = dtype_or(sum);
    }
    dtypes_.assign(results_, sum);
  }

  // The operands of `names` promote, with the numbers that the caller has to think of: not those after the *, and not
  // those that are a number by default, as `alpha` is 1.
  void promote(const std::vector<std::string>& names, PromotionRule rule, MetadataExpr* within) {
    std::vector<std::string> parts;
    for (const TensorArgument& tensor : tensors_)
      if (contains(names, tensor.name)) parts.push_back(tensor.name);
    const std::vector<std::string> tensors = parts;
    std::vector<std::string> numbers;
    for (const Argument argument : op_.schema->arguments()) {
      if (!expr_type_of(argument.type()).required().is(ExprBase::Scalar)) continue;
      const bool takes_part = !argument.is_kwarg_only() && (!argument.has_default() || is_none(argument));
      (takes_part ? parts : numbers).emplace_back(argument.name());
      if (takes_part && !argument.has_default()) plan_.numbers.emplace_back(argument.name());
    }
    const bool alone = parts.size() == 1 && !tensor(tensors.front()).list;
    Doc common = tensors.front() + ".dtype()";
    if (rule.compares && tensors.size() == 2) {
      common = Doc::list("compared_dtype(", tensors, ")");
    } else if (!alone) {
      Doc promotion = "Promotion()";
      for (const std::string& part : parts) promotion = Doc::infix(std::move(promotion), "<<", part);
      common = "(" + std::move(promotion) + ").result()";
    }
    if (rule.to_float) common = Doc::list("to_float(", {common}, ")");
    set_common(has_dtype_argument(op_) ? dtype_or(common) : common);
    if (within) say(Doc::list("check_common_dtype(", {"plan_.common", within->set(*rule.within)}, ")"));
    for (const std::string& number : numbers) say(fmt::format("check_number(\"{0}\", {0}, plan_.common)", number));
    if (!alone || rule.to_float || has_dtype_argument(op_)) plan_.promoted = tensors;
    plan_.compares = rule.compares;
    plan_.to_float = rule.to_float;
    common_ = true;
  }

  // --- Rules

  void rules() {
    for (const DTypeRule& rule : op_.dtypes.rules)
      if (const auto promotion = promotion_of(rule.set.expr.root())) {
        MetadataExpr within = cpp(rule);
        promote(rule.names, *promotion, promotion->within ? &within : nullptr);
        common_names_ = rule.names;
        plan_.loop_tensor = rule.names.front();
        plan_.loop_types = promotion->within     ? within.set(*promotion->within)
                           : promotion->to_float ? "kFloatingAndComplexTypes"
                                                 : "kAnyTypes";
      }
    for (const DTypeRule& rule : op_.dtypes.rules) {
      if (promotion_of(rule.set.expr.root())) continue;
      for (const std::string& name : rule.names) {
        if (const auto result = result_index(name))
          dtypes_[*result] = cpp(rule).text();
        else if (contains(tensors_, name, &TensorArgument::name))
          check(rule, name);
      }
    }
    // Kernels are not told of `dtype`: the first tensor comes to them in it.
    if (!common_ && has_dtype_argument(op_) && !has_tensor_options(*op_.schema) && !tensors_.empty()) {
      set_common(dtype_or(own_dtype(tensors_.front())));
      plan_.promoted = {tensors_.front().name};
      common_ = true;
    }
    if (plan_.loop_tensor.empty() && !tensors_.empty()) {
      plan_.loop_tensor = tensors_.front().name;
      plan_.loop_types = loop_types(plan_.loop_tensor);
    }
  }

  void check(const DTypeRule& rule, const std::string& name) {
    const auto* like = as<NameExpr>(rule.set.expr.root());
    if (like && contains(tensors_, like->name, &TensorArgument::name))
      check_same(name, like->name, dtype_of(like->name));
    else
      say(Doc::list("check_dtype(", {cpp_string(name), name, cpp(rule).set(rule.set.expr.root())}, ")"));
  }

  // The set of an operand's rule if it is made of constants alone.
  Doc loop_types(const std::string& name) {
    for (const DTypeRule& rule : op_.dtypes.rules) {
      if (!contains(rule.names, name)) continue;
      const auto* like = as<NameExpr>(rule.set.expr.root());
      if (like && like->name != name && contains(tensors_, like->name, &TensorArgument::name))
        return loop_types(like->name);
      if (is_constant(rule.set.expr, rule.set.expr.root())) return cpp(rule).set(rule.set.expr.root());
    }
    return "kAnyTypes";
  }

  // --- Common to both

  // Results that nothing is said of have the operands' dtype.
  void finish() {
    for (std::size_t i = 0; i < results_; ++i) {
      if (dtypes_[i].empty())
        dtypes_[i] = common_ ? "plan_.common" : tensors_.empty() ? "get_default_dtype()" : own_dtype(tensors_.front());
      say(Doc::assignment(fmt::format("plan_.dtype[{}]", i), dtypes_[i]));
    }
  }

  const TensorArgument& tensor(const std::string& name) const {
    return *std::ranges::find(tensors_, name, &TensorArgument::name);
  }

  // The argument `dtype`, or another one where it is None.
  static Doc dtype_or(Doc other) { return Doc::list("dtype.value_or(", {std::move(other)}, ")"); }

  static std::string own_dtype(const TensorArgument& tensor) {
    return tensor.list ? fmt::format("dtype_of(\"{0}\", {0})", tensor.name) : tensor.name + ".dtype()";
  }

  std::optional<std::size_t> result_index(const std::string& name) const {
    for (std::size_t i = 0; i < results_; ++i)
      if (contains(result_names(*op_.schema, i), name)) return i;
    return std::nullopt;
  }

  // What the name of a tensor or result stands for; empty for other names.
  std::string dtype_of(const std::string& name) const {
    if (contains(common_names_, name)) return "plan_.common";
    for (const auto* tensors : {&tensors_, &others_})
      for (const TensorArgument& tensor : *tensors)
        if (tensor.name == name) return own_dtype(tensor);
    const auto result = result_index(name);
    return result ? fmt::format("plan_.dtype[{}]", *result) : std::string();
  }

  MetadataExpr cpp(const DTypeRule& rule) const {
    return MetadataExpr(rule.set.expr, *op_.schema, [this](const std::string& name) { return dtype_of(name); });
  }

  const Op& op_;
  std::size_t results_;
  std::vector<Doc> dtypes_;  // of the results
  std::vector<TensorArgument> tensors_;
  std::vector<TensorArgument> others_;  // written beside results: running statistics
  std::vector<std::string> common_names_;
  bool common_ = false;  // plan.common is set
  DTypePlan plan_;
};

}  // namespace

DTypePlan dtype_plan(const Op& op) { return Planner(op).run(); }

}  // namespace keyway::inline v1
