// write_if_changed: a file whose text stays the same keeps its time, so that nothing that depends on it is
// rebuilt.
#pragma once

#include <filesystem>
#include <string_view>

namespace keyway::inline v1 {

// Makes the folders that are missing. Whoever reads the file meanwhile sees the old text or the new one,
// whole. Returns whether it wrote. Throws keyway::Error where the system refuses.
bool write_if_changed(const std::filesystem::path& path, std::string_view text);

// The text of a file. Throws keyway::Error.
std::string read_file(const std::filesystem::path& path);

}  // namespace keyway::inline v1
