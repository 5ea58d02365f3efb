#include <keyway/codegen/base/names.h>
#include <keyway/codegen/model/library_entries.h>

namespace keyway::inline v1 {
namespace {

void check_namespace(const Op& op, const std::string& library, const Report& report) {
  const std::string_view ns = op.schema->namespace_name();
  if (ns.empty())
    report.error(op.place(), "an operator of a library has its namespace in front: 'my::{}(...)'",
                 shown(op.schema->name()));
  else if (ns == "keyway" || ns == "std")
    report.error(op.place(), "the namespace {} is not a library's to add to", in_quotes(ns));
  else if (ns != library)
    report.error(op.place(), "the operators of a library are in one namespace; the first is in {}", in_quotes(library));
}

void check_op(const Op& op, const Report& report) {
  // Guard and rule of the called operator would have to run: Keyway's are not among what it exports.
  for (const Formula& contract : op.contracts)
    if (has_role(contract.expr, contract.expr.root(), ExprRole::Operator))
      report.error(contract.text.place, "a contract of a library's operator cannot call an operator");
}

}  // namespace

std::string check_library(const std::vector<Family>& families, Diagnostics& diagnostics) {
  std::string library;
  for (const Family& family : families)
    for (const Op& op : family.ops)
      if (library.empty()) library = op.schema->namespace_name();
  for (const Family& family : families) {
    for (const Op& op : family.ops) {
      const Report report = Report(diagnostics, family.file).in_op(op.name());
      check_namespace(op, library, report);
      check_op(op, report);
    }
  }
  if (library.empty() && diagnostics.empty()) Report(diagnostics, families.front().file).error({}, "no operator");
  return library;
}

}  // namespace keyway::inline v1
