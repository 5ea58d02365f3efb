// Libraries over the C++ layer, by the tree's compiler and by another one.
#include <keyway/dispatch/inspect/snapshot.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tests/plugins/plugin_files.h>
#include <keyway/tests/stable/handles.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

OperatorHandle layer_op(const std::string& name) { return Dispatcher::singleton().op("layer::" + name); }

// The compilers there are.
std::vector<std::string> modules() {
  std::vector<std::string> all{"layer"};
#if defined(KEYWAY_TEST_OTHER_COMPILER)
  all.push_back("layer_other");
#endif
  return all;
}

Stack one_of_each_in_cpp() {
  const Tensor a = ones({2}), b = zeros({1, 3}, kInt64);
  return {a,
          b,
          std::int64_t{-3},
          0.25,
          true,
          "text",
          kBFloat16,
          Layout::Strided,
          MemoryFormat::ChannelsLast,
          Device(DeviceType::CUDA, 1),
          Generator(),
          2.5,
          complex<double>(1, -2),
          IValue(),
          std::vector<std::int64_t>{1, -1},
          std::vector<double>{0.5},
          std::vector<bool>{true, false},
          std::vector<TensorBase>{a, b},
          std::vector<TensorBase>{a, TensorBase()},
          std::vector<std::string>{"", "b"},
          std::vector<std::optional<std::int64_t>>{1, std::nullopt},
          std::vector<std::vector<std::int64_t>>{{1}, {}},
          std::vector<Scalar>{Scalar(1), Scalar(0.5), Scalar(true), Scalar(complex<double>(0, 1))}};
}

}  // namespace

TEST_CASE("kernels as C++ functions compute, record gradients, and tell what they are given") {
  for (const std::string& module : modules()) {
    INFO(module);
    const LoadedPlugin plugin = load_plugin(plugin_module(module).string());
    const Tensor x = arange(60, TensorOptions(kFloat64)).reshape({5, 12}).t();
    CHECK(equal(layer_op("scale").typed<Tensor(const Tensor&, double)>().call(x, 0.5), x * 0.5));
    const Tensor leaf = ones({3}).requires_grad_(true);
    layer_op("scale_by_operators").typed<Tensor(const Tensor&, double)>().call(leaf, 3).sum().backward();
    CHECK(equal(leaf.grad(), full({3}, 3.0)));
    const auto [values, indices] =
        layer_op("sorted").typed<std::tuple<Tensor, Tensor>(const Tensor&)>().call(x.flip({0}));
    CHECK(equal(values, std::get<0>(x.flip({0}).sort())));
    CHECK(equal(indices, std::get<1>(x.flip({0}).sort())));
    CHECK(layer_op("geometry").typed<std::vector<std::int64_t>(const Tensor&)>().call(x) ==
          std::vector<std::int64_t>{12, 5, 1, 12, 0});
    CHECK(layer_op("scale").entry().has_tag("pointwise"));
  }
}

TEST_CASE("values of all types become C++ values and come back") {
  for (const std::string& module : modules()) {
    const LoadedPlugin plugin = load_plugin(plugin_module(module).string());
    const Stack given = one_of_each_in_cpp();
    Stack stack = given;
    layer_op("echo").call_boxed(stack);
    REQUIRE(stack.size() == given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      INFO(module << ", value " << i);
      CHECK(to_string(stack[i]) == to_string(given[i]));
    }
    CHECK(stack[0].to_tensor().is_same(given[0].to_tensor()));
    CHECK(stack[10].to_generator() == given[10].to_generator());
  }
}

TEST_CASE("what kernels throw are errors of their calls, whatever it is") {
  for (const std::string& module : modules()) {
    INFO(module);
    const LoadedPlugin plugin = load_plugin(plugin_module(module).string());
    const auto error = [](std::int64_t what) {
      return error_alone([&] { layer_op("throws").typed<void(std::int64_t)>().call(what); });
    };
    CHECK(error(0) == "layer::throws: thrown");
    CHECK(error(1) == "layer::throws: a kernel threw what is no std::exception");
    CHECK(error(2) == "layer::throws: aoti_torch_get_dim: the handle of a tensor is null");
    CHECK(error(3).find("the tensor's dtype has the number 6") != std::string::npos);
    CHECK(error(4).find("keyway::no_such_operator") != std::string::npos);
    CHECK(error(5).find("nowhere") != std::string::npos);
    CHECK(error_alone([] { layer_op("wrong_count").typed<std::int64_t(std::int64_t, std::int64_t)>().call(1, 1); }) ==
          "layer::wrong_count: the schema has 2 arguments, but the kernel takes 1");
  }
}

TEST_CASE("memory of a library's own keeps it loaded") {
  for (const std::string& module : modules()) {
    LoadedPlugin plugin = load_plugin(plugin_module(module).string());
    std::optional<Tensor> held = layer_op("held").typed<Tensor()>().call();
    CHECK(equal(*held, full({4}, 2.5)));
    CHECK(error_of([&] { plugin.unload(); }).find("1 tensor of 16 bytes") != std::string::npos);
    held.reset();
    plugin.unload();
  }
}

TEST_CASE("a library that was built for another schema is refused, and the difference is shown") {
  const std::string before = registry_snapshot();
  const std::string text = error_of([] { static_cast<void>(load_plugin(plugin_module("layer_changed").string())); });
  INFO(text);
  CHECK(text.find("keyway::relu is not what the library was built for: ") != std::string::npos);
  CHECK(text.find("there  keyway::relu(Tensor self, Scalar slope) -> Tensor") != std::string::npos);
  CHECK(text.find("here   keyway::relu(Tensor self) -> Tensor") != std::string::npos);
  CHECK(registry_snapshot() == before);
}
