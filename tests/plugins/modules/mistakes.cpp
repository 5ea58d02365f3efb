// Does one thing wrong, as MISTAKE says.
#include <keyway/dispatch/plugin/plugin.h>

#include <exception>

namespace {

using namespace keyway;

struct Own final : std::exception {
  const char* what() const noexcept override { return "an exception of the plug-in's own"; }
};

[[maybe_unused]] void set_up(Plugin& plugin) {
  plugin.fragment("plugins").def("half(Tensor self) -> int");
#if MISTAKE == 1
  throw Own();
#elif MISTAKE == 2
  throw 7;
#elif MISTAKE == 3
  plugin.fragment("plugins").def("where(Tensor self) -> str");
  plugin.impl("plugins", DispatchKey::CPU).impl("half", [](std::int64_t n) { return n; });
#endif
}

}  // namespace

#if MISTAKE <= 3
KEYWAY_PLUGIN(mistakes, plugin) { set_up(plugin); }
#elif MISTAKE == 4  // of another version
extern "C" {
extern KEYWAY_API const PluginEntry keyway_plugin;
const PluginEntry keyway_plugin = {kPluginAbi + 1, sizeof(PluginEntry), "mistakes", __FILE__, __LINE__, set_up};
}
#elif MISTAKE == 5  // of another layout
extern "C" {
extern KEYWAY_API const PluginEntry keyway_plugin;
const PluginEntry keyway_plugin = {kPluginAbi, sizeof(PluginEntry) + 8, "mistakes", __FILE__, __LINE__, set_up};
}
#elif MISTAKE == 6  // names what nobody has
extern "C" void keyway_nobody_has_this();
KEYWAY_PLUGIN(mistakes, plugin) {
  keyway_nobody_has_this();
  set_up(plugin);
}
#endif
