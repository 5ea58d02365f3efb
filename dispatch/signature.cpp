#include <keyway/core/schema/canonical_cpp.h>
#include <keyway/core/schema/signature_code.h>
#include <keyway/dispatch/signature.h>

namespace keyway::inline v1 {

namespace {

// A code's parts as C++ text.
struct Signature {
  std::string result;
  std::vector<std::string> arguments;

  explicit Signature(std::string_view code) {
    append_cpp(result, first_code(code), true);
    for (code.remove_prefix(first_code(code).size() + 1); !code.empty();) {
      append_cpp(arguments.emplace_back(), first_code(code), false);
      code.remove_prefix(first_code(code).size());
    }
  }
  std::string text() const {
    std::string all;
    for (const std::string& argument : arguments) all += (all.empty() ? "" : ", ") + argument;
    return result + "(" + all + ")";
  }
};

}  // namespace

std::uint64_t signature_hash_of(const FunctionSchema& schema) { return hash_of_code(canonical_signature(schema).code); }

std::string signature_text_of(const FunctionSchema& schema) { return canonical_signature(schema).cpp; }

std::string signature_difference(std::string_view have, const FunctionSchema& schema) {
  const Signature mine(have);
  const Signature wanted(canonical_signature(schema).code);
  std::string text = "it is " + mine.text() + ", but the schema asks for " + wanted.text() + ": ";
  for (std::size_t i = 0; i < mine.arguments.size() && i < wanted.arguments.size(); ++i) {
    if (mine.arguments[i] == wanted.arguments[i]) continue;
    return text + "argument " + std::to_string(i + 1) + ", '" + std::string(schema.arguments()[i].name()) + "', is " +
           mine.arguments[i] + ", not " + wanted.arguments[i];
  }
  if (mine.arguments.size() != wanted.arguments.size()) {
    return text + "it takes " + std::to_string(mine.arguments.size()) + " arguments, not " +
           std::to_string(wanted.arguments.size());
  }
  return text + "its result is " + mine.result + ", not " + wanted.result;
}

}  // namespace keyway::inline v1
