// The names that operators have in Python, with their docstrings.
#include <keyway/codegen/base/names.h>
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/python_calls.h>

namespace keyway::inline v1 {
namespace {

std::string entry(const PythonName& name) {
  std::vector<Doc> fields{cpp_string(name.owner), cpp_string(name.name)};
  std::string out =
      Doc::list("{", std::move(fields), ",").lines(4) + (Doc::literal(joined(name.overloads, " ")) + ",").lines(5);
  // A literal for each line.
  const std::string docstring = python_docstring(name);
  for (std::size_t begin = 0; begin < docstring.size();) {
    const std::size_t end = docstring.find('\n', begin) + 1;
    const bool last = end == docstring.size();
    out += (Doc::literal(docstring.substr(begin, end - begin), 4) + (last ? "}," : "")).lines(5);
    begin = end;
  }
  return out;
}

}  // namespace

std::string emit_python_names(const std::vector<Family>& families) {
  std::string out =
      file_banner(families) + includes({"keyway/python/api_names.h"}) +
      "\n#include <iterator>\n\nnamespace keyway::inline v1::python {\nnamespace {\n\nconstexpr ApiName kNames[] = {\n";
  for (const PythonName& name : python_names(families)) out += entry(name);
  return out +
         "};\n\n}  // namespace\n\nconst ApiNames kApiNames = {kNames, std::size(kNames)};\n\n"
         "}  // namespace keyway::inline v1::python\n";
}

}  // namespace keyway::inline v1
