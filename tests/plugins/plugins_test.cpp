// Plug-ins come and go: what they bring, what is refused, and what may run meanwhile.
#include <keyway/core/base/warning.h>
#include <keyway/core/device/device.h>
#include <keyway/dispatch/inspect/snapshot.h>
#include <keyway/dispatch/plugin/load_library.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/dispatch/registry/operator_listener.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

using namespace keyway;
using namespace keyway::testing;
namespace fs = std::filesystem;

namespace {

using Where = std::string(const TensorBase&);
using Number = std::int64_t(const TensorBase&);

fs::path module_file(const std::string& name) { return fs::path(KEYWAY_TEST_PLUGINS) / ("lib" + name + ".so"); }

// A folder that goes with it.
struct Folder {
  fs::path path;

  Folder() {
    std::string name = (fs::temp_directory_path() / "keyway-plugins-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  // A copy of the module that brings a backend, under a device type's name.
  fs::path backend(const std::string& name) const {
    const fs::path copy = path / ("lib" + name + ".so");
    fs::copy_file(module_file("keyway_test_backend"), copy, fs::copy_options::overwrite_existing);
    return copy;
  }
};

// What the plug-ins' kernels are of.
RegistrationHandle define() {
  return Block()
      .def("plugins::where(Tensor self) -> str")
      .def("plugins::shared(Tensor self) -> int")
      .impl("plugins::shared", DispatchKey::CompositeExplicitAutograd,
            [](const TensorBase&) { return std::int64_t{1}; })
      .commit();
}

// Notes of the plug-in's things that were kept.
struct Notes {
  std::vector<std::int64_t> numbers;
  RegistrationHandle op = Block()
                              .def("plugins::note(int number) -> ()")
                              .impl("plugins::note", DispatchKey::CompositeImplicitAutograd,
                                    [this](std::int64_t number) { numbers.push_back(number); })
                              .commit();
};

[[maybe_unused]] bool is_mapped(const fs::path& file) {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find(file.string()) != std::string::npos;
}

std::string where(const TensorBase& tensor) { return op("plugins::where").typed<Where>().call(tensor); }

}  // namespace

TEST_CASE("a plug-in's operators and kernels come together and go together") {
  const RegistrationHandle def = define();
  Notes notes;
  const std::string before = registry_snapshot();
  const auto shared = op("plugins::shared").typed<Number>();
  LoadedPlugin plugin = load_plugin(module_file("keyway_test_kernel").string());
  CHECK(plugin.name() == "kernel");
  CHECK(plugin.path() == module_file("keyway_test_kernel").string());
  CHECK(shared.call(tensor()) == 7);
  const auto own = op("plugins::own").typed<Number>();
  CHECK(own.call(tensor()) == 7);
  plugin.unload();
  CHECK_FALSE(plugin.loaded());
  CHECK(shared.call(tensor()) == 1);
  CHECK(error_of([&] { own.call(tensor()); }).starts_with("plugins::own: it is no longer defined"));
  CHECK(notes.numbers == std::vector<std::int64_t>{2, 1});
  CHECK(registry_snapshot() == before);
#if !defined(KEYWAY_SANITIZED)
  CHECK_FALSE(is_mapped(module_file("keyway_test_kernel")));
#endif
  {
    const LoadedPlugin again = load_plugin(module_file("keyway_test_kernel").string());
    CHECK(own.call(tensor()) == 7);
  }
  CHECK(registry_snapshot() == before);
}

TEST_CASE("twenty backends at once, and each by its name") {
  const RegistrationHandle def = define();
  const Folder folder;
  std::vector<LoadedPlugin> plugins;
  std::vector<DeviceType> types;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "dev" + std::to_string(i);
    plugins.push_back(load_plugin(folder.backend(name).string()));
    types.push_back(*find_device_type(name));
  }
  const auto check = [&](int i) {
    const std::string name = "dev" + std::to_string(i);
    const DeviceType type = types[static_cast<std::size_t>(i)];
    CHECK(find_device_type(name) == type);
    const TensorBase t = tensor(type);
    CHECK(to_string(t.device()) == name + ":0");
    CHECK(where(t) == name);
    CHECK(op("relu").typed<TensorBase(const TensorBase&)>().call(t).device().type() == type);
    CHECK(op(name + "::number").typed<std::int64_t()>().call() == static_cast<std::int64_t>(type));
    const std::string key = "DEV" + std::to_string(i);
    CHECK(to_string(runtime_key(Functionality::Dense, type)) == key);
    CHECK(parse_dispatch_key(key) == runtime_key(Functionality::Dense, type));
  };
  for (int i = 0; i < 20; ++i) check(i);
  for (std::size_t i = 0; i < 20; i += 2) plugins[i].unload();
  for (int i = 1; i < 20; i += 2) check(i);
  const std::string missing = error_of([&] { tensor(types[0]); });
  CHECK(missing.find("dev0") != std::string::npos);
  for (std::size_t i = 0; i < 20; i += 2) plugins[i] = load_plugin(folder.backend("dev" + std::to_string(i)).string());
  for (int i = 0; i < 20; ++i) check(i);
}

TEST_CASE("the plug-in of a device type is brought by the first call for it, and named where there is none") {
  const RegistrationHandle def = define();
  const Folder folder;
  const DeviceType lazy = register_device_type("dev19");
  const auto call = [&] {
    return op("plugins::where")
        .typed<Where>()
        .redispatch(DispatchKeySet(runtime_key(Functionality::Dense, lazy)), tensor());
  };
  unsetenv("KEYWAY_PLUGIN_PATH");
  const std::string nowhere = error_of(call);
  INFO(nowhere);
  CHECK(
      nowhere.starts_with("plugins::where: it has no kernel for DEV19; no backend of device type dev19 is loaded: "
                          "there is no libkeyway_dev19.so in "));
  CHECK(nowhere.find(", where libkeyway.so is, and KEYWAY_PLUGIN_PATH names no folder. Keys") != std::string::npos);
  setenv("KEYWAY_PLUGIN_PATH", ("/nowhere:" + folder.path.string()).c_str(), 1);
  const std::string searched = error_of(call);
  INFO(searched);
  CHECK(searched.find(", and none in KEYWAY_PLUGIN_PATH: /nowhere, " + folder.path.string() + ". Keys") !=
        std::string::npos);
  CHECK(error_of([&] { tensor(lazy); }).find("no libkeyway_dev19.so in ") != std::string::npos);
  folder.backend("keyway_dev19");
  CHECK(call() == "dev19");
  CHECK(where(tensor(lazy)) == "dev19");
  unsetenv("KEYWAY_PLUGIN_PATH");
}

TEST_CASE("a device's text brings the plug-in of its type, and names the file where there is none") {
  const RegistrationHandle def = define();
  const Folder folder;
  setenv("KEYWAY_PLUGIN_PATH", folder.path.string().c_str(), 1);
  const std::string refused = error_of([] { Device("absent"); });
  INFO(refused);
  CHECK(refused.starts_with("'absent' is not a device: there is no device type 'absent'. The types are cpu, "));
  CHECK(refused.find(": there is no libkeyway_absent.so in ") != std::string::npos);
  CHECK(refused.find(", and none in KEYWAY_PLUGIN_PATH: " + folder.path.string()) != std::string::npos);
  // A file that does not load says why, and once it is mended it does.
  std::ofstream(folder.path / "libkeyway_absent.so") << "no library";
  CHECK(error_of([] { Device("absent:1"); }).find("it is no shared library") != std::string::npos);
  fs::remove(folder.path / "libkeyway_absent.so");
  folder.backend("keyway_absent");
  CHECK(to_string(Device("absent:1")) == "absent:1");
  CHECK(where(tensor(Device("absent").type())) == "absent");
  CHECK(error_of([] { Device("../absent"); }).find("libkeyway") == std::string::npos);
  // One that brings another type than its name says.
  fs::copy_file(module_file("keyway_test_twice"), folder.path / "libkeyway_other.so");
  CHECK(error_of([] {
          Device("other");
        }).find("libkeyway_other.so is loaded, and registers no device guard for other") != std::string::npos);
  unsetenv("KEYWAY_PLUGIN_PATH");
}

TEST_CASE("a listener may wait for a thread that asks for the device whose backend is being loaded") {
  const RegistrationHandle def = define();
  const Folder folder;
  folder.backend("keyway_dev18");
  setenv("KEYWAY_PLUGIN_PATH", folder.path.string().c_str(), 1);
  std::string seen;
  const OperatorListenerHandle listening = listen_to_operators([&](const OperatorHandle& op, bool defined) {
    if (op.name() != "dev18::number" || !defined) return;
    std::thread other([&] { seen = where(tensor(Device("dev18").type())); });
    other.join();
  });
  CHECK(where(tensor(Device("dev18").type())) == "dev18");
  CHECK(seen == "dev18");
  unsetenv("KEYWAY_PLUGIN_PATH");
}

TEST_CASE("threads that are first to ask for a device type all get its kernels") {
  const RegistrationHandle def = define();
  const Folder folder;
  setenv("KEYWAY_PLUGIN_PATH", folder.path.string().c_str(), 1);
  for (int round = 0; round < 3; ++round) {
    const std::string name = "dev" + std::to_string(15 + round);
    folder.backend("keyway_" + name);
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { right += where(tensor(Device(name).type())) == name; });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 4);
  }
  unsetenv("KEYWAY_PLUGIN_PATH");
}

