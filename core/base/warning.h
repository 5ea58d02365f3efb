// Warnings: what is allowed and most likely not meant.
#pragma once

#include <keyway/core/base/macros.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// Gives `text` to the handler: from any thread, while no lock of the library is held. Throws what the handler throws.
KEYWAY_API void warn(std::string_view text);
// The same where nothing may be thrown: what a handler throws is lost.
KEYWAY_API void try_warn(std::string_view text) noexcept;

// While it lives, warnings of this thread wait: for those who do what may warn with a lock held that others wait for.
// It stands before the lock.
class KEYWAY_API HeldWarnings {
 public:
  HeldWarnings() noexcept;
  HeldWarnings(const HeldWarnings&) = delete;
  HeldWarnings& operator=(const HeldWarnings&) = delete;
  ~HeldWarnings();
  // Those that wait, which the handler does not hear then: for a caller who tells of them himself.
  std::vector<std::string> take() noexcept { return std::exchange(texts_, {}); }

 private:
  HeldWarnings* const outer_;
  std::vector<std::string> texts_;
  friend KEYWAY_API void warn(std::string_view text);
};

using WarningHandler = std::function<void(std::string_view text)>;
// What is done with warnings from now on; gives the handler before. The first one prints "[keyway] warning: ..." on
// standard error; an empty one drops them. Several threads may call a handler at once. What a plug-in sets in its setup
// function goes with it; what it sets later is the program's and outlives it (setting.h).
KEYWAY_API WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace keyway::inline v1
