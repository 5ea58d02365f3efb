#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/library_undo_log.h>
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/plugin/elf_image.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/plugin/shared_library_file.h>
#include <keyway/dispatch/plugin/stable_abi.h>
#include <keyway/dispatch/registry/block_collector.h>
#include <keyway/dispatch/registry/registry_notifications.h>

#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

namespace keyway::inline v1 {

namespace {

// The plug-ins that are loaded, each by its entry, or by its handle where it has none. Never destroyed: plug-ins may go
// at exit.
struct LoadedEntries {
  ForkSafeMutex mutex{LockOrder::Plugins};
  std::set<const void*> entries;

  static LoadedEntries& get() {
    static LoadedEntries& loaded = *new LoadedEntries;
    return loaded;
  }
};

// An entry stands among the loaded ones as long as this lives.
class LoadedEntry {
 public:
  LoadedEntry() = default;
  LoadedEntry(LoadedEntry&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  LoadedEntry& operator=(LoadedEntry&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~LoadedEntry() {
    if (entry_ == nullptr) return;
    LoadedEntries& loaded = LoadedEntries::get();
    const std::lock_guard lock(loaded.mutex);
    loaded.entries.erase(entry_);
  }
  // False if it stands there already.
  bool take(const void* entry) {
    LoadedEntries& loaded = LoadedEntries::get();
    const std::lock_guard lock(loaded.mutex);
    if (!loaded.entries.insert(entry).second) return false;
    entry_ = entry;
    return true;
  }

 private:
  const void* entry_ = nullptr;
};

// A plug-in of the stable C ABI has no KEYWAY_PLUGIN: it registers by itself as it is loaded.
enum class PluginKind { Headers, StableAbi };

// What the file says of the headers that it is built against, before any of its code runs.
PluginKind check_headers(const std::string& path) {
  const ElfImage image(path);
  KEYWAY_CHECK_AS(Registration, image.problem().empty(), "plug-in {}: {}", path, image.problem());
  const std::optional<std::string_view> bytes = image.object("keyway_plugin");
  if (!bytes && needs_stable_abi(image)) return PluginKind::StableAbi;
  KEYWAY_CHECK_AS(Registration, bytes, "plug-in {}: it exports no keyway_plugin: KEYWAY_PLUGIN is missing", path);
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    if (bytes->size() >= at + sizeof(value)) std::memcpy(&value, bytes->data() + at, sizeof(value));
    return value;
  };
  const std::uint32_t abi = number(0), size = number(sizeof(abi));
  KEYWAY_CHECK_AS(Registration, abi == kPluginAbi,
                  "plug-in {}: it is built against other headers: their layout is {}, and that of this library {}; "
                  "rebuild it",
                  path, abi, kPluginAbi);
  KEYWAY_CHECK_AS(Registration, size == sizeof(PluginEntry) && bytes->size() >= size,
                  "plug-in {}: its keyway_plugin is not what KEYWAY_PLUGIN makes", path);
  PluginEntry entry{};
  std::memcpy(static_cast<void*>(&entry), bytes->data(), sizeof(entry));
  KEYWAY_CHECK_AS(Registration, entry.interfaces == PluginInterfaces(),
                  "plug-in {}: it is built against other headers: an interface there has another number of virtual "
                  "functions; rebuild it",
                  path);
  return PluginKind::Headers;
}

const PluginEntry& entry_of(void* library, const std::string& path) {
  const auto* entry = static_cast<const PluginEntry*>(dlsym(library, "keyway_plugin"));
  KEYWAY_CHECK_AS(Registration, entry != nullptr && entry->name != nullptr && entry->setup != nullptr,
                  "plug-in {}: its keyway_plugin is not what KEYWAY_PLUGIN makes", path);
  return *entry;
}

}  // namespace

Library& Plugin::library(std::string ns, SourceLocation where) {
  return libraries_.emplace_back(Library::Kind::Def, std::move(ns), std::nullopt, where);
}

Library& Plugin::fragment(std::string ns, SourceLocation where) {
  return libraries_.emplace_back(Library::Kind::Fragment, std::move(ns), std::nullopt, where);
}

Library& Plugin::impl(std::string ns, DispatchKey key, SourceLocation where) {
  return libraries_.emplace_back(Library::Kind::Impl, std::move(ns), key, where);
}

// In the order of its members: what stands last goes first.
struct LoadedPlugin::State {
  std::string name, path;
  OpenLibrary library;
  LoadedEntry loaded;
  std::vector<std::shared_ptr<void>> kept;
  LibraryUndoLog undo_log;
  RegistrationHandle registration;
  State* next = nullptr;  // of those that were released

