// with_breaks: generated C++ in lines that people can read.
#pragma once

#include <string>
#include <string_view>

namespace keyway::inline v1 {

// `text` with each line that is too long broken, as far out as there is a place: after a comma or a logical operator,
// else within a string literal after a blank. What follows is indented by four more. Comments stay as they are.
std::string with_breaks(std::string_view text);

}  // namespace keyway::inline v1
