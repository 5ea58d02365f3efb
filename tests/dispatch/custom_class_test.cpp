// Classes that a library registers: their functions are operators, and operators take and return their objects.
#include <keyway/dispatch/call/dict.h>
#include <keyway/dispatch/call/list.h>
#include <keyway/dispatch/registry/class_builder.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/dispatch/failing_new.h>

#include <atomic>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

using namespace keyway;
using namespace keyway::testing;
using Catch::Matchers::Contains;

namespace {

int alive = 0;

struct Tally : CustomClassHolder {
  std::int64_t count;
  std::string name = "tally";

  explicit Tally(std::int64_t start) : count(start) { ++alive; }
  Tally(const Tally& other) : CustomClassHolder(other), count(other.count) { ++alive; }
  ~Tally() override { --alive; }
  void add(std::int64_t n) { count += n; }
  std::int64_t times(std::int64_t n) const { return count * n; }
  const std::string& text() const { return name; }
  static void destroy(int) {}  // a name that its user may choose
};
struct LoudTally : Tally {
  using Tally::Tally;
};
struct Label : CustomClassHolder {};
struct Stranger : CustomClassHolder {};

using TallyPtr = intrusive_ptr<Tally>;

void fill(Library& m) {
  m.class_<Tally>("Tally", "Counts.")
      .def(constructor<std::int64_t>(), "A new one.", {MethodArgument("start") = 2})
      .def("add", &Tally::add, "", {MethodArgument("n") = 1})
      .def("times", &Tally::times)
      .def("text", &Tally::text)
      .def("plus", [](const TallyPtr& self,
                      const TallyPtr& other) { return make_intrusive<Tally>(self->count + other->count); })
      .def("__len__", [](const TallyPtr& self) { return self->count; })
      .def_static("of_three", [] { return make_intrusive<Tally>(3); })
      .def_readwrite("count", &Tally::count)
      .def_readonly("name", &Tally::name)
      .def_property(
          "twice", [](const TallyPtr& self) { return 2 * self->count; }, &Tally::add)
      .def_pickle(
          [](const TallyPtr& self) { return std::tuple<std::int64_t, std::string>(self->count, self->name); },
          [](const std::tuple<std::int64_t, std::string>& state) { return make_intrusive<Tally>(std::get<0>(state)); });
  m.class_<Label>("Label").def(constructor([] { return make_intrusive<Label>(); }));
  m.def("count(__torch__.torch.classes.classes.Tally tally) -> int",
        [](const TallyPtr& tally) { return tally->count; });
  m.def("or_zero(__torch__.torch.classes.classes.Tally? tally=None) -> int",
        [](const std::optional<TallyPtr>& tally) { return tally ? (*tally)->count : std::int64_t{0}; });
  m.def("sum", [](const std::vector<TallyPtr>& all) {
    std::int64_t sum = 0;
    for (const TallyPtr& one : all) sum += one->count;
    return sum;
  });
  m.def("first", [](const List<TallyPtr>& all) { return all.get(0); });
  m.def("twice_each", [](const TallyPtr& tally) { return std::vector<TallyPtr>{tally, tally}; });
  m.def("with_label",
        [](const TallyPtr& tally, const intrusive_ptr<Label>& label) { return std::tuple(label, tally); });
  m.def("at", [](const Dict<std::string, TallyPtr>& all, std::string key) { return all.at(key); });
  m.def("any(__torch__.torch.classes.classes.Label object) -> bool",
        [](const CustomObject& any) { return any.defined(); });
  m.def("maybe", [](bool give) { return give ? std::optional(make_intrusive<Tally>(1)) : std::nullopt; });
  m.def("boxed(__torch__.torch.classes.classes.Tally t) -> __torch__.torch.classes.classes.Tally");
  m.impl_boxed("boxed", boxed);
}

RegistrationHandle registered() {
  Library m(Library::Kind::Def, "classes");
  fill(m);
  return m.commit();
}

template <typename Sig, typename... A>
decltype(auto) call(const char* name, A&&... arguments) {
  return op(name).typed<Sig>().call(std::forward<A>(arguments)...);
}
IValue call_boxed(const char* name, Stack stack) {
  op(name).call_boxed(stack);
  return stack.empty() ? IValue() : stack[0];
}
std::string commit_error(void (*block)(Library&), Library::Kind kind = Library::Kind::Def) {
  Library m(kind, "classes", kind == Library::Kind::Impl ? std::optional(DispatchKey::CPU) : std::nullopt);
  block(m);
  return error_of([&] { static_cast<void>(m.commit()); });
}

}  // namespace

