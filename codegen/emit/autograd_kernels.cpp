#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/autograd_text.h>
#include <keyway/codegen/emit/cpp_formula.h>
#include <keyway/codegen/emit/cpp_types.h>
#include <keyway/codegen/emit/registrations.h>
#include <keyway/codegen/expr/signature.h>
#include <keyway/codegen/model/op_scope.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

// The arguments that the overload writes to.
std::vector<std::string> written(FunctionSchema schema) {
  std::vector<std::string> names;
  for (const Argument argument : schema.arguments())
    if (argument.is_write()) names.emplace_back(argument.name());
  return names;
}

// `TensorBase mm(const KernelBase&, DispatchKeySet keys, ...` + `tail`.
std::string kernel_signature(FunctionSchema schema, std::string_view name, std::string_view tail) {
  const auto parameters = concatenated({"const KernelBase&", "DispatchKeySet keys_"}, canonical_parameters(schema));
  return Doc::list(fmt::format("{} {}(", canonical_result_type(schema), name), parameters, tail).lines();
}

// `TensorBase record_mm(DispatchKeySet keys, ...`: what a kernel leaves to a function of its own, so that it stays
// small.
std::string recorder_signature(FunctionSchema schema) {
  const auto parameters = concatenated({"DispatchKeySet keys_"}, canonical_parameters(schema));
  return Doc::list(
             fmt::format("[[gnu::noinline]] {} record_{}(", canonical_result_type(schema), cpp_identifier(schema)),
             parameters, ") {")
      .lines();
}

// A call of the op below the kernel: `head` + "(ops::mm, keys_ & ..., self, mat2);".
std::string below(FunctionSchema schema, std::string_view head, std::string_view keys) {
  const auto arguments = concatenated({"ops::" + cpp_identifier(schema), std::string(keys)},
                                      texts_of(schema.arguments(), &Argument::name));
  return Doc::list(fmt::format("{}(", head), arguments, ");").lines(2);
}

// Whether the overload gives back what it writes to: its first argument then gets the history, not the result.
bool is_in_place(FunctionSchema schema) {
  if (schema.arguments().empty() || !schema.arguments()[0].is_write() || schema.is_out()) return false;
  return schema.returns().empty() || schema.returns()[0].is_write();
}

// Writes the recorder of one overload.
class Recorder {
 public:
  Recorder(const Op& op, const AutogradPlan& plan, const Overload& overload)
      : op_(op),
        plan_(plan),
        schema_(*overload.schema),
        id_(cpp_identifier(schema_)),
        in_place_(is_in_place(schema_)) {}

  std::string text() const {
    std::string out = recorder_signature(schema_);
    if (in_place_) out += fmt::format("  check_inplace(\"{0}\", {0}, /*records=*/true);\n", argument(0));
    for (const std::string& name : plan_.underived)
      out += fmt::format("  check_underived(\"{}\", {});\n", name, in_overload(name));
    out += fmt::format("  auto node_ = make_intrusive<{}>();\n", plan_.node);
    std::vector<Doc> inputs = {"*node_"};
    for (const GradInput& input : plan_.inputs) inputs.emplace_back(argument(input.argument));
    out += Doc::list("collect_edges(", std::move(inputs), ");").lines(2);
    for (const GradInput& input : plan_.inputs)
      if (input.list && plan_.inputs.size() > 1)
        out += fmt::format("  node_->{}_size_ = {}.size();\n", input.name, argument(input.argument));
    out += save(false) + call();
    for (const GradResult& result : plan_.results)
      out +=
          fmt::format("  {}({}, node_);\n", in_place_ ? "rebase_history" : "set_history", this->result(result.result));
    out += save(true);
    if (!schema_.returns().empty()) out += fmt::format("  return {};\n", in_place_ ? argument(0) : results());
    return out + "}\n";
  }

 private:
  // The in-place overload may have another name for an argument of the entry.
  std::string argument(std::size_t i) const { return std::string(schema_.arguments()[i].name()); }
  std::string in_overload(std::string_view name) const {
    const auto i = op_.schema->arguments().find(name);
    return i ? argument(*i) : std::string(name);
  }

  std::string results() const { return schema_.returns().size() == 1 ? "result_" : "results_"; }
  std::string result(std::size_t i) const {
    if (in_place_) return argument(0);
    return schema_.returns().size() == 1 ? "result_" : fmt::format("std::get<{}>(results_)", i);
  }

  // Values of the forward call, as C++ over its arguments.
  CppNames forward_names() const {
    CppNames names;
    for (std::size_t i = 0; i < schema_.arguments().size(); ++i)
      names[std::string(op_.schema->arguments()[i].name())] = {argument(i)};
    for (std::size_t i = 0; i < op_.schema->returns().size(); ++i)
      for (const std::string& name : result_names(*op_.schema, i))
        names.try_emplace(name, CppName{result(i)});  // an argument's own name is what a formula means by it
    return names;
  }

