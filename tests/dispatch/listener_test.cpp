// What a registration tells: listeners, warnings, tags and names, a library that is loaded twice.
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/explain.h>
#include <keyway/dispatch/operator_listener.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <algorithm>
#include <stdexcept>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Lines = std::vector<std::string>;

OperatorListener writes_to(Lines& lines) {
  return [&lines](const OperatorHandle& op, bool defined) {
    if (op.name().starts_with("news::")) lines.push_back((defined ? "+ " : "- ") + op.name());
  };
}

class CapturedWarnings {
 public:
  Lines lines;
  CapturedWarnings() : before_(set_warning_handler([this](std::string_view text) { lines.emplace_back(text); })) {}
  ~CapturedWarnings() { set_warning_handler(before_); }

 private:
  WarningHandler before_;
};

}  // namespace

TEST_CASE("a listener hears of what there is, and then of what comes and goes") {
  const RegistrationHandle early = Block().def("news::early(Tensor t) -> int").commit();
  Lines lines;
  {
    const OperatorListening listening = listen_to_operators(writes_to(lines));
    CHECK(lines == Lines{"+ news::early"});
    RegistrationHandle late = Block().def("news::b(Tensor t) -> int").def("news::a(Tensor t) -> int").commit();
    const RegistrationHandle impl = Block().impl("news::a", DispatchKey::CPU, counts_one).commit();
    CHECK(lines == Lines{"+ news::early", "+ news::a", "+ news::b"});
    late.undo();
    CHECK(lines == Lines{"+ news::early", "+ news::a", "+ news::b", "- news::a", "- news::b"});
    CHECK_THROWS_AS(Block().def("news::c(tensor t) -> int").commit(), Error);
    CHECK(lines.size() == 5);
  }
  const RegistrationHandle unheard = Block().def("news::unheard(Tensor t) -> int").commit();
  CHECK(lines.size() == 5);
}

TEST_CASE("a listener may register and call, and what it throws is a warning") {
  CapturedWarnings warnings;
  RegistrationHandle more;
  const OperatorListening adding = listen_to_operators([&](const OperatorHandle& op, bool defined) {
    if (op.name() != "news::first") return;
    if (defined) {
      more = Block().def("news::second(Tensor t) -> int").impl("news::second", DispatchKey::CPU, counts_one).commit();
      CHECK(testing::op("news::second").typed<std::int64_t(const TensorBase&)>().call(tensor()) == 1);
    } else {
      more.undo();
      throw std::runtime_error("no good");
    }
  });
  Lines lines;
  const OperatorListening listening = listen_to_operators(writes_to(lines));
  {
    const RegistrationHandle first = Block().def("news::first(Tensor t) -> int").commit();
    CHECK(std::ranges::count(lines, "+ news::second") == 1);
  }
  CHECK(std::ranges::count(lines, "- news::second") == 1);
  CHECK(warnings.lines == Lines{"a listener to operators threw when it heard of news::first: no good"});
}

TEST_CASE("a kernel that takes a composite's gradient away is warned of where it is registered") {
  CapturedWarnings warnings;
  const RegistrationHandle composite = Block()
                                           .def("news::op(Tensor t) -> int")
                                           .impl("news::op", DispatchKey::CompositeImplicitAutograd, counts_one, 3)
                                           .commit();
  CHECK(warnings.lines.empty());
  {
    const RegistrationHandle cpu = Block().impl("news::op", DispatchKey::CPU, counts_one, 4).commit();
    CHECK(warnings.lines == Lines{"the kernel of news::op for CPU at test.cpp:4 takes the gradient away that its "
                                  "composite at test.cpp:3 has: register a kernel for AutogradCPU or Autograd too"});
  }
  warnings.lines.clear();
  const RegistrationHandle both = Block()
                                      .impl("news::op", DispatchKey::CPU, counts_one)
                                      .impl("news::op", DispatchKey::AutogradCPU, counts_one)
                                      .commit();
  const RegistrationHandle autograd = Block().impl("news::op", DispatchKey::Autograd, counts_one).commit();
  const RegistrationHandle meta = Block().impl("news::op", DispatchKey::Meta, counts_one).commit();
  CHECK(warnings.lines.empty());
}

TEST_CASE("tags and the names of kernels are kept, and shown") {
  Library m(Library::Kind::Fragment, "news");
  m.def("tagged(Tensor t) -> int").tags({"core", "pointwise"});
  m.impl("tagged", DispatchKey::CPU, counts_one).debug("news::tagged_cpu");
  const RegistrationHandle handle = m.commit();
  CHECK(op("news::tagged").entry().info().tags == "core pointwise");
  CHECK(explain_slot(op("news::tagged"), DispatchKey::CPU).kernel->name == "news::tagged_cpu");
  Library wrong(Library::Kind::Fragment, "news");
  CHECK(error_of([&] { wrong.tags({"core"}); }).ends_with("tags() follows def()"));
  CHECK(error_of([&] { wrong.debug("x"); }).ends_with("debug() follows impl() or fallback()"));
  wrong.def("bad(Tensor t) -> int").tags({"not a tag"});
  CHECK(error_of([&] { (void)wrong.commit(); }).find("'not a tag' at ") != std::string::npos);
}

TEST_CASE("a library that is loaded twice is recognised") {
  const RegistrationHandle first = Block(5).owns("newsns").commit();
  CHECK(error_of([] { (void)Block(5).owns("newsns").commit(); })
            .find("the KEYWAY_LIBRARY of namespace newsns at test.cpp:5 is registered already: its library is loaded "
                  "twice") != std::string::npos);
  CHECK(error_of([] {
          (void)Block(6).owns("newsns").commit();
        }).find("namespace newsns is owned by the KEYWAY_LIBRARY at test.cpp:5 already") != std::string::npos);
}
