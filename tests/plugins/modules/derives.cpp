// A plug-in that computes derivatives, for all examples of a batch and in autocast, while it is loaded: where these are
// used for the first time, what they set is the process's and not the plug-in's.
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/keyway.h>

KEYWAY_PLUGIN(derives, plugin) {
  using namespace keyway;
  const Tensor x = full({2, 2}, 3.0);
  Tensor tangent;
  {
    const DualLevel level;
    tangent = unpack_dual(x * make_dual(x, full({2, 2}, 1.0))).tangent;
  }
  Tensor squares;
  {
    const Vmap batch(2);
    const Tensor row = batch.add_batch_dim(x);
    squares = batch.remove_batch_dim(row * row);
  }
  const AutocastMode autocast(DeviceType::CPU);
  const Tensor product = mm(x, x);
  KEYWAY_CHECK(tangent.sum().item<double>() == 12 && squares.sum().item<double>() == 36 &&
                   product.dtype() == ScalarType::BFloat16,
               "derives: wrong results");
  plugin.library("derives");
}
