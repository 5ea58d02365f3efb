// Lists of strings, dtypes, integers that may be absent, and of lists: from typed and boxed calls to typed and boxed
// kernels, and back.
#include <keyway/core/schema/owned.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/dispatch/inspect/schema_check.h>
#include <keyway/dispatch/inspect/trace.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

static_assert(std::is_constructible_v<IValue, std::vector<std::optional<std::int64_t>>>);
static_assert(!std::is_constructible_v<IValue, std::vector<float>>);

namespace {

using Texts = std::vector<std::string>;
using DTypes = std::vector<ScalarType>;
using MaybeInts = std::vector<std::optional<std::int64_t>>;
using IntLists = std::vector<std::vector<std::int64_t>>;
using Tensors = std::vector<TensorBase>;
using TensorLists = std::vector<Tensors>;

using EchoResult = std::tuple<Texts, DTypes, MaybeInts, IntLists, TensorLists>;
using EchoSig = EchoResult(ArrayRef<std::string>, ArrayRef<ScalarType>, ArrayRef<std::optional<std::int64_t>>,
                           ArrayRef<std::vector<std::int64_t>>, ArrayRef<Tensors>);
constexpr const char* kEcho =
    "lists::echo(str[] s, ScalarType[] t, SymInt?[] n, int[][] i, Tensor[][] m) -> "
    "(str[], ScalarType[], int?[], SymInt[][], Tensor[][])";

EchoResult echo_by_vectors(Texts s, DTypes t, MaybeInts n, IntLists i, TensorLists m) {
  return {std::move(s), std::move(t), std::move(n), std::move(i), std::move(m)};
}
EchoResult echo_by_views(ArrayRef<std::string> s, ArrayRef<ScalarType> t, ArrayRef<std::optional<std::int64_t>> n,
                         ArrayRef<std::vector<std::int64_t>> i, ArrayRef<Tensors> m) {
  return {s.vec(), t.vec(), n.vec(), i.vec(), m.vec()};
}
// What a boxed call leaves has the tags that it was given.
void echo_boxed(const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack&) {}

const Texts kTexts{"", "a text that is longer than a short string", "\xff"};
const DTypes kDTypes{kHalf, kBool};
const MaybeInts kMaybeInts{std::nullopt, -1, std::nullopt};
const IntLists kIntLists{{1, 2}, {}, {-3}};

bool are_same(const TensorLists& a, const TensorLists& b) {
  return std::ranges::equal(a, b, [](const Tensors& x, const Tensors& y) {
    return std::ranges::equal(x, y, [](const TensorBase& s, const TensorBase& t) { return s.is_same(t); });
  });
}

void check_echo(const TensorLists& tensors) {
  const auto [s, t, n, i, m] = op("lists::echo").typed<EchoSig>().call(kTexts, kDTypes, kMaybeInts, kIntLists, tensors);
  CHECK((s == kTexts && t == kDTypes && n == kMaybeInts && i == kIntLists && are_same(m, tensors)));
  Stack stack{kTexts, kDTypes, kMaybeInts, kIntLists, tensors};
  op("lists::echo").call_boxed(stack);
  REQUIRE(stack.size() == 5);
  CHECK(stack[0].to_list_of<std::string>() == kTexts);
  CHECK(stack[1].to_list_of<ScalarType>() == kDTypes);
  CHECK(stack[2].to_list_of<std::optional<std::int64_t>>() == kMaybeInts);
  CHECK(stack[3].to_list_of<std::vector<std::int64_t>>() == kIntLists);
  CHECK(are_same(stack[4].to_tensor_lists(), tensors));
}

// What a call with one argument of the type throws, of a kernel that takes a T.
template <typename T>
std::string refused(const std::string& type, IValue value) {
  const RegistrationHandle def = Block()
                                     .def("lists::one(" + type + " x) -> ()")
                                     .impl("lists::one", DispatchKey::CompositeExplicitAutograd, [](T) {})
                                     .commit();
  Stack stack{std::move(value)};
  return error_of([&] { op("lists::one").call_boxed(stack); });
}

IValue default_of(const std::string& argument) {
  const OwnedSchema schema("f(" + argument + ") -> ()");
  return default_argument(schema->arguments()[0]);
}

TensorBase on_meta() { return tensor(kMeta); }

}  // namespace

