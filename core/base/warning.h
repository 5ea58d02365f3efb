// Warnings: what is allowed and most likely not meant.
#pragma once

#include <keyway/core/base/macros.h>

#include <functional>
#include <string_view>

namespace keyway::inline v1 {

// Gives `text` to the handler: from any thread, while no lock of the library is held.
KEYWAY_API void warn(std::string_view text);

using WarningHandler = std::function<void(std::string_view text)>;
// What is done with warnings from now on; gives the handler before. The first one prints "[keyway] warning: ..." on
// standard error; an empty one drops them. Several threads may call a handler at once.
KEYWAY_API WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace keyway::inline v1
