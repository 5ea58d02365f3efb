// Operators whose kernels warn: in the thread of the call, in another one, and where what is thrown is caught.
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tensor.h>

#include <exception>
#include <string_view>
#include <thread>

KEYWAY_PLUGIN(warns, plugin) {
  using keyway::Tensor;
  using keyway::warn;
  plugin.library("warns")
      .def("here(Tensor self, str text) -> Tensor",
           [](const Tensor& self, std::string_view text) {
             warn(text);
             return self + self;
           })
      .def("elsewhere(Tensor self, str text) -> Tensor",
           [](const Tensor& self, std::string_view text) {
             std::thread([&] { warn(text); }).join();
             return self + self;
           })
      .def("caught(Tensor self, str text) -> Tensor", [](const Tensor& self, std::string_view text) {
        try {
          warn(text);
        } catch (const std::exception&) {
          return self.clone();
        }
        return self + self;
      });
}
