#include <keyway/dispatch/plugin/load_library.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/python/device_arguments.h>
#include <keyway/python/interpreter_lock.h>
#include <keyway/python/module.h>
#include <keyway/python/warnings.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace keyway::inline v1::python {
namespace {

std::optional<std::chrono::milliseconds> milliseconds_of(std::optional<double> seconds) {
  if (!seconds) return std::nullopt;
  constexpr double kMost = 1e9;  // some 30 years: what is more is as good as for ever
  KEYWAY_CHECK(*seconds >= 0, "wait is a number of seconds from 0 up, not {}", *seconds);
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(*seconds, kMost) * 1000));
}

// A plug-in stays loaded when its object goes, as a module does.
class PluginObject {
 public:
  explicit PluginObject(LoadedPlugin plugin)
      : plugin_(std::move(plugin)), name_(plugin_.name()), path_(plugin_.path()) {}
  PluginObject(PluginObject&&) noexcept = default;
  ~PluginObject() {
    if (plugin_.loaded()) plugin_.release();
  }
  bool loaded() const { return plugin_.loaded(); }
  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }
  // `wait` is in seconds.
  void unload(std::optional<double> wait) {
    const std::optional<std::chrono::milliseconds> limit = milliseconds_of(wait);
    LoadedPlugin leaving = std::move(plugin_);  // not from two threads at once
    std::vector<std::string> warnings;
    try {
      warnings = warnings_of([&] { leaving.unload(limit); });
    } catch (...) {
      plugin_ = std::move(leaving);
      throw;
    }
    warn_in_python(warnings);
  }

 private:
  LoadedPlugin plugin_;
  std::string name_, path_;
};

// A warning that a filter makes an error is thrown, and then the plug-in is not loaded.
PluginObject load(const std::filesystem::path& path) {
  LoadedPlugin plugin;
  const std::vector<std::string> warnings = warnings_of([&] { plugin = load_plugin(path.string()); });
  warn_or_undo(warnings, {}, [&] { unlocked([&] { plugin.unload(); }); });
  attach_device_types();
  return PluginObject(std::move(plugin));
}

void load_for_good(const std::string& path) {
  warn_in_python(warnings_of([&] { load_library(path); }));
  attach_device_types();
}

}  // namespace

void add_plugins(nb::module_& module) {
  nb::class_<PluginObject>(module, "Plugin", "A plug-in that is loaded. It stays when this object goes.")
      .def_prop_ro("name", &PluginObject::name)
      .def_prop_ro("path", &PluginObject::path)
      .def_prop_ro("loaded", &PluginObject::loaded, "Whether it was not unloaded.")
      .def("unload", &PluginObject::unload, nb::arg("wait") = nb::none(),
           "Takes back what it registered, waits for calls that are under way in its kernels, and unloads its library. "
           "Errors, and then it is loaded as before: tensors, pinned memory, events or graphs of a device type that it "
           "serves live, or objects of its classes, and the error says how many; from inside a call of its kernels. "
           "With wait, in seconds, it waits so long until these are let go, and refuses too if calls of its kernels "
           "go on so long. Nobody may hold what else its code made.")
      .def("__repr__", [](const PluginObject& self) {
        return "<keyway.Plugin " + self.name() + (self.loaded() ? "" : ", unloaded") + ">";
      });
  module.def("load_plugin", load, nb::arg("path"),
             "Loads the plug-in (KEYWAY_PLUGIN) in a shared library. Errors: RegistrationError, which names the file; "
             "then the registry is as it was.");
  module.def("load_library", load_for_good, nb::arg("path"));
}

}  // namespace keyway::inline v1::python