TEST_CASE("what is refused leaves the registry as it was, and says why") {
  const RegistrationHandle def = define();
  const Folder folder;
  const std::string before = registry_snapshot();
  const auto refusal = [&](const fs::path& file) {
    const std::string text = error_of([&] { static_cast<void>(load_plugin(file.string())); });
    CHECK(registry_snapshot() == before);
    const std::string start = "plug-in " + file.string() + ": ";
    REQUIRE(text.starts_with(start));
    return text.substr(start.size());
  };
  const auto mistake = [&](int i) { return refusal(module_file("keyway_test_mistake" + std::to_string(i))); };
  CHECK(refusal(folder.path / "absent.so") == "it cannot be opened");
  CHECK(refusal(folder.path).starts_with("it is no shared library"));
  CHECK(mistake(1) == "an exception of the plug-in's own");
  CHECK(mistake(2) == "its function throws what is no std::exception");
  const std::string two = mistake(3);
  CHECK(two.find("plugins::where is defined at test.cpp:1 already") != std::string::npos);
  CHECK(two.find("kernel of plugins::half") != std::string::npos);
  CHECK(mistake(4) == "it is built against other headers: their layout is " + std::to_string(kPluginAbi + 1) +
                          ", and that of this library " + std::to_string(kPluginAbi) + "; rebuild it");
  CHECK(mistake(5) == "its keyway_plugin is not what KEYWAY_PLUGIN makes");
  const std::string symbol = mistake(6);
  CHECK(symbol.starts_with("it cannot be loaded: "));
  CHECK(symbol.find("keyway_nobody_has_this") != std::string::npos);
  CHECK(refusal(module_file("keyway_test_empty")) == "it exports no keyway_plugin: KEYWAY_PLUGIN is missing");

  Notes notes;
  const LoadedPlugin plugin = load_plugin(module_file("keyway_test_kernel").string());
  CHECK(error_of([&] {
          static_cast<void>(load_plugin(module_file("keyway_test_kernel").string()));
        }).ends_with(": kernel is loaded already"));
  CHECK(op("plugins::shared").typed<Number>().call(tensor()) == 7);
}

