// The seal of a plug-in: one number for all of a file that the loader maps, and for its manifest. Internal to
// dispatch/.
#pragma once

#include <cstdint>
#include <string_view>

namespace keyway::inline v1 {

// The number, never 0. A damaged file has the same one once in 2^64 times. It is no defence against whoever wants to
// deceive: they can seal a file anew.
//
// Not in it are the parts that tools rewrite when they install a library: where the table of sections is, which strip
// moves, and the path where libraries are looked for (DT_RUNPATH, DT_RPATH), which CMake's installation changes or
// removes; nor the eight bytes at `seal_offset`, where the number is kept. Requires: `file` is one that ElfImage finds
// no problem in.
std::uint64_t seal_of(std::string_view file, std::uint64_t seal_offset, std::string_view manifest);

}  // namespace keyway::inline v1
