// The manifest of a plug-in: what its file says of it, as JSON in an ELF note, which is read before any of its code
// runs. `keyway plugin describe` loads a plug-in that was just built, and writes what it registers.
//
// The manifest is sealed: a number in keyway_plugin is a hash of it and of all that the loader would map. So a file
// that is damaged anywhere in these is refused.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

class LoadedPlugin;

// What a plug-in registers.
struct PluginContents {
  std::set<std::string> operators;                       // schemas, as its code has them
  std::map<std::string, std::set<std::string>> kernels;  // dispatch keys, by the operator's full name
  std::set<std::string> fallbacks;                       // dispatch keys
  std::set<std::string> device_types;                    // those that its device guards serve
  friend bool operator==(const PluginContents&, const PluginContents&) = default;
};

// What must be there for a plug-in to work. Loading one refuses while a plug-in is missing. What else is missing may
// come later: kernels wait for their operators and devices.
struct PluginNeeds {
  std::set<std::string> plugins;       // by name, as the author has said
  std::set<std::string> operators;     // it has kernels for them, and they were unknown when the manifest was made
  std::set<std::string> device_types;  // it has kernels for them, and another library serves them
  friend bool operator==(const PluginNeeds&, const PluginNeeds&) = default;
};

struct PluginManifest {
  std::string name;       // of KEYWAY_PLUGIN
  std::string version;    // its own; empty if its author gives none
  std::string keyway;     // the version of Keyway that it was built against
  std::uint32_t abi = 0;  // kPluginAbi of its headers
  PluginContents registers;
  // The schemas, by full name, of operators that it has kernels for and does not define: as they were when the manifest
  // was made. A library that has one of them otherwise refuses the plug-in.
  std::map<std::string, std::string> schemas;
  PluginNeeds needs;
  friend bool operator==(const PluginManifest&, const PluginManifest&) = default;
};

// Throws keyway::Error(Value) for texts that are not UTF-8.
KEYWAY_API std::string to_json(const PluginManifest& manifest);
// Throws keyway::Error(Parse) for text that is no manifest.
KEYWAY_API PluginManifest parse_plugin_manifest(std::string_view json);

// What the file says; nullopt if it has no manifest. Also of plug-ins that this library cannot load, such as those for
// another machine. Throws keyway::Error: Registration if the file is no shared library, Parse if the manifest is
// damaged.
KEYWAY_API std::optional<PluginManifest> read_plugin_manifest(const std::string& path);
// Throws what load_plugin() would throw before it runs code of the plug-in; returns what the file says.
KEYWAY_API std::optional<PluginManifest> check_plugin(const std::string& path);

// Whether load_plugin() is for that file: it has a KEYWAY_PLUGIN, or needs the stable C ABI. Also of what is no shared
// library, of which load_plugin() says so. Other libraries that register operators are load_library()'s.
KEYWAY_API bool is_plugin_file(const std::string& path);

// The manifest of a plug-in that is loaded, without versions and needed plug-ins, which its author has to say.
KEYWAY_API PluginManifest manifest_of(const LoadedPlugin& plugin);
// Puts a manifest into a plug-in's file, in place of the one that it may have, and seals it. Throws
// keyway::Error(Registration) if the file is no plug-in of this library's headers or cannot be written; then it is as
// it was.
KEYWAY_API void write_plugin_manifest(const std::string& path, const PluginManifest& manifest);
// Takes the manifest and the seal away, so that a file that a tool has changed can be loaded. Throws as
// write_plugin_manifest() does.
KEYWAY_API void remove_plugin_manifest(const std::string& path);

}  // namespace keyway::inline v1
