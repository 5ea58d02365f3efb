#include <keyway/core/base/error.h>
#include <keyway/dispatch/plugin/elf_note.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/plugin/plugin_contents.h>
#include <keyway/dispatch/plugin/plugin_file.h>
#include <keyway/dispatch/plugin/seal.h>
#include <keyway/dispatch/plugin/stable_abi.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace keyway::inline v1 {

namespace {

template <typename F>
auto naming(const std::string& path, F f) {
  try {
    return f();
  } catch (const Error& error) {
    KEYWAY_FAIL(Registration, "plug-in {}: {}", path, error.what());
  }
}

template <typename T>
T read_at(std::string_view bytes, std::size_t at) {
  T value{};
  if (bytes.size() >= at + sizeof(value)) std::memcpy(static_cast<void*>(&value), bytes.data() + at, sizeof(value));
  return value;
}

// offsetof() is for types of standard layout only.
std::uint64_t offset_of_seal() {
  const PluginEntry entry{};
  return static_cast<std::uint64_t>(reinterpret_cast<const char*>(&entry.seal) - reinterpret_cast<const char*>(&entry));
}

std::uint64_t seal_offset_of(const PluginFile& file) {
  KEYWAY_CHECK_AS(Registration, file.seal_offset(), "a plug-in of the stable C ABI has no manifest");
  return *file.seal_offset();
}

// Beside it and then in its place: nobody sees half of it, and processes that have it mapped keep the old one.
void replace_file(const std::string& path, const std::string& bytes) {
  namespace fs = std::filesystem;
  const std::string beside = path + ".describe-" + std::to_string(getpid());
  std::error_code failure;
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
  if (out) fs::permissions(beside, fs::status(path).permissions(), failure);
  if (out && !failure) fs::rename(beside, path, failure);
  if (out && !failure) return;
  std::error_code none;
  fs::remove(beside, none);
  KEYWAY_FAIL(Registration, "it cannot be written{}{}", failure ? ": " : "", failure ? failure.message() : "");
}

}  // namespace

PluginFile::PluginFile(const std::string& path) : image_(path) {
  KEYWAY_CHECK_AS(Registration, image_.problem().empty(), "{}", image_.problem());
  const std::optional<std::string_view> bytes = image_.object("keyway_plugin");
  if (!bytes && needs_stable_abi(image_)) return;
  KEYWAY_CHECK_AS(Registration, bytes, "it exports no keyway_plugin: KEYWAY_PLUGIN is missing");
  const auto abi = read_at<std::uint32_t>(*bytes, 0), size = read_at<std::uint32_t>(*bytes, sizeof(abi));
  KEYWAY_CHECK_AS(Registration, abi == kPluginAbi,
                  "it is built against other headers: their layout is {}, and that of this library {}; rebuild it", abi,
                  kPluginAbi);
  KEYWAY_CHECK_AS(Registration, size == sizeof(PluginEntry) && bytes->size() >= size,
                  "its keyway_plugin is not what KEYWAY_PLUGIN makes");
  KEYWAY_CHECK_AS(Registration, read_at<PluginEntry>(*bytes, 0).interfaces == PluginInterfaces(),
                  "it is built against other headers: an interface there has another number of virtual functions; "
                  "rebuild it");
  seal_offset_ = static_cast<std::uint64_t>(bytes->data() - image_.bytes().data()) + offset_of_seal();
}

std::optional<PluginManifest> PluginFile::sealed_manifest() const {
  if (!seal_offset_) return std::nullopt;
  const auto seal = read_at<std::uint64_t>(bytes(), *seal_offset_);
  const std::optional<std::string_view> note = find_manifest_note(bytes());
  if (seal == 0 && !note) return std::nullopt;
  KEYWAY_CHECK_AS(
      Registration, note,
      "its manifest is gone: it is cut short or damaged, or a tool has removed the section {}, as llvm-strip "
      "does if it is not told to keep it",
      kManifestSection);
  KEYWAY_CHECK_AS(Registration, seal_of(bytes(), *seal_offset_, *note) == seal,
                  "it is damaged: it is no more what its manifest was made for. If a tool has changed it, such as "
                  "patchelf, write its manifest anew with `keyway plugin describe`");
  return parse_plugin_manifest(*note);
}

std::optional<PluginManifest> check_plugin(const std::string& path) {
  return naming(path, [&] {
    std::optional<PluginManifest> manifest = PluginFile(path).sealed_manifest();
    if (manifest) check_surroundings(*manifest);
    return manifest;
  });
}

bool is_plugin_file(const std::string& path) {
  return naming(path, [&] {
    const ElfImage image(path);
    return !image.problem().empty() || image.object("keyway_plugin") || needs_stable_abi(image);
  });
}

std::optional<PluginManifest> read_plugin_manifest(const std::string& path) {
  return naming(path, [&]() -> std::optional<PluginManifest> {
    const ElfImage image(path);
    if (const auto note = find_manifest_note(image.bytes())) return parse_plugin_manifest(*note);
    KEYWAY_CHECK_AS(Registration, image.problem().empty(), "{}", image.problem());
    return std::nullopt;
  });
}

void write_plugin_manifest(const std::string& path, const PluginManifest& manifest) {
  naming(path, [&] {
    const std::string text = to_json(manifest);
    const PluginFile file(path);
    const std::uint64_t at = seal_offset_of(file);
    std::string bytes = with_manifest_note(file.bytes(), text);
    const std::uint64_t seal = seal_of(bytes, at, text);
    std::memcpy(bytes.data() + at, &seal, sizeof(seal));
    replace_file(path, bytes);
  });
}

void remove_plugin_manifest(const std::string& path) {
  naming(path, [&] {
    const PluginFile file(path);
    const std::uint64_t at = seal_offset_of(file);
    std::string bytes = without_manifest_note(file.bytes());
    std::memset(bytes.data() + at, 0, sizeof(std::uint64_t));
    if (bytes != file.bytes()) replace_file(path, bytes);
  });
}

}  // namespace keyway::inline v1