TEST_CASE("the functions of a class are operators with schemas of their own") {
  const auto handle = registered();
  std::map<std::string, std::string> schemas;
  for (const OperatorHandle& each : Dispatcher::singleton().ops()) {
    const std::string schema(each.entry().info().schema), tally = "__torch__.torch.classes.classes.Tally";
    std::string text = schema;
    for (std::size_t at; (at = text.find(tally)) != std::string::npos;) text.replace(at, tally.size(), "#");
    if (each.name().starts_with("classes::")) schemas[each.name().substr(9)] = text.substr(text.find('('));
  }
  CHECK(schemas["Tally"] == "(int start=2) -> #");
  CHECK(schemas["Tally.add"] == "(# self, int n=1) -> ()");
  CHECK(schemas["Tally.times"] == "(# self, int _1) -> int");
  CHECK(schemas["Tally.text"] == "(# self) -> str");
  CHECK(schemas["Tally.plus"] == "(# self, # _1) -> #");
  CHECK(schemas["Tally.method__len__"] == "(# self) -> int");
  CHECK(schemas["Tally.of_three"] == "() -> #");
  CHECK(schemas["Tally.count_setter"] == "(# self, int _1) -> ()");
  CHECK(schemas["Tally.name_getter"] == "(# self) -> str");
  CHECK_FALSE(schemas.contains("Tally.name_setter"));
  CHECK(schemas["Tally.method__getstate__"] == "(# self) -> (int, str)");
  CHECK(schemas["Tally.method__setstate__"] == "(int _0, str _1) -> #");
  CHECK(schemas["sum"] == "(#[] _0) -> int");
  CHECK(schemas["at"] == "(Dict(str, #) _0, str _1) -> #");
  CHECK(schemas["maybe"] == "(bool _0) -> #?");
}

TEST_CASE("objects go through typed calls, in options, lists, dictionaries and tuples") {
  const auto handle = registered();
  const TallyPtr five = make_intrusive<Tally>(5);
  CHECK(call<std::int64_t(const TallyPtr&)>("classes::count", five) == 5);
  CHECK(call<std::int64_t(TallyPtr)>("classes::count", five) == 5);
  CHECK(call<std::int64_t(const std::optional<TallyPtr>&)>("classes::or_zero", five) == 5);
  CHECK(call<std::int64_t(const std::optional<TallyPtr>&)>("classes::or_zero", std::nullopt) == 0);
  const std::vector<TallyPtr> two{five, make_intrusive<Tally>(6)};
  CHECK(call<std::int64_t(const std::vector<TallyPtr>&)>("classes::sum", two) == 11);
  CHECK(call<TallyPtr(const std::vector<TallyPtr>&)>("classes::first", two) == five);
  CHECK(call<std::vector<TallyPtr>(const TallyPtr&)>("classes::twice_each", five)[1] == five);
  Dict<std::string, TallyPtr> named;
  named.insert("a", five);
  CHECK(call<TallyPtr(const Dict<std::string, TallyPtr>&, std::string)>("classes::at", named, "a") == five);
  const auto label = make_intrusive<Label>();
  using Both = std::tuple<intrusive_ptr<Label>, TallyPtr>;
  CHECK(call<Both(const TallyPtr&, const intrusive_ptr<Label>&)>("classes::with_label", five, label) ==
        Both(label, five));
  CHECK(call<std::optional<TallyPtr>(bool)>("classes::maybe", false) == std::nullopt);
  CHECK((*call<std::optional<TallyPtr>(bool)>("classes::maybe", true))->count == 1);
  CHECK(call<TallyPtr(const TallyPtr&)>("classes::boxed", five) == five);
}

