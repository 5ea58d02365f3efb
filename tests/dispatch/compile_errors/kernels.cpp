// Kernels, schemas and tables of rules that must not compile. To a line that ends in a comment "error: TEXT" leads an
// error of the compiler that has TEXT, to the others none: compile_errors_test.py compiles the file and compares.
// clang-format off
#include <keyway/core/schema/rule_table.h>
#include <keyway/dispatch/registry/library.h>

#include <map>

using namespace keyway;

KEYWAY_SCHEMA("my::scale(Tensor self, float by) -> Tensor");
KEYWAY_SCHEMA("my::fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)");
KEYWAY_SCHEMA("my::pair.two(Tensor self, Tensor? other, int[] dims, *, ScalarType? dtype=None) -> (Tensor, Tensor)");
KEYWAY_SCHEMA("my::many(Tensor[] tensors, Tensor?[] maybe, Generator? generator=None, str mode=\"a\") -> Tensor[]");
KEYWAY_SCHEMA("my::lists(str[] s, ScalarType[] t, int?[] n, int[][] i, Tensor[][] m) -> Tensor[][]");
KEYWAY_SCHEMA("my::opt(int? n, Scalar? s, float[]? xs, str? t, bool? b) -> int?");

struct Foo : CustomClassHolder {};

using T = const TensorBase&;
using I = std::int64_t;
template <typename R, typename... A>
R make(A...);
template <typename R, typename... A>
inline constexpr R (*fn)(A...) = nullptr;

