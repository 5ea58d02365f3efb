// An operator made of others, as Python calls it.
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tensor.h>

KEYWAY_PLUGIN(twice, plugin) {
  using keyway::Tensor;
  plugin.library("doubling")
      .def("twice(Tensor self, *, int times=1) -> Tensor",
           [](const Tensor& self, std::int64_t times) {
             Tensor result = self;
             for (std::int64_t i = 0; i < times; ++i) result = result + result;
             return result;
           })
      .tags({"pointwise"});
}
