// Loads the plug-in of the first argument and lets it go.
#include <keyway/dispatch/plugin/plugin.h>

#include <cstdio>
#include <fstream>
#include <iterator>

int main(int, char** argv) {
  using namespace keyway;
  const std::string path = argv[1];
  LoadedPlugin plugin = load_plugin(path);
  const auto half = Dispatcher::singleton().op("halves::half").typed<std::int64_t(std::int64_t)>();
  std::printf("%s: half of 14 is %d\n", plugin.name().c_str(), static_cast<int>(half.call(14)));
  plugin.unload();
  std::ifstream maps("/proc/self/maps");
  const std::string mapped{std::istreambuf_iterator<char>(maps), {}};
  std::printf("%s\n", mapped.find(path) == std::string::npos ? "unloaded" : "still there");
}
