// Dictionaries: from typed and boxed calls to typed and boxed kernels, and back.
#include <keyway/core/schema/owned.h>
#include <keyway/dispatch/call/dict.h>
#include <keyway/dispatch/call/list.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <optional>
#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::testing;
using Catch::Matchers::Contains;

namespace {

using Tensors = Dict<std::string, TensorBase>;
using Counts = Dict<std::int64_t, std::vector<std::int64_t>>;

constexpr const char* kSwap =
    "dicts::swap(Dict(str, Tensor) a, Dict(int, int[])? b=None) -> (Dict(int, int[]), Dict(str, Tensor))";

std::tuple<Counts, Tensors> swap_typed(const Tensors& a, const std::optional<Counts>& b) {
  return {b.value_or(Counts()), a};
}

IValue boxed_dict(IValue key, IValue value) {
  const GenericDict dict;
  dict.insert(std::move(key), std::move(value), true);
  return dict;
}

}  // namespace

TEST_CASE("a dictionary keeps the order of its keys, and copies share it") {
  Dict<std::string, std::int64_t> dict;
  CHECK(dict.empty());
  CHECK(dict.insert("b", 1).second);
  CHECK(dict.insert("a", 2).second);
  CHECK_FALSE(dict.insert("b", 3).second);
  CHECK(dict.at("b") == 1);
  CHECK_FALSE(dict.insert_or_assign("b", 3).second);
  CHECK((*dict.insert("c", 4).first).value() == 4);

  std::string order;
  for (const auto& entry : dict) order += entry.key() + std::to_string(entry.value());
  CHECK(order == "b3a2c4");
  CHECK(dict.find("a")->value() == 2);
  CHECK(dict.find("z") == dict.end());

  const auto shared = dict;
  const auto copied = dict.copy();
  CHECK(dict.erase("a") == 1);
  CHECK(dict.erase("a") == 0);
  CHECK((shared.size() == 2 && shared.is(dict) && !shared.contains("a")));
  CHECK((copied.size() == 3 && copied.contains("a")));
  dict.erase(dict.begin());
  CHECK((dict.size() == 1 && dict.contains("c")));
  CHECK_THROWS_AS(dict.at("no"), std::out_of_range);
  CHECK_THROWS_WITH(dict.at("no"), Contains("a dictionary has no key 'no'"));
}

TEST_CASE("a list has no element beyond its end") {
  const List<std::int64_t> list{1, 2};
  CHECK(list.get(1) == 2);
  CHECK_THROWS_AS(list.get(2), std::out_of_range);
  CHECK_THROWS_WITH(list.get(2), Contains("a list of 2 elements has no element 2"));
  CHECK_THROWS_WITH(list[7], Contains("no element 7"));
  CHECK_THROWS_WITH(list.set(2, 1), Contains("no element 2"));
}

TEST_CASE("keys of several types: 1 and 1.0, and what is no key") {
  Dict<double, bool> floats;
  floats.insert(1.0, true);
  floats.insert(-0.5, false);
  CHECK((floats.at(1.0) && !floats.at(-0.5)));
  Dict<bool, std::string> flags;
  flags.insert(true, "yes");
  CHECK(flags.at(true) == "yes");
  CHECK(to_string(IValue(flags)) == "{True: 'yes'}");
  CHECK_THROWS_WITH(boxed_dict(tensor(), 1), Contains("a key of a dictionary is a string"));
}

TEST_CASE("dictionaries come through typed and boxed calls") {
  const RegistrationHandle def =
      Block().def(kSwap).impl("dicts::swap", DispatchKey::CompositeExplicitAutograd, swap_typed).commit();
  const TensorBase x = tensor();
  Tensors a;
  a.insert("x", x);
  Counts b;
  b.insert(7, {1, 2});
  using Sig = std::tuple<Counts, Tensors>(const Tensors&, std::optional<Counts>);
  const auto [counts, tensors] = op("dicts::swap").typed<Sig>().call(a, b);
  CHECK(counts.at(7) == std::vector<std::int64_t>{1, 2});
  CHECK(tensors.at("x").is_same(x));

  Stack stack{a, IValue()};
  op("dicts::swap").call_boxed(stack);
  REQUIRE(stack.size() == 2);
  CHECK(stack[0].to_dict().empty());
  CHECK(Tensors(stack[1].to_dict()).at("x").is_same(x));
}

