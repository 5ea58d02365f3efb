// Warnings: what is allowed and most likely not meant.
#pragma once

#include <keyway/core/base/macros.h>

#include <functional>
#include <string_view>

namespace keyway::inline v1 {

// Gives `text` to the handler: from any thread, one at a time.
KEYWAY_API void warn(std::string_view text);

using WarningHandler = std::function<void(std::string_view text)>;
// What is done with warnings from now on; gives the handler before. The first one prints "[keyway] warning: ..." on
// standard error; an empty one drops them. A handler must not warn.
KEYWAY_API WarningHandler set_warning_handler(WarningHandler handler);

}  // namespace keyway::inline v1
