// A plug-in is not unloaded under what it made, and what it set is put back when it goes or fails.
#include <keyway/core/base/warning.h>
#include <keyway/core/device/cuda_graph.h>
#include <keyway/core/device/event.h>
#include <keyway/core/tensor/pinned_memory.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/registry/operator_listener.h>
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>
#include <keyway/tests/dispatch/block.h>
#include <keyway/tests/in_child.h>
#include <keyway/tests/plugins/plugin_files.h>

#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

LoadedPlugin load_fragile() { return load_plugin(plugin_module("fragile4").string()); }

// Takes warnings as long as it lives.
struct OwnHandler {
  std::string heard;
  WarningHandler before = set_warning_handler([this](std::string_view text) { heard = text; });
  ~OwnHandler() { set_warning_handler(before); }
};

struct Ended {
  int status;
  std::string text;  // on stderr
};

// What a forked child ends with that loads a plug-in.
Ended loads_in_child(const std::string& file) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(10);
    dup2(ends[1], STDERR_FILENO);
    try {
      load_plugin(file).release();
    } catch (const std::exception&) {
    }
    _exit(0);
  }
  close(ends[1]);
  Ended ended{0, {}};
  char bytes[256];
  for (ssize_t got = 0; (got = read(ends[0], bytes, sizeof(bytes))) > 0;) {
    ended.text.append(bytes, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  REQUIRE(waitpid(child, &ended.status, 0) == child);
  return ended;
}

bool stays_mapped(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

}  // namespace

TEST_CASE("a plug-in whose tensors, pinned memory or events live is not unloaded") {
  LoadedPlugin plugin = load_fragile();
  const DeviceType type = *find_device_type("dev3");
  const auto refusal = [&] {
    const std::string text = error_of([&] { plugin.unload(); });
    CHECK(plugin.loaded());
    const std::string start = "plug-in " + plugin_module("fragile4").string() + ": it cannot be unloaded: ";
    REQUIRE(text.starts_with(start));
    return text.substr(start.size());
  };
  const std::int64_t sizes[] = {2, 3};
  std::optional<TensorBase> one = tensor(type), view = make_view(*one, sizes, sizes, 0);
  CHECK(refusal() == "its devices still have 1 tensor of 24 bytes; let go of them first");
  std::optional<TensorBase> two = tensor(type);
  resize_tensor(*two, std::vector<std::int64_t>{4, 5}, {});
  CHECK(refusal() == "its devices still have 2 tensors of 104 bytes; let go of them first");
  one.reset();
  CHECK(refusal() == "its devices still have 2 tensors of 104 bytes; let go of them first");
  two.reset();
  view.reset();
  std::optional<TensorBase> pinned = make_pinned_tensor(sizes, {}, kDouble, Device(kCPU), type);
  CHECK(refusal() == "its devices still have 1 pinned tensor of the CPU of 48 bytes; let go of them first");
  pinned.reset();
  {
    Event event(type);
    event.record(current_stream(Device(type)));
    Event moved(std::move(event));
    CHECK(refusal() == "its devices still have 1 event; let go of them first");
  }
  plugin.unload();
  CHECK_FALSE(plugin.loaded());
}

TEST_CASE("a plug-in whose graphs live is not unloaded, and they go on") {
  LoadedPlugin plugin = load_plugin(plugin_module("graphs").string());
  CUDAGraph graph;
  graph.capture_begin();
  graph.capture_end();
  CHECK(error_of([&] { plugin.unload(); }).ends_with("its devices still have 1 graph; let go of them first"));
  graph.replay();
  graph.reset();
  plugin.unload();
  CHECK_FALSE(plugin.loaded());
}

TEST_CASE("an unload that waits is refused after that time, with all that lives") {
  using namespace std::chrono_literals;
  LoadedPlugin plugin = load_plugin(plugin_module("waits").string());
  const TensorBase x = tensor();
  const auto number = [&](const char* name) { return op(name).typed<std::int64_t(const TensorBase&)>().call(x); };
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) callers.emplace_back([&] { number("waits::wait"); });
  while (number("waits::waiting") != 2) std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  for (const auto wait : {-1ms, 0ms, 30ms}) {
    CHECK(error_of([&] {
            plugin.unload(wait);
          }).ends_with("it cannot be unloaded: 2 calls of its kernels are under way"));
    CHECK(plugin.loaded());
    CHECK(number("waits::waiting") == 2);
  }
  CHECK(std::chrono::steady_clock::now() - begin >= 30ms);
  callers.emplace_back([&] {
    std::this_thread::sleep_for(20ms);
    number("waits::end");
  });
  plugin.unload(1min);
  CHECK_FALSE(plugin.loaded());
  for (std::thread& caller : callers) caller.join();
}

