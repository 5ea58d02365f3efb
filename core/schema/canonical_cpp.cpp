#include <keyway/core/base/error.h>
#include <keyway/core/schema/canonical_cpp.h>
#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/signature_code.h>

namespace keyway::inline v1 {

CanonicalCpp canonical_argument(SchemaType type) {
  CanonicalCpp out;
  KEYWAY_CHECK_AS(NotImplemented, append_code(out.code, type), "kernels cannot take values of schema type {}",
                  to_string(type));
  append_cpp(out.cpp, out.code, HeldAs::Argument);
  return out;
}

CanonicalCpp canonical_result(FunctionSchema schema) {
  CanonicalCpp out;
  KEYWAY_CHECK_AS(NotImplemented, append_result_code(out.code, schema), "kernels cannot return what '{}' does",
                  schema.text());
  append_cpp(out.cpp, out.code, HeldAs::Value);
  return out;
}

CanonicalCpp canonical_signature(FunctionSchema schema) {
  const CanonicalCpp results = canonical_result(schema);
  CanonicalCpp all{results.code + "(", results.cpp + "("};
  bool first = true;
  for (const Argument argument : schema.arguments()) {
    const CanonicalCpp one = canonical_argument(argument.type());
    all.code += one.code;
    all.cpp += (first ? "" : ", ") + one.cpp;
    first = false;
  }
  all.cpp += ")";
  return all;
}

}  // namespace keyway::inline v1
