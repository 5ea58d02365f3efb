// Operators of users without an Autograd kernel: a result that loses its gradient is warned of once, in every sort of
// call.
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/tests/autograd/values.h>
#include <keyway/tests/catch.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Warnings while it lives.
class Heard {
 public:
  Heard() : before_(set_warning_handler([this](std::string_view text) { texts.emplace_back(text); })) {}
  ~Heard() { set_warning_handler(before_); }
  std::vector<std::string> texts;

 private:
  WarningHandler before_;
};

Tensor detached_double(const Tensor& x) { return (x.detach() * 2).detach(); }

std::string lost(const std::string& op) {
  return op + " has no kernel at Autograd, so that its result has no gradient";
}

// Calls twice, and gives what was heard.
template <typename F>
std::vector<std::string> heard(F&& call) {
  const Heard handler;
  call();
  call();
  return handler.texts;
}

// Whether calls still look what they get.
bool is_marked(const OperatorHandle& op) {
  const Table& table = op.entry().table();
  return table.is_mark(table.slots[static_cast<std::size_t>(DispatchKey::AutogradCPU)]);
}

}  // namespace

KEYWAY_LIBRARY(lost, m) {
  m.def("typed(Tensor x) -> Tensor");
  m.def("listed(Tensor[] x) -> Tensor");
  m.def("nested(Tensor[][]? x) -> Tensor[][]?");
  m.def("nested_boxed(Tensor[][] x) -> Tensor[][]");
  m.def("pair(Tensor? x) -> (int, Tensor)");
  m.def("many(Tensor x) -> Tensor[]");
  m.def("boxed(Tensor x) -> Tensor");
  m.def("explicit_(Tensor x) -> Tensor");
  m.def("counts(Tensor x) -> int");
  m.def("whole(Tensor x) -> Tensor");
  m.def("recorded(Tensor x) -> Tensor");
  m.def("meant(Tensor x) -> Tensor");
  m.def("into(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  m.impl("explicit_", DispatchKey::CompositeExplicitAutograd, detached_double);
  // It calls operators that have gradients.
  m.impl("recorded", DispatchKey::CompositeExplicitAutograd, [](const Tensor& x) { return x * 2; });
  m.impl("meant", DispatchKey::Autograd, Fallthrough{});
}
KEYWAY_LIBRARY_IMPL(lost, CPU, m) {
  m.impl("typed", detached_double);
  m.impl("listed", [](ArrayRef<Tensor> x) { return detached_double(x[0]); });
  m.impl("nested", [](std::optional<ArrayRef<std::vector<Tensor>>> x) {
    return std::optional(std::vector<std::vector<Tensor>>{{}, {detached_double((*x)[1][0])}});
  });
  m.impl("nested_boxed", [](const std::vector<std::vector<Tensor>>& x) {
    return std::vector<std::vector<Tensor>>{{detached_double(x[1][0])}};
  });
  m.impl("pair", [](const Tensor& x) { return std::tuple(std::int64_t{1}, detached_double(x)); });
  m.impl("many", [](const Tensor& x) { return std::vector<Tensor>{detached_double(x)}; });
  m.impl_boxed("boxed", [](const OperatorEntry&, const KernelBase&, DispatchKeySet, Stack& stack) {
    stack.back() = IValue(detached_double(Tensor(stack.back().to_tensor())));
  });
  m.impl("counts", [](const Tensor& x) { return x.numel(); });
  m.impl("whole", [](const Tensor& x) { return (x.detach() > 1).detach(); });
  m.impl("meant", detached_double);
  m.impl("into", [](const Tensor& x, Tensor& out) -> Tensor& { return out.copy_(x.detach()); });
}

TEST_CASE("a result that loses its gradient is warned of once for its operator") {
  const Tensor x = leaf({1, 2});
  const auto op = [](const char* name) { return Dispatcher::singleton().op(name); };
  const auto unary = [&](const char* name) {
    return heard([&] { (void)op(name).typed<Tensor(const Tensor&)>().call(x); });
  };
  const auto one = [](const std::vector<std::string>& texts, const char* name) {
    return texts.size() == 1 && texts[0].starts_with(lost(name));
  };
  {
    const Heard none;
    (void)op("lost::typed").typed<Tensor(const Tensor&)>().call(x.detach());
    const NoGradGuard off;
    (void)op("lost::typed").typed<Tensor(const Tensor&)>().call(x);
    CHECK(none.texts.empty());
  }
  CHECK(one(unary("lost::typed"), "lost::typed"));
  CHECK(unary("lost::typed").empty());
  CHECK(one(unary("lost::explicit_"), "lost::explicit_"));
  CHECK(one(unary("lost::boxed"), "lost::boxed"));
  CHECK(one(heard([&] {
              const Tensor all[] = {x.detach(), x};
              (void)op("lost::listed").typed<Tensor(ArrayRef<Tensor>)>().call(all);
            }),
            "lost::listed"));
  CHECK(one(heard([&] {
              using Lists = std::optional<std::vector<std::vector<Tensor>>>;
              const Lists all{{{}, {x}}};
              (void)op("lost::nested").typed<Lists(const Lists&)>().call(all);
            }),
            "lost::nested"));
  CHECK(one(heard([&] {
              Stack stack{std::vector<std::vector<TensorBase>>{{}, {x}}};
              op("lost::nested_boxed").call_boxed(stack);
            }),
            "lost::nested_boxed"));
  CHECK(one(heard([&] { (void)op("lost::pair").typed<std::tuple<std::int64_t, Tensor>(const Tensor&)>().call(x); }),
            "lost::pair"));
  CHECK(one(heard([&] {
              Stack stack{IValue(x)};
              op("lost::many").call_boxed(stack);
            }),
            "lost::many"));
  CHECK(unary("lost::whole").empty());
  CHECK(unary("lost::recorded").empty());
  CHECK(unary("lost::meant").empty());
  CHECK(heard([&] { (void)op("lost::counts").typed<std::int64_t(const Tensor&)>().call(x); }).empty());
  CHECK(heard([&] {
          Tensor out = keyway::zeros({2}, kDouble);
          Stack stack{IValue(x), IValue(out)};
          op("lost::into").call_boxed(stack);
        }).empty());
}

TEST_CASE("a kernel at Autograd that comes later takes the warning away, and built-in operators have none") {
  Library def(Library::Kind::Def, "lost_later");
  def.def("f(Tensor x) -> Tensor");
  def.impl("f", DispatchKey::CPU, detached_double);
  const RegistrationHandle defined = def.commit();
  Library late(Library::Kind::Impl, "lost_later", DispatchKey::Autograd);
  late.impl("f", [](const Tensor& x) { return x * 2; });
  const Tensor x = leaf({1, 2});
  const auto call = [&] { (void)Dispatcher::singleton().op("lost_later::f").typed<Tensor(const Tensor&)>().call(x); };
  {
    const RegistrationHandle gradient = late.commit();
    CHECK(heard(call).empty());
  }
  CHECK(heard(call).size() == 1);
  CHECK(heard([&] { (void)x.argmax(); }).empty());
}

TEST_CASE("calls of an operator look for a lost gradient until it is warned of") {
  Library def(Library::Kind::Def, "lost_until");
  def.def("f(Tensor x) -> Tensor");
  def.impl("f", DispatchKey::CPU, detached_double);
  const RegistrationHandle defined = def.commit();
  const OperatorHandle op = Dispatcher::singleton().op("lost_until::f");
  const auto f = op.typed<Tensor(const Tensor&)>();
  const Tensor x = leaf({1, 2});
  const Heard handler;
  REQUIRE(is_marked(op));
  (void)f.call(x.detach());
  {
    const NoGradGuard off;
    (void)f.call(x);
  }
  CHECK(is_marked(op));
  // What is claimed and taken back is not said: the next call looks again.
  REQUIRE(claim_lost_gradient(op.entry()));
  (void)f.call(x);
  CHECK(handler.texts.empty());
  CHECK(is_marked(op));
  unclaim_lost_gradient(op.entry());
  (void)f.call(x);
  CHECK(handler.texts.size() == 1);
  CHECK_FALSE(is_marked(op));
  // Later changes of the operator keep it so.
  {
    Library other(Library::Kind::Impl, "lost_until", DispatchKey::CPU);
    other.impl("f", [](const Tensor& self) { return self.detach() + 1; });
    const RegistrationHandle instead = other.commit();
    CHECK_FALSE(is_marked(op));
    (void)f.call(x);
  }
  CHECK_FALSE(is_marked(op));
  CHECK(f.call(x).equal(x.detach() * 2));
  CHECK(handler.texts[0].starts_with(lost("lost_until::f")));
}
