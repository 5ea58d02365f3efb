// The plug-ins that are loaded, by what tells them apart. Internal to dispatch/.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace keyway::inline v1 {

// A plug-in stands among the loaded ones as long as this lives.
class LoadedEntry {
 public:
  LoadedEntry() = default;
  LoadedEntry(LoadedEntry&& other) noexcept : identity_(std::exchange(other.identity_, nullptr)) {}
  LoadedEntry& operator=(LoadedEntry&& other) noexcept {
    std::swap(identity_, other.identity_);
    return *this;
  }
  ~LoadedEntry();
  // `identity` is its PluginEntry, or the handle of its library where it has none. False if it stands there already.
  bool take(const void* identity, std::string name);

 private:
  const void* identity_ = nullptr;
};

bool is_plugin_loaded(std::string_view name);

}  // namespace keyway::inline v1