void kernels(Library& m) {
  // What fits.
  m.impl<"my::scale">(fn<TensorBase, T, double>);
  m.impl<"my::scale">(fn<TensorBase, DispatchKeySet, T, double>);
  m.impl<"my::scale">(fn<TensorBase, TensorBase, double>);
  m.impl<"my::scale">([](T self, double) noexcept { return self; });
  m.impl<"my::fill_">(DispatchKey::CPU, fn<TensorBase&, TensorBase&, const Scalar&>);
  m.impl<"my::fill_">(fn<TensorBase&, TensorBase&, Scalar>);
  m.impl<"my::pair.two">(fn<std::tuple<TensorBase, TensorBase>, T, std::optional<TensorBase>, IntArrayRef, std::optional<ScalarType>>);
  m.impl<"my::pair.two">(fn<std::tuple<TensorBase, TensorBase>, T, const std::optional<TensorBase>&, std::vector<I>, std::optional<ScalarType>>);
  m.impl<"my::many">(fn<std::vector<TensorBase>, ArrayRef<TensorBase>, ArrayRef<std::optional<TensorBase>>, const Generator&, std::string_view>);
  m.impl<"my::many">(fn<std::vector<TensorBase>, const std::vector<TensorBase>&, std::vector<std::optional<TensorBase>>, Generator, const std::string&>);
  m.impl<"my::opt">(fn<std::optional<I>, std::optional<I>, std::optional<Scalar>, std::optional<ArrayRef<double>>, std::optional<std::string_view>, std::optional<bool>>);
  m.impl<"my::lists">(fn<std::vector<std::vector<TensorBase>>, ArrayRef<std::string>, ArrayRef<ScalarType>, ArrayRef<std::optional<I>>, ArrayRef<std::vector<I>>, ArrayRef<std::vector<TensorBase>>>);
  m.impl<"my::lists">(fn<std::vector<std::vector<TensorBase>>, std::vector<std::string>, const std::vector<ScalarType>&, std::vector<std::optional<I>>, std::vector<std::vector<I>>, const std::vector<std::vector<TensorBase>>&>);
  m.def<"sum_of(Tensor self, int b=2) -> Tensor">(fn<TensorBase, T, I>);
  m.def<"object(__torch__.torch.classes.my.Foo x, __torch__.torch.classes.my.Foo? y=None) -> __torch__.torch.classes.my.Foo[]">(fn<std::vector<intrusive_ptr<Foo>>, const intrusive_ptr<Foo>&, std::optional<intrusive_ptr<Foo>>>);
  m.def<"nothing() -> ()">(fn<void>);
  m.def<"number(Tensor self) -> Scalar">(fn<Scalar, T>);

  // Arity.
  m.impl<"my::scale">(fn<TensorBase, T>);                       // error: the schema has 2 arguments, but the kernel takes 1
  m.impl<"my::scale">(fn<TensorBase, T, double, double>);       // error: the schema has 2 arguments, but the kernel takes 3
  m.impl<"my::scale">(fn<TensorBase>);                          // error: the schema has 2 arguments, but the kernel takes 0
  m.impl<"my::scale">(fn<TensorBase, DispatchKeySet, T>);       // error: the schema has 2 arguments, but the kernel takes 1
  m.impl<"my::scale">(DispatchKey::CPU, [](T self) { return self; });  // error: the schema has 2 arguments, but the kernel takes 1
  m.def<"a1(Tensor self) -> Tensor">(fn<TensorBase, T, I>);     // error: the schema has 1 arguments, but the kernel takes 2
  m.def<"a2() -> Tensor">(fn<TensorBase, T>);                   // error: the schema has 0 arguments, but the kernel takes 1

  // Types.
  m.impl<"my::scale">(fn<TensorBase, T, I>);                    // error: argument 2, 'by', is float: a kernel takes double, this one std::int64_t
  m.impl<"my::scale">(fn<TensorBase, T, std::string_view>);     // error: argument 2, 'by', is float: a kernel takes double, this one std::string_view
  m.impl<"my::scale">(fn<TensorBase, T, T>);                    // error: argument 2, 'by', is float: a kernel takes double, this one const Tensor&
  m.impl<"my::scale">(fn<TensorBase, double, T>);               // error: argument 1, 'self', is Tensor: a kernel takes const Tensor&, this one double
  m.impl<"my::scale">([](T self, I) { return self; });          // error: argument 2, 'by', is float: a kernel takes double, this one std::int64_t
  m.def<"t1(int n) -> int">(fn<I, double>);                     // error: argument 1, 'n', is int: a kernel takes std::int64_t, this one double
  m.def<"t0(__torch__.torch.classes.my.Foo x) -> int">(fn<I, I>);  // error: argument 1, 'x', is __torch__.torch.classes.my.Foo: a kernel takes const intrusive_ptr<class>&, this one std::int64_t
  m.def<"t2(bool b) -> int">(fn<I, I>);                         // error: argument 1, 'b', is bool: a kernel takes bool, this one std::int64_t
  m.def<"t3(Scalar s) -> int">(fn<I, double>);                  // error: argument 1, 's', is Scalar: a kernel takes const Scalar&, this one double
  m.def<"t4(str s) -> int">(fn<I, I>);                          // error: argument 1, 's', is str: a kernel takes std::string_view, this one std::int64_t
  m.def<"t5(int[2] k) -> int">(fn<I, I>);                       // error: argument 1, 'k', is int[2]: a kernel takes ArrayRef<std::int64_t>, this one std::int64_t
  m.def<"t6(float[] k) -> int">(fn<I, IntArrayRef>);            // error: argument 1, 'k', is float[]: a kernel takes ArrayRef<double>, this one ArrayRef<std::int64_t>
  m.def<"t7(Tensor[] k) -> int">(fn<I, T>);                     // error: argument 1, 'k', is Tensor[]: a kernel takes ArrayRef<Tensor>, this one const Tensor&
  m.def<"t8(Device k) -> int">(fn<I, Layout>);                  // error: argument 1, 'k', is Device: a kernel takes Device, this one Layout
  m.def<"t9(ScalarType k) -> int">(fn<I, MemoryFormat>);        // error: argument 1, 'k', is ScalarType: a kernel takes ScalarType, this one MemoryFormat
  m.def<"t10(Generator g) -> int">(fn<I, T>);                   // error: argument 1, 'g', is Generator: a kernel takes const Generator&, this one const Tensor&
  m.def<"t11(complex z) -> int">(fn<I, double>);                // error: argument 1, 'z', is complex: a kernel takes complex<double>, this one double
  m.def<"t12(SymInt n) -> int">(fn<I, double>);                 // error: argument 1, 'n', is SymInt: a kernel takes std::int64_t, this one double
  m.def<"l1(str[] s) -> int">(fn<I, std::string>);              // error: argument 1, 's', is str[]: a kernel takes ArrayRef<std::string>, this one std::string_view
  m.def<"l2(ScalarType[] t) -> int">(fn<I, std::vector<Layout>>);  // error: lists of this C++ type have no counterpart among schemas
  m.def<"l3(int?[] n) -> int">(fn<I, IntArrayRef>);             // error: argument 1, 'n', is int?[]: a kernel takes ArrayRef<std::optional<std::int64_t>>, this one ArrayRef<std::int64_t>
  m.def<"l4(int[][] i) -> int">(fn<I, IntArrayRef>);            // error: argument 1, 'i', is int[][]: a kernel takes ArrayRef<std::vector<std::int64_t>>, this one ArrayRef<std::int64_t>
  m.def<"l5(Tensor[][] m) -> int">(fn<I, ArrayRef<TensorBase>>);  // error: argument 1, 'm', is Tensor[][]: a kernel takes ArrayRef<std::vector<Tensor>>, this one ArrayRef<Tensor>
  m.def<"l6(float[][] x) -> int">(fn<I, I>);                    // error: argument 1, 'x', is float[][], which no kernel can have
  m.def<"t13(Dict(str, int) d) -> int">(fn<I, I>);              // error: argument 1, 'd', is Dict(str, int): a kernel takes const Dict<std::string, std::int64_t>&, this one std::int64_t
  m.def<"t14(Dict(Tensor, int) d) -> int">(fn<I, I>);           // error: argument 1, 'd', is Dict(Tensor, int), which no kernel can have

  // Mutability.
  m.impl<"my::fill_">(fn<TensorBase&, T, Scalar>);              // error: argument 1, 'self', is Tensor(a!): a kernel takes Tensor&, this one const Tensor&
  m.impl<"my::scale">(fn<TensorBase, TensorBase&, double>);     // error: argument 1, 'self', is Tensor: a kernel takes const Tensor&, this one Tensor&
  m.def<"m1(Tensor(a!)? self) -> ()">(fn<void, T>);             // error: argument 1, 'self', is Tensor(a!)?: a kernel takes std::optional<Tensor&>, this one const Tensor&
  m.def<"m2(Tensor self, *, Tensor(a!) out) -> Tensor(a!)">(fn<TensorBase&, T, T>);  // error: argument 2, 'out', is Tensor(a!): a kernel takes Tensor&, this one const Tensor&

  // Optionality.
  m.impl<"my::scale">(fn<TensorBase, std::optional<TensorBase>, double>);  // error: argument 1, 'self', is Tensor: a kernel takes const Tensor&, this one std::optional<Tensor>
  m.impl<"my::scale">(fn<TensorBase, T, std::optional<double>>);           // error: argument 2, 'by', is float: a kernel takes double, this one std::optional<double>
  m.def<"o1(Tensor? t) -> int">(fn<I, T>);                      // error: argument 1, 't', is Tensor?: a kernel takes std::optional<Tensor>, this one const Tensor&
  m.def<"o2(int? n) -> int">(fn<I, I>);                         // error: argument 1, 'n', is int?: a kernel takes std::optional<std::int64_t>, this one std::int64_t
  m.def<"o3(Tensor?[] k) -> int">(fn<I, ArrayRef<TensorBase>>); // error: argument 1, 'k', is Tensor?[]: a kernel takes ArrayRef<std::optional<Tensor>>, this one ArrayRef<Tensor>
  m.def<"o4(Tensor[] k) -> int">(fn<I, ArrayRef<std::optional<TensorBase>>>);  // error: argument 1, 'k', is Tensor[]: a kernel takes ArrayRef<Tensor>, this one ArrayRef<std::optional<Tensor>>
  m.def<"o5(Scalar? s) -> int">(fn<I, Scalar>);                 // error: argument 1, 's', is Scalar?: a kernel takes std::optional<Scalar>, this one const Scalar&
  m.def<"o6(int[]? k) -> int">(fn<I, IntArrayRef>);             // error: argument 1, 'k', is int[]?: a kernel takes std::optional<ArrayRef<std::int64_t>>, this one ArrayRef<std::int64_t>

  // Results.
  m.impl<"my::scale">(fn<void, T, double>);                     // error: the operator returns Tensor: a kernel returns Tensor, this one void
  m.impl<"my::scale">(fn<I, T, double>);                        // error: the operator returns Tensor: a kernel returns Tensor, this one std::int64_t
  m.impl<"my::scale">(fn<std::vector<TensorBase>, T, double>);  // error: the operator returns Tensor: a kernel returns Tensor, this one std::vector<Tensor>
  m.impl<"my::fill_">(fn<TensorBase, TensorBase&, Scalar>);     // error: the operator returns Tensor(a!): a kernel returns Tensor&, this one Tensor
  m.impl<"my::pair.two">(fn<TensorBase, T, std::optional<TensorBase>, IntArrayRef, std::optional<ScalarType>>);  // error: the operator returns (Tensor, Tensor): a kernel returns std::tuple<Tensor, Tensor>, this one Tensor
  m.def<"r1() -> ()">(fn<I>);                                   // error: the operator returns (): a kernel returns void, this one std::int64_t
  m.def<"r2() -> str">(fn<I>);                                  // error: the operator returns str: a kernel returns std::string, this one std::int64_t
  m.def<"r3() -> int[]">(fn<I>);                                // error: the operator returns int[]: a kernel returns std::vector<std::int64_t>, this one std::int64_t
  m.def<"r4() -> int?">(fn<I>);                                 // error: the operator returns int?: a kernel returns std::optional<std::int64_t>, this one std::int64_t

  // C++ types that no schema has.
  m.impl<"my::scale">(fn<TensorBase, T, int>);                  // error: a kernel takes std::int64_t, not int
  m.impl<"my::scale">(fn<TensorBase, T, float>);                // error: a kernel takes double, not float
  m.impl<"my::scale">(fn<TensorBase, T, const char*>);          // error: a kernel takes std::string_view, not const char*
  m.impl<"my::scale">(fn<int, T, double>);                      // error: a kernel returns std::int64_t, not int
  m.impl<"my::scale">(fn<float, T, double>);                    // error: a kernel returns double, not float
  m.def<"c1(Tensor self) -> Tensor">(fn<TensorBase, std::map<I, I>>);  // error: this C++ type has no counterpart in the schema language

  // Schemas.
  m.impl<"my::missing">(fn<TensorBase, T>);                     // error: no schema of this operator is visible here
  m.impl<"add.Tensor">(fn<TensorBase, T>);                      // error: no schema of this operator is visible here
  m.def<"my::missing">(fn<TensorBase, T>);                      // error: no schema of this operator is visible here
  m.def<"s1(tensor self) -> Tensor">(fn<TensorBase, T>);        // error: 'tensor' is not a type; did you mean 'Tensor'?
  m.def<"s2(Tensor self, Tensor self) -> Tensor">();            // error: there are two arguments named 'self'
  m.def<"s3(int n=1.5) -> int">();                              // error: the default '1.5' does not fit the type 'int'
  m.def<"s4(Tensor self)">();                                   // error: expected '->' and the returns, but the text ends here
}

// Tables with a row for each rule.
constexpr TransformRule kRules[] = {{"first", ""}, {"second", ""}, {"third", ""}};
constexpr RuleRow<int> kRight[] = {{"first", 1}, {"second", 2}, {"third", 3}};
constexpr RuleRow<int> kSwapped[] = {{"first", 1}, {"third", 3}, {"second", 2}};
constexpr RuleRow<int> kShort[] = {{"first", 1}, {"second", 2}};
constexpr RuleRow<int> kLong[] = {{"first", 1}, {"second", 2}, {"third", 3}, {"third", 3}};
static_assert(has_a_row_for_each_rule<kRight, kRules>());
static_assert(has_a_row_for_each_rule<kSwapped, kRules>());       // error: FixedString<7>{"second"}
static_assert(has_a_row_for_each_rule<kShort, kRules>());         // error: FixedString<6>{"third"}
static_assert(has_a_row_for_each_rule<kLong, kRules>());          // error: the table has more rows than there are rules
