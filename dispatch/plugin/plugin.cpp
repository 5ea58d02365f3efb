#include <keyway/core/base/custom_class.h>
#include <keyway/core/base/library_undo_log.h>
#include <keyway/core/base/warning.h>
#include <keyway/core/device/held.h>
#include <keyway/dispatch/plugin/fallback_report.h>
#include <keyway/dispatch/plugin/loaded_plugins.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/plugin/plugin_contents.h>
#include <keyway/dispatch/plugin/plugin_file.h>
#include <keyway/dispatch/plugin/shared_library_file.h>
#include <keyway/dispatch/registry/block_collector.h>
#include <keyway/dispatch/registry/registry_notifications.h>

#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <thread>

namespace keyway::inline v1 {

namespace {

// Null for a plug-in of the stable C ABI, which registers by itself as it is loaded.
const PluginEntry* entry_of(void* library, const std::string& path) {
  const auto* entry = static_cast<const PluginEntry*>(dlsym(library, "keyway_plugin"));
  KEYWAY_CHECK_AS(Registration, entry == nullptr || (entry->name != nullptr && entry->setup != nullptr),
                  "plug-in {}: its keyway_plugin is not what KEYWAY_PLUGIN makes", path);
  return entry;
}

// "2 objects of my.Stack"; empty if none of the library's classes has any.
std::string living_objects(const LibraryResources& library) {
  if (library.objects() == 0) return {};
  std::string text;
  for (const auto& one : CustomClass::all()) {
    const std::int64_t count = one->library() == &library ? one->objects() : 0;
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(count) + (count == 1 ? " object of " : " objects of ") +
            one->name();
  }
  return text.empty() ? "objects" : text;
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
  PluginContents registers;
  OpenLibrary library;
  LoadedEntry loaded;
  std::vector<std::shared_ptr<void>> kept;
  LibraryUndoLog undo_log;
  RegistrationHandle registration;
  State* next = nullptr;  // of those that were released

  BlockRequest set_up(const PluginEntry& entry, const std::optional<PluginManifest>& manifest, BlockCollector& blocks,
                      Plugin& setup);

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
const PluginContents& LoadedPlugin::registers() const { return state_->registers; }

// Why it cannot be unloaded now; empty if nothing is known against it.
std::string LoadedPlugin::what_lives(bool with_calls) const {
  std::string text;
  const std::string held = state_->undo_log.library().held();
  if (!held.empty()) text = "its devices still have " + held + "; let go of them first";
  if (const std::string objects = living_objects(state_->undo_log.library()); !objects.empty())
    text += (text.empty() ? "" : "; ") + ("its classes still have " + objects) + "; let go of them first";
  const std::int64_t calls = with_calls ? state_->registration.calls_under_way() : 0;
  if (calls == 0) return text;
  if (!text.empty()) text += "; ";
  return text + std::to_string(calls) + (calls == 1 ? " call of its kernels is" : " calls of its kernels are") +
         " under way";
}

void LoadedPlugin::unload(std::optional<std::chrono::milliseconds> wait) {
  using std::chrono::milliseconds;
  if (state_ == nullptr) return;
  LibraryResources& resources = state_->undo_log.library();
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    // Once before others are refused for its sake, and once more when nothing new can be made.
    std::string lives = what_lives(wait.has_value());
    if (lives.empty()) {
      resources.close();
      try {
        lives = what_lives(false);
        if (lives.empty()) {
          state_->registration.undo();
          break;
        }
      } catch (...) {
        resources.reopen();
        throw;
      }
      resources.reopen();
    }
    const auto waited = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
    KEYWAY_CHECK_AS(Registration, wait && waited < *wait, "plug-in {}: it cannot be unloaded: {}", state_->path, lives);
    std::this_thread::sleep_for(milliseconds(1));
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

// Collects what the plug-in registers. Its manifest, if it has one, must say all of that.
BlockRequest LoadedPlugin::State::set_up(const PluginEntry& entry, const std::optional<PluginManifest>& manifest,
                                         BlockCollector& blocks, Plugin& setup) {
  add_contents(registers, blocks.request());
  if (manifest) check_nothing_else(*manifest, registers);  // before they are registered for good
  blocks.commit();
  entry.setup(setup);
  BlockRequest request;
  request.site = {entry.file, entry.line};
  for (Library& block : setup.libraries_) append(request, block.take_request());
  return request;
}

LoadedPlugin load_plugin(const std::string& path) {
  // What others do as they hear of changes is not the plug-in's doing: they hear once the thread loads it no more.
  const DeferNotificationsGuard later;
  detail::report_cpu_fallbacks_at_exit();
  LoadedPlugin plugin;
  plugin.state_ = std::make_unique<LoadedPlugin::State>();
  LoadedPlugin::State& state = *plugin.state_;
  state.path = path;
  const std::optional<PluginManifest> manifest = check_plugin(path);
  LibraryLoadGuard loading(state.undo_log);
  const ExitNotice notice("plug-in", state.path);
  BlockCollector blocks;  // a plug-in may have some, which stay
  state.library = open_shared_library(path, "plug-in");
  const PluginEntry* const entry = entry_of(state.library.get(), path);
  state.name = entry != nullptr ? entry->name : std::filesystem::path(path).stem().string();
  const void* const identity = entry != nullptr ? static_cast<const void*>(entry) : state.library.get();
  KEYWAY_CHECK_AS(Registration, state.loaded.take(identity, state.name), "plug-in {}: {} is loaded already", path,
                  state.name);
  Plugin setup;
  // What the plug-in throws may be of a type that goes with it.
  std::string problem;
  try {
    BlockRequest request = entry != nullptr ? state.set_up(*entry, manifest, blocks, setup) : blocks.take_request();
    add_contents(state.registers, request);
    for (const DeviceType type : device_types_served_by(state.undo_log.library())) {
      state.registers.device_types.emplace(to_string(type));
    }
    if (manifest) check_as_said(*manifest, state.name, state.registers);
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
