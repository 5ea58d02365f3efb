// Two walks: the first finds the tensors that the formula uses as tensors, the second collects everything and
// knows then whose metadata can be read off a kept tensor.
#include <keyway/codegen/expr/saved_values.h>
#include <keyway/core/schema/lexer.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace keyway::inline v1 {
namespace {

using NameSet = std::set<std::string, std::less<>>;

// "self.size(-1)" -> "self_size_m1".
std::string identifier_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (detail::is_name(c))
      out += c;
    else if (c == '-')
      out += "_m";
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  for (std::size_t twice = out.find("__m"); twice != std::string::npos; twice = out.find("__m")) out.erase(twice, 1);
  return out;
}

class Analysis {
 public:
  explicit Analysis(const CheckedExpr& formula) : formula_(formula) {}

  std::vector<SavedValue> run() {
    find_tensors(formula_.root());
    collect(formula_.root_ptr());
    return std::move(values_);
  }

 private:
  bool is_tensor_name(const Expr& expr) const {
    const ExprNote& note = formula_.note(expr);
    const bool forward = note.role == ExprRole::Argument || note.role == ExprRole::Result;
    return as<NameExpr>(expr) && forward && note.type.base == ExprBase::Tensor;
  }

  // The names of forward tensors in a subtree.
  void add_tensors(const Expr& expr, NameSet& names) const {
    each_node(expr, [&](const Expr& node) {
      if (is_tensor_name(node)) names.insert(as<NameExpr>(node)->name);
    });
  }

  // Whether the forward call can evaluate it: it names nothing that backward brings.
  bool known_forward(const Expr& expr) const {
    return !has_role(formula_, expr, ExprRole::Gradient) && !has_role(formula_, expr, ExprRole::Needs);
  }

  // Whether it asks tensors for metadata: self.sizes(), len(tensors), weight == None.
  bool asks_metadata(const Expr& expr) const {
    if (!known_forward(expr)) return false;
    if (const auto* method = as<MethodExpr>(expr))
      return formula_.note(expr).role == ExprRole::Method && is_tensor_name(*method->object);
    if (const auto* compare = as<CompareExpr>(expr))
      return compare->ops.size() == 1 &&
             ((is_tensor_name(*compare->operands[0]) && as<NoneExpr>(*compare->operands[1])) ||
              (as<NoneExpr>(*compare->operands[0]) && is_tensor_name(*compare->operands[1])));
    NameSet tensors;
    if (formula_.note(expr).role == ExprRole::Predicate) add_tensors(expr, tensors);
    return !tensors.empty();
  }

  void find_tensors(const Expr& expr) {
    if (asks_metadata(expr)) return;
    if (is_tensor_name(expr)) kept_.insert(as<NameExpr>(expr)->name);
    for (const ExprPtr& child : children(expr)) find_tensors(*child);
  }

  void collect(const ExprPtr& expr) {
    if (asks_metadata(*expr)) {
      NameSet tensors;
      add_tensors(*expr, tensors);
      if (!std::ranges::includes(kept_, tensors)) return save(SavedKind::Metadata, expr);
    }
    const ExprRole role = formula_.note(*expr).role;
    if (role == ExprRole::Argument || role == ExprRole::Result)
      save(is_tensor_name(*expr) ? role == ExprRole::Argument ? SavedKind::Input : SavedKind::Output : SavedKind::Value,
           expr);
    for (const ExprPtr& child : children(*expr)) collect(child);
  }

  void save(SavedKind kind, const ExprPtr& expr) {
    const std::string text = to_text(*expr);
    if (!seen_.insert(text).second) return;
    std::string name = identifier_of(text);
    while (!names_.insert(name).second) name += "_";
    values_.push_back({kind, expr, formula_.note(*expr).type, std::move(name)});
  }

  const CheckedExpr& formula_;
  NameSet kept_;  // tensors that are used as tensors
  NameSet seen_;  // canonical texts
  NameSet names_;
  std::vector<SavedValue> values_;
};

}  // namespace

std::vector<SavedValue> saved_values(const CheckedExpr& formula) { return Analysis(formula).run(); }

}  // namespace keyway::inline v1
