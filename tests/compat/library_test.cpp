// A block of operators in PyTorch's spelling, called through the dispatcher. What they compute is plain arithmetic.
#include <keyway/tests/catch.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <torch/autograd.h>
#include <torch/library.h>
#include <torch/script.h>
#include <tuple>
#include <vector>

using keyway::testing::error_of;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace {

at::Tensor add_all(at::TensorList tensors, const c10::optional<at::Tensor>& start, double scale) {
  at::Tensor sum = start.has_value() ? *start : at::zeros({1});
  for (const at::Tensor& tensor : tensors) sum = sum + tensor * scale;
  return sum;
}

struct Power : torch::autograd::Function<Power> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, int64_t exponent) {
    context->save_for_backward({x});
    context->saved_data["exponent"] = exponent;
    return x.pow(exponent);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor x = context->get_saved_variables()[0];
    const int64_t exponent = context->saved_data["exponent"].toInt();
    return {gradients[0] * exponent * x.pow(exponent - 1), at::Tensor()};
  }
};

// Gives one gradient too few.
struct Forgetful : torch::autograd::Function<Forgetful> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, const at::Tensor& y) { return x * y; }
  static variable_list backward(AutogradContext*, const variable_list& gradients) { return {gradients[0]}; }
};

}  // namespace

TORCH_LIBRARY(compat_test, m) {
  m.def("add_all(Tensor[] tensors, Tensor? start=None, *, float scale=1.0) -> Tensor");
  m.def("minmax(Tensor self) -> (Tensor, Tensor)",
        [](const at::Tensor& self) { return std::tuple<at::Tensor, at::Tensor>(self.min(), self.max()); });
  m.def("values(Dict(str, Tensor) named, str[] keys) -> Tensor[]",
        [](const c10::Dict<std::string, at::Tensor>& named, const std::vector<std::string>& keys) {
          std::vector<at::Tensor> out;
          for (const std::string& key : keys) out.push_back(named.at(key));
          return out;
        });
  m.def("longest(int[] sizes) -> int", [](const c10::List<int64_t>& sizes) {
    int64_t most = 0;
    for (const int64_t size : sizes) most = std::max(most, size);
    return most;
  });
}
TORCH_LIBRARY_IMPL(compat_test, CPU, m) { m.impl("add_all", TORCH_FN(add_all)); }
TORCH_LIBRARY_FRAGMENT(compat_test, m) {
  m.def("late() -> int", [] { return int64_t{7}; });
}

TEST_CASE("operators of a block are called typed and boxed") {
  const auto op = c10::Dispatcher::singleton()
                      .findSchemaOrThrow("compat_test::add_all", "")
                      .typed<at::Tensor(at::TensorList, const c10::optional<at::Tensor>&, double)>();
  const std::vector<at::Tensor> tensors{torch::ones({2}), torch::full({2}, 2.0)};
  CHECK(op.call(tensors, torch::full({2}, 0.5), 2.0).sum().item<double>() == 13.0);
  CHECK(op.call(tensors, c10::nullopt, 1.0).sum().item<double>() == 6.0);

  c10::Stack stack{torch::tensor({3.0, -1.0, 2.0})};
  c10::Dispatcher::singleton().findSchemaOrThrow("compat_test::minmax", "").callBoxed(stack);
  REQUIRE(stack.size() == 2);
  CHECK((stack[0].toTensor().item<double>() == -1.0 && stack[1].toTensor().item<double>() == 3.0));
}

TEST_CASE("dictionaries and lists come through") {
  c10::Dict<std::string, at::Tensor> named;
  named.insert("a", torch::ones({1}));
  named.insert("b", torch::full({1}, 4.0));
  const auto values = c10::Dispatcher::singleton().findSchemaOrThrow("compat_test::values", "");
  c10::Stack stack{named, std::vector<std::string>{"b"}};
  values.callBoxed(stack);
  CHECK(stack[0].toTensorVector().at(0).item<double>() == 4.0);
  c10::Stack missing{named, std::vector<std::string>{"c"}};
  CHECK_THROWS_AS(values.callBoxed(missing), std::out_of_range);

  c10::Stack sizes{std::vector<int64_t>{4, 9, 2}};
  c10::Dispatcher::singleton().findSchemaOrThrow("compat_test::longest", "").callBoxed(sizes);
  CHECK(sizes[0].toInt() == 9);
  c10::Stack none;
  c10::Dispatcher::singleton().findSchemaOrThrow("compat_test::late", "").callBoxed(none);
  CHECK(none[0].toInt() == 7);
  CHECK_THROWS_AS(c10::Dispatcher::singleton().findSchemaOrThrow("compat_test::nothing", ""), c10::Error);
}

TEST_CASE("a function has the gradients that its backward gives, and one too few is an error") {
  const at::Tensor x = torch::tensor({1.0, 2.0, 3.0}, torch::dtype(torch::kDouble).requires_grad(true));
  Power::apply(x, 3).sum().backward();
  CHECK(x.grad().equal(torch::tensor({3.0, 12.0, 27.0}, torch::kDouble)));
  const at::Tensor y = torch::ones({3}, torch::kDouble).requires_grad_(true);
  CHECK_FALSE(error_of([&] { Forgetful::apply(x, y).sum().backward(); }).empty());
}
