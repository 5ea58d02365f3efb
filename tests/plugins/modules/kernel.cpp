// A kernel that owns memory, and a thing that is kept and tells of its end.
#include <keyway/dispatch/plugin/plugin.h>

namespace {

using namespace keyway;

class Farewell {
 public:
  explicit Farewell(std::int64_t number) : number_(number) {}
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;
  ~Farewell() {
    if (const auto note = Dispatcher::singleton().find_op("plugins::note")) {
      note->typed<void(std::int64_t)>().call(number_);
    }
  }

 private:
  std::int64_t number_;
};

}  // namespace

KEYWAY_PLUGIN(kernel, plugin) {
  plugin.keep(std::make_unique<Farewell>(1));
  plugin.keep(std::make_unique<Farewell>(2));
  plugin.fragment("plugins").def("own(Tensor self) -> int");
  const auto value = std::make_shared<std::int64_t>(7);
  plugin.impl("plugins", DispatchKey::CPU)
      .impl("own", [value](const TensorBase&) { return *value; })
      .impl("shared", [value](const TensorBase&) { return *value; });
}
