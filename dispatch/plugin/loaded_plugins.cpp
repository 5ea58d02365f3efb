#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/dispatch/plugin/loaded_plugins.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace keyway::inline v1 {

namespace {

// Never destroyed: plug-ins may go at exit.
struct LoadedNames {
  ForkSafeMutex mutex{LockOrder::Plugins};
  std::map<const void*, std::string> names;

  static LoadedNames& get() {
    static LoadedNames& loaded = *new LoadedNames;
    return loaded;
  }
};

}  // namespace

LoadedEntry::~LoadedEntry() {
  if (identity_ == nullptr) return;
  LoadedNames& loaded = LoadedNames::get();
  const std::lock_guard lock(loaded.mutex);
  loaded.names.erase(identity_);
}

bool LoadedEntry::take(const void* identity, std::string name) {
  LoadedNames& loaded = LoadedNames::get();
  const std::lock_guard lock(loaded.mutex);
  if (!loaded.names.emplace(identity, std::move(name)).second) return false;
  identity_ = identity;
  return true;
}

bool is_plugin_loaded(std::string_view name) {
  LoadedNames& loaded = LoadedNames::get();
  const std::lock_guard lock(loaded.mutex);
  return std::any_of(loaded.names.begin(), loaded.names.end(), [&](const auto& one) { return one.second == name; });
}

}  // namespace keyway::inline v1
