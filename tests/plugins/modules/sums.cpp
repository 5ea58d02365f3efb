// A kernel in out style, which serves several overloads.
#include <keyway/dispatch/plugin/plugin.h>

KEYWAY_PLUGIN(sums, plugin) {
  using namespace keyway;
  plugin.impl("keyway", runtime_key(Functionality::Dense, register_device_type("npu")))
      .kernel(
          "add.Tensor", +[](const TensorBase&, const TensorBase&, const Scalar&, TensorBase&) {});
}