TEST_CASE("a typed call reaches a boxed kernel with its dictionaries") {
  const auto turn = [](const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack& stack) {
    std::swap(stack[0], stack[1]);
  };
  const RegistrationHandle def =
      Block().def(kSwap).impl_boxed("dicts::swap", DispatchKey::CompositeExplicitAutograd, turn).commit();
  Counts b;
  b.insert(1, {});
  using Sig = std::tuple<Counts, Tensors>(const Tensors&, std::optional<Counts>);
  const auto [counts, tensors] = op("dicts::swap").typed<Sig>().call(Tensors(), b);
  CHECK((counts.size() == 1 && tensors.empty()));
}

TEST_CASE("what is in a dictionary of another type is an error that names both") {
  const RegistrationHandle def =
      Block().def(kSwap).impl("dicts::swap", DispatchKey::CompositeExplicitAutograd, swap_typed).commit();
  const auto refused = [](IValue a) {
    Stack stack{std::move(a), IValue()};
    return error_of([&] { op("dicts::swap").call_boxed(stack); });
  };
  CHECK_THAT(refused(IValue(1)), Contains("argument 'a' takes Dict(str, Tensor), but got int"));
  CHECK_THAT(refused(boxed_dict("x", 1)), Contains("expected a value of type Tensor, but got int"));
  CHECK_THAT(refused(boxed_dict(1, tensor())), Contains("expected a value of type str, but got int"));
}

TEST_CASE("schemas and kernels are compared down to the types of keys and values") {
  const auto commit = [](const char* schema) {
    return error_of([&] { (void)Block().def(schema).impl("dicts::f", DispatchKey::CPU, [](Tensors) {}).commit(); });
  };
  CHECK_NOTHROW(
      Block().def("dicts::f(Dict(str, Tensor) a) -> ()").impl("dicts::f", DispatchKey::CPU, [](Tensors) {}).commit());
  CHECK_THAT(commit("dicts::f(Dict(int, Tensor) a) -> ()"), Contains("Dict(int, Tensor)"));
  CHECK_THAT(commit("dicts::f(Dict(str, int) a) -> ()"), Contains("Dict(str, int)"));
  // Kernels cannot take these.
  CHECK_FALSE(commit("dicts::f(Dict(Tensor, int) a) -> ()").empty());
  CHECK_FALSE(commit("dicts::f(Dict(str, Dict(str, int)) a) -> ()").empty());
}

TEST_CASE("the schema of a function with dictionaries is inferred") {
  Library library(Library::Kind::Fragment, "dicts");
  library.def("inferred", [](const Dict<std::string, TensorBase>& a, const Dict<bool, std::vector<double>>& b) {
    return std::make_tuple(b, a);
  });
  const RegistrationHandle handle = library.commit();
  CHECK(op("dicts::inferred").schema().text() ==
        "dicts::inferred(Dict(str, Tensor) _0, Dict(bool, float[]) _1) -> (Dict(bool, float[]), Dict(str, Tensor))");
}

TEST_CASE("a dictionary of tensors chooses no kernel") {
  const RegistrationHandle def =
      Block()
          .def("dicts::where(Dict(str, Tensor) a, Tensor b) -> int")
          .impl("dicts::where", DispatchKey::CPU, [](Tensors, TensorBase) { return std::int64_t{1}; })
          .impl("dicts::where", DispatchKey::Meta, [](Tensors, TensorBase) { return std::int64_t{2}; })
          .commit();
  Tensors a;
  a.insert("m", tensor(kMeta));
  CHECK(op("dicts::where").typed<std::int64_t(const Tensors&, const TensorBase&)>().call(a, tensor()) == 1);
}
