// What a registration tells: listeners, warnings, tags and names, a library that is loaded twice.
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/dispatch/registry/operator_listener.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

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
    const OperatorListenerHandle listening = listen_to_operators(writes_to(lines));
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
  const OperatorListenerHandle adding = listen_to_operators([&](const OperatorHandle& op, bool defined) {
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
  const OperatorListenerHandle listening = listen_to_operators(writes_to(lines));
  {
    const RegistrationHandle first = Block().def("news::first(Tensor t) -> int").commit();
    CHECK(std::ranges::count(lines, "+ news::second") == 1);
  }
  CHECK(std::ranges::count(lines, "- news::second") == 1);
  CHECK(warnings.lines == Lines{"a listener to operators threw when it heard of news::first: no good"});
}

TEST_CASE("a thread that registers does not wait for a listener that runs in another, which hears of it next") {
  std::mutex mutex;
  Lines lines;
  std::latch hears(1), registered(1);
  bool nested = false, running = false;
  const OperatorListenerHandle listening = listen_to_operators([&](const OperatorHandle& op, bool defined) {
    if (!op.name().starts_with("queue::")) return;
    nested = nested || std::exchange(running, true);
    if (op.name() == "queue::first" && defined) {
      hears.count_down();
      registered.wait();
    }
    {
      const std::lock_guard lock(mutex);
      lines.push_back((defined ? "+ " : "- ") + op.name());
    }
    running = false;
  });
  std::thread other([&] {
    hears.wait();
    // What a thread has registered it finds by name, though listeners have not heard of it.
    const Dispatcher& dispatcher = Dispatcher::singleton();
    const std::uint64_t generation = dispatcher.generation();
    {
      const RegistrationHandle second = Block().def("queue::second(Tensor t) -> int").commit();
      CHECK(dispatcher.generation() > generation);
      const RegistrationHandle kernel = Block().impl("queue::second", DispatchKey::CPU, counts_one).commit();
      CHECK(dispatcher.generation() == generation + 1);
      CHECK_THROWS_AS(Block().def("queue::second(Tensor t) -> float").commit(), Error);
    }
    CHECK(dispatcher.generation() > generation + 1);
    registered.count_down();
  });
  RegistrationHandle first = Block().def("queue::first(Tensor t) -> int").commit();
  other.join();
  first.undo();
  CHECK(lines == Lines{"+ queue::first", "+ queue::second", "- queue::second", "- queue::first"});
  CHECK_FALSE(nested);
}

TEST_CASE("a listener that was taken away does not run any more, in no thread") {
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> alive{true}, wrong{false}, stop{false};
    std::thread registers([&] {
      while (!stop) (void)Block().def("gone::op(Tensor t) -> int").commit();
    });
    {
      const OperatorListenerHandle listening =
          listen_to_operators([&](const OperatorHandle&, bool) { wrong = wrong || !alive; });
    }
    alive = false;
    stop = true;
    registers.join();
    CHECK_FALSE(wrong);
  }
}

TEST_CASE("a listener that takes itself away does not wait for itself") {
  OperatorListenerHandle own;
  int heard = 0;
  own = listen_to_operators([&](const OperatorHandle& op, bool) {
    if (op.name() != "self::op") return;
    ++heard;
    own = {};
  });
  const RegistrationHandle op = Block().def("self::op(Tensor t) -> int").commit();
  CHECK(heard == 1);
}

TEST_CASE("a kernel that goes without an operator to have served is warned of, with the nearest name") {
  const RegistrationHandle def = Block().def("dangle::rescale(Tensor t) -> int").commit();
  CapturedWarnings warnings;
  {
    const RegistrationHandle misspelt = Block().impl("dangle::rescael", DispatchKey::CPU, counts_one, 7).commit();
    const RegistrationHandle right = Block().impl("dangle::rescale", DispatchKey::CPU, counts_one, 8).commit();
    const RegistrationHandle early = Block().impl("dangle::late", DispatchKey::CPU, counts_one, 9).commit();
    const RegistrationHandle late = Block().def("dangle::late(Tensor t) -> int").commit();
    const RegistrationHandle foreign = Block().impl("library_elsewhere::op", DispatchKey::CPU, counts_one).commit();
    CHECK(warnings.lines.empty());
  }
  CHECK(warnings.lines == Lines{"a kernel was registered to an operator that was never defined, dangle::rescael: CPU "
                                "kernel at test.cpp:7; did you mean 'dangle::rescale'?"});
}

#if !defined(__SANITIZE_THREAD__)  // which has no threads in a forked child
TEST_CASE("kernels of operators that were never defined are told of when the program ends") {
  int ends[2] = {-1, -1};
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    Block().def("ending::rescale(Tensor t) -> int").commit().release();
    Block().impl("ending::rescael", DispatchKey::CPU, counts_one, 7).commit().release();
    Block().impl("ending::late", DispatchKey::CPU, counts_one, 8).commit().release();
    Block().def("ending::late(Tensor t) -> int").commit().release();
    std::exit(0);
  }
  close(ends[1]);
  std::string text;
  char piece[512];
  for (ssize_t size = 0; (size = read(ends[0], piece, sizeof(piece))) > 0;)
    text.append(piece, static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(
      text.find("[keyway] warning: a kernel was registered to an operator that was never defined, ending::rescael: CPU "
                "kernel at test.cpp:7; did you mean 'ending::rescale'?\n") != std::string::npos);
  CHECK(text.find("ending::late") == std::string::npos);
}
#endif

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
