// The names that operators have in Python.
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/public_api.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <utility>

namespace keyway::inline v1 {
namespace {

// What is known of a name of a place.
struct PythonName {
  std::vector<std::string> overloads;
  std::string doc;
};
using PythonNames = std::map<std::pair<std::string, std::string>, PythonName>;  // by place and name

void add(PythonNames& names, const std::string& place, const PublicFunction& function) {
  PythonName& name = names[{place, std::string(function.schema->name())}];
  name.overloads.emplace_back(function.schema->full_name());
  if (name.doc.empty()) name.doc = function.op->doc;
}

}  // namespace

std::string emit_python_names(const std::vector<Family>& families) {
  PythonNames names;
  for (const Family& family : families) {
    for (const PublicFunction& function : public_functions(family)) add(names, function.op->python_namespace, function);
    for (const PublicFunction& method : public_methods(family)) add(names, "Tensor", method);
  }
  std::string out =
      file_banner(families) + includes({"keyway/python/api_names.h"}) +
      "\n#include <iterator>\n\nnamespace keyway::inline v1::python {\nnamespace {\n\nconstexpr ApiName kNames[] = {\n";
  for (const auto& [key, name] : names)
    out += fmt::format("    {{{}, {},\n     {},\n     {}}},\n", cpp_string(key.first), cpp_string(key.second),
                       cpp_string(fmt::format("{}", fmt::join(name.overloads, " "))), cpp_string(name.doc));
  return out +
         "};\n\n}  // namespace\n\nconst ApiNames kApiNames = {kNames, std::size(kNames)};\n\n"
         "}  // namespace keyway::inline v1::python\n";
}

}  // namespace keyway::inline v1
