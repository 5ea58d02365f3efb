// Small helpers for error texts.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/core/base/macros.h>

#include <string>
#include <string_view>

namespace keyway::inline v1 {

// The text of `candidates`, other than `text` itself, that a misspelt one may mean: at most a third of its letters
// differ. Empty if none is near.
KEYWAY_API std::string nearest_text(std::string_view text, ArrayRef<std::string> candidates);

}  // namespace keyway::inline v1