TEST_CASE("objects go through boxed calls, and methods change the object itself") {
  const auto handle = registered();
  const IValue made = call_boxed("classes::Tally", {7});
  REQUIRE(made.is(ValueTag::Object));
  CHECK(to_string(made) == "classes.Tally object");
  CHECK(made.toCustomClass<Tally>()->count == 7);
  call_boxed("classes::Tally.add", {made, 3});
  CHECK(made.toCustomClass<Tally>()->count == 10);
  CHECK(call_boxed("classes::count", {made}).to_int() == 10);
  CHECK(call_boxed("classes::or_zero", {IValue()}).to_int() == 0);
  CHECK(call_boxed("classes::Tally.twice_getter", {made}).to_int() == 20);
  call_boxed("classes::Tally.count_setter", {made, 4});
  CHECK(call_boxed("classes::Tally.method__len__", {made}).to_int() == 4);
  CHECK(call_boxed("classes::boxed", {made}).to_object().is(made.to_object()));
  CHECK(call_boxed("classes::maybe", {false}).is_none());
  const std::vector<CustomObject> list{made.to_object(), CustomObject(make_intrusive<Tally>(1))};
  CHECK(call_boxed("classes::sum", {IValue(list)}).to_int() == 5);
  CHECK(to_string(IValue(list)) == "[classes.Tally object, classes.Tally object]");
  CHECK(IValue(intrusive_ptr<Tally>()).is_none());
}

TEST_CASE("an object of another class is an error that names operator, argument and both classes") {
  const auto handle = registered();
  const std::string wrong = "classes::count: argument 'tally' takes __torch__.torch.classes.classes.Tally, but got ";
  const auto label = make_intrusive<Label>();
  CHECK(error_alone([&] { call<std::int64_t(const intrusive_ptr<Label>&)>("classes::count", label); }) ==
        wrong + "classes.Label");
  CHECK(error_alone([&] { call_boxed("classes::count", {label}); }) == wrong + "classes.Label");
  CHECK(error_alone([&] { call_boxed("classes::count", {3}); }) == wrong + "int");
  CHECK(error_alone([&] { call_boxed("classes::count", {IValue()}); }) == wrong + "None");
  CHECK(error_alone([&] { call<std::int64_t(const TallyPtr&)>("classes::count", TallyPtr()); }) == wrong + "None");
  CHECK_THAT(error_of([&] { call_boxed("classes::sum", {std::vector<CustomObject>{label}}); }),
             Contains("classes::sum: argument '_0' takes __torch__.torch.classes.classes.Tally[], but got object[]"));
  CHECK(error_alone([&] {
          call_boxed("classes::with_label", {make_intrusive<Tally>(1), make_intrusive<Tally>(2)});
        }) == "classes::with_label: argument '_1' takes __torch__.torch.classes.classes.Label, but got classes.Tally");
  CHECK_THAT(error_of([&] { IValue(label).toCustomClass<Tally>(); }),
             Contains("expected an object of class classes.Tally, but got one of class classes.Label"));
}

TEST_CASE("an object of a class that derives from a registered one is of that class, one of any other has none") {
  const auto handle = registered();
  CHECK(call<std::int64_t(const TallyPtr&)>("classes::count", make_intrusive<LoudTally>(8)) == 8);
  CHECK(CustomObject(TallyPtr(make_intrusive<LoudTally>(8))).class_name() == "classes.Tally");
  CHECK_THAT(error_of([] { CustomObject(make_intrusive<LoudTally>(8)); }), Contains("LoudTally"));
  CHECK_THAT(error_of([] { CustomObject(make_intrusive<Stranger>()); }),
             Contains("Stranger") && Contains("no library has registered it"));
}

