// Settings that libraries change, and what is held of libraries. The right answer is what is left of the calls of those
// that are still there.
#include <keyway/core/base/setting.h>
#include <keyway/core/base/warning.h>
#include <keyway/tests/catch.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace keyway;

namespace {

int numbers[64];

int* set_by(LibraryUndoLog& undo_log, Setting<int*>& setting, int number) {
  LibraryLoadGuard loading(undo_log);
  loading.commit();
  return setting.set(&numbers[number]);
}

}  // namespace

TEST_CASE("a setting is what was set last by who is still there") {
  static constinit Setting<int*> setting;
  CHECK(setting.get() == nullptr);
  CHECK(setting.entry() == nullptr);
  CHECK(setting.set(&numbers[0]) == nullptr);
  CHECK(setting.entry()->library == nullptr);
  LibraryUndoLog p, q;
  CHECK(set_by(p, setting, 1) == &numbers[0]);
  CHECK(setting.entry()->library == &p.library());
  CHECK(set_by(q, setting, 2) == &numbers[1]);
  p.undo();
  CHECK(setting.get() == &numbers[2]);
  q.undo();
  CHECK(setting.get() == &numbers[0]);
  set_by(p, setting, 3);
  CHECK(setting.set(&numbers[4]) == &numbers[3]);
  p.undo();
  CHECK(setting.get() == &numbers[4]);
  CHECK(setting.set(nullptr) == &numbers[4]);
  CHECK(setting.entry() == nullptr);
}

TEST_CASE("what the program sets it can take back, and what a library has set is in force again") {
  static constinit Setting<int*> setting;
  LibraryUndoLog p;
  set_by(p, setting, 1);
  CHECK(setting.set(&numbers[2]) == &numbers[1]);
  CHECK(setting.set(nullptr) == &numbers[2]);
  CHECK(setting.get() == &numbers[1]);
  // By the value that was in force: it is the library's still.
  int* const before = setting.set(&numbers[3]);
  CHECK(setting.set(before) == &numbers[3]);
  CHECK(setting.entry()->library == &p.library());
  p.undo();
  CHECK(setting.get() == nullptr);
}

TEST_CASE("whatever the order in which libraries set and go, a setting has no value of one that is gone") {
  static constinit Setting<int*> setting;
  std::mt19937 random(7);
  constexpr int kLibraries = 5;
  for (int program = 0; program < 200; ++program) {
    setting.set(&numbers[0]);
    std::vector<LibraryUndoLog> libraries(kLibraries);
    std::vector<std::pair<int, int>> calls{{-1, 0}};  // who set what; -1: the program
    for (int step = 1; step < 40; ++step) {
      const int who = static_cast<int>(random() % (kLibraries + 1)) - 1;
      if (who >= 0 && random() % 3 == 0) {
        libraries[static_cast<std::size_t>(who)].undo();
        std::erase_if(calls, [&](const auto& call) { return call.first == who; });
      } else {
        if (who < 0) {
          setting.set(&numbers[step]);
        } else {
          set_by(libraries[static_cast<std::size_t>(who)], setting, step);
        }
        calls.emplace_back(who, step);
      }
      REQUIRE(setting.get() == &numbers[calls.back().second]);
    }
    for (LibraryUndoLog& library : libraries) library.undo();
  }
}

TEST_CASE("warnings are heard by the handler that was set last by who is still there") {
  std::string heard;
  const WarningHandler before = set_warning_handler([&](std::string_view) { heard += 'a'; });
  LibraryUndoLog p, q;
  for (auto [undo_log, letter] : {std::pair(&p, 'p'), std::pair(&q, 'q')}) {
    LibraryLoadGuard loading(*undo_log);
    loading.commit();
    set_warning_handler([&heard, letter = letter](std::string_view) { heard += letter; });
  }
  warn("heard by q");
  p.undo();
  warn("heard by q");
  q.undo();
  warn("heard by a");
  CHECK(heard == "qqa");
  set_warning_handler(before);
}

TEST_CASE("a handler that goes with its library may warn as it goes") {
  int warned = 0;
  const WarningHandler before = set_warning_handler([&](std::string_view) { ++warned; });
  struct Warns {
    ~Warns() { try_warn("goes"); }
  };
  LibraryUndoLog p;
  {
    LibraryLoadGuard loading(p);
    loading.commit();
    set_warning_handler([kept = std::make_shared<Warns>()](std::string_view) {});
  }
  p.undo();
  CHECK(warned == 1);
  set_warning_handler([](std::string_view) { throw 1; });
  try_warn("what a handler throws is lost");
  set_warning_handler(before);
}

TEST_CASE("what a library sets is undone unless it is committed, and what it sets meanwhile too") {
  static constinit Setting<int*> setting;
  LibraryUndoLog p;
  {
    const LibraryLoadGuard loading(p);
    set_warning_handler(
        [kept = std::shared_ptr<void>(nullptr, [](void*) { setting.set(&numbers[2]); })](std::string_view) {});
    setting.set(&numbers[1]);
  }
  CHECK(setting.get() == nullptr);
  CHECK(LibraryUndoLog::current() == nullptr);
}

TEST_CASE("things are held of a library until they are let go") {
  LibraryUndoLog undo_log;
  LibraryResources& resources = undo_log.library();
  CHECK(resources.held().empty());
  REQUIRE(resources.acquire(ResourceKind::Memory, 24));
  REQUIRE(resources.acquire(ResourceKind::Memory, 80));
  REQUIRE(resources.acquire(ResourceKind::Event, 0));
  LibraryResource first(resources, ResourceKind::Memory, 24), second(resources, ResourceKind::Memory, 80);
  LibraryResource event(resources, ResourceKind::Event, 0);
  CHECK(resources.held() == "2 tensors of 104 bytes, 1 event");
  LibraryResource moved = std::move(first);
  CHECK_FALSE(first);
  second = {};
  event = {};
  CHECK(resources.held() == "1 tensor of 24 bytes");
  resources.close();
  CHECK_FALSE(resources.acquire(ResourceKind::Graph, 0));
  CHECK(resources.held() == "1 tensor of 24 bytes");
  resources.reopen();
  CHECK(resources.acquire(ResourceKind::Graph, 0));
  resources.release(ResourceKind::Graph, 0);
  moved = {};
  CHECK(resources.held().empty());
}

TEST_CASE("a library goes or a thing is held of it, not both") {
  for (int i = 0; i < 500; ++i) {
    LibraryUndoLog undo_log;
    LibraryResources& resources = undo_log.library();
    std::atomic<bool> taken{false};
    std::thread taker([&] { taken = resources.acquire(ResourceKind::Memory, 1); });
    resources.close();
    const bool empty = resources.held().empty();
    taker.join();
    if (empty && taken) FAIL("a thing is held of a library that goes");
    if (taken) resources.release(ResourceKind::Memory, 1);
    CHECK(resources.held().empty());
  }
}
