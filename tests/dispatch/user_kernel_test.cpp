// What functions of users may take and return: each type reaches the kernel, and comes back, with its value.
#include <keyway/dispatch/registry/library.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <complex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Ints = std::vector<std::int64_t>;

// Defines an operator by its schema and kernel, calls it boxed, and gives its results.
template <typename F>
Stack called(const std::string& schema, F fn, Stack stack) {
  Library m(Library::Kind::Fragment, "user_kernel");
  m.def(schema, std::move(fn));
  const RegistrationHandle handle = m.commit();
  op("user_kernel::" + schema.substr(0, schema.find('('))).call_boxed(stack);
  return stack;
}

Stack of(IValue value) { return {std::move(value)}; }

}  // namespace

TEST_CASE("kernels take optional strings, lists and numbers, by value and by const reference") {
  const auto size = [](const std::optional<std::string>& s) { return s ? static_cast<std::int64_t>(s->size()) : -1; };
  CHECK(called("f(str? s) -> int", size, of("abc"))[0].to_int() == 3);
  CHECK(called("f(str? s) -> int", size, of({}))[0].to_int() == -1);
  const auto last = [](std::optional<Ints> v) { return v ? v->back() : -1; };
  CHECK(called("f(int[]? v) -> int", last, of(Ints{4, 7}))[0].to_int() == 7);
  CHECK(called("f(int[]? v) -> int", last, of({}))[0].to_int() == -1);
  const auto number = [](const std::optional<std::int64_t>& n, const double& d, const bool& b) {
    return static_cast<double>(n.value_or(5)) + d + (b ? 100 : 0);
  };
  CHECK(called("f(int? n, float d, bool b) -> float", number, {IValue(), IValue(0.5), IValue(true)})[0].to_double() ==
        105.5);
  const auto rows = [](const std::optional<std::vector<TensorBase>>& t) {
    return t ? static_cast<std::int64_t>(t->size()) : -1;
  };
  CHECK(called("f(Tensor[]? t) -> int", rows, of(std::vector<TensorBase>{tensor(), tensor()}))[0].to_int() == 2);
  CHECK(called("f(Tensor[]? t) -> int", rows, of({}))[0].to_int() == -1);
  const auto seeded = [](const std::optional<Generator>& g) { return g.has_value(); };
  CHECK_FALSE(called("f(Generator? g) -> bool", seeded, of({}))[0].to_bool());
}

TEST_CASE("kernels take and return std::complex") {
  const auto turned = [](std::complex<double> z) { return z * std::complex<double>(0, 1); };
  const complex<double> z = called("f(complex z) -> complex", turned, of(complex<double>(2, 3)))[0].to_complex();
  CHECK(z.real() == -3);
  CHECK(z.imag() == 2);
  const auto real = [](std::optional<std::complex<double>> c) { return c ? c->real() : -1; };
  CHECK(called("f(complex? z) -> float", real, of(complex<double>(2, 3)))[0].to_double() == 2);
}

TEST_CASE("kernels return what may be absent") {
  const auto maybe = [](bool there) { return there ? std::optional<TensorBase>(tensor()) : std::nullopt; };
  CHECK(called("f(bool b) -> Tensor?", maybe, of(true))[0].to_tensor().defined());
  CHECK_FALSE(called("f(bool b) -> Tensor?", maybe, of(false))[0].to_tensor().defined());
  const auto ints = [](bool there) { return there ? std::optional<Ints>(Ints{1, 2}) : std::nullopt; };
  CHECK(called("f(bool b) -> int[]?", ints, of(true))[0].to_int_list() == Ints{1, 2});
  CHECK(called("f(bool b) -> int[]?", ints, of(false))[0].is_none());
  const auto text = [](bool there) { return there ? std::optional<std::string>("yes") : std::nullopt; };
  CHECK(called("f(bool b) -> str?", text, of(true))[0].to_string_ref() == "yes");
}

TEST_CASE("a tuple may have lists and optional results in it, one element, or none") {
  const auto two = [](std::int64_t n) {
    return std::tuple<std::int64_t, std::vector<TensorBase>, std::optional<TensorBase>>(
        n, std::vector<TensorBase>(static_cast<std::size_t>(n), tensor()), std::nullopt);
  };
  Stack results = called("f(int n) -> (int, Tensor[], Tensor?)", two, of(3));
  REQUIRE(results.size() == 3);
  CHECK(results[0].to_int() == 3);
  CHECK(results[1].to_tensor_list().size() == 3);
  CHECK_FALSE(results[2].to_tensor().defined());
  const auto one = [](std::int64_t n) { return std::tuple<std::int64_t>(n + 1); };
  CHECK(called("f(int n) -> int", one, of(3))[0].to_int() == 4);
  bool ran = false;
  const auto none = [&ran](std::int64_t) {
    ran = true;
    return std::tuple<>();
  };
  CHECK(called("f(int n) -> ()", none, of(3)).empty());
  CHECK(ran);
}

TEST_CASE("the compiler takes these types for their schemas") {
  Library m(Library::Kind::Fragment, "user_kernel");
  m.def<"a(str? s, int[]? v, complex z) -> (int, Tensor[], Tensor?)">(
      [](const std::optional<std::string>&, std::optional<Ints>, std::complex<double>) {
        return std::tuple<std::int64_t, std::vector<TensorBase>, std::optional<TensorBase>>();
      });
  m.def<"b(Tensor x) -> Tensor?">([](const TensorBase& x) { return std::optional<TensorBase>(x); });
  m.def<"c(Tensor x) -> Tensor?">([](const TensorBase& x) { return x; });
  m.def<"d(Tensor x) -> ()">([](const TensorBase&) { return std::tuple<>(); });
  const RegistrationHandle handle = m.commit();
  CHECK(op("user_kernel::a").schema().returns().size() == 3);
}

TEST_CASE("of a name alone, the schema is inferred from the function") {
  Library m(Library::Kind::Fragment, "user_kernel");
  m.def("scale", [](const TensorBase& self, double, std::optional<TensorBase>, std::optional<std::int64_t>,
                    ArrayRef<TensorBase>, std::string_view) { return std::tuple<TensorBase, bool>(self, true); });
  m.def("nothing", [](DispatchKeySet, const Scalar&) {});
  const RegistrationHandle handle = m.commit();
  CHECK(op("user_kernel::scale").schema().text() ==
        "user_kernel::scale(Tensor _0, float _1, Tensor? _2, int? _3, Tensor[] _4, str _5) -> (Tensor, bool)");
  CHECK(op("user_kernel::nothing").schema().text() == "user_kernel::nothing(Scalar _0) -> ()");

  Library bad(Library::Kind::Fragment, "user_kernel");
  bad.def("fill", [](TensorBase& self) -> TensorBase& { return self; });
  CHECK(error_of([&] { (void)bad.commit(); }).find("give the schema, which says what is written") != std::string::npos);
  Library bare(Library::Kind::Fragment, "user_kernel");
  bare.def("bare");
  CHECK(error_of([&] { (void)bare.commit(); }).find("is no schema") != std::string::npos);
}