TEST_CASE("an unload waits for what is let go meanwhile") {
  using namespace std::chrono_literals;
  LoadedPlugin plugin = load_fragile();
  std::optional<TensorBase> held = tensor(*find_device_type("dev3"));
  CHECK(error_of([&] { plugin.unload(5ms); }).find("its devices still have 1 tensor of 24 bytes") != std::string::npos);
  CHECK(tensor(*find_device_type("dev3")).numel() == 6);  // after a refusal all works on
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    held.reset();
  });
  plugin.unload(1min);
  CHECK_FALSE(plugin.loaded());
  other.join();
}

TEST_CASE("a plug-in that goes out of scope under its tensors stays, with a warning") {
  CHECK(in_child([] {
    OwnHandler handler;
    std::optional<TensorBase> left;
    {
      const LoadedPlugin plugin = load_fragile();
      set_warning_handler([&](std::string_view text) { handler.heard = text; });
      left = tensor(*find_device_type("dev3"));
    }
    left.reset();
    return handler.heard.find("its devices still have 1 tensor of 24 bytes") != std::string::npos &&
           handler.heard.ends_with("; it stays");
  }));
}

TEST_CASE("tensors are made while their plug-in is unloaded: one of both is refused") {
  std::atomic<bool> stop{false};
  const DeviceType type = register_device_type("dev3");
  std::thread maker([&] {
    while (!stop) {
      try {
        const TensorBase made = tensor(type);
        *static_cast<float*>(made.storage().data()) = 1;
      } catch (const Error&) {
      }
    }
  });
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    LoadedPlugin plugin = load_fragile();
    while (plugin.loaded()) {
      try {
        plugin.unload();
      } catch (const Error&) {
        ++refused;
        std::this_thread::yield();
      }
    }
  }
  stop = true;
  maker.join();
  INFO(refused);
}

TEST_CASE("a plug-in that fails leaves the device that was there as it was") {
  FakeDevices devices(register_device_type("dev3"));
  FakeAllocator allocator(devices);
  const DeviceGuardRegistration guard = register_device_guard(devices);
  set_allocator(devices.type(), &allocator);
  OwnHandler handler;
  const TensorBase mine = tensor(devices.type());  // no hindrance: its memory is the program's
  const std::string text = error_of([] { static_cast<void>(load_plugin(plugin_module("fragile1").string())); });
  CHECK(text.ends_with(": it has no such device"));
  CHECK(mine.numel() == 6);
  CHECK(find_allocator(devices.type()) == &allocator);
  CHECK(tensor(devices.type()).numel() == 6);
  warn("hears");
  CHECK(handler.heard == "hears");
  {
    const LoadedPlugin plugin = load_fragile();
    CHECK(find_allocator(devices.type()) != &allocator);
  }
  CHECK(find_allocator(devices.type()) == &allocator);
  warn("hears again");
  CHECK(handler.heard == "hears again");
  set_allocator(devices.type(), nullptr);
}

TEST_CASE("what others set after a plug-in stays when the plug-in goes") {
  OwnHandler handler;
  LoadedPlugin plugin = load_fragile();
  set_warning_handler([&](std::string_view text) { handler.heard = text; });
  plugin.unload();
  warn("hears");
  CHECK(handler.heard == "hears");
}

TEST_CASE("plug-ins that set the same go in any order") {
  OwnHandler handler;
  const DeviceType type = register_device_type("dev3");
  for (const bool first_goes_first : {true, false}) {
    LoadedPlugin one = load_fragile();
    Allocator* const of_one = find_allocator(type);
    LoadedPlugin two = load_plugin(plugin_module("fragile6").string());
    Allocator* const of_two = find_allocator(type);
    CHECK(of_one != of_two);
    {
      const TensorBase held = tensor(type);  // memory of the second
      CHECK(error_of([&] { two.unload(); }).find("1 tensor of 24 bytes") != std::string::npos);
    }
    (first_goes_first ? one : two).unload();
    CHECK(find_allocator(type) == (first_goes_first ? of_two : of_one));
    (first_goes_first ? two : one).unload();
    CHECK(find_allocator(type) == nullptr);
    warn("hears");
    CHECK(std::exchange(handler.heard, {}) == "hears");
  }
}

