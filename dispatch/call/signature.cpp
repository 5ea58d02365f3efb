#include <keyway/core/schema/canonical_cpp.h>
#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/signature_code.h>
#include <keyway/dispatch/call/signature.h>

#include <algorithm>

namespace keyway::inline v1 {

namespace {

// A code's parts as C++ text.
struct Signature {
  std::string result;
  std::vector<std::string> arguments;

  explicit Signature(std::string_view code) {
    append_cpp(result, first_code(code), HeldAs::Value);
    for (code.remove_prefix(first_code(code).size() + 1); !code.empty();) {
      append_cpp(arguments.emplace_back(), first_code(code), HeldAs::Argument);
      code.remove_prefix(first_code(code).size());
    }
  }
};

}  // namespace

std::uint64_t signature_hash_of(const FunctionSchema& schema) { return fnv1a(canonical_signature(schema).code); }

std::string signature_text_of(const FunctionSchema& schema) { return canonical_signature(schema).cpp; }

std::string signature_text_of_code(std::string_view code) {
  const Signature signature(code);
  std::string text = signature.result + "(";
  for (const std::string& argument : signature.arguments) text += (text.ends_with('(') ? "" : ", ") + argument;
  return text + ")";
}

namespace {

// Two signatures, one above the other, argument under argument:
//
//   schema  f(Tensor self, float by=1.0) -> Tensor
//   kernel  f(Tensor     , str         ) -> Tensor
//                          ^^^^^^^^^^^^
class Comparison {
 public:
  explicit Comparison(std::string_view name)
      : schema_("      schema  " + std::string(name) + "("), kernel_("      kernel  ") {
    kernel_ += std::string(name) + "(";
  }

  void separate(std::string_view text) {
    schema_ += text;
    kernel_ += text;
  }
  // `differ`: this is what the line below marks, if nothing before it is.
  void add(const std::string& schema, const std::string& kernel, bool differ) {
    const std::size_t width = std::max(schema.size(), kernel.size());
    if (differ && mark_.empty())
      mark_ = std::string(schema_.size(), ' ') + std::string(std::max<std::size_t>(width, 1), '^');
    schema_ += schema + std::string(width - schema.size(), ' ');
    kernel_ += kernel + std::string(width - kernel.size(), ' ');
  }
  std::string text() const { return "\n" + schema_ + "\n" + kernel_ + "\n" + mark_; }

 private:
  std::string schema_, kernel_, mark_;
};

std::string schema_type(std::string_view code) {
  std::string text;
  append_schema_type(text, code);
  return text;
}

std::string results_text(const FunctionSchema& schema) {
  std::string text;
  detail::SchemaPrinter<std::string>(text).print_returns(schema);
  return text;
}

std::string compare(std::string_view have, const FunctionSchema& schema) {
  const std::string wanted = canonical_signature(schema).code;
  const std::string_view my_result = first_code(have), result = first_code(wanted);
  std::string_view mine = have.substr(my_result.size() + 1),
                   theirs = std::string_view(wanted).substr(result.size() + 1);
  Comparison lines(schema.full_name());
  for (std::size_t i = 0; !mine.empty() || !theirs.empty(); ++i) {
    const std::string_view a = mine.empty() ? mine : first_code(mine), b = theirs.empty() ? theirs : first_code(theirs);
    if (i > 0) lines.separate(", ");
    if (i == schema.positional_count() && i < schema.arguments().size()) lines.separate("*, ");
    lines.add(b.empty() ? std::string() : to_string(schema.arguments()[i]), a.empty() ? std::string() : schema_type(a),
              a != b);
    mine.remove_prefix(a.size());
    theirs.remove_prefix(b.size());
  }
  lines.separate(") -> ");
  lines.add(results_text(schema), schema_type(my_result), my_result != result);
  return lines.text();
}

std::string first_difference(std::string_view have, const FunctionSchema& schema) {
  const Signature mine(have);
  const Signature wanted(canonical_signature(schema).code);
  for (std::size_t i = 0; i < mine.arguments.size() && i < wanted.arguments.size(); ++i) {
    if (mine.arguments[i] == wanted.arguments[i]) continue;
    return "argument " + std::to_string(i + 1) + ", '" + std::string(schema.arguments()[i].name()) + "', is " +
           mine.arguments[i] + ", not " + wanted.arguments[i];
  }
  if (mine.arguments.size() != wanted.arguments.size()) {
    return "it takes " + std::to_string(mine.arguments.size()) + " arguments, not " +
           std::to_string(wanted.arguments.size());
  }
  return "its result is " + mine.result + ", not " + wanted.result;
}

}  // namespace

std::string signature_difference(std::string_view have, const FunctionSchema& schema) {
  return first_difference(have, schema) + compare(have, schema);
}

}  // namespace keyway::inline v1
