#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <tuple>

using namespace keyway;
using namespace keyway::testing;

namespace {

int passed_on = 0;
void pass_on(const OperatorEntry& op, const KernelBase&, DispatchKeySet keys, Stack& stack) {
  ++passed_on;
  redispatch_boxed(op, keys & DispatchKeySet::full_after(Functionality::Profiler), stack);
}

// Every call of the thread goes through a boxed kernel first.
struct Boxed {
  RegistrationHandle fallback = Block().fallback(DispatchKey::Profiler, pass_on).commit();
  IncludeDispatchKeyGuard guard{DispatchKeySet(Functionality::Profiler)};
};

std::string seen;  // what the kernel below was given
template <typename T>
void note(const T& v) {
  seen += FormatArg(v).str() + " ";
}
void note(const TensorBase& v) { seen += describe(v) + " "; }
void note(const Generator& v) { seen += v.defined() ? "generator " : "no generator "; }
void note(std::string_view v) { seen += std::string(v) + " "; }
template <typename T>
void note(ArrayRef<T> v) {
  seen += "[ ";
  for (const T& each : v) note(each);
  seen += "] ";
}
template <typename T>
void note(const std::optional<T>& v) {
  if (v) return note(*v);
  seen += "None ";
}

using EverySig = void(const TensorBase&, const TensorBase&, TensorBase&, ArrayRef<TensorBase>, ArrayRef<TensorBase>,
                      std::int64_t, double, bool, complex<double>, const Scalar&, std::string_view, ScalarType, Layout,
                      MemoryFormat, Device, const Generator&, ArrayRef<std::int64_t>, ArrayRef<double>, ArrayRef<bool>,
                      ArrayRef<Scalar>, std::optional<std::int64_t>, std::optional<Scalar>,
                      std::optional<std::string_view>, std::optional<ArrayRef<std::int64_t>>, std::optional<ScalarType>,
                      std::optional<Device>, std::optional<bool>, std::optional<double>);
constexpr const char* kEverySchema =
    "box::every(Tensor a, Tensor? b, Tensor(a!) w, Tensor[] l, Tensor?[] m, int i, float d, bool o, complex c, "
    "Scalar s, str z, ScalarType t, Layout y, MemoryFormat f, Device e, Generator? g, SymInt[] il, float[] dl, "
    "bool[2] bl, Scalar[] sl, int? oi, Scalar? os, str? oz, int[]? ol, ScalarType? ot, Device? oe, bool? ob, "
    "float? od) -> ()";

template <typename... Args>
struct Noting {
  void operator()(Args... args) const { (note(args), ...); }
};
template <typename Sig>
struct NotingOf;
template <typename... Args>
struct NotingOf<void(Args...)> {
  using type = Noting<Args...>;
};

// Calls with every argument present, or with every one absent that may be.
void call_with_every(const TypedOperatorHandle<EverySig>& every, bool present) {
  const TensorBase a = tensor();
  TensorBase w = make_tensor({}, kLong, kCPU);
  const TensorBase none;
  const TensorBase list[] = {a, none};
  const std::int64_t ints[] = {1, -2};
  const double doubles[] = {0.5};
  const bool bools[] = {true, false};
  const Scalar scalars[] = {Scalar(1), Scalar(2.5)};
  if (present) {
    every.call(a, a, w, ArrayRef<TensorBase>(list, 1), list, 3, 1.5, true, complex<double>(1, 2), Scalar(true), "text",
               kDouble, Layout::Strided, MemoryFormat::ChannelsLast, Device("cpu:0"), Generator(), ints, doubles, bools,
               scalars, std::int64_t{4}, Scalar(std::uint64_t{1} << 63), std::string_view("more"), ArrayRef(ints),
               kHalf, Device(kMeta), false, 2.0);
  } else {
    every.call(none, none, w, {}, {}, -3, -1.5, false, complex<double>(), Scalar(complex<double>(0, 1)), "", kBool,
               Layout::Strided, MemoryFormat::Contiguous, Device(kCUDA), Generator(nullptr), {}, {}, {}, {},
               std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
               std::nullopt);
  }
}

// Defines box::give() with that result, and checks that `value` comes out of typed and boxed calls, through typed and
// boxed kernels.
template <typename R, typename Check>
void comes_out(const std::string& type, const R& value, Check&& check) {
  INFO(type);
  const RegistrationHandle def =
      Block()
          .def("box::give() -> " + type)
          .impl("box::give", DispatchKey::CompositeExplicitAutograd, [value] { return value; })
          .commit();
  const auto typed = op("box::give").typed<R()>();
  CHECK(check(typed.call()));
  Stack stack;
  typed.call_boxed(stack);
  CHECK(stack.size() == detail::kResultCount<R>);
  const Boxed boxed;
  passed_on = 0;
  CHECK(check(typed.call()));
  CHECK(passed_on == 1);
}
template <typename R>
void comes_out(const std::string& type, const R& value) {
  comes_out(type, value, [&](const R& out) { return out == value; });
}

}  // namespace

