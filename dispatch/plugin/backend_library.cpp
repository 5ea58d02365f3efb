// Backends that are libraries of their own, brought when their device type is first asked for: libkeyway_cuda.so beside
// libkeyway.so, and plug-ins in the folders of KEYWAY_PLUGIN_PATH. So are their graph backends,
// libkeyway_cuda_graph.so, when a graph is.
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/device/device_guard_impl.h>
#include <keyway/core/device/load_backend.h>
#include <keyway/dispatch/plugin/graph_library.h>
#include <keyway/dispatch/plugin/library_folder.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/registry/registry_notifications.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace keyway::inline v1 {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> plugin_folders() {
  const char* const folders = std::getenv("KEYWAY_PLUGIN_PATH");
  std::vector<fs::path> list;
  std::string_view rest = folders == nullptr ? std::string_view() : folders;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (!folder.empty()) list.emplace_back(folder);
  }
  return list;
}

// Where a library was looked for.
std::string not_found(const std::string& library, const fs::path& own, const std::vector<fs::path>& folders) {
  std::string text = "there is no " + library + " in " + own.string() + ", where libkeyway.so is, and ";
  if (folders.empty()) return text + "KEYWAY_PLUGIN_PATH names no folder";
  text += "none in KEYWAY_PLUGIN_PATH: ";
  for (const fs::path& folder : folders) text += (&folder == &folders.front() ? "" : ", ") + folder.string();
  return text;
}

bool is_served(const std::string& name) {
  const auto type = find_device_type(name);
  return type && find_device_guard_impl(*type) != nullptr;
}

// What was tried. Guarded by its mutex, which is held while a library is loaded and lets the thread in that loads: a
// plug-in's function may ask for other device types.
class Backends {
 public:
  static Backends& get() {
    static Backends& backends = *new Backends;
    return backends;
  }

  ForkSafeRecursiveMutex mutex{LockOrder::Backends};
  std::atomic<int> loads{0};  // under way: a guard may be there, and kernels not yet

  std::string load(const std::string& name) {
    const std::string library = "libkeyway_" + name + ".so";
    const fs::path own = library_folder();
    if (own.empty()) return "a program that links the archive loads no " + library;
    const std::vector<fs::path> folders = plugin_folders();
    const std::optional<fs::path> file = find(library, own, folders);
    if (!file) return not_found(library, own, folders);
    const std::string problem = load_file(library, *file);
    if (!problem.empty() || is_served(name)) return problem;
    return file->string() + " is loaded, and registers no device guard for " + name;
  }
  std::string load_graphs(const std::string& name) {
    const std::string library = "libkeyway_" + name + "_graph.so";
    const fs::path own = library_folder();
    if (own.empty()) return {};
    const std::optional<fs::path> file = find(library, own, plugin_folders());
    return file ? load_file(library, *file) : std::string();
  }

 private:
  // What a file was when it was tried.
  struct Attempt {
    std::optional<fs::file_time_type> written;
    std::uintmax_t size = 0;
    std::string problem;
  };

  static std::optional<fs::path> find(const std::string& library, const fs::path& own,
                                      const std::vector<fs::path>& folders) {
    std::error_code none;  // a folder that cannot be looked into has no library
    if (fs::exists(own / library, none)) return own / library;
    for (const fs::path& folder : folders) {
      if (fs::exists(folder / library, none)) return folder / library;
    }
    return std::nullopt;
  }

  // A file that failed is tried again when it is another.
  std::string load_file(const std::string& library, const fs::path& file) {
    if (!loading_.insert(library).second) return file.string() + " is being loaded";
    ++loads;
    std::error_code none;
    const fs::file_time_type written = fs::last_write_time(file, none);
    const std::uintmax_t size = fs::file_size(file, none);
    Attempt& attempt = attempts_[file];
    if (attempt.written != written || attempt.size != size) attempt = {written, size, problem_of(file)};
    --loads;
    loading_.erase(library);
    return attempt.problem;
  }

  static std::string problem_of(const fs::path& file) {
    try {
      load_plugin(file.string()).release();
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  }

  std::map<fs::path, Attempt> attempts_;
  std::set<std::string> loading_;
};

}  // namespace

std::string detail::load_backend(std::string_view asked) {
  const std::string name(asked);
  Backends& backends = Backends::get();
  if (name == "unknown" || (is_served(name) && backends.loads == 0)) return {};
  const DeferNotificationsGuard no_listener_waits;
  const std::lock_guard lock(backends.mutex);
  return is_served(name) ? std::string() : backends.load(name);
}

std::string load_graph_library(DeviceType type) {
  Backends& backends = Backends::get();
  const DeferNotificationsGuard no_listener_waits;
  const std::lock_guard lock(backends.mutex);
  return backends.load_graphs(std::string(to_string(type)));
}

}  // namespace keyway::inline v1
