#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/setting.h>
#include <keyway/core/base/warning.h>

#include <cstdio>
#include <mutex>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

namespace {

void print(std::string_view text) {
  std::fprintf(stderr, "[keyway] warning: %.*s\n", static_cast<int>(text.size()), text.data());
}

// Never destroyed: what runs at exit may warn.
struct Warnings {
  ForkSafeMutex mutex{LockOrder::Warnings};
  SettingStack<WarningHandler> handlers{print};

  static Warnings& get() {
    static Warnings& warnings = *new Warnings;
    return warnings;
  }
};

constinit thread_local HeldWarnings* held = nullptr;

}  // namespace

HeldWarnings::HeldWarnings() noexcept : outer_(std::exchange(held, this)) {}

HeldWarnings::~HeldWarnings() {
  held = outer_;
  for (const std::string& text : texts_) try_warn(text);
}

void try_warn(std::string_view text) noexcept {
  try {
    warn(text);
  } catch (...) {  // a handler that throws has nobody to throw to
  }
}

void warn(std::string_view text) {
  if (held != nullptr) {
    held->texts_.emplace_back(text);
    return;
  }
  // Not under the lock: a handler may wait for another thread, or warn.
  WarningHandler handler;
  {
    Warnings& warnings = Warnings::get();
    const std::lock_guard lock(warnings.mutex);
    handler = warnings.handlers.top().value;
  }
  if (handler) handler(text);
}

WarningHandler set_warning_handler(WarningHandler handler) {
  Warnings& warnings = Warnings::get();
  const std::lock_guard lock(warnings.mutex);
  LibraryResources* const library = LibraryUndoLog::loading();
  if (library != nullptr && !warnings.handlers.has(library)) {
    LibraryUndoLog::current()->add([library] {
      Warnings& now = Warnings::get();
      std::vector<SettingStack<WarningHandler>::Layer> gone;  // whose code runs as they go: with no lock held
      const std::lock_guard removing(now.mutex);
      gone = now.handlers.remove(library);
    });
  }
  return warnings.handlers.set(std::move(handler), library);
}

}  // namespace keyway::inline v1
