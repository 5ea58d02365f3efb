// Devices whose memory is the CPU's, and nothing else.
#include <keyway/core/device/device_backend.h>
#include <keyway/dispatch/plugin/plugin.h>

KEYWAY_PLUGIN(devices, plugin) { plugin.keep(keyway::register_device_backend(keyway::register_device_type("dev5"))); }
