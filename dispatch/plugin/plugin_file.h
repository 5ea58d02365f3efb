// PluginFile: a plug-in as it lies in its file, before the loader maps it. Internal to dispatch/.
#pragma once

#include <keyway/dispatch/plugin/elf_image.h>
#include <keyway/dispatch/plugin/manifest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

class PluginFile {
 public:
  // Throws keyway::Error(Registration) for a file that cannot be a plug-in for this library: its headers or tables are
  // damaged, or it was built against other headers.
  explicit PluginFile(const std::string& path);

  std::string_view bytes() const { return image_.bytes(); }
  // Where in the file PluginEntry::seal is; nullopt for a plug-in of the stable C ABI, which has no such entry.
  std::optional<std::uint64_t> seal_offset() const { return seal_offset_; }
  // Its manifest; nullopt if it has none. Throws keyway::Error(Registration) if the seal does not fit the file.
  std::optional<PluginManifest> sealed_manifest() const;

 private:
  ElfImage image_;
  std::optional<std::uint64_t> seal_offset_;
};

}  // namespace keyway::inline v1
