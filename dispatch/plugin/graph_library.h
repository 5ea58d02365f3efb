// load_graph_library: how the graph backend of a device type, which may be a library of its own, comes.
// Internal to libkeyway.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/device/device.h>

#include <string>

namespace keyway::inline v1 {

// Loads the plug-in libkeyway_<type>_graph.so, where it lies beside libkeyway.so or in a folder of KEYWAY_PLUGIN_PATH,
// and nobody has loaded it. Returns why a file that is there cannot be loaded; empty if it is loaded, or there is none.
// Requires: no lock is held that the plug-in's function may want.
KEYWAY_API std::string load_graph_library(DeviceType type);

}  // namespace keyway::inline v1