TEST_CASE("every canonical argument arrives alike by every way") {
  const RegistrationHandle def =
      Block()
          .def(kEverySchema)
          .impl("box::every", DispatchKey::CompositeExplicitAutograd, NotingOf<EverySig>::type())
          .commit();
  const auto typed = op("box::every").typed<EverySig>();
  for (const bool present : {true, false}) {
    seen.clear();
    call_with_every(typed, present);
    const std::string direct = seen;
    CHECK(direct.find("[1, -2]") == std::string::npos);  // an element at a time
    {
      const Boxed boxed;
      seen.clear();
      passed_on = 0;
      call_with_every(typed, present);
      CHECK(passed_on == 1);
      CHECK(seen == direct);
    }
  }
}

TEST_CASE("every canonical result comes out of every way") {
  comes_out<std::int64_t>("int", -5);
  comes_out<double>("float", 0.25);
  comes_out<bool>("bool", true);
  comes_out<complex<double>>("complex", {1, -1});
  comes_out<std::string>("str", "a text that is longer than a short string");
  comes_out<ScalarType>("ScalarType", kHalf);
  comes_out<Layout>("Layout", Layout::Strided);
  comes_out<MemoryFormat>("MemoryFormat", MemoryFormat::ChannelsLast);
  comes_out<Device>("Device", Device("cuda:3"));
  comes_out<Generator>("Generator", Generator());
  comes_out<std::vector<std::int64_t>>("int[]", {1, 2, 3});
  comes_out<std::vector<double>>("float[]", {0.5});
  comes_out<std::vector<bool>>("bool[]", {true, false, true});
  comes_out<std::optional<std::int64_t>>("int?", 3);
  comes_out<std::optional<std::int64_t>>("int?", std::nullopt);
  comes_out<std::optional<std::vector<std::int64_t>>>("int[]?", std::vector<std::int64_t>{4});
  comes_out<Scalar>("Scalar", Scalar(2.5), [](const Scalar& s) { return s.to<double>() == 2.5; });

  const TensorBase a = tensor();
  const TensorBase b = tensor(kMeta);
  const auto is_a = [&](const TensorBase& out) { return out.is_same(a); };
  const auto are_ab = [&](const std::vector<TensorBase>& out) {
    return out.size() == 2 && out[0].is_same(a) && out[1].is_same(b);
  };
  comes_out<TensorBase>("Tensor", a, is_a);
  comes_out<TensorBase>("Tensor", TensorBase(), [](const TensorBase& out) { return !out.defined(); });
  comes_out<std::vector<TensorBase>>("Tensor[]", {a, b}, are_ab);
  using Mixed = std::tuple<TensorBase, std::int64_t, std::vector<TensorBase>, double>;
  comes_out<Mixed>("(Tensor, int, Tensor[], float)", Mixed(a, 7, {a, b}, 0.5), [&](const Mixed& out) {
    return is_a(std::get<0>(out)) && std::get<1>(out) == 7 && are_ab(std::get<2>(out)) && std::get<3>(out) == 0.5;
  });
}

