#include <keyway/core/base/error.h>
#include <keyway/core/schema/canonical_cpp.h>
#include <keyway/core/schema/printer.h>

namespace keyway::inline v1 {

namespace {

struct KindCode {
  TypeKind kind;
  char code;        // of the type itself
  char list;        // of a list of it; 0 if there is none
  const char* cpp;  // as an argument
};
constexpr KindCode kKinds[] = {
    {TypeKind::Tensor, 'T', 'L', "const TensorBase&"},
    {TypeKind::Int, 'i', 'I', "std::int64_t"},
    {TypeKind::SymInt, 'i', 'I', "std::int64_t"},
    {TypeKind::Float, 'd', 'D', "double"},
    {TypeKind::SymFloat, 'd', 'D', "double"},
    {TypeKind::Bool, 'b', 'B', "bool"},
    {TypeKind::SymBool, 'b', 'B', "bool"},
    {TypeKind::Complex, 'c', 0, "complex<double>"},
    {TypeKind::Scalar, 's', 'S', "const Scalar&"},
    {TypeKind::Str, 'z', 0, "std::string_view"},
    {TypeKind::ScalarType, 't', 0, "ScalarType"},
    {TypeKind::Layout, 'l', 0, "Layout"},
    {TypeKind::MemoryFormat, 'm', 0, "MemoryFormat"},
    {TypeKind::Device, 'e', 0, "Device"},
    {TypeKind::Generator, 'g', 0, "const Generator&"},
};

const KindCode& code_of(SchemaType type) {
  for (const KindCode& kind : kKinds) {
    if (kind.kind == type.kind()) return kind;
  }
  KEYWAY_FAIL(NotImplemented, "kernels cannot take or return values of schema type {}", to_string(type));
}

// `result` types are values where arguments are references.
CanonicalCpp spell(SchemaType type, bool result) {
  if (type.is(TypeKind::Optional)) {
    const SchemaType element = type.element();
    // An absent tensor or generator is an undefined one.
    if (element.is(TypeKind::Tensor) || element.is(TypeKind::Generator)) return spell(element, result);
    const CanonicalCpp inner = spell(element, result || !element.is(TypeKind::List));
    return {"?" + inner.code, "std::optional<" + inner.cpp + ">"};
  }
  if (type.is(TypeKind::List)) {
    SchemaType element = type.element();
    if (element.is(TypeKind::Optional) && element.element().is(TypeKind::Tensor)) element = element.element();
    const KindCode& kind = code_of(element);
    KEYWAY_CHECK_AS(NotImplemented, kind.list != 0, "kernels cannot take or return values of schema type {}",
                    to_string(type));
    std::string cpp = spell(element, true).cpp;
    return {std::string(1, kind.list), (result ? "std::vector<" : "ArrayRef<") + cpp + ">"};
  }
  if (type.is(TypeKind::Tensor)) {
    if (type.is_write()) return {"W", "TensorBase&"};
    return {"T", result ? "TensorBase" : "const TensorBase&"};
  }
  const KindCode& kind = code_of(type);
  std::string cpp = kind.cpp;
  if (result && cpp.starts_with("const ")) cpp = cpp.substr(6, cpp.size() - 7);
  return {std::string(1, kind.code), cpp};
}

}  // namespace

CanonicalCpp canonical_argument(SchemaType type) { return spell(type, false); }

CanonicalCpp canonical_result(FunctionSchema schema) {
  const ArgumentList returns = schema.returns();
  if (returns.empty()) return {"-", "void"};
  if (returns.size() == 1) return spell(returns[0].type(), true);
  CanonicalCpp all{"(", "std::tuple<"};
  for (const Argument result : returns) {
    const CanonicalCpp one = spell(result.type(), true);
    if (all.code.size() > 1) all.cpp += ", ";
    all.code += one.code;
    all.cpp += one.cpp;
  }
  return {all.code + ")", all.cpp + ">"};
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
