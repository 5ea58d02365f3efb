// Libraries in plain C, by the tree's compiler and by another one, loaded and unloaded as plug-ins are.
#include <keyway/dispatch/inspect/snapshot.h>
#include <keyway/dispatch/plugin/load_library.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tests/in_child.h>
#include <keyway/tests/plugins/plugin_files.h>
#include <keyway/tests/stable/handles.h>

#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

OperatorHandle plain_op(const std::string& name) { return Dispatcher::singleton().op("plain::" + name); }

void check_scale() {
  const auto scale = plain_op("scale").typed<Tensor(const Tensor&, double)>();
  const Tensor x = arange(6, TensorOptions(kFloat64)).reshape({2, 3});
  CHECK(equal(scale.call(x, 0.5), x * 0.5));
  CHECK(plain_op("scale").entry().has_tag("pointwise"));
  CHECK(error_alone([&] { scale.call(ones({2}), 2); }) == "plain::scale: plain::scale takes float64");
  CHECK(error_alone([] { plain_op("failing").typed<Tensor()>().call(); }) ==
        "plain::failing: aoti_torch_get_dim: the handle of a tensor is null");
}

// One value of each type, twice as they are absent.
Stack one_of_each(bool absent) {
  const Tensor a = ones({2}), b = zeros({1, 3}, kInt64);
  const std::vector<TensorBase> tensors{a, b}, maybe{a, TensorBase()};
  const auto or_none = [&](IValue value) { return absent ? IValue() : value; };
  return {a,
          absent ? IValue(TensorBase()) : IValue(b),
          std::int64_t{-3},
          0.25,
          true,
          "text",
          kBFloat16,
          Layout::Strided,
          MemoryFormat::ChannelsLast,
          Device(DeviceType::CUDA, 1),
          or_none(Generator()),
          std::int64_t{7},
          complex<double>(1, -2),
          or_none(std::int64_t{5}),
          or_none("more"),
          std::vector<std::int64_t>{1, -1},
          std::vector<double>{0.5},
          std::vector<bool>{true, false},
          tensors,
          maybe,
          std::vector<std::string>{"", "b"},
          std::vector<std::optional<std::int64_t>>{1, std::nullopt},
          std::vector<std::vector<std::int64_t>>{{1}, {}},
          std::vector<std::vector<TensorBase>>{tensors, {}},
          std::vector<Scalar>{Scalar(1), Scalar(0.5)},
          std::vector<ScalarType>{kInt8, kFloat64},
          std::int64_t{9},
          or_none(std::vector<double>{1.5, 2.5})};
}

}  // namespace

TEST_CASE("a library in plain C is loaded, called and unloaded") {
  const std::string before = registry_snapshot();
  LoadedPlugin plugin = load_plugin(plugin_module("plain0").string());
  CHECK(plugin.name() == "libkeyway_test_plain0");
  check_scale();
  CHECK(error_of([] { static_cast<void>(load_plugin(plugin_module("plain0").string())); }).find("is loaded already") !=
        std::string::npos);
  plugin.unload();
  CHECK(registry_snapshot() == before);
  LoadedPlugin again = load_plugin(plugin_module("plain0").string());
  check_scale();
}

TEST_CASE("values of all types go through slots and come back") {
  const LoadedPlugin plugin = load_plugin(plugin_module("plain0").string());
  for (const bool absent : {false, true}) {
    const Stack given = one_of_each(absent);
    Stack stack = given;
    plain_op("echo").call_boxed(stack);
    REQUIRE(stack.size() == given.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      INFO("value " << i);
      CHECK(to_string(stack[i]) == to_string(given[i]));
      if (given[i].is_tensor()) CHECK(stack[i].to_tensor().is_same(given[i].to_tensor()));
    }
    CHECK(stack[19].to_tensor_list()[0].is_same(given[19].to_tensor_list()[0]));
    CHECK_FALSE(stack[19].to_tensor_list()[1].defined());
    CHECK(stack[10].is_none() == absent);
    if (!absent) CHECK(stack[10].to_generator() == given[10].to_generator());
  }
}

