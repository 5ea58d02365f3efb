#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/setting.h>

#include <deque>
#include <mutex>

namespace keyway::inline v1::detail {

namespace {

// Of all settings. Never destroyed, nor are entries: a thread may be about to read one.
struct Settings {
  ForkSafeMutex mutex{LockOrder::Libraries};
  std::deque<PointerSetting::Entry> entries;

  static Settings& get() {
    static Settings& settings = *new Settings;
    return settings;
  }

  const PointerSetting::Entry* entry_of(const SettingStack<void*>::Layer& layer) {
    if (layer.value == nullptr) return nullptr;
    for (const PointerSetting::Entry& entry : entries) {
      if (entry.value == layer.value && entry.library == layer.library) return &entry;
    }
    return &entries.emplace_back(PointerSetting::Entry{layer.value, layer.library});
  }
};

}  // namespace

void PointerSetting::publish() { entry_.store(Settings::get().entry_of(layers_->top()), std::memory_order_release); }

void* PointerSetting::set(void* value) {
  Settings& settings = Settings::get();
  const std::lock_guard lock(settings.mutex);
  if (layers_ == nullptr) layers_ = new SettingStack<void*>(nullptr);
  LibraryResources* const library = LibraryUndoLog::loading();
  if (library != nullptr && value != nullptr && !layers_->has(library)) {
    LibraryUndoLog::current()->add([this, library] {
      Settings& now = Settings::get();
      const std::lock_guard removing(now.mutex);
      layers_->remove(library);
      publish();
    });
  }
  void* const before = layers_->top().value;
  if (value == nullptr) {
    layers_->remove(library);
  } else {
    layers_->set(value, library);
  }
  publish();
  return before;
}

void PointerSetting::remove(void* value) {
  const std::lock_guard lock(Settings::get().mutex);
  if (layers_ == nullptr) return;
  layers_->remove_if([value](const auto& layer) { return layer.value == value; });
  publish();
}

}  // namespace keyway::inline v1::detail
