// Classes in PyTorch's spelling, as extensions register and use them.
#include <keyway/tests/catch.h>

#include <optional>
#include <string>
#include <torch/custom_class.h>
#include <torch/script.h>
#include <tuple>
#include <vector>

using Catch::Matchers::Contains;
using keyway::testing::error_of;

namespace {

// Keeps tensors; a base, as packed weights have one.
struct Shelf : torch::CustomClassHolder {
  std::vector<at::Tensor> kept;
  int64_t limit = 8;
  double scale = 1.0;

  Shelf() = default;
  Shelf(int64_t most, double by) : limit(most), scale(by) {}
  void put(at::Tensor x) { kept.push_back(std::move(x)); }
  at::Tensor sum(const c10::optional<at::Tensor>& start, int64_t times) const {
    at::Tensor total = start.has_value() ? *start : at::zeros({1});
    for (const at::Tensor& x : kept) total = total + x * times * scale;
    return total;
  }
  virtual std::string kind() const { return "shelf"; }

 private:
  void release_resources() override { kept.clear(); }
};
struct LockedShelf final : Shelf {
  std::string kind() const override { return "locked shelf"; }
};
struct Queue : torch::CustomClassHolder {
  c10::intrusive_ptr<Shelf> shelf;
  explicit Queue(c10::intrusive_ptr<Shelf> from) : shelf(std::move(from)) {}
};

using State = std::tuple<std::vector<at::Tensor>, int64_t, double>;

at::Tensor add_shelf(const c10::intrusive_ptr<Shelf>& shelf, const at::Tensor& x) { return x + shelf->sum({}, 1); }

}  // namespace

TORCH_LIBRARY(compat_classes, m) {
  m.class_<Shelf>("Shelf", "Keeps tensors.")
      .def(torch::init<int64_t, double>(), "", {torch::arg("limit") = 4, torch::arg("scale") = 1.0})
      .def("put", &Shelf::put)
      .def("sum", &Shelf::sum, "", {torch::arg("start") = torch::arg::none(), torch::arg("times") = 1})
      .def("kind", &Shelf::kind)
      .def("size", [](const c10::intrusive_ptr<Shelf>& self) { return static_cast<int64_t>(self->kept.size()); })
      .def_static("locked",
                  [] { return c10::static_intrusive_pointer_cast<Shelf>(c10::make_intrusive<LockedShelf>()); })
      .def_readwrite("limit", &Shelf::limit)
      .def_readonly("scale", &Shelf::scale)
      .def_property("half", [](const c10::intrusive_ptr<Shelf>& self) { return self->limit / 2; })
      .def_pickle(
          [](const c10::intrusive_ptr<Shelf>& self) -> State {
            return {self->kept, self->limit, self->scale};
          },
          [](State state) {
            auto made = c10::make_intrusive<Shelf>(std::get<1>(state), std::get<2>(state));
            made->kept = std::get<0>(state);
            return made;
          });
  m.class_<Queue>("Queue")
      .def(torch::init([](const c10::intrusive_ptr<Shelf>& from) { return c10::make_intrusive<Queue>(from); }))
      .def("shelf", [](const c10::intrusive_ptr<Queue>& self) { return self->shelf; });
  m.def("add_shelf(__torch__.torch.classes.compat_classes.Shelf shelf, Tensor x) -> Tensor");
  m.def("all_kinds(__torch__.torch.classes.compat_classes.Shelf[] shelves) -> str[]",
        [](const c10::List<c10::intrusive_ptr<Shelf>>& shelves) {
          std::vector<std::string> kinds;
          for (const auto& shelf : shelves) kinds.push_back(shelf->kind());
          return kinds;
        });
  m.def("or_new", [](const c10::optional<c10::intrusive_ptr<Shelf>>& shelf) {
    return shelf.has_value() ? *shelf : c10::make_intrusive<Shelf>();
  });
}
TORCH_LIBRARY_IMPL(compat_classes, CompositeExplicitAutograd, m) { m.impl("add_shelf", TORCH_FN(add_shelf)); }

static auto by_itself = torch::class_<LockedShelf>("compat_classes_alone", "LockedShelf").def(torch::init<>());

namespace {

c10::IValue call(const char* name, c10::Stack stack) {
  c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(stack);
  return stack.empty() ? c10::IValue() : stack[0];
}
c10::IValue call_method(const char* name, c10::Stack stack) {
  c10::Dispatcher::singleton().findSchemaOrThrow("compat_classes::Shelf", name).callBoxed(stack);
  return stack.empty() ? c10::IValue() : stack[0];
}

}  // namespace

