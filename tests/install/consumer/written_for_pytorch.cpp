// A library of operators as one writes it for PyTorch, over the installed package: its build file finds Torch.
#include <ATen/ATen.h>
#include <cstdio>
#include <torch/library.h>
#include <torch/script.h>

namespace {

at::Tensor scale(const at::Tensor& self, double by) {
  TORCH_CHECK(self.is_floating_point(), "scale: self is ", self.scalar_type());
  at::Tensor out = at::empty_like(self);
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "scale", [&] {
    for (int64_t i = 0; i < self.numel(); ++i)
      out.data_ptr<scalar_t>()[i] = self.data_ptr<scalar_t>()[i] * static_cast<scalar_t>(by);
  });
  return out;
}

}  // namespace

TORCH_LIBRARY(ported, m) {
  m.def("scale(Tensor self, float by) -> Tensor");
  m.def("count", [](const c10::Dict<std::string, at::Tensor>& named) { return static_cast<int64_t>(named.size()); });
}
TORCH_LIBRARY_IMPL(ported, CPU, m) { m.impl("scale", TORCH_FN(scale)); }

int main() {
  const auto op = c10::Dispatcher::singleton().op("ported::scale").typed<at::Tensor(const at::Tensor&, double)>();
  std::printf("%g\n", op.call(torch::full({2}, 1.5), 2.0).sum().item<double>());
  c10::Dict<std::string, at::Tensor> named;
  named.insert("x", torch::ones({1}));
  c10::Stack stack{named};
  c10::Dispatcher::singleton().op("ported::count").call_boxed(stack);
  std::printf("%d\n", static_cast<int>(stack[0].toInt()));
  try {
    op.call(torch::ones({1}, torch::kLong), 2.0);
  } catch (const c10::Error& error) {
    std::printf("%s\n", error.what());
  }
}
