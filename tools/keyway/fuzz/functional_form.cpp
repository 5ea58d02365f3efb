#include <keyway/core/schema/schema.h>
#include <keyway/tools/keyway/fuzz/functional_form.h>

#include <algorithm>
#include <string_view>

namespace keyway::inline v1::tools {

namespace {

// "my::add" of "my::add_".
std::string_view functional_name(const OperatorHandle& op) {
  std::string_view name = op.entry().info().name;
  if (op.schema().is_inplace() && name.ends_with('_')) name.remove_suffix(1);
  return name;
}

// An annotation says what is written, and is no difference here.
bool same_but_written(const Argument& a, const Argument& b) {
  return a.name() == b.name() && (a.type() == b.type() || (a.is_write() && a.type().kind() == b.type().kind()));
}

}  // namespace

std::optional<OperatorHandle> functional_form(const OperatorHandle& op) {
  const FunctionSchema& schema = op.schema();
  if (!schema.is_out() && !schema.is_inplace()) return std::nullopt;
  const std::size_t inputs = schema.arguments().size() - schema.out_count();
  for (const OperatorHandle& other : Dispatcher::singleton().ops()) {
    if (other.entry().info().name != functional_name(op)) continue;
    const FunctionSchema& functional = other.schema();
    if (functional.is_mutable() || functional.arguments().size() != inputs) continue;
    if (std::equal(functional.arguments().begin(), functional.arguments().end(), schema.arguments().begin(),
                   [](const Argument& a, const Argument& b) { return same_but_written(b, a); })) {
      return other;
    }
  }
  return std::nullopt;
}

}  // namespace keyway::inline v1::tools
