// What a plug-in asks to register, beside what its manifest says. Internal to dispatch/.
#pragma once

#include <keyway/dispatch/plugin/manifest.h>
#include <keyway/dispatch/registry/dispatcher.h>

#include <optional>
#include <string>

namespace keyway::inline v1 {

void add_contents(PluginContents& to, const BlockRequest& from);

// Throws keyway::Error(Registration) that lists what `contents` has and the manifest does not say. Requires: the
// library blocks are not registered yet.
void check_nothing_else(const PluginManifest& manifest, const PluginContents& contents);
// The same, and what the manifest says and `contents` lacks, and another name. Kernels that differ because the registry
// has other overloads than the one that the manifest was made with are no difference: Library::kernel() serves those
// that there are.
void check_as_said(const PluginManifest& manifest, const std::string& name, const PluginContents& contents);

// Throws keyway::Error(Registration) if an operator's schema is another one than the plug-in was built against, with
// both texts, or a plug-in that it needs is not loaded.
void check_surroundings(const PluginManifest& manifest);

}  // namespace keyway::inline v1
