#include <keyway/nn/module.h>
#include <keyway/nn/modules/linear.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

#include <sstream>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::some_tensor;
using keyway::testing::values_of;

namespace {

// Two layers, a buffer, and a third name for the first layer's weight.
class NetImpl : public nn::Module {
 public:
  NetImpl()
      : hidden(register_module("hidden", nn::Linear(3, 4))),
        output(register_module("output", nn::Linear(nn::LinearOptions(4, 2).bias(false)))) {
    tied = register_parameter("tied", hidden->weight);
    count = register_buffer("count", keyway::zeros({}, kLong));
  }
  Tensor forward(const Tensor& x) { return output(hidden(x)); }

  nn::Linear hidden, output;
  Tensor tied, count;
};
using Net = nn::ModuleHolder<NetImpl>;

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("parameters are listed by path, each tensor once, and state dicts have every name") {
  const Net net;
  CHECK(net->named_parameters().keys() == Names{"tied", "hidden.bias", "output.weight"});
  CHECK(net->named_parameters(false).keys() == Names{"tied"});
  CHECK(net->named_buffers().keys() == Names{"count"});
  CHECK(net->state_dict().keys() == Names{"tied", "count", "hidden.weight", "hidden.bias", "output.weight"});
  CHECK(net->named_children().keys() == Names{"hidden", "output"});
  for (const Tensor& parameter : net->parameters()) CHECK(parameter.requires_grad());
  CHECK(!net->count.requires_grad());
}

TEST_CASE("copies of a holder share one module, and an empty one says so") {
  const nn::Linear layer(2, 2);
  const nn::Linear same = layer;
  CHECK(same.get() == layer.get());
  const nn::Linear none = nullptr;
  CHECK(none.is_empty());
  CHECK(error_of([&] { none->forward({}); }) == "this module holder is empty: assign it a module first");
}

TEST_CASE("train and eval reach every part") {
  const Net net;
  CHECK(net->output->is_training());
  net->eval();
  CHECK(!net->is_training());
  CHECK(!net->output->is_training());
  net->train();
  CHECK(net->output->is_training());
}

TEST_CASE("a state dict loads into another module of the same shape") {
  const Net a, b;
  const Tensor x = some_tensor({5, 3}, 1, kFloat);
  CHECK(values_of(a(x)) != values_of(b(x)));
  b->load_state_dict(a->state_dict());
  CHECK(values_of(a(x)) == values_of(b(x)));
  const Tensor before = b->hidden->weight.clone();
  a->hidden->weight.detach().add_(1);
  CHECK(values_of(b->hidden->weight) == values_of(before));  // copied, not shared
}

TEST_CASE("a state dict that does not fit is refused with every difference, and nothing is copied") {
  const Net net;
  nn::StateDict state;
  state.insert("tied", keyway::zeros({4, 3}));
  state.insert("count", keyway::zeros({2}, kLong));
  state.insert("hidden.weights", keyway::zeros({4, 3}));
  const std::vector<double> before = values_of(net->tied);
  const std::string error = error_of([&] { net->load_state_dict(state); });
  CHECK(error.find("the state does not fit") == 0);
  CHECK(error.find("missing: hidden.weight, hidden.bias, output.weight") != std::string::npos);
  CHECK(error.find("unexpected: hidden.weights") != std::string::npos);
  CHECK(error.find("shapes: count is [2] but should be []") != std::string::npos);
  CHECK(values_of(net->tied) == before);

  nn::StateDict some;
  some.insert("output.weight", keyway::ones({2, 4}));
  some.insert("unknown", keyway::ones({1}));
  some.insert("hidden.weight", Tensor());
  net->load_state_dict(some, /*strict=*/false);
  CHECK(values_of(net->output->weight) == std::vector<double>(8, 1));
}

TEST_CASE("names must be new and without dots") {
  nn::Linear layer(2, 2);
  CHECK(error_of([&] { layer->register_buffer("a.b", {}); }).find("'a.b' cannot name a part of") == 0);
  CHECK(error_of([&] { layer->register_buffer("", {}); }).find("'' cannot name a part of") == 0);
  CHECK(error_of([&] { layer->register_buffer("weight", {}); }).find("has a part 'weight' already") !=
        std::string::npos);
  CHECK(error_of([&] { layer->register_parameter("i", keyway::zeros({1}, kLong)); }).find("cannot have a gradient") !=
        std::string::npos);
}

TEST_CASE("zero_grad forgets gradients, or clears them") {
  const Net net;
  net(some_tensor({5, 3}, 1, kFloat)).sum().backward();
  CHECK(net->output->weight.grad().defined());
  net->zero_grad(/*set_to_none=*/false);
  CHECK(values_of(net->output->weight.grad()) == std::vector<double>(8, 0));
  net->zero_grad();
  CHECK(!net->output->weight.grad().defined());
}

TEST_CASE("a conversion reaches every handle, and leaves integers alone") {
  const Net net;
  const Tensor weight = net->hidden->weight;
  const std::vector<double> before = values_of(weight);
  net->to(kDouble);
  CHECK(weight.scalar_type() == kDouble);
  CHECK(net->tied.scalar_type() == kDouble);
  CHECK(net->count.scalar_type() == kLong);
  CHECK(weight.requires_grad());
  CHECK(values_of(weight) == before);
  CHECK(net(some_tensor({5, 3})).scalar_type() == kDouble);
}

TEST_CASE("a move to another device reaches every handle, with gradients, and integers too") {
  const Net net;
  const Tensor weight = net->hidden->weight;
  net(some_tensor({5, 3}, 1, kFloat)).sum().backward();
  net->to(kMeta);
  for (const Tensor& moved : {weight, net->tied, net->count, weight.grad()}) CHECK(moved.is_meta());
  CHECK(weight.requires_grad());
  CHECK(weight.is_leaf());
  CHECK(net(keyway::empty({5, 3}, kMeta)).is_meta());
  CHECK(error_of([&] { net(some_tensor({5, 3}, 1, kFloat)); }).find("meta") != std::string::npos);
}

TEST_CASE("a module prints its parts") {
  const Net net;
  std::ostringstream text;
  text << net;
  CHECK(text.str() ==
        "Net(\n"
        "  (hidden): Linear(in_features=3, out_features=4, bias=true)\n"
        "  (output): Linear(in_features=4, out_features=2, bias=false)\n"
        ")");
}