TEST_CASE("what a kernel leaves that is no tensor is an error of the call") {
  const LoadedPlugin plugin = load_plugin(plugin_module("plain0").string());
  const auto wrong = plain_op("wrong_slot").typed<Tensor(std::int64_t)>();
  CHECK(error_alone([&] { wrong.call(0); }) == "plain::wrong_slot: the handle of a tensor is null");
  CHECK(error_alone([&] { wrong.call(1); }) == "plain::wrong_slot: 17 is no handle of a tensor");
  CHECK(error_alone([&] { wrong.call(2); }) ==
        "plain::wrong_slot: a handle of a tensor is expected, but this is a list");
}

TEST_CASE("a library is not unloaded while a tensor over its memory lives") {
  LoadedPlugin plugin = load_plugin(plugin_module("plain0").string());
  const auto deleted = plain_op("deleted").typed<std::int64_t()>();
  std::optional<Tensor> tensor = plain_op("borrow").typed<Tensor()>().call();
  CHECK(equal(*tensor, arange(6, TensorOptions(kFloat64)).reshape({2, 3})));
  const std::string refused = error_of([&] { plugin.unload(); });
  CHECK(refused.find("1 tensor of 48 bytes") != std::string::npos);
  REQUIRE(plugin.loaded());
  CHECK(deleted.call() == 0);
  tensor.reset();
  CHECK(deleted.call() == 1);
  plugin.unload();
}

TEST_CASE("a library with mistakes is refused with all of them, and nothing of it is registered") {
  const std::string before = registry_snapshot();
  const auto refusal = [&](int fault) {
    const std::string text = error_of([&] { load_library(plugin_module("plain" + std::to_string(fault)).string()); });
    CHECK(registry_snapshot() == before);
    return text;
  };
  CHECK(refusal(1).find("plain::broken(Tensor self") != std::string::npos);
  CHECK(refusal(2).find("there is no dispatch key 'Nowhere'") != std::string::npos);
  const std::string schemas = refusal(3);
  INFO(schemas);
  CHECK(schemas.find("keyway::addcmul is not what the library was built for: argument 'value'") != std::string::npos);
  CHECK(schemas.find("here   keyway::addcmul(") != std::string::npos);
  CHECK(schemas.find("there is no operator keyway::no_such_operator") != std::string::npos);
  CHECK(refusal(4).find("it is built for version 3 of the stable C ABI, and this is version 2") != std::string::npos);
  const std::string nulls = refusal(5);
  CHECK(nulls.find("the handle of a library is null") != std::string::npos);
  CHECK(nulls.find("the operator's name is null") != std::string::npos);
  CHECK(nulls.find("the kernel is null") != std::string::npos);
}

TEST_CASE("where PyTorch is in the process, a library is refused") {
  // A library of its name is enough to tell.
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("stable_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::filesystem::path torch = folder / "libtorch_cpu.so";
  std::filesystem::copy_file(
      std::filesystem::path(KEYWAY_TEST_PLUGINS).parent_path() / "keyway_torch_abi" / "libtorch_cpu.so", torch,
      std::filesystem::copy_options::overwrite_existing);
  CHECK(in_child([&] {
    if (dlopen(torch.c_str(), RTLD_NOW) == nullptr) return false;
    try {
      static_cast<void>(load_plugin(plugin_module("plain0").string()));
    } catch (const Error& error) {
      return std::string(error.what()).find(torch.string() + " of PyTorch is loaded in this process") !=
             std::string::npos;
    }
    return false;
  }));
  std::filesystem::remove_all(folder);
}

#if defined(KEYWAY_TEST_OTHER_COMPILER)
TEST_CASE("a library by another compiler is loaded and called") {
  LoadedPlugin plugin = load_plugin(plugin_module("plain_other").string());
  check_scale();
  Stack stack = one_of_each(false);
  plain_op("echo").call_boxed(stack);
  CHECK(to_string(stack[20]) == "['', 'b']");
}
#endif
