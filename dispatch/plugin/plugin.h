// Plug-ins: shared libraries that bring operators, kernels and backends, loaded and unloaded while the program runs.
//
//   KEYWAY_PLUGIN(npu, plugin) {
//     const DeviceType npu = register_device_type("npu");
//     plugin.library("npu").def("fused(Tensor x) -> Tensor");
//     plugin.impl("keyway", runtime_key(Functionality::Dense, npu)).impl("add.Tensor", add);
//     plugin.keep(register_device_guard(guard));
//   }
//
// A plug-in registers in this function and not in static objects, so that what it brings is one transaction and can go
// again. It is built with hidden visibility and -fno-gnu-unique; else g++ marks it as one that cannot be unloaded.
#pragma once

#include <keyway/dispatch/plugin/plugin_abi.h>
#include <keyway/dispatch/registry/library.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

class LoadedPlugin;
struct PluginContents;

// What a plug-in's function gets.
class KEYWAY_API Plugin {
 public:
  // Library blocks, as KEYWAY_LIBRARY, _FRAGMENT and _IMPL open them, valid until the function returns. Then all of
  // them are registered or, with every error listed, none.
  Library& library(std::string ns, SourceLocation where = SourceLocation::current());
  Library& fragment(std::string ns, SourceLocation where = SourceLocation::current());
  Library& impl(std::string ns, DispatchKey key, SourceLocation where = SourceLocation::current());

  // Something that undoes itself when it is destroyed. It goes when the plug-in does, after its kernels; of several the
  // last one first.
  template <typename T>
  void keep(T thing) {
    kept_.push_back(std::make_shared<T>(std::move(thing)));
  }

 private:
  friend class LoadedPlugin;
  friend LoadedPlugin load_plugin(const std::string& path);

  std::deque<Library> libraries_;
  std::vector<std::shared_ptr<void>> kept_;
};

// What a plug-in exports as `keyway_plugin`: data, to be checked before its function runs. The first two members stand
// where they do in every version.
struct PluginEntry {
  std::uint32_t abi;   // kPluginAbi of the headers that it is built against
  std::uint32_t size;  // of this
  const char* name;
  const char* file;
  int line;
  void (*setup)(Plugin& plugin);
  PluginInterfaces interfaces = {};
  std::uint64_t seal = 0;  // written into the file with its manifest (manifest.h); 0: it has none
};

// A plug-in that is loaded. Unloads it when it goes, with a warning where it cannot.
class KEYWAY_API LoadedPlugin {
 public:
  LoadedPlugin() noexcept;
  LoadedPlugin(LoadedPlugin&&) noexcept;
  LoadedPlugin& operator=(LoadedPlugin&&) noexcept;
  ~LoadedPlugin();

  bool loaded() const { return state_ != nullptr; }
  // Requires: loaded().
  const std::string& name() const;
  const std::string& path() const;
  const PluginContents& registers() const;  // manifest.h

  // Takes back what the plug-in registered, waits until no call is under way in its kernels, and unloads its library.
  // Throws, and then it is loaded as before: std::bad_alloc; keyway::Error(Registration) from inside a call of one of
  // its kernels, or while memory of its allocators, memory that they pinned, events or graphs of its device guards, or
  // objects of its classes live, with how many (held.h). With `wait`, it waits so long until these are let go, and also
  // throws if calls of its kernels go on so long; only a call that begins in the last moment is waited for then. With
  // 0, it throws at once. What the plug-in made while it was loaded goes with it. Requires: no thread is in another
  // function of its device guards, such as synchronize(), or in its warning handler; nobody holds what else its code
  // made, such as storages that a kernel made with a deleter of its own, events that it keeps and recorded after it was
  // loaded, or exceptions of types of its own. The library stays mapped if an autograd::Function of it was recorded.
  void unload(std::optional<std::chrono::milliseconds> wait = std::nullopt);
  // Keeps the plug-in as long as the process runs. Until then calls of its kernels are counted, which takes some
  // nanoseconds.
  void release() noexcept;

 private:
  struct State;
  std::string what_lives(bool with_calls) const;
  static std::atomic<State*> released_;
  friend LoadedPlugin load_plugin(const std::string& path);

  std::unique_ptr<State> state_;
};

// Loads the plug-in in a file: one with a KEYWAY_PLUGIN, or one of the stable C ABI (stable/abi.h), which is called
// like its file. Throws keyway::Error(Registration) that names the file, and then the registry and all settings are as
// they were; its code stays mapped, with a warning, if another thread got memory of it meanwhile. What is wrong: no
// shared library for this machine; one that is cut short, misses symbols or is no plug-in; built against other headers
// (plugin_abi.h); another one than its manifest was made for, or one that registers other things than that says
// (manifest.h); loaded already; or what its function throws, or every error of its registrations.
[[nodiscard]] KEYWAY_API LoadedPlugin load_plugin(const std::string& path);

}  // namespace keyway::inline v1

#define KEYWAY_PLUGIN(name, plugin)                                                                         \
  static void keyway_plugin_setup(::keyway::Plugin&);                                                       \
  extern "C" {                                                                                              \
  extern KEYWAY_API const ::keyway::PluginEntry keyway_plugin;                                              \
  const ::keyway::PluginEntry keyway_plugin = {                                                             \
      ::keyway::kPluginAbi, sizeof(::keyway::PluginEntry), #name, __FILE__, __LINE__, keyway_plugin_setup}; \
  }                                                                                                         \
  static void keyway_plugin_setup(::keyway::Plugin& plugin)