TEST_CASE("an object lives as long as one of its references, whatever its class calls its functions") {
  const auto handle = registered();
  const int before = alive;
  {
    IValue held = make_intrusive<Tally>(1);
    const IValue copy = held;
    held = IValue();
    CHECK(alive == before + 1);
    const intrusive_ptr<CustomClass> of = CustomClass::find("classes.Tally");
    CHECK(of->objects() == 1);
    const TallyPtr other = make_intrusive<Tally>(*copy.toCustomClass<Tally>());
    CHECK((other.get() != copy.toCustomClass<Tally>().get() && other->use_count() == 1));
    CHECK(of->objects() == 1);  // the copy was given to no operator
  }
  CHECK(alive == before);
  CHECK(CustomClass::find("classes.Tally")->objects() == 0);
}

TEST_CASE("a class goes with its block, its objects stay, and it can come again") {
  IValue kept;
  {
    const auto handle = registered();
    kept = call_boxed("classes::Tally", {1});
    CHECK(CustomClass::find("classes.Tally")->info().doc == "Counts.");
  }
  CHECK_FALSE(CustomClass::find("classes.Tally"));
  CHECK_FALSE(CustomClass::find(typeid(Tally)));
  CHECK_FALSE(Dispatcher::singleton().find_op("classes::Tally.add"));
  CHECK(to_string(kept) == "classes.Tally object");
  CHECK(kept.toCustomClass<Tally>()->count == 1);
  const auto again = registered();
  CHECK(call_boxed("classes::count", {kept}).to_int() == 1);
  CHECK(call_boxed("classes::count", {make_intrusive<Tally>(9)}).to_int() == 9);
}

TEST_CASE("what is wrong with a class is an error of its block, and then nothing of it is registered") {
  CHECK_THAT(commit_error([](Library& m) {
               m.class_<Tally>("Tally");
               m.class_<Label>("Tally");
             }),
             Contains("class classes.Tally at ") && Contains("it is registered already"));
  CHECK_THAT(commit_error([](Library& m) {
               m.class_<Tally>("One");
               m.class_<Tally>("Two");
             }),
             Contains("class classes.Two at ") && Contains("it is registered already"));
  CHECK_THAT(commit_error([](Library& m) { m.class_<Tally>("not a name"); }),
             Contains("that is not the name of a class"));
  CHECK_THAT(commit_error([](Library& m) { m.class_<Tally>("Tally"); }, Library::Kind::Impl),
             Contains("is in an IMPL block"));
  CHECK_THAT(commit_error([](Library& m) { m.def("f(__torch__.torch.classes.classes.Nobody x) -> ()"); }),
             Contains("there is no class classes.Nobody"));
  CHECK_THAT(commit_error([](Library& m) { m.def("f", [](const TallyPtr&) {}); }),
             Contains("'f' at ") && Contains("no class is registered for the C++ class") && Contains("Tally"));
  CHECK_THAT(commit_error([](Library& m) { m.def("f", [](const CustomObject&) {}); }),
             Contains("no class is registered for a CustomObject"));
  CHECK_THAT(commit_error([](Library& m) {
               m.class_<Tally>("Tally");
               m.class_<Label>("Label");
               m.def("f(int n, __torch__.torch.classes.classes.Label x) -> ()", [](std::int64_t, const TallyPtr&) {});
             }),
             Contains("object 1 of the kernel is of class classes.Tally, not classes.Label"));
  CHECK_THAT(commit_error([](Library& m) {
               m.class_<Tally>("Tally").def("add", &Tally::add, "", {MethodArgument("a"), MethodArgument("b")});
             }),
             Contains("takes 2 arguments, the object among them, but 3 have names"));
  CHECK_THAT(commit_error([](Library& m) {
               m.class_<Tally>("Tally").def_readonly("count", &Tally::count).def_readonly("count", &Tally::count);
             }),
             Contains("has two members of the name count"));
  CHECK_FALSE(CustomClass::find("classes.Tally"));
  CHECK_FALSE(CustomClass::find(typeid(Label)));
}