TEST_CASE("lists of strings, dtypes, absent integers and lists come through every way") {
  const TensorBase a = tensor();
  const TensorLists tensors{{a, TensorBase()}, {}, {tensor()}};
  for (const bool by_views : {false, true}) {
    Block block;
    block.def(kEcho);
    if (by_views) {
      block.impl("lists::echo", DispatchKey::CPU, echo_by_views);
    } else {
      block.impl("lists::echo", DispatchKey::CPU, echo_by_vectors);
    }
    const RegistrationHandle def = block.commit();
    check_echo(tensors);
  }
  const RegistrationHandle def = Block().def(kEcho).impl_boxed("lists::echo", DispatchKey::CPU, echo_boxed).commit();
  check_echo(tensors);
}

TEST_CASE("typed calls take and give lists of tensors that have methods") {
  struct Mine : TensorBase {
    Mine() = default;
    explicit Mine(TensorBase t) : TensorBase(std::move(t)) {}
  };
  using Lists = std::vector<std::vector<Mine>>;
  using MaybeLists = std::optional<Lists>;
  const auto kernel = [](ArrayRef<std::vector<Mine>> m, std::optional<ArrayRef<std::vector<Mine>>> o,
                         ArrayRef<std::optional<Mine>> n) {
    Lists all(m.begin(), m.end());
    all.resize(all.size() + (o ? o->size() : 0));
    for (const std::optional<Mine>& tensor : n) all.push_back({tensor.value_or(Mine())});
    return all;
  };
  const RegistrationHandle def = Block()
                                     .def("lists::mine(Tensor[][] m, Tensor[][]? o, Tensor?[] n) -> Tensor[][]")
                                     .impl("lists::mine", DispatchKey::CPU, kernel)
                                     .commit();
  const Mine a(tensor());
  const auto mine = op("lists::mine").typed<Lists(const Lists&, const MaybeLists&, std::vector<std::optional<Mine>>)>();
  const Lists all = mine.call({{a}, {}}, MaybeLists({{a}}), {std::nullopt, a});
  REQUIRE(all.size() == 5);
  CHECK((all[0][0].is_same(a) && all[2].empty() && !all[3][0].defined() && all[4][0].is_same(a)));
  CHECK(mine.call({}, std::nullopt, {a}).size() == 1);
}

TEST_CASE("optional lists may be absent") {
  using Sig = std::tuple<std::int64_t, std::optional<TensorLists>, std::optional<Texts>>(
      std::optional<ArrayRef<std::string>>, std::optional<ArrayRef<Tensors>>);
  const auto kernel = [](const std::optional<Texts>& s, std::optional<ArrayRef<Tensors>> m) {
    const auto size = static_cast<std::int64_t>((s ? s->size() : 0) + (m ? 10 * m->size() : 0));
    return std::tuple(size, m ? std::optional(m->vec()) : std::nullopt, s);
  };
  const RegistrationHandle def = Block()
                                     .def("lists::opt(str[]? s, Tensor[][]? m=None) -> (int, Tensor[][]?, str[]?)")
                                     .impl("lists::opt", DispatchKey::CompositeExplicitAutograd, kernel)
                                     .commit();
  const auto opt = op("lists::opt").typed<Sig>();
  const TensorLists tensors{{tensor()}, {}};
  CHECK(std::get<0>(opt.call(kTexts, tensors)) == 23);
  CHECK(std::get<0>(opt.call(std::nullopt, std::nullopt)) == 0);
  CHECK(are_same(*std::get<1>(opt.call(std::nullopt, tensors)), tensors));
  Stack stack{IValue(), IValue()};
  op("lists::opt").call_boxed(stack);
  CHECK((stack[0].to_int() == 0 && stack[1].is_none() && stack[2].is_none()));
}

TEST_CASE("tensors in lists of lists choose the kernel") {
  const auto kernel = [](std::int64_t n) { return [n](ArrayRef<Tensors>) { return n; }; };
  const RegistrationHandle def =
      Block()
          .def("lists::where(Tensor[][] m) -> int")
          .impl("lists::where", DispatchKey::CPU, kernel(1))
          .impl("lists::where", DispatchKey::Meta, kernel(2))
          .def("lists::maybe(Tensor[]? a, Tensor[][]? m) -> int")
          .impl("lists::maybe", DispatchKey::CPU,
                [](std::optional<Tensors>, std::optional<TensorLists>) { return std::int64_t{3}; })
          .commit();
  const auto where = op("lists::where").typed<std::int64_t(ArrayRef<Tensors>)>();
  const TensorLists here{{}, {TensorBase(), tensor()}}, there{{}, {on_meta()}};
  CHECK(where.call(here) == 1);
  CHECK(where.call(there) == 2);
  for (const auto& [lists, answer] : {std::pair(here, 1), std::pair(there, 2)}) {
    Stack stack{lists};
    CHECK(boxed_call_keys(op("lists::where").entry(), stack) == stack[0].tensor_keys());
    op("lists::where").call_boxed(stack);
    CHECK(stack[0].to_int() == answer);
  }
  CHECK(error_of([&] { where.call({}); }).find("a list of tensors must not be empty") != std::string::npos);
  // Optional lists of tensors, too.
  const auto maybe =
      op("lists::maybe").typed<std::int64_t(std::optional<ArrayRef<TensorBase>>, std::optional<ArrayRef<Tensors>>)>();
  CHECK(maybe.call(here[1], std::nullopt) == 3);
  CHECK(maybe.call(std::nullopt, here) == 3);
}