  static bool names_argument(const Expr& expr, std::string_view argument) {
    return any_node(expr, [&](const Expr& node) {
      const auto* name = as<NameExpr>(node);
      return name != nullptr && name->name == argument;
    });
  }

  // Whether any of the inputs that need a tensor is there; empty where one always is.
  Doc needed(const GradField& field) const {
    const bool lists = std::ranges::any_of(plan_.inputs, &GradInput::list);
    if (lists || field.inputs.size() == plan_.inputs.size()) return {};
    const auto edge = [](std::size_t i) { return Doc(fmt::format("node_->next_edges()[{}]", i)); };
    Doc any = edge(field.inputs.front());
    for (std::size_t i = 1; i < field.inputs.size(); ++i) any = Doc::infix(std::move(any), "||", edge(field.inputs[i]));
    return any;
  }

  Doc value(const GradField& field, const Doc& text) const {
    if (!field.is_tensor()) return field.vector ? text + ".vec()" : text;
    const bool output = field.kind == SavedKind::Output;
    const bool overwritten = in_place_ && !output && !field.list && names_argument(*field.expr, overwritten_argument());
    return Doc::list(field.list ? "saved(" : "SavedVariable(",
                     {overwritten ? Doc::list("copy_of(", {text}, ")") : text,
                      output ? "/*is_output=*/true" : "/*is_output=*/false"},
                     ")");
  }

  // Of an in-place call, in the words of the entry.
  std::string_view overwritten_argument() const { return op_.schema->arguments()[0].name(); }

  // Whether a value is kept once the call has returned: one of a result, and what is asked of tensors, which the call
  // has then found defined. What an in-place call overwrites is asked before.
  bool kept_after_call(const GradField& field) const {
    if (has_role(*field.formula, *field.expr, ExprRole::Result)) return true;
    return field.kind == SavedKind::Metadata && !(in_place_ && names_argument(*field.expr, overwritten_argument()));
  }

  // The argument that a node names if it is an optional tensor of which the formula has tested that it is there.
  std::string tested_tensor(const GradField& field, const Expr& node) const {
    const auto* name = as<NameExpr>(node);
    const ExprNote& note = field.formula->note(node);
    if (!name || note.role != ExprRole::Argument || !note.type.is(ExprBase::Tensor) || note.type.optional) return {};
    const auto at = op_.schema->arguments().find(name->name);
    return at && op_.schema->arguments()[*at].type().is(TypeKind::Optional) ? argument(*at) : std::string();
  }

  // Whether the optional tensors are there whose metadata a formula asks for only where it has tested that they are.
  Doc present(const GradField& field) const {
    std::vector<std::string> tests;
    if (field.kind == SavedKind::Metadata)
      each_node(*field.expr, [&](const Expr& node) {
        const std::string tensor = tested_tensor(field, node);
        if (!tensor.empty() && !contains(tests, tensor + ".defined()")) tests.push_back(tensor + ".defined()");
      });
    if (tests.empty()) return {};
    Doc all = tests.front();
    for (std::size_t i = 1; i < tests.size(); ++i) all = Doc::infix(std::move(all), "&&", tests[i]);
    return all;
  }

  std::string save(bool after_call) const {
    const CppNames names = forward_names();
    std::string out;
    for (const GradField& field : plan_.fields) {
      if (kept_after_call(field) != after_call) continue;
      const Doc kept = value(field, cpp_formula(*field.formula, *field.expr, names));
      const Doc save = Doc::assignment("node_->" + field.name, kept) + ";";
      const Doc condition = field.is_tensor() ? needed(field) : present(field);
      out += (condition.empty() ? save : Doc::conditional(condition, ")", save)).lines(2);
    }
    return out;
  }

  std::string call() const {
    const bool keeps = !in_place_ && !schema_.returns().empty();
    const std::string type = schema_.returns().size() == 1 ? canonical_result_type(schema_) : "auto";
    const std::string head = fmt::format("{}below_autograd<ops::{}_sig>",
                                         keeps ? fmt::format("{} {} = ", type, results()) : std::string(), id_);
    return below(schema_, head, "keys_");
  }

  const Op& op_;
  const AutogradPlan& plan_;
  const FunctionSchema schema_;
  const std::string id_;
  const bool in_place_;
};

// The tensors whose gradients an overload has to think of.
std::vector<std::string> watched(const Op& op, const AutogradPlan& plan, const Overload& overload) {
  std::vector<std::string> names;
  const FunctionSchema schema = *overload.schema;
  const auto add = [&](std::string name) {
    if (!contains(names, name)) names.push_back(std::move(name));
  };
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const Argument argument = schema.arguments()[i];
    const bool own = i < op.schema->arguments().size();
    const std::string name(own ? op.schema->arguments()[i].name() : argument.name());
    const bool input =
        contains(plan.inputs, name, &GradInput::name) && (!op.derivatives.empty() || argument.is_write());
    const bool underived = contains(plan.underived, name);
    if (input || underived || argument.is_write()) add(std::string(argument.name()));
  }
  return names;
}

