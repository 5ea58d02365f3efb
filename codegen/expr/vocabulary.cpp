#include <keyway/codegen/base/names.h>
#include <keyway/codegen/expr/vocabulary.h>
#include <keyway/core/schema/literal.h>

#include <iterator>
#include <span>

namespace keyway::inline v1 {
namespace {

// --- The tables. Signatures are in the schema language, so the compiler checks them.

// Of all expressions: autograd/formulas/formula_words.h has them for formulas too. A `dtype` is a ScalarType here.
constexpr FunctionSchema kPredicates[] = {
    schema_literal<"len(int[] list) -> int">,
    schema_literal<"len(float[] list) -> int">,
    schema_literal<"len(bool[] list) -> int">,
    schema_literal<"len(Scalar[] list) -> int">,
    schema_literal<"len(Tensor?[] list) -> int">,
    schema_literal<"max(int a, int b) -> int">,
    schema_literal<"min(int a, int b) -> int">,
    schema_literal<"sum(int[] list) -> int">,
    schema_literal<"product(int[] list) -> int">,
    schema_literal<"abs(int value) -> int">,
    schema_literal<"abs(float value) -> float">,
    schema_literal<"is_finite(Scalar value) -> bool">,
    schema_literal<"is_integral(Scalar first, Scalar? second=None, Scalar? third=None) -> bool">,
    schema_literal<"wrap_dim(int dim, int rank) -> int">,
    schema_literal<"default_dtype() -> ScalarType">,
    schema_literal<"promoted(ScalarType a, ScalarType b) -> ScalarType">,
};

// Of all but formulas. There a function of single values is applied to each where an argument is a list.
constexpr FunctionSchema kContractPredicates[] = {
    // lists and numbers
    schema_literal<"all(bool?[] values) -> bool">,
    schema_literal<"any(bool?[] values) -> bool">,
    schema_literal<"max(int[] list) -> int">,
    schema_literal<"min(int[] list) -> int">,
    schema_literal<"is_bool(Scalar value) -> bool">,
    // dimensions and shapes
    schema_literal<"is_dim(int dim, int rank) -> bool">,
    schema_literal<"are_dims(int[] dims, int rank) -> bool">,
    schema_literal<"is_permutation(int[] dims, int rank) -> bool">,
    schema_literal<"broadcasts_to(int[] from, int[] to) -> bool">,
    schema_literal<"broadcastable(int[] a, int[] b) -> bool">,
    schema_literal<"broadcastable(Tensor?[] tensors) -> bool">,
    schema_literal<"broadcast_sizes(int[] a, int[] b) -> int[]">,
    schema_literal<"concatenable(Tensor[] tensors, int dim) -> bool">,
    schema_literal<"same_sizes(Tensor[] tensors) -> bool">,
    schema_literal<"same_sizes(Tensor[] a, Tensor[] b) -> bool">,
    schema_literal<"pool_sizes(int[] input, int[2] kernel, int[2] stride, int[2] padding, int[2] dilation, "
                   "bool ceil_mode) -> int[]">,
    schema_literal<"conv_sizes(int[] input, int[] kernel, int[] stride, int[] padding, int[] dilation, "
                   "bool transposed, int[] output_padding) -> int[]">,
};

// Predicates that read the data of tensors: in `values` only.
constexpr FunctionSchema kDataPredicates[] = {
    schema_literal<"indexes(Tensor?[] indices, int[] sizes) -> bool">,
};

// Functions of dtypes: in `dtypes` only.
constexpr FunctionSchema kDTypeFunctions[] = {
    schema_literal<"accumulate(ScalarType dtype) -> ScalarType">,
    schema_literal<"to_real(ScalarType dtype) -> ScalarType">,
    schema_literal<"to_complex(ScalarType dtype) -> ScalarType">,
    schema_literal<"to_floating(ScalarType dtype) -> ScalarType">,
};

// Rules of dtypes by themselves or of a set. promote(integral|bool): the arguments promote, to one of the set;
// compare(...): they are compared by their values. The schema language has no type for a set.
constexpr FunctionSchema kPromotions[] = {
    schema_literal<"compare(ScalarType within) -> ScalarType">,
    schema_literal<"promote(ScalarType within) -> ScalarType">,
    schema_literal<"promote_to_float(ScalarType within) -> ScalarType">,
};

constexpr FunctionSchema kMethods[] = {
    schema_literal<"dim(Tensor self) -> int">,
    schema_literal<"size(Tensor self, int dim) -> int">,
    schema_literal<"sizes(Tensor self) -> int[]">,
    schema_literal<"stride(Tensor self, int dim) -> int">,
    schema_literal<"strides(Tensor self) -> int[]">,
    schema_literal<"storage_offset(Tensor self) -> int">,
    schema_literal<"numel(Tensor self) -> int">,
    schema_literal<"dtype(Tensor self) -> ScalarType">,
    schema_literal<"device(Tensor self) -> Device">,
    schema_literal<"layout(Tensor self) -> Layout">,
    schema_literal<"is_contiguous(Tensor self) -> bool">,
    schema_literal<"is_floating_point(Tensor self) -> bool">,
    schema_literal<"is_floating_point(ScalarType self) -> bool">,
    schema_literal<"is_complex(Tensor self) -> bool">,
    schema_literal<"is_complex(ScalarType self) -> bool">,
    schema_literal<"is_complex(Scalar self) -> bool">,
};

// Those with arithmetic, the narrow floats and the quantized ones; by Python's names.
constexpr std::string_view kDTypes[] = {
    "float64",         "float32",         "float16",        "bfloat16",   "float8_e4m3fn", "float8_e5m2",
    "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "complex128", "complex64",     "complex32",
    "int64",           "int32",           "int16",          "int8",       "uint64",        "uint32",
    "uint16",          "uint8",           "bool",           "qint8",      "quint8",        "qint32"};
constexpr std::string_view kDTypeSets[] = {"any", "floating", "complex", "real", "integral", "float8"};
constexpr std::string_view kLayouts[] = {"strided", "sparse_coo", "sparse_csr"};
constexpr std::string_view kMemoryFormats[] = {"contiguous_format", "preserve_format", "channels_last",
                                               "channels_last_3d"};
constexpr std::string_view kNumbers[] = {"inf", "nan", "pi"};
constexpr std::string_view kReductions[] = {"Mean", "Sum"};

constexpr std::string_view kDTypePresets[] = {
    "integers_to_int64",  // the result has the input's dtype; int64 for integers and bool
    "promote",            // the result has what the inputs promote to
    "promote_to_bool",    // the inputs promote, the result is bool
    "promote_to_float",   // like promote, but the default dtype for integers and bool
    "same",               // the inputs have one dtype, and the result has it too
};

// --- Looking up

void collect(std::span<const FunctionSchema> table, std::string_view name, std::vector<Signature>& out) {
  for (const FunctionSchema& schema : table)
    if (schema.name() == name) out.push_back(signature_of(schema));
}

void collect_names(std::span<const FunctionSchema> table, std::vector<std::string>& out) {
  for (const FunctionSchema& schema : table)
    if (!contains(out, schema.name())) out.emplace_back(schema.name());
}

void add(std::string_view name, ExprBase base, Scope& scope) {
  scope.add({std::string(name), of_base(base), ExprRole::Constant});
}
void add(std::span<const std::string_view> names, ExprBase base, Scope& scope) {
  for (const std::string_view name : names) add(name, base, scope);
}

void collect_promotions(std::string_view name, std::vector<Signature>& out) {
  const std::size_t before = out.size();
  collect(kPromotions, name, out);
  for (std::size_t i = before; i < out.size(); ++i)
    out[i].parameters.front().type = out[i].result = of_base(ExprBase::DTypeSet);
}

}  // namespace

std::vector<Signature> predicates_named(std::string_view name, ExprContext context) {
  std::vector<Signature> found;
  collect(kPredicates, name, found);
  if (context != ExprContext::Derivative) collect(kContractPredicates, name, found);
  if (context == ExprContext::Data) collect(kDataPredicates, name, found);
  if (context == ExprContext::DType) collect(kDTypeFunctions, name, found);
  if (context == ExprContext::DType) collect_promotions(name, found);
  return found;
}

std::vector<std::string> predicate_names() {
  std::vector<std::string> names;
  collect_names(kPredicates, names);
  collect_names(kContractPredicates, names);
  collect_names(kDataPredicates, names);
  collect_names(kDTypeFunctions, names);
  return names;
}

std::vector<Signature> methods_named(std::string_view name) {
  std::vector<Signature> found;
  collect(kMethods, name, found);
  return found;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  collect_names(kMethods, names);
  return names;
}

Scope constants(ExprContext context) {
  Scope scope;
  add(kDTypes, ExprBase::DType, scope);
  add(kLayouts, ExprBase::Layout, scope);
  add(kMemoryFormats, ExprBase::MemoryFormat, scope);
  add(kNumbers, ExprBase::Float, scope);
  add(kReductions, ExprBase::Int, scope);
  if (context != ExprContext::DType) return scope;
  add(kDTypeSets, ExprBase::DTypeSet, scope);
  for (const FunctionSchema& promotion : kPromotions) add(promotion.name(), ExprBase::DTypeSet, scope);
  return scope;
}

std::string_view promotion_word(const Expr& rule) {
  const auto* name = as<NameExpr>(rule);
  const auto* call = as<CallExpr>(rule);
  const std::string_view word = name ? name->name : call ? std::string_view(call->function) : std::string_view();
  return !contains(kPromotions, word, &FunctionSchema::name) ? std::string_view() : word;
}

std::vector<std::string> dtype_presets() { return {std::begin(kDTypePresets), std::end(kDTypePresets)}; }

}  // namespace keyway::inline v1