TEST_CASE("values of other types are refused with the argument's name") {
  const std::string head = "lists::one: argument 'x' takes ";
  CHECK(refused<Texts>("str[]", "abc") == head + "str[], but got str");
  CHECK(refused<std::optional<Texts>>("str[]?", std::vector<std::int64_t>{1}) == head + "str[]?, but got int[]");
  CHECK(refused<DTypes>("ScalarType[]", kFloat) == head + "ScalarType[], but got ScalarType");
  CHECK(refused<MaybeInts>("int?[]", std::vector<std::int64_t>{1}) == head + "int?[], but got int[]");
  CHECK(refused<IntLists>("SymInt[][]", std::vector<std::int64_t>{1}) == head + "SymInt[][], but got int[]");
  CHECK(refused<TensorLists>("Tensor[][]", Tensors{tensor()}) == head + "Tensor[][], but got Tensor[]");
  CHECK(refused<Tensors>("Tensor[]", TensorLists{{tensor()}}) == head + "Tensor[], but got Tensor[][]");
  for (const char* type : {"float?[]", "float[][]", "Tensor?[][]", "Tensor[]?[]", "str?[]", "int[][][]"}) {
    INFO(type);
    const std::string text =
        error_of([&] { (void)Block().def("lists::one(" + std::string(type) + " x) -> ()").commit(); });
    CHECK(text.find("kernels cannot take values of schema type " + std::string(type)) != std::string::npos);
  }
}

TEST_CASE("defaults of lists of strings, dtypes, absent integers and lists") {
  CHECK(default_of("str[] s=[]").to_list_of<std::string>().empty());
  CHECK(default_of(R"(str[] s=["a,b", 'it\'s'])").to_list_of<std::string>() == Texts{"a,b", "it's"});
  CHECK(default_of("str[2] s='x'").to_list_of<std::string>() == Texts{"x", "x"});
  CHECK(default_of("str[]? s=None").is_none());
  CHECK(default_of("ScalarType[] t=[float16, bool, 6]").to_list_of<ScalarType>() == DTypes{kHalf, kBool, kFloat});
  CHECK(default_of("int?[] n=[None, 3]").to_list_of<std::optional<std::int64_t>>() == MaybeInts{std::nullopt, 3});
  CHECK(default_of("SymInt?[2] n=None").to_list_of<std::optional<std::int64_t>>() ==
        MaybeInts{std::nullopt, std::nullopt});
  CHECK(default_of("int?[2]? n=None").is_none());
  CHECK(default_of("int[][] i=[[1, 2], []]").to_list_of<std::vector<std::int64_t>>() == IntLists{{1, 2}, {}});
  CHECK(default_of("int[2][2] i=7").to_list_of<std::vector<std::int64_t>>() == IntLists{{7, 7}, {7, 7}});
  CHECK(are_same(default_of("Tensor[][] m=[[], []]").to_tensor_lists(), TensorLists(2)));
  CHECK(default_of("Tensor?[2] m=None").to_tensor_list().size() == 2);
  for (const char* argument :
       {"str[] s='a'", "str[] s=[1]", "ScalarType[] t=[99]", "int?[] n=[1.5]", "int[][] i=[1]", "Tensor[][] m=[1]"}) {
    INFO(argument);
    CHECK_FALSE(error_of([&] { default_of(argument); }).empty());
  }
}

TEST_CASE("values of these types are printed as Python writes them") {
  CHECK(to_string(IValue(Texts{"a", ""})) == "['a', '']");
  CHECK(to_string(IValue(kDTypes)) == "[float16, bool]");
  CHECK(to_string(IValue(kMaybeInts)) == "[None, -1, None]");
  CHECK(to_string(IValue(kIntLists)) == "[[1, 2], [], [-3]]");
  CHECK(to_string(IValue(TensorLists{{tensor()}, {}})) == "[[float32[2, 3] on cpu], []]");
  IValue copy = IValue(kTexts);
  IValue other = copy;
  copy = IValue();
  CHECK(other.to_list_of<std::string>() == kTexts);
}