TEST_CASE("a kernel of another class than the operator's is an error, in whatever order they come") {
  const auto handle = registered();
  Library late(Library::Kind::Impl, "classes", DispatchKey::CPU);
  late.impl("count", [](const intrusive_ptr<Label>&) { return std::int64_t{0}; });
  CHECK_THAT(error_of([&] { static_cast<void>(late.commit()); }),
             Contains("object 1 of the kernel is of class classes.Label, not classes.Tally"));
  Library early(Library::Kind::Impl, "later", DispatchKey::CPU);
  early.impl("count", [](const intrusive_ptr<Label>&) { return std::int64_t{0}; });
  const Quiet quiet;  // nobody defines the operator
  const auto waiting = early.commit();
  Library def(Library::Kind::Def, "later");
  def.def("count(__torch__.torch.classes.classes.Tally tally) -> int");
  CHECK_THAT(error_of([&] { static_cast<void>(def.commit()); }),
             Contains("object 1 of the kernel is of class classes.Label, not classes.Tally"));
}

TEST_CASE("a class is registered without a block, for good, and is taken by blocks of others") {
  struct Lone : CustomClassHolder {
    std::int64_t n = 4;
  };
  const auto kept =
      ClassBuilder<Lone>("lone_classes", "Lone")
          .def(constructor<>())
          .def("scaled",
               [](const intrusive_ptr<Lone>&, double by, std::vector<std::int64_t> dims, const std::string& s, bool b) {
                 return by + double(dims.size()) + (b ? 0.5 : 0) + double(s.size());
               },
               "",
               {MethodArgument("by") = 0.5, MethodArgument("dims") = std::vector<std::int64_t>{1, 2},
                MethodArgument("s") = "a\"b", MethodArgument("b") = true});
  CHECK(CustomClass::find("lone_classes.Lone")->info().members.size() == 2);
  CHECK(op("lone_classes::Lone.scaled").entry().info().schema ==
        "lone_classes::Lone.scaled(__torch__.torch.classes.lone_classes.Lone self, float by=0.5, int[] dims=[1,2], "
        "str s=\"a\\\"b\", bool b=True) -> float");
  Library m(Library::Kind::Fragment, "lone_users");
  m.def("n", [](const intrusive_ptr<Lone>& lone) { return lone->n; });
  const auto handle = m.commit();
  CHECK(call_boxed("lone_users::n", {call_boxed("lone_classes::Lone", {})}).to_int() == 4);
  CHECK_THAT(error_of([] { MethodArgument("x") = IValue(Device(kCPU)); }), Contains("a default of type Device"));
}

TEST_CASE("where memory runs out while a class is registered, nothing of it is") {
  int failures = 0;
  for (bool is_done = false; !is_done; ++failures) {
    Library m(Library::Kind::Def, "classes");
    m.class_<Tally>("Tally").def("add", &Tally::add);
    m.class_<Label>("Label");
    BlockRequest request = m.take_request();
    RegistrationHandle handle;
    allocations_left = failures;
    try {
      handle = Dispatcher::singleton().commit(std::move(request));
      is_done = true;
    } catch (const std::bad_alloc&) {
    }
    allocations_left = -1;
    for (const char* name : {"classes.Tally", "classes.Label"})
      if (static_cast<bool>(CustomClass::find(name)) != is_done) FAIL(name << " after " << failures);
    if (CustomClass::find(typeid(Tally)).defined() != is_done) FAIL("the C++ class after " << failures);
    if (Dispatcher::singleton().find_op("classes::Tally.add").has_value() != is_done) FAIL("add after " << failures);
  }
  CHECK(failures > 10);
  CHECK_FALSE(CustomClass::find("classes.Tally"));
}

TEST_CASE("an object that several threads give away at once counts once") {
  const auto handle = registered();
  const auto of = CustomClass::find("classes.Tally");
  for (int round = 0; round < 200; ++round) {
    const TallyPtr object = make_intrusive<Tally>(1);
    std::atomic<int> ready{0};
    std::vector<std::thread> givers;
    for (int i = 0; i < 3; ++i)
      givers.emplace_back([&] {
        ++ready;
        while (ready != 3) {
        }
        CustomObject given(object);
        if (given.class_name() != "classes.Tally") ready = -100;
      });
    for (std::thread& giver : givers) giver.join();
    REQUIRE((ready == 3 && of->objects() == 1));
  }
  CHECK(of->objects() == 0);
}
