#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/loading_blocks.h>
#include <keyway/dispatch/plugin.h>
#include <keyway/dispatch/shared_library_file.h>

#include <dlfcn.h>
#include <mutex>
#include <set>

namespace keyway::inline v1 {

namespace {

// The plug-ins that are loaded, each by its entry. Never destroyed: plug-ins may go at exit.
struct LoadedEntries {
  ForkSafeMutex mutex{LockOrder::Plugins};
  std::set<const PluginEntry*> entries;

  static LoadedEntries& get() {
    static LoadedEntries& loaded = *new LoadedEntries;
    return loaded;
  }
};

// An entry stands among the loaded ones as long as this lives.
class Claim {
 public:
  Claim() = default;
  Claim(Claim&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  Claim& operator=(Claim&& other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~Claim() {
    if (entry_ == nullptr) return;
    LoadedEntries& loaded = LoadedEntries::get();
    const std::lock_guard lock(loaded.mutex);
    loaded.entries.erase(entry_);
  }
  // False if it stands there already.
  bool take(const PluginEntry* entry) {
    LoadedEntries& loaded = LoadedEntries::get();
    const std::lock_guard lock(loaded.mutex);
    if (!loaded.entries.insert(entry).second) return false;
    entry_ = entry;
    return true;
  }

 private:
  const PluginEntry* entry_ = nullptr;
};

const PluginEntry& entry_of(void* library, const std::string& path) {
  const auto* entry = static_cast<const PluginEntry*>(dlsym(library, "keyway_plugin"));
  KEYWAY_CHECK_AS(Registration, entry != nullptr, "plug-in {}: it exports no keyway_plugin: KEYWAY_PLUGIN is missing",
                  path);
  KEYWAY_CHECK_AS(
      Registration, entry->abi == kPluginAbi,
      "plug-in {}: it is built against other headers: their layout is {}, and that of this library {}; rebuild it",
      path, entry->abi, kPluginAbi);
  KEYWAY_CHECK_AS(Registration, entry->size == sizeof(PluginEntry) && entry->name != nullptr && entry->setup != nullptr,
                  "plug-in {}: its keyway_plugin is not what KEYWAY_PLUGIN makes", path);
  KEYWAY_CHECK_AS(Registration, entry->interfaces == PluginInterfaces(),
                  "plug-in {}: it is built against other headers: an interface there has another number of virtual "
                  "functions; rebuild it",
                  path);
  return *entry;
}

}  // namespace

Library& Plugin::library(std::string ns, CallSite where) {
  return libraries_.emplace_back(Library::Kind::Def, std::move(ns), std::nullopt, where);
}

Library& Plugin::fragment(std::string ns, CallSite where) {
  return libraries_.emplace_back(Library::Kind::Fragment, std::move(ns), std::nullopt, where);
}

Library& Plugin::impl(std::string ns, DispatchKey key, CallSite where) {
  return libraries_.emplace_back(Library::Kind::Impl, std::move(ns), key, where);
}

// In the order of its members: what stands last goes first.
struct LoadedPlugin::State {
  std::string name, path;
  OpenLibrary library;
  Claim claim;
  std::vector<std::shared_ptr<void>> kept;
  RegistrationHandle registration;
  State* next = nullptr;  // of those that were released

  ~State() {
    registration = {};
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
  } catch (const std::exception&) {
    warn("a plug-in could not be unloaded and stays");
    release();
  }
}

const std::string& LoadedPlugin::name() const { return state_->name; }
const std::string& LoadedPlugin::path() const { return state_->path; }

void LoadedPlugin::unload() {
  if (state_ == nullptr) return;
  state_->registration.undo();
  state_ = nullptr;
}

void LoadedPlugin::release() noexcept {
  if (state_ == nullptr) return;
  state_->registration.release();
  State* const state = state_.release();
  state->next = released_.load();
  while (!released_.compare_exchange_weak(state->next, state)) {
  }
}

LoadedPlugin load_plugin(const std::string& path) {
  LoadedPlugin plugin;
  plugin.state_ = std::make_unique<LoadedPlugin::State>();
  LoadedPlugin::State& state = *plugin.state_;
  state.path = path;
  LoadingBlocks blocks;  // a plug-in may have some, which stay
  state.library = open_shared_library(path, "plug-in");
  const PluginEntry& entry = entry_of(state.library.get(), path);
  state.name = entry.name;
  KEYWAY_CHECK_AS(Registration, state.claim.take(&entry), "plug-in {}: {} is loaded already", path, state.name);
  Plugin setup;
  // What the plug-in throws may be of a type that goes with it.
  std::string problem;
  try {
    blocks.commit();
    entry.setup(setup);
    LibraryRequest request;
    request.site = {entry.file, entry.line};
    for (Library& library : setup.libraries_) append(request, library.take_request());
    state.registration = Dispatcher::singleton().commit(std::move(request));
  } catch (const std::exception& e) {
    problem = e.what();
  } catch (...) {
    problem = "its function throws what is no std::exception";
  }
  state.kept = std::move(setup.kept_);
  KEYWAY_CHECK_AS(Registration, problem.empty(), "plug-in {}: {}", path, problem);
  return plugin;
}

}  // namespace keyway::inline v1
