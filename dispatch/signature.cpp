#include <keyway/core/schema/canonical_cpp.h>
#include <keyway/dispatch/signature.h>

namespace keyway::inline v1 {

namespace {

struct Letter {
  char code;
  const char* argument;
  const char* result;
};
constexpr Letter kLetters[] = {
    {'T', "const TensorBase&", "TensorBase"},
    {'W', "TensorBase&", "TensorBase&"},
    {'i', "std::int64_t", "std::int64_t"},
    {'d', "double", "double"},
    {'b', "bool", "bool"},
    {'c', "complex<double>", "complex<double>"},
    {'s', "const Scalar&", "Scalar"},
    {'z', "std::string_view", "std::string"},
    {'t', "ScalarType", "ScalarType"},
    {'l', "Layout", "Layout"},
    {'m', "MemoryFormat", "MemoryFormat"},
    {'e', "Device", "Device"},
    {'g', "const Generator&", "Generator"},
    {'L', "ArrayRef<TensorBase>", "std::vector<TensorBase>"},
    {'I', "ArrayRef<std::int64_t>", "std::vector<std::int64_t>"},
    {'D', "ArrayRef<double>", "std::vector<double>"},
    {'B', "ArrayRef<bool>", "std::vector<bool>"},
    {'S', "ArrayRef<Scalar>", "std::vector<Scalar>"},
    {'-', "void", "void"},
};

// A code, read from its front.
class Reader {
 public:
  explicit Reader(std::string_view code) : rest_(code) {}
  bool done() const { return rest_.empty(); }

  std::string result() {
    if (!rest_.starts_with('(')) return one(true);
    std::string text;
    for (take(); !rest_.starts_with(')');) text += (text.empty() ? "" : ", ") + one(true);
    take();
    return "std::tuple<" + text + ">";
  }
  std::vector<std::string> arguments() {
    take();  // the parenthesis
    std::vector<std::string> all;
    while (!done()) all.push_back(one(false));
    return all;
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  std::string one(bool result) {
    const char c = take();
    // What is optional is held by value, but for lists, which arguments lend.
    if (c == '?') return "std::optional<" + one(result || rest_.front() == 's') + ">";
    for (const Letter& letter : kLetters) {
      if (letter.code == c) return result ? letter.result : letter.argument;
    }
    return "?";
  }

  std::string_view rest_;
};

struct Signature {
  std::string result;
  std::vector<std::string> arguments;

  explicit Signature(std::string_view code) {
    Reader reader(code);
    result = reader.result();
    arguments = reader.arguments();
  }
  std::string text() const {
    std::string all;
    for (const std::string& argument : arguments) all += (all.empty() ? "" : ", ") + argument;
    return result + "(" + all + ")";
  }
};

}  // namespace

std::uint64_t signature_hash_of(const FunctionSchema& schema) { return hash_of_code(canonical_signature(schema).code); }

std::string signature_text_of(const FunctionSchema& schema) {
  return Signature(canonical_signature(schema).code).text();
}

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
