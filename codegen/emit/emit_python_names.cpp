// The names that operators have in Python, with their docstrings.
#include <keyway/codegen/emit/cpp_text.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/emit/line_breaks.h>
#include <keyway/codegen/emit/python_calls.h>
#include <keyway/codegen/emit/python_doc.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace keyway::inline v1 {
namespace {

// A literal of lines.
std::string lines_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string line = cpp_string(text.substr(0, end));
    line.insert(line.size() - 1, "\\n");
    out += "\n     " + line;
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

std::string emit_python_names(const std::vector<Family>& families) {
  std::string out =
      file_banner(families) + includes({"keyway/python/api_names.h"}) +
      "\n#include <iterator>\n\nnamespace keyway::inline v1::python {\nnamespace {\n\nconstexpr ApiName kNames[] = {\n";
  for (const PythonName& name : python_names(families))
    out +=
        fmt::format("    {{{}, {},\n     {},{}}},\n", cpp_string(name.place), cpp_string(name.name),
                    cpp_string(fmt::format("{}", fmt::join(name.overloads, " "))), lines_text(python_docstring(name)));
  return with_breaks(out +
                     "};\n\n}  // namespace\n\nconst ApiNames kApiNames = {kNames, std::size(kNames)};\n\n"
                     "}  // namespace keyway::inline v1::python\n");
}

}  // namespace keyway::inline v1
