// An operator with a gradient of the plug-in's own.
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/keyway.h>

namespace {

using namespace keyway;

struct PluginCube : autograd::Function<PluginCube> {
  static Tensor forward(autograd::AutogradContext& ctx, const Tensor& x) {
    ctx.save_for_backward({x});
    return x * x * x;
  }
  static autograd::variable_list backward(autograd::AutogradContext& ctx, autograd::variable_list grads) {
    const Tensor x = ctx.saved_tensors()[0];
    return {grads[0] * x * x * 3};
  }
};

}  // namespace

KEYWAY_PLUGIN(cube, plugin) {
  plugin.library("graphs").def("cube(Tensor self) -> Tensor");
  plugin.impl("graphs", DispatchKey::CPU).impl("cube", [](const Tensor& self) { return self * self * self; });
  plugin.impl("graphs", DispatchKey::Autograd).impl("cube", [](const Tensor& self) { return PluginCube::apply(self); });
}
