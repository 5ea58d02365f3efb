// A plug-in is not unloaded under the objects of its classes.
#include <keyway/core/base/custom_class.h>
#include <keyway/dispatch/plugin/manifest.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/plugins/plugin_files.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

using namespace keyway;
using namespace keyway::testing;

namespace {

LoadedPlugin load() { return load_plugin(plugin_module("classes").string()); }
IValue called(const char* name, Stack stack = {}) {
  op(name).call_boxed(stack);
  return stack[0];
}
std::string refusal(LoadedPlugin& plugin) {
  const std::string text = error_of([&] { plugin.unload(); });
  CHECK(plugin.loaded());
  return text.substr(text.find("unloaded: "));
}

}  // namespace

TEST_CASE("a plug-in of whose classes objects live is not unloaded, which names the classes") {
  LoadedPlugin plugin = load();
  CHECK(called("plugin_classes::has_own").to_bool());  // which it keeps to itself is no hindrance
  IValue one = called("plugin_classes::Counter");
  CHECK(refusal(plugin) == "unloaded: its classes still have 1 object of plugin_classes.Counter; let go of them first");
  IValue pair = called("plugin_classes::pair");
  CHECK(refusal(plugin) ==
        "unloaded: its classes still have 3 objects of plugin_classes.Counter; let go of them first");
  CHECK(called("plugin_classes::Counter.count", {one}).to_int() == 1);  // all works on
  CHECK(called("plugin_classes::Counter.count", {one}).to_int() == 2);
  pair = IValue();
  one = IValue();
  plugin.unload();
  CHECK_FALSE(plugin.loaded());
  CHECK_FALSE(CustomClass::find("plugin_classes.Counter"));
}

TEST_CASE("a class comes again with its plug-in, and goes with a copy of nothing") {
  for (int i = 0; i < 3; ++i) {
    LoadedPlugin plugin = load();
    REQUIRE(CustomClass::find("plugin_classes.Counter"));
    CHECK(plugin.registers().operators.size() == 4);
    CHECK(called("plugin_classes::Counter.count", {called("plugin_classes::Counter")}).to_int() == 1);
    plugin.unload();
    CHECK_FALSE(CustomClass::find("plugin_classes.Own"));
  }
}

TEST_CASE("an unload waits for objects that another thread lets go") {
  using namespace std::chrono_literals;
  LoadedPlugin plugin = load();
  IValue held = called("plugin_classes::Counter");
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    held = IValue();
  });
  plugin.unload(1min);
  CHECK_FALSE(plugin.loaded());
  other.join();
}

TEST_CASE("objects are made while their plug-in is unloaded: one of both is refused") {
  std::atomic<bool> stop{false};
  std::atomic<int> made{0};
  std::thread maker([&] {
    while (!stop) {
      try {
        const IValue object = called("plugin_classes::Counter");
        if (called("plugin_classes::Counter.count", {object}).to_int() == 1) ++made;
      } catch (const Error&) {  // its operator is gone, or the plug-in is going
      }
    }
  });
  for (int i = 0; i < 100; ++i) {
    LoadedPlugin plugin = load();
    while (plugin.loaded()) {
      try {
        plugin.unload();
      } catch (const Error&) {
        std::this_thread::yield();
      }
    }
  }
  stop = true;
  maker.join();
  CHECK_FALSE(CustomClass::find("plugin_classes.Counter"));
}