TEST_CASE("in-place and out= calls return their own arguments, also through a boxed kernel") {
  const RegistrationHandle def =
      Block()
          .def("box::fill_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
          .def("box::both(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(b!), Tensor(a!))")
          .def("box::mixed(Tensor(a!) self, int n) -> (Tensor(a!), int, Tensor)")
          .impl("box::fill_", DispatchKey::CPU, [](TensorBase& self, const TensorBase&) -> TensorBase& { return self; })
          .impl("box::both", DispatchKey::CPU,
                [](const TensorBase&, TensorBase& x, TensorBase& y) {
                  return std::tuple<TensorBase&, TensorBase&>(y, x);
                })
          .impl("box::mixed", DispatchKey::CPU,
                [](TensorBase& self, std::int64_t n) {
                  return std::tuple<TensorBase&, std::int64_t, TensorBase>(self, n, self);
                })
          .commit();
  TensorBase x = tensor();
  TensorBase y = tensor();
  const auto check = [&] {
    CHECK(&op("box::fill_").typed<TensorBase&(TensorBase&, const TensorBase&)>().call(x, y) == &x);
    using Both = std::tuple<TensorBase&, TensorBase&>(const TensorBase&, TensorBase&, TensorBase&);
    const auto both = op("box::both").typed<Both>().call(x, x, y);
    CHECK(&std::get<0>(both) == &y);
    CHECK(&std::get<1>(both) == &x);
    using Mixed = std::tuple<TensorBase&, std::int64_t, TensorBase>(TensorBase&, std::int64_t);
    const auto mixed = op("box::mixed").typed<Mixed>().call(y, 5);
    CHECK(&std::get<0>(mixed) == &y);
    CHECK(std::get<1>(mixed) == 5);
    CHECK(std::get<2>(mixed).is_same(y));
  };
  check();
  const Boxed boxed;
  passed_on = 0;
  check();
  CHECK(passed_on == 3);
}

TEST_CASE("a boxed kernel that leaves the wrong results is an error") {
  const RegistrationHandle def =
      Block()
          .def("box::two(Tensor self) -> (Tensor, Tensor)")
          .def("box::in_(Tensor(a!) self) -> Tensor(a!)")
          .def("box::int(Tensor self) -> int")
          .impl_boxed("box::two", DispatchKey::CPU,
                      [](const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack&) {})
          .impl_boxed(
              "box::in_", DispatchKey::CPU,
              [](const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack& s) { s.back() = IValue(tensor()); })
          .impl_boxed(
              "box::int", DispatchKey::CPU,
              [](const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack& s) { s.back() = IValue("one"); })
          .commit();
  TensorBase x = tensor();
  const std::string given = "; given self = float32[2, 3] on cpu";
  CHECK(error_of([&] { op("box::two").typed<std::tuple<TensorBase, TensorBase>(const TensorBase&)>().call(x); }) ==
        "box::two: a boxed kernel left 1 values on the stack, but the schema has 2 results" + given);
  CHECK(error_of([&] { op("box::in_").typed<TensorBase&(TensorBase&)>().call(x); }) ==
        "box::in_: a boxed kernel returned a tensor that is none of the arguments its schema writes to" + given);
  CHECK(error_of([&] { op("box::int").typed<std::int64_t(const TensorBase&)>().call(x); }) ==
        "box::int: a boxed kernel left str as result 0, which is int" + given);
}

TEST_CASE("a boxed call of a boxed kernel that leaves the wrong results is an error, too") {
  const RegistrationHandle handle =
      Block()
          .def("box::pair(Tensor a, int n) -> (Tensor, int)")
          .impl_boxed("box::pair", DispatchKey::CPU,
                      [](const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack& stack) {
                        const std::int64_t n = stack.back().to_int();
                        const IValue a = stack[stack.size() - 2];
                        for (std::int64_t i = 0; i < (n == 9 ? 3 : 2); ++i) stack.pop_back();
                        for (std::int64_t i = 0; i < n && n < 5; ++i) stack.push_back(a);
                        if (n == 5) stack.insert(stack.end(), {a, IValue(5)});
                      })
          .commit();
  const auto called = [&](std::int64_t n) {
    Stack stack{IValue("below"), tensor(), n};
    return error_of([&] { op("box::pair").call_boxed(stack); });
  };
  const std::string left = "box::pair: a boxed kernel left ";
  CHECK(called(0) == left + "0 values on the stack, but the schema has 2 results");
  CHECK(called(1) == left + "1 values on the stack, but the schema has 2 results");
  CHECK(called(4) == left + "4 values on the stack, but the schema has 2 results");
  CHECK(called(2) == left + "Tensor as result 1, which is int");
  CHECK(called(9) == "box::pair: a boxed kernel took more than its 2 arguments from the stack: 1 values are missing");
  Stack stack{IValue("below"), tensor(), 5};
  op("box::pair").call_boxed(stack);
  CHECK((stack.size() == 3 && stack[1].is_tensor() && stack[2].to_int() == 5));
}

TEST_CASE("a boxed call with wrong values names the operator, and the stack keeps them") {
  const RegistrationHandle def =
      Block()
          .def("box::n(Tensor self, int n) -> int")
          .impl("box::n", DispatchKey::CPU, [](const TensorBase&, std::int64_t n) { return n; })
          .commit();
  Stack stack;
  stack.emplace_back(tensor());
  CHECK(error_of([&] { op("box::n").call_boxed(stack); }) == "box::n takes 2 arguments, but 1 are on the stack");
  stack.emplace_back("three");
  CHECK(error_alone([&] { op("box::n").call_boxed(stack); }) == "box::n: argument 'n' takes int, but got str");
  REQUIRE(stack.size() == 2);
  CHECK(stack[0].to_tensor().use_count() == 2);
  stack[1] = IValue(3);
  stack.insert(stack.begin(), IValue("below"));
  op("box::n").call_boxed(stack);
  REQUIRE(stack.size() == 2);
  CHECK(stack[1].to_int() == 3);
}

TEST_CASE("kernels are written in any spelling that converts, with and without the key set") {
  static int calls = 0;
  struct Functor {
    std::vector<int> state = {1, 2, 3};
    void operator()(DispatchKeySet keys, std::vector<std::int64_t> dims, std::string text) {
      calls += static_cast<int>(dims.size() + text.size() + state.size());
      CHECK(keys.highest_functionality() == Functionality::Undefined);
    }
  };
  using Sig = void(ArrayRef<std::int64_t>, std::string_view);
  const RegistrationHandle def = Block()
                                     .def("box::spelt(int[] dims, str text) -> ()")
                                     .impl("box::spelt", DispatchKey::CompositeExplicitAutograd, Functor())
                                     .commit();
  const std::int64_t dims[] = {4, 5};
  op("box::spelt").typed<Sig>().call(dims, "abc");
  CHECK(calls == 8);
  {
    const RegistrationHandle over = Block()
                                        .impl(
                                            "box::spelt", DispatchKey::CompositeExplicitAutograd,
                                            +[](ArrayRef<std::int64_t>, std::string_view) noexcept { calls = -1; })
                                        .commit();
    op("box::spelt").typed<Sig>().call(dims, "abc");
  }
  CHECK(calls == -1);
}

namespace {
template <std::size_t>
using Int = std::int64_t;
template <std::size_t... I>
struct Sum {
  std::int64_t operator()(const TensorBase& self, Int<I>... n) const { return (self.dim() + ... + n); }
};
template <std::size_t... I>
void check_sum(std::index_sequence<I...>) {
  std::string schema = "box::sum(Tensor self";
  for (std::size_t i = 0; i < sizeof...(I); ++i) schema += ", int n" + std::to_string(i);
  const RegistrationHandle def =
      Block().def(schema + ") -> int").impl("box::sum", DispatchKey::CPU, Sum<I...>()).commit();
  const TensorBase self = tensor();
  CHECK(op("box::sum").typed<std::int64_t(const TensorBase&, Int<I>...)>().call(self, static_cast<Int<I>>(I)...) ==
        2 + 62 * 63 / 2);
  Stack stack = {self, IValue(static_cast<Int<I>>(I))...};
  op("box::sum").call_boxed(stack);
  CHECK(stack.at(0).to_int() == 2 + 62 * 63 / 2);
}
}  // namespace

TEST_CASE("an operator has up to 64 arguments") {
  check_sum(std::make_index_sequence<63>());
  std::string schema = "box::many(Tensor a0";
  for (int i = 1; i < 65; ++i) schema += ", Tensor a" + std::to_string(i);
  const std::string text = error_of([&] { (void)Block(2).def(schema + ") -> ()", 3).commit(); });
  CHECK(text.find("there are more than 64 arguments (defined at test.cpp:3)") != std::string::npos);
}
