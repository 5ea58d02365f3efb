// A class, operators that give and take its objects, and an object that the plug-in keeps to itself.
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/registry/class_builder.h>

namespace {

using namespace keyway;

struct Counter : CustomClassHolder {
  std::int64_t count = 0;
};
struct Own : CustomClassHolder {};

}  // namespace

KEYWAY_PLUGIN(classes, plugin) {
  static const auto own = make_intrusive<Own>();
  Library& m = plugin.library("plugin_classes");
  m.class_<Own>("Own");
  m.class_<Counter>("Counter").def(constructor<>()).def("count", [](const intrusive_ptr<Counter>& self) {
    return ++self->count;
  });
  m.def("pair", [] {
    return std::vector<intrusive_ptr<Counter>>{make_intrusive<Counter>(), make_intrusive<Counter>()};
  });
  m.def("has_own", [] { return own->use_count() == 1; });
}
