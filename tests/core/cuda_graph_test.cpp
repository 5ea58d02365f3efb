#include <keyway/core/base/library_undo_log.h>
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>

using namespace keyway;
using namespace keyway::testing;

namespace {

// A graph of the fake device, which counts those that are there.
class FakeGraph final : public GraphImplInterface {
 public:
  explicit FakeGraph(int& living) : living_(living) { ++living_; }
  ~FakeGraph() override { --living_; }
  void capture_begin(MempoolId) override {}
  void capture_end() override {}
  void replay() override {}
  MempoolId pool() const override { return 1; }

 private:
  int& living_;
};

}  // namespace

TEST_CASE("a graph is held of the plug-in whose device guard makes it") {
  int living = 0;
  FakeDevices devices(kCUDA);
  devices.make_graph = [&] { return std::make_unique<FakeGraph>(living); };
  LibraryUndoLog plugin;
  std::optional<DeviceGuardRegistration> guard;
  {
    LibraryLoadGuard loading(plugin);
    loading.commit();
    guard = register_device_guard(devices);
    CUDAGraph graph;
    graph.capture_begin();
    CHECK(plugin.library().held().empty());  // it goes with the plug-in
  }
  CUDAGraph graph, other;
  graph.capture_begin();
  CHECK(plugin.library().held() == "1 graph");
  other = std::move(graph);
  CHECK(plugin.library().held() == "1 graph");
  other.reset();
  CHECK(plugin.library().held().empty());
  plugin.library().close();
  CHECK(error_of([&] { graph.capture_begin(); }) == "the backend of device type cuda is being unloaded");
  plugin.library().reopen();
  CHECK(living == 0);
}

TEST_CASE("a graph goes with its work, but what another thread is capturing is left to that thread") {
  int living = 0;
  FakeGraph* last = nullptr;
  FakeDevices devices(kCUDA);
  devices.make_graph = [&] {
    auto made = std::make_unique<FakeGraph>(living);
    last = made.get();
    return made;
  };
  const DeviceGuardRegistration guard = register_device_guard(devices);
  {
    CUDAGraph graph;
    graph.capture_begin();
    graph.capture_end();
    std::thread([&] { graph.reset(); }).join();  // nobody captures it
    CHECK(living == 0);
    graph.capture_begin();
    std::thread([&] {
      CHECK(error_of([&] { graph.reset(); }) ==
            "another thread is capturing the graph: a capture ends in the thread that began it");
    }).join();
    CHECK(living == 1);
    graph.reset();
    CHECK(living == 0);
    graph.capture_begin();
  }
  CHECK(living == 0);  // given up by its own thread
  const auto captured = [] {
    auto graph = std::make_unique<CUDAGraph>();
    graph->capture_begin();
    return graph;
  };
  auto graph = captured();
  std::thread([&] { graph.reset(); }).join();
  CHECK(living == 1);
  delete last;
  graph = captured();
  std::thread([&] { *graph = CUDAGraph(); }).join();
  CHECK(living == 1);
  delete last;
  graph->capture_begin();
  CHECK(living == 1);
}
