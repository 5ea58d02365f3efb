#include <keyway/core/schema/evolution.h>
#include <keyway/core/schema/printer.h>

#include <algorithm>

namespace keyway::inline v1 {

namespace {

bool same_type(SchemaType a, SchemaType b) { return to_string(a) == to_string(b); }

// Whether every value of `from` is one of `to`, and is written to alike.
bool accepts(SchemaType to, SchemaType from) {
  if (same_type(to, from)) return true;
  if (to.is(TypeKind::Optional)) {
    return accepts(to.element(), from.is(TypeKind::Optional) ? from.element() : from);
  }
  if (from.is(TypeKind::Optional)) return false;
  if (to.is(TypeKind::List) && from.is(TypeKind::List)) {
    const bool size = to.list_size() == 0 || to.list_size() == from.list_size();
    return size && accepts(to.element(), from.element());
  }
  const auto is_number = [&](TypeKind kind) {
    return kind == TypeKind::Int || kind == TypeKind::Float || kind == TypeKind::Bool;
  };
  if (to.is(TypeKind::Scalar)) return is_number(from.kind());
  if (to.is(TypeKind::SymInt)) return from.is(TypeKind::Int);
  return to.is(TypeKind::Int) && from.is(TypeKind::SymInt);
}

// Why a call that is written for one schema does not work with another.
class Comparison {
 public:
  // `may_omit`: what `to` lacks is not used by the call if it has a default.
  Comparison(FunctionSchema from, FunctionSchema to, bool may_omit) : from_(from), to_(to), may_omit_(may_omit) {}

  std::vector<std::string> run() {
    if (from_.full_name() != to_.full_name()) {
      add("it is called " + std::string(to_.full_name()) + ", not " + std::string(from_.full_name()));
    }
    for (std::size_t i = 0; i < from_.arguments().size(); ++i) compare_argument(i);
    for (const Argument argument : to_.arguments()) {
      if (!from_.arguments().find(argument.name()) && !argument.has_default()) {
        add("argument '" + std::string(argument.name()) + "' has no default");
      }
    }
    if (from_.is_vararg() && !to_.is_vararg()) add("it takes no further arguments");
    compare_returns();
    return std::move(reasons_);
  }

 private:
  void add(std::string reason) { reasons_.push_back(std::move(reason)); }

  void compare_argument(std::size_t i) {
    const Argument mine = from_.arguments()[i];
    const std::string name = "argument '" + std::string(mine.name()) + "'";
    const auto position = to_.arguments().find(mine.name());
    if (!position) {
      if (!may_omit_ || !mine.has_default()) add("there is no " + name);
      return;
    }
    const Argument other = to_.arguments()[*position];
    if (!mine.is_kwarg_only() && other.is_kwarg_only()) {
      add(name + " is keyword-only");
    } else {
      compare_positions(name, i, *position);
    }
    if (mine.type().is_write() != other.type().is_write()) {
      add(name + (other.type().is_write() ? " is written to" : " is not written to"));
    } else if (!accepts(other.type(), mine.type())) {
      add(name + " is " + to_string(other.type()) + ", not " + to_string(mine.type()));
    }
    if (!mine.has_default()) return;
    if (!other.has_default()) {
      add(name + " has no default");
    } else if (to_string(*mine.default_value()) != to_string(*other.default_value())) {
      add(name + " is " + to_string(*other.default_value()) + " by default, not " + to_string(*mine.default_value()));
    }
  }

  // Keyword-only arguments have positions too: typed and boxed calls pass them in the schema's order. Those that take
  // results are counted for themselves, since new arguments with defaults come before them.
  void compare_positions(const std::string& name, std::size_t mine, std::size_t other) {
    const bool outs = from_.arguments()[mine].is_out() && to_.arguments()[other].is_out();
    const std::size_t before = outs ? outs_before(from_, mine) : mine;
    const std::size_t after = outs ? outs_before(to_, other) : other;
    if (before == after) return;
    add(name + " stands at position " + std::to_string(after + 1) + (outs ? " of the out arguments" : "") + ", not " +
        std::to_string(before + 1));
  }

  static std::size_t outs_before(FunctionSchema schema, std::size_t position) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < position; ++i) count += schema.arguments()[i].is_out() ? 1 : 0;
    return count;
  }

  void compare_returns() {
    const ArgumentList mine = from_.returns(), other = to_.returns();
    if (mine.size() != other.size()) {
      return add("it returns " + std::to_string(other.size()) + " values, not " + std::to_string(mine.size()));
    }
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const std::string what = mine.size() == 1 ? "its result" : "result " + std::to_string(i + 1);
      if (!accepts(mine[i].type(), other[i].type())) {
        add(what + " is " + to_string(other[i].type()) + ", not " + to_string(mine[i].type()));
      }
      if (mine[i].name() != other[i].name()) {
        add(what + " is called '" + std::string(other[i].name()) + "', not '" + std::string(mine[i].name()) + "'");
      }
    }
  }

  FunctionSchema from_, to_;
  bool may_omit_;
  std::vector<std::string> reasons_;
};

}  // namespace

SchemaCompatibility compare_schemas(FunctionSchema before, FunctionSchema after) {
  return {Comparison(before, after, false).run(), Comparison(after, before, true).run()};
}

std::string schema_difference(FunctionSchema there, FunctionSchema here) {
  const std::string first = to_string(there), second = to_string(here);
  if (first == second) return {};
  const SchemaCompatibility compatibility = compare_schemas(there, here);
  std::string reason = "their texts differ";
  for (const auto* reasons : {&compatibility.forward, &compatibility.backward}) {
    if (!reasons->empty()) reason = reasons->front();
  }
  const auto same = static_cast<std::size_t>(
      std::mismatch(first.begin(), first.end(), second.begin(), second.end()).first - first.begin());
  const std::string indent(6, ' ');
  return reason + "\n" + indent + "there  " + first + "\n" + indent + "here   " + second + "\n" + indent +
         std::string(7 + same, ' ') + "^";
}

}  // namespace keyway::inline v1