TEST_CASE("a plug-in's tensors in another plug-in are counted") {
  LoadedPlugin devices = load_fragile();
  LoadedPlugin user = load_plugin(plugin_module("fragile7").string());
  CHECK(error_of([&] {
          devices.unload();
        }).ends_with("its devices still have 1 tensor of 12 bytes, 1 event; let go of them first"));
  user.unload();
  devices.unload();
  CHECK_FALSE(devices.loaded());
}

TEST_CASE("a refused unload closes nothing") {
  LoadedPlugin plugin = load_fragile();
  const DeviceType type = *find_device_type("dev3");
  std::optional<TensorBase> held = tensor(type);
  CHECK(error_of([&] { plugin.unload(); }).find("1 tensor") != std::string::npos);
  held = tensor(type);
  CHECK(held->numel() == 6);
}

TEST_CASE("what a listener sets as a plug-in is loaded is the program's") {
  OwnHandler handler;
  std::string heard;
  const OperatorListenerHandle listening = listen_to_operators(
      [&](const OperatorHandle&, bool) { set_warning_handler([&](std::string_view text) { heard = text; }); });
  LoadedPlugin plugin = load_plugin(plugin_module("cube").string());
  plugin.unload();
  warn("hears");
  CHECK(heard == "hears");
}

TEST_CASE("forward mode, vmap and autocast that a plug-in began as it was loaded stay when it goes") {
  load_plugin(plugin_module("derives").string()).unload();
  const Tensor x = full({2, 2}, 3.0);
  Tensor dual, leaf = full({2, 2}, 2.0).requires_grad_();
  {
    const DualLevel level;
    dual = make_dual(x, full({2, 2}, 1.0));
    const Tensor gradient = autograd::grad({(dual * leaf).sum()}, {leaf})[0];
    CHECK(unpack_dual(gradient).tangent.sum().item<double>() == 4);
  }
  CHECK(!autograd::grad_of(dual).defined());  // asks what the tensor of a level that has ended stands for
  CHECK((dual * dual).sum().item<double>() == 36);
  const Vmap batch(2);
  const Tensor row = batch.add_batch_dim(x);
  CHECK(batch.remove_batch_dim(row * row).sum().item<double>() == 36);
  const AutocastMode autocast(DeviceType::CPU);
  CHECK(mm(x, x).dtype() == ScalarType::BFloat16);
}

TEST_CASE("a plug-in that ends the program is named") {
  for (const char* const name : {"fragile2", "fragile3"}) {
    const std::string file = plugin_module(name).string();
    const Ended ended = loads_in_child(file);
    REQUIRE(WIFEXITED(ended.status));
    CHECK(WEXITSTATUS(ended.status) == 3);
    CHECK(ended.text.find("[keyway] plug-in " + file +
                          " ended the program while it was being loaded: its code called exit()\n") !=
          std::string::npos);
  }
}

TEST_CASE("a plug-in that asks for a function of another version says so") {
  const std::string text = error_of([] { static_cast<void>(load_plugin(plugin_module("fragile5").string())); });
  CHECK(text.find("undefined symbol") != std::string::npos);
  CHECK(
      text.ends_with("; this Keyway has no such function: it was compiled against another version; rebuild it with "
                     "the headers of this one"));
}

TEST_CASE("a graph outlives the plug-in whose function it calls") {
  LoadedPlugin plugin = load_plugin(plugin_module("cube").string());
  const Tensor x = full({1}, 2.0).requires_grad_();
  const Tensor y = op("graphs::cube").typed<Tensor(const Tensor&)>().call(x);
  plugin.unload();
  y.backward();
  CHECK(x.grad().item().to<double>() == 12);
}

TEST_CASE("the code of a plug-in's function stays from its first call that is recorded on") {
  namespace fs = std::filesystem;
  const fs::path file = fs::temp_directory_path() / ("keyway-cube-" + std::to_string(getpid()) + ".so");
  fs::copy_file(plugin_module("cube"), file, fs::copy_options::overwrite_existing);
  const Tensor x = full({1}, 2.0).requires_grad_();
  const auto call_and_unload = [&] {
    LoadedPlugin plugin = load_plugin(file.string());
    const Tensor y = op("graphs::cube").typed<Tensor(const Tensor&)>().call(x);
    CHECK(y.item().to<double>() == 8);
    plugin.unload();
  };
  {
    const NoGradGuard off;
    call_and_unload();
#if !defined(KEYWAY_SANITIZED)  // there nothing is unmapped
    CHECK_FALSE(stays_mapped(file.string()));
#endif
  }
  call_and_unload();
  CHECK(stays_mapped(file.string()));
  call_and_unload();  // its flag is as it was
  CHECK(stays_mapped(file.string()));
  fs::remove(file);
}