TEST_CASE("an object is made, changed by its methods, and given to an operator") {
  const c10::IValue shelf = call("compat_classes::Shelf", {8, 2.0});
  REQUIRE((shelf.isCustomClass() && torch::isCustomClass(shelf)));
  call_method("put", {shelf, torch::full({1}, 3.0)});
  call_method("put", {shelf, torch::full({1}, 4.0)});
  CHECK(call_method("size", {shelf}).toInt() == 2);
  CHECK(call_method("sum", {shelf, c10::IValue(), 10}).toTensor().item<double>() == 140.0);
  CHECK(call_method("half_getter", {shelf}).toInt() == 4);
  call_method("limit_setter", {shelf, 6});
  CHECK(shelf.toCustomClass<Shelf>()->limit == 6);
  const auto typed = c10::Dispatcher::singleton()
                         .findSchemaOrThrow("compat_classes::add_shelf", "")
                         .typed<at::Tensor(const c10::intrusive_ptr<Shelf>&, const at::Tensor&)>();
  CHECK(typed.call(shelf.toCustomClass<Shelf>(), torch::ones({1})).item<double>() == 15.0);
}

TEST_CASE("a derived class is one of its base, and of itself where it is registered") {
  const c10::IValue locked = call_method("locked", {});
  CHECK(call_method("kind", {locked}).toStringRef() == "locked shelf");
  const c10::IValue alone = call("compat_classes_alone::LockedShelf", {});
  CHECK(call_method("kind", {alone}).toStringRef() == "locked shelf");
  CHECK(c10::dynamic_intrusive_pointer_cast<LockedShelf>(alone.toCustomClass<Shelf>()).defined());
  CHECK_FALSE(c10::dynamic_intrusive_pointer_cast<LockedShelf>(c10::make_intrusive<Shelf>()).defined());
  const c10::List<c10::intrusive_ptr<Shelf>> both{c10::make_intrusive<Shelf>(), locked.toCustomClass<Shelf>()};
  const auto kinds = c10::Dispatcher::singleton()
                         .findSchemaOrThrow("compat_classes::all_kinds", "")
                         .typed<std::vector<std::string>(const c10::List<c10::intrusive_ptr<Shelf>>&)>();
  CHECK(kinds.call(both) == std::vector<std::string>{"shelf", "locked shelf"});
}

TEST_CASE("objects keep others, and are told apart by their class") {
  const c10::IValue shelf = torch::make_custom_class<Shelf>(5, 1.0);
  const c10::IValue queue = call("compat_classes::Queue", {shelf});
  CHECK(queue.toCustomClass<Queue>()->shelf == shelf.toCustomClass<Shelf>());
  CHECK(call("compat_classes::or_new", {shelf}).toCustomClass<Shelf>()->limit == 5);
  CHECK(call("compat_classes::or_new", {c10::IValue()}).toCustomClass<Shelf>()->limit == 8);
  CHECK_THAT(error_of([&] {
               call("compat_classes::add_shelf", {queue, torch::ones({1})});
             }),
             Contains("add_shelf: argument 'shelf' takes __torch__.torch.classes.compat_classes.Shelf, but got "
                      "compat_classes.Queue"));
}

TEST_CASE("the last reference of others lets an object go early") {
  auto shelf = c10::intrusive_ptr<Shelf>::make(3, 1.0);
  CHECK((shelf.use_count() == 1 && shelf.unique()));
  const at::Tensor x = torch::ones({1});
  shelf->put(x);
  const c10::weak_intrusive_ptr<Shelf> weak(shelf);
  auto second = shelf;
  CHECK(x.use_count() == 2);
  second.reset();
  CHECK_FALSE(weak.expired());
  shelf.reset();
  CHECK((weak.expired() && x.use_count() == 1));
}

TEST_CASE("an object is made of its state") {
  const auto shelf = c10::make_intrusive<Shelf>(3, 0.5);
  shelf->put(torch::full({1}, 8.0));
  c10::Stack state{shelf};
  c10::Dispatcher::singleton().findSchemaOrThrow("compat_classes::Shelf", "method__getstate__").callBoxed(state);
  REQUIRE(state.size() == 3);
  const auto again = call_method("method__setstate__", state).toCustomClass<Shelf>();
  CHECK((again != shelf && again->limit == 3));
  CHECK(again->sum({}, 1).item<double>() == 4.0);
}
