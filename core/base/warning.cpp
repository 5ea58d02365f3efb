#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/base/load_changes.h>
#include <keyway/core/base/warning.h>

#include <cstdint>
#include <cstdio>
#include <utility>

namespace keyway::inline v1 {

namespace {

void print(std::string_view text) {
  std::fprintf(stderr, "[keyway] warning: %.*s\n", static_cast<int>(text.size()), text.data());
}

// Never destroyed: what runs at exit may warn.
struct Warnings {
  ForkSafeMutex mutex{LockOrder::Warnings};
  WarningHandler handler = print;
  std::uint64_t changes = 0;  // of the handler

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
  for (const std::string& text : texts_) {
    try {
      warn(text);
    } catch (...) {  // a handler that throws has nobody to throw to
    }
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
    handler = warnings.handler;
  }
  if (handler) handler(text);
}

WarningHandler set_warning_handler(WarningHandler handler) {
  Warnings& warnings = Warnings::get();
  const std::lock_guard lock(warnings.mutex);
  if (LoadChanges* const changes = LoadChanges::current()) {
    changes->add([before = warnings.handler, change = warnings.changes + 1]() mutable {
      Warnings& now = Warnings::get();
      const std::lock_guard putting_back(now.mutex);
      if (now.changes != change) return;
      now.handler = std::move(before);
      --now.changes;
    });
  }
  ++warnings.changes;
  return std::exchange(warnings.handler, std::move(handler));
}

}  // namespace keyway::inline v1