TEST_CASE("a plug-in that is built against other headers is refused before its function runs") {
  const RegistrationHandle def = define();
  Notes notes;
  const auto refusal = [](const std::string& header) {
    return error_of([&] { static_cast<void>(load_plugin(module_file("keyway_test_other_" + header).string())); });
  };
  for (const std::string header : {"tensor_impl", "boxed_call_info"}) {
    const std::string layout = refusal(header);
    CHECK(layout.starts_with("plug-in " + module_file("keyway_test_other_" + header).string() +
                             ": it is built against other headers: their layout is "));
    CHECK(layout.ends_with(", and that of this library " + std::to_string(kPluginAbi) + "; rebuild it"));
  }
  CHECK(refusal("allocator")
            .ends_with(": it is built against other headers: an interface there has another number of virtual "
                       "functions; rebuild it"));
  CHECK(notes.numbers.empty());
}

TEST_CASE("a path without a folder is one of the working directory") {
  const RegistrationHandle def = define();
  const Folder folder;
  folder.backend("dev0");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path);
  {
    const LoadedPlugin plugin = load_plugin("libdev0.so");
    CHECK(where(tensor(*find_device_type("dev0"))) == "dev0");
  }
  fs::current_path(before);
}

TEST_CASE("files that are cut short or damaged are refused") {
  const RegistrationHandle def = define();
  const Folder folder;
  std::ifstream in(module_file("keyway_test_bare_kernel"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const fs::path file = folder.path / "libcut.so";
  const auto write = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  // Behind the last segment only tables for debuggers and linkers follow: the loader reads none of it.
  std::size_t needed = 0;
  for (int i = 0; i < 256; ++i) {
    const std::size_t size = whole.size() * static_cast<std::size_t>(i) / 256;
    write(whole.substr(0, size));
    Notes notes;
    try {
      const LoadedPlugin plugin = load_plugin(file.string());
      CHECK(op("plugins::own").typed<Number>().call(tensor()) == 7);
      if (needed == 0) needed = size;
    } catch (const Error& error) {
      CHECK(needed == 0);
      CHECK(std::string(error.what()).starts_with("plug-in " + file.string() + ": it "));
    }
  }
  CHECK(needed != 0);
  std::string foreign = whole;
  foreign[18] = 40;  // e_machine: 32-bit Arm
  write(foreign);
  CHECK(error_of([&] { static_cast<void>(load_plugin(file.string())); }).ends_with("it is for another machine"));
  write("#!/bin/sh\n" + std::string(1000, ' '));
  CHECK(error_of([&] { static_cast<void>(load_plugin(file.string())); }).ends_with("it is no shared library"));
}

TEST_CASE("a plug-in cannot be unloaded from inside its kernel") {
  const RegistrationHandle def = define();
  const Folder folder;
  LoadedPlugin plugin = load_plugin(folder.backend("dev1").string());
  std::string refused;
  // The plug-in's kernel runs around this one: an observer is on the stack of its call.
  class Unloads : public CallObserver {
   public:
    Unloads(LoadedPlugin& which, std::string& to) : plugin(which), text(to) {}
    void call(const ObservedCall& call) override {
      text = error_of([&] { plugin.unload(); });
      call.proceed();
    }
    LoadedPlugin& plugin;
    std::string& text;
  };
  const auto number = op("dev1::number").typed<std::int64_t()>();
  {
    const ObserverHandle observer = observe_calls(std::make_shared<Unloads>(plugin, refused));
    CHECK(number.call() == static_cast<std::int64_t>(*find_device_type("dev1")));
  }
  CHECK(refused.find("cannot be undone from inside a call of one of its kernels") != std::string::npos);
  CHECK(plugin.loaded());
  CHECK(where(tensor(*find_device_type("dev1"))) == "dev1");
}

TEST_CASE("plug-ins are loaded and unloaded while four threads call") {
  const RegistrationHandle def = define();
  Notes notes;
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> wrong{0}, from_plugin{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      const auto shared = op("plugins::shared").typed<Number>();
      const TensorBase t = tensor();
      while (!stop) {
        std::int64_t result = 0;
        if (i % 2 == 0) {
          result = shared.call(t);
        } else {
          Stack stack{t};
          shared.call_boxed(stack);
          result = stack.at(0).to_int();
        }
        from_plugin += result == 7 ? 1 : 0;
        wrong += result == 1 || result == 7 ? 0 : 1;
      }
    });
  }
  const int cycles = campaign(200, 500);
  for (int i = 0; i < cycles; ++i) {
    const LoadedPlugin plugin = load_plugin(module_file("keyway_test_kernel").string());
    if (i % 20 == 0) std::this_thread::yield();
  }
  {
    const LoadedPlugin plugin = load_plugin(module_file("keyway_test_kernel").string());
    const std::int64_t before = from_plugin;
    while (from_plugin == before) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
  CHECK(notes.numbers.size() == 2 * static_cast<std::size_t>(cycles + 1));
}

TEST_CASE("a plug-in that is released stays, and its calls are not counted") {
  const RegistrationHandle def = define();
  const Folder folder;
  const auto flags = [](DeviceType type) {
    const Table& table = op("plugins::where").entry().table();
    return table.kernel(table.slots[static_cast<std::size_t>(runtime_key(Functionality::Dense, type))]).flags;
  };
  {
    LoadedPlugin plugin = load_plugin(folder.backend("dev2").string());
    CHECK(flags(*find_device_type("dev2")) == kCounted);
    plugin.release();
    CHECK_FALSE(plugin.loaded());
  }
  CHECK(flags(*find_device_type("dev2")) == 0);
  CHECK(where(tensor(*find_device_type("dev2"))) == "dev2");
}

TEST_CASE("a library whose blocks fail is an error that names each, registers nothing, and can be mended") {
  const char* const why[] = {"", "cut(Tensor self", "the block has no such device", "blocks::answer", "blocks::answer"};
  for (int round = 0; round < 2; ++round) {
    for (int fault = 1; fault <= 4; ++fault) {
      const std::string file = module_file("keyway_test_blocks" + std::to_string(fault)).string();
      const std::string text = error_of([&] { load_library(file); });
      INFO(text);
      CHECK(text.find("library " + file + ": ") != text.npos);
      CHECK(text.find(why[fault]) != text.npos);
      CHECK_FALSE(Dispatcher::singleton().find_op("blocks::answer").has_value());
    }
  }
  CHECK(error_of([] {
          (void)load_plugin(module_file("keyway_test_blocks2").string());
        }).find("exports no keyway_plugin") != std::string::npos);
  CHECK(error_of([] { load_library("no/such/file.so"); }).find("library no/such/file.so: ") != std::string::npos);
  load_library(module_file("keyway_test_blocks0").string());
  const TensorBase x = make_tensor({1}, kFloat, DeviceType::CPU);
  CHECK(Dispatcher::singleton().op("blocks::answer").typed<Number>().call(x) == 42);
}

#if defined(__x86_64__)
TEST_CASE("a library that turns small numbers off is loaded, and they stay") {
  std::vector<std::string> warnings;
  const WarningHandler before = set_warning_handler([&](std::string_view text) { warnings.emplace_back(text); });
  // It registers what is there already, or is first: its mode is what counts.
  try {
    load_library(module_file("keyway_test_blocks5").string());
  } catch (const Error&) {
  }
  set_warning_handler(before);
  volatile float small = 1e-40F;
  CHECK(small * 0.5F > 0);
  CHECK(warnings.size() == 1);
}
#endif