TEST_CASE("the compiler infers schemas with these types, and tells what does not fit") {
  Library m(Library::Kind::Fragment, "lists");
  m.def("inferred", echo_by_vectors);
  m.def<
      "checked(str[] s, ScalarType[] t, int?[] n, int[][] i, Tensor[][] m) -> (str[], ScalarType[], int?[], int[][], "
      "Tensor[][])">(echo_by_views);
  const RegistrationHandle handle = m.commit();
  CHECK(op("lists::inferred").schema().text() ==
        "lists::inferred(str[] _0, ScalarType[] _1, int?[] _2, int[][] _3, Tensor[][] _4) -> (str[], ScalarType[], "
        "int?[], int[][], Tensor[][])");
  const std::string text = error_of([&] {
    (void)Block()
        .def("lists::other(str[] s) -> ()")
        .impl("lists::other", DispatchKey::CPU, [](ArrayRef<ScalarType>) {})
        .commit();
  });
  CHECK(text.find("argument 1, 's', is ArrayRef<ScalarType>, not ArrayRef<std::string>") != std::string::npos);
}

TEST_CASE("the contract of tensors in lists of lists is checked") {
  const auto run = [](auto kernel) {
    const RegistrationHandle def =
        Block().def("lists::kept(Tensor[][] m) -> Tensor[][]").impl("lists::kept", DispatchKey::CPU, kernel).commit();
    const ObserverHandle checks = observe_calls(schema_checker());
    const TensorBase t = tensor();
    std::fill_n(static_cast<float*>(t.data_ptr()), t.numel(), 0.0F);
    op("lists::kept").typed<TensorLists(ArrayRef<Tensors>)>().call(TensorLists{{}, {t}});
  };
  const auto text = [&](auto kernel) { return error_of([&] { run(kernel); }); };
  run([](ArrayRef<Tensors>) { return TensorLists{{tensor()}, {}}; });
  CHECK(text([](ArrayRef<Tensors> m) { return m.vec(); }).find("result 1 shares memory with argument 'm'") !=
        std::string::npos);
  CHECK(text([](ArrayRef<Tensors> m) {
          static_cast<float*>(m[1][0].data_ptr())[0] = 1;
          return TensorLists();
        }).find("it changed the elements of argument 'm'") != std::string::npos);
}

TEST_CASE("explanations and traces see tensors in lists of lists") {
  const RegistrationHandle def = Block()
                                     .def("lists::seen(int n, Tensor[][] m) -> ()")
                                     .impl("lists::seen", DispatchKey::CPU, [](std::int64_t, TensorLists) {})
                                     .commit();
  Stack stack{IValue(1), TensorLists{{}, {tensor()}}};
  const Explanation why = explain(op("lists::seen"), stack);
  REQUIRE(why.arguments.size() == 1);
  CHECK(why.arguments[0].name == "m");
  std::string lines;
  {
    const ObserverHandle trace = observe_calls(dispatch_trace([&](std::string_view line) { lines += line; }));
    op("lists::seen").call_boxed(stack);
  }
  CHECK(lines.find("  m " + to_string(why.arguments[0].keys)) != std::string::npos);
}

TEST_CASE("a tuple of elements of one type, in a list, is a list") {
  using Edge = std::tuple<std::string, std::string>;
  const auto join = [](const std::vector<Edge>& edges) {
    std::string text;
    for (const auto& [from, to] : edges) text += from + ">" + to + " ";
    return text;
  };
  const RegistrationHandle def = Block()
                                     .def("lists::edges((str, str)[] e) -> str")
                                     .impl("lists::edges", DispatchKey::CompositeExplicitAutograd, join)
                                     .commit();
  const std::vector<std::vector<std::string>> edges{{"a", "b"}, {"c", "d"}};
  CHECK(op("lists::edges").typed<std::string(ArrayRef<std::vector<std::string>>)>().call(edges) == "a>b c>d ");
  Stack stack{IValue(edges)};
  op("lists::edges").call_boxed(stack);
  CHECK(stack[0].to_string_ref() == "a>b c>d ");
  Stack three{IValue(std::vector<std::vector<std::string>>{{"a", "b", "c"}})};
  CHECK(error_of([&] { op("lists::edges").call_boxed(three); }).find("tuples of 2 elements, but one of 3") !=
        std::string::npos);

  Library library(Library::Kind::Fragment, "lists");
  library.def("inferred_edges", join);
  const RegistrationHandle inferred = library.commit();
  CHECK(op("lists::inferred_edges").schema().text() == "lists::inferred_edges(str[][] _0) -> str");
  CHECK_FALSE(
      error_of([&] {
        (void)Block().def("lists::mixed((str, int)[] e) -> str").impl("lists::mixed", DispatchKey::CPU, join).commit();
      }).empty());
}
