// A note in the sections of a shared library's file: read without trusting anything in it. Internal to dispatch/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

// How the manifest of a plug-in is found: the section, the note's owner and its type.
inline constexpr std::string_view kManifestSection = ".note.keyway";
inline constexpr std::string_view kManifestOwner = "Keyway";
inline constexpr std::uint32_t kManifestNote = 0x4b57;

// What the note says, a part of `file`; nullopt if there is none, or the file is no 64-bit ELF file of this machine's
// order of bytes.
std::optional<std::string_view> find_manifest_note(std::string_view file);
// The file with the note, in place of the one that it has. Segments stay where they are: what is new stands at the end,
// and only the header says where. Throws keyway::Error(Registration) for a file without sections.
std::string with_manifest_note(std::string_view file, std::string_view text);
// The file without the note: it is found no more.
std::string without_manifest_note(std::string_view file);

}  // namespace keyway::inline v1