  // What the plug-in plugged in goes before the things that it is part of, and those may set something too as they go.
  ~State() {
    registration = {};
    const LibraryLoadGuard scope(undo_log);
    undo_log.undo();
    while (!kept.empty()) kept.pop_back();
  }
};

constinit std::atomic<LoadedPlugin::State*> LoadedPlugin::released_{nullptr};

LoadedPlugin::LoadedPlugin() noexcept = default;
LoadedPlugin::LoadedPlugin(LoadedPlugin&&) noexcept = default;
LoadedPlugin& LoadedPlugin::operator=(LoadedPlugin&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

LoadedPlugin::~LoadedPlugin() {
  if (state_ == nullptr) return;
  try {
    unload();
  } catch (const std::exception& error) {
    release();
    try_warn(error.what() + std::string("; it stays"));
  }
}

const std::string& LoadedPlugin::name() const { return state_->name; }
const std::string& LoadedPlugin::path() const { return state_->path; }

void LoadedPlugin::unload() {
  if (state_ == nullptr) return;
  LibraryResources& resources = state_->undo_log.library();
  const auto check_nothing_is_held = [&] {
    const std::string held = resources.held();
    KEYWAY_CHECK_AS(Registration, held.empty(),
                    "plug-in {}: it cannot be unloaded: its devices still have {}; let go of them first", state_->path,
                    held);
  };
  // Once before others are refused for its sake.
  check_nothing_is_held();
  resources.close();
  try {
    check_nothing_is_held();
    state_->registration.undo();
  } catch (...) {
    resources.reopen();
    throw;
  }
  state_ = nullptr;
}

void LoadedPlugin::release() noexcept {
  if (state_ == nullptr) return;
  state_->registration.release();
  state_->undo_log.library().stay();
  State* const state = state_.release();
  state->next = released_.load();
  while (!released_.compare_exchange_weak(state->next, state)) {
  }
}

LoadedPlugin load_plugin(const std::string& path) {
  // What others do as they hear of changes is not the plug-in's doing: they hear once the thread loads it no more.
  const DeferNotificationsGuard later;
  LoadedPlugin plugin;
  plugin.state_ = std::make_unique<LoadedPlugin::State>();
  LoadedPlugin::State& state = *plugin.state_;
  state.path = path;
  const PluginKind kind = check_headers(path);
  LibraryLoadGuard loading(state.undo_log);
  const ExitNotice notice("plug-in", state.path);
  BlockCollector blocks;  // a plug-in may have some, which stay
  state.library = open_shared_library(path, "plug-in");
  const PluginEntry* const entry = kind == PluginKind::Headers ? &entry_of(state.library.get(), path) : nullptr;
  state.name = entry != nullptr ? entry->name : std::filesystem::path(path).stem().string();
  const void* const identity = entry != nullptr ? static_cast<const void*>(entry) : state.library.get();
  KEYWAY_CHECK_AS(Registration, state.loaded.take(identity), "plug-in {}: {} is loaded already", path, state.name);
  Plugin setup;
  // What the plug-in throws may be of a type that goes with it.
  std::string problem;
  try {
    BlockRequest request;
    if (entry != nullptr) {
      blocks.commit();
      entry->setup(setup);
      request.site = {entry->file, entry->line};
      for (Library& library : setup.libraries_) append(request, library.take_request());
    } else {
      request = blocks.take_request();
    }
    state.registration = Dispatcher::singleton().commit(std::move(request));
  } catch (const std::exception& e) {
    problem = e.what();
  } catch (...) {
    problem = "its function throws what is no std::exception";
  }
  state.kept = std::move(setup.kept_);
  KEYWAY_CHECK_AS(Registration, problem.empty(), "plug-in {}: {}", path, problem);
  loading.commit();
  return plugin;
}

}  // namespace keyway::inline v1