std::string autograd_kernel(const Op& op, const AutogradPlan& plan, const Overload& overload) {
  const FunctionSchema schema = *overload.schema;
  const std::string id = cpp_identifier(schema);
  std::string out = kernel_signature(schema, id, ") {");
  const auto tensors = watched(op, plan, overload);
  const Doc needs = Doc::list("needs_grad(", tensors, ")");
  const std::string redispatch =
      below(schema, fmt::format("return Caller<ops::{}_sig>::redispatch", id), "keys_ & kAfterAutograd") + "}\n";
  if (!has_recorder(op, overload)) {
    const Doc refused =
        Doc::list(schema.is_out() ? "fail_out(" : "fail_written_lists(", {Doc::literal(joined(tensors))}, ");");
    if (!tensors.empty()) out += Doc::conditional(needs, ") [[unlikely]]", refused).lines(2);
    return out + redispatch;
  }
  const auto arguments = concatenated({"keys_"}, texts_of(schema.arguments(), &Argument::name));
  const Doc record = Doc::list(fmt::format("return record_{}(", id), arguments, ");");
  const Doc one_line = Doc::conditional(needs, ")", record);
  out += one_line.fits(2) ? one_line.lines(2)
                          : Doc::conditional(needs, ") {").lines(2) + record.lines(4) + Doc("}").lines(2);
  if (is_in_place(schema)) out += fmt::format("  check_unrecorded(\"{0}\", {0});\n", schema.arguments()[0].name());
  return out + redispatch;
}

// The argument that a result is a view of.
std::string base_of(FunctionSchema schema, SchemaType result) {
  const AliasInfo view = result.is(TypeKind::List) ? result.element().alias() : result.alias();
  for (const Argument argument : schema.arguments())
    if (argument.is_alias() && argument.type().alias() == view) return std::string(argument.name());
  return std::string(schema.arguments()[0].name());
}

std::string adinplace_kernel(const Op& op, const Overload& overload) {
  const FunctionSchema schema = *overload.schema;
  const std::string id = cpp_identifier(schema);
  std::string out = kernel_signature(schema, "adinplace_" + id, ") {");
  const bool one = schema.returns().size() == 1;
  const bool returns = !schema.returns().empty();
  const std::string keep =
      returns ? fmt::format("{} = ", one ? canonical_result_type(schema) + " result_" : "auto results_")
              : std::string();
  out += below(schema, fmt::format("{}below_adinplace<ops::{}_sig>", keep, id), "keys_");
  for (const std::string& name : written(schema)) out += fmt::format("  bump_version({});\n", name);
  const bool views = !schema.is_mutable() && !op.derivatives.empty();
  for (std::size_t i = 0; views && i < schema.returns().size(); ++i) {
    const SchemaType type = schema.returns()[i].type();
    if (!type.is_alias()) continue;
    const std::string view = one ? "result_" : fmt::format("std::get<{}>(results_)", i);
    const std::string base = base_of(schema, type);
    out += type.is(TypeKind::List) || !one ? fmt::format("  as_views({}, {});\n", base, view)
                                           : fmt::format("  as_view({}, {}, view_creation());\n", base, view);
  }
  if (returns) out += fmt::format("  return {};\n", one ? "result_" : "results_");
  return out + "}\n";
}

}  // namespace

bool has_recorder(const Op& op, const Overload& overload) {
  const FunctionSchema schema = *overload.schema;
  const bool writes_list = !schema.arguments().empty() && schema.arguments()[0].is_write() &&
                           schema.arguments()[0].type().is(TypeKind::List);
  return has_autograd_kernel(op, overload) && !schema.is_out() && !writes_list;
}

std::string recorder_text(const Op& op, const AutogradPlan& plan, const Overload& overload) {
  return Recorder(op, plan, overload).text();
}

std::string kernel_texts(const Op& op, const AutogradPlan& plan, const Overload& overload) {
  std::string out;
  if (has_autograd_kernel(op, overload)) out += autograd_kernel(op, plan, overload);
  if (has_autograd_kernel(op, overload) && has_adinplace_kernel(op, overload)) out += "\n";
  if (has_adinplace_kernel(op, overload)) out += adinplace_kernel(op, overload);
  return out;
}

std::string kernel_declarations(const Op& op, const Overload& overload) {
  std::string out;
  const FunctionSchema schema = *overload.schema;
  const std::string id = cpp_identifier(schema);
  if (has_autograd_kernel(op, overload)) out += kernel_signature(schema, id, ");");
  if (has_adinplace_kernel(op, overload)) out += kernel_signature(schema, "adinplace_" + id, ");");
  return out;
}

}  // namespace keyway::inline v1
