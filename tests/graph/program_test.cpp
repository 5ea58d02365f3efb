// Programs for all sizes: their text, their runs and their files.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/dtype/default_dtype.h>
#include <keyway/graph/control_flow.h>
#include <keyway/graph/program.h>
#include <keyway/nn/serialize/safetensors.h>
#include <keyway/ops/all.h>
#include <keyway/ops/tensor_literal.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/graph/replayed.h>

#include <atomic>
#include <bit>
#include <thread>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

struct Layer {
  Tensor weight = rand({4, 3}), bias = rand({4});

  Tensor operator()(const Tensor& x) const { return relu(linear(x, weight, bias)).view({x.size(0) * 2, 2}); }
  Graph captured(std::int64_t batch) const {
    const Tensor x = rand({batch, 3});
    Capture capture(Level::Program);
    capture.add_argument(x, "x");
    Graph graph = capture.finish({(*this)(x)});
    graph.inputs[1].name = "layer.weight";
    graph.inputs[2].name = "layer.bias";
    return graph;
  }
  graph::Program program() const {
    std::vector<Graph> captures;
    std::vector<Dimensions> sizes;
    for (const std::int64_t batch : {5, 7, 11, 13}) {
      captures.push_back(captured(batch));
      sizes.push_back({{"batch", batch}});
    }
    return {captures, sizes};
  }
};

constexpr const char* kProgram =
    "graph program(%0 x: float32[batch, 3], %1 'layer.weight': float32[4, 3] state, %2 'layer.bias': float32[4] "
    "state) {\n"
    "  %3 = keyway::linear(%0, %1, %2)\n"
    "  %4 = keyway::relu(%3)\n"
    "  %5 = keyway::view(%4, [batch * 2, 2])\n"
    "  return (%5)\n"
    "}\n";

std::string replaced(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), other);
}

std::string described_rows(std::int64_t rows) { return "float32[" + std::to_string(rows) + ", 3]"; }

nn::StateDict state() { return {{"layer.weight", ones({4, 3})}, {"layer.bias", ones({4})}}; }

std::string program_error_with(const std::string& part, const std::string& other) {
  return error_of([&] { graph::Program(replaced(kProgram, part, other), state()); });
}

}  // namespace

TEST_CASE("captures with arguments of several sizes give one program, with formulas") {
  CHECK(Layer().program().text() == kProgram);
}

TEST_CASE("a program gives what the function gives, for any sizes") {
  const Layer layer;
  graph::Program program = layer.program();
  for (int run = 0; run < 3; ++run) {  // as it is captured, as the plan is made, as a plan
    for (const std::int64_t batch : {1, 0, 2, 64, 1}) {
      const Tensor x = rand({batch, 3});
      CHECK(bit_difference(program.run({x}), {layer(x)}) == "");
    }
  }
  const Tensor columns = rand({3, 6}).t();
  CHECK(bit_difference(program.run({columns}), {layer(columns)}) == "");
}

TEST_CASE("threads may run a program at the same time") {
  const Layer layer;
  graph::Program program = layer.program();
  const Tensor x = rand({6, 3}), y = rand({2, 3});
  const Tensor of_x = layer(x), of_y = layer(y);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int run = 0; run < 50; ++run)
        wrong += bit_difference(program.run({(i + run) % 2 == 0 ? x : y}), {(i + run) % 2 == 0 ? of_x : of_y}) != "";
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a program can be differentiated where gradients are recorded") {
  Layer layer;
  layer.weight.requires_grad_();
  graph::Program program = layer.program();
  const Tensor x = rand({3, 3});
  program.run({x})[0].sum().backward();
  const Tensor grad = autograd::grad_of(layer.weight).clone();
  autograd::set_grad(layer.weight, Tensor());
  layer(x).sum().backward();
  CHECK(bit_difference({grad}, {autograd::grad_of(layer.weight)}) == "");
  const NoGradGuard no_grad;
  for (int run = 0; run < 3; ++run) CHECK_FALSE(program.run({x})[0].requires_grad());
}

TEST_CASE("a program writes to its state and to its arguments") {
  const Tensor count = zeros({2});
  const auto step = [&](const Tensor& x) {
    count.add_(1);
    x.mul_(2);
    return x + count;
  };
  const Tensor example = ones({2});
  Capture capture(Level::Program);
  capture.add_argument(example, "x");
  graph::Program program(capture.finish({step(example)}));
  CHECK(program.text().find("%1 'state.0': float32[2] state") != std::string::npos);
  for (int run = 2; run < 6; ++run) {
    const Tensor x = full({2}, 3.);
    CHECK(bit_difference(program.run({x}), {full({2}, 6. + run)}) == "");
    CHECK(bit_difference({x, count}, {full({2}, 6.), full({2}, double(run))}) == "");
  }
}

TEST_CASE("a file gives the program back") {
  Layer layer;
  layer.weight = rand({3, 4}).t();
  layer.bias.requires_grad_();
  const std::string bytes = layer.program().serialize({{"author", "nobody"}});
  graph::Program program = graph::Program::deserialize(bytes);
  CHECK(program.notes() == nn::Metadata{{"author", "nobody"}});
  CHECK(program.state()["layer.weight"].strides() == layer.weight.strides());
  CHECK(program.state()["layer.bias"].requires_grad());
  const NoGradGuard no_grad;
  const Tensor x = rand({9, 3});
  CHECK(bit_difference(program.run({x}), {layer(x)}) == "");
  CHECK(program.serialize({{"author", "nobody"}}) == bytes);
}

TEST_CASE("the graph for some sizes says what each value is") {
  CHECK(to_string(Layer().program().graph({{"batch", 3}})) ==
        "graph program(%0 x: float32[3, 3], %1 'layer.weight': float32[4, 3] state, %2 'layer.bias': float32[4] state) "
        "{\n"
        "  %3: float32[3, 4] = keyway::linear(%0, %1, %2)\n"
        "  %4: float32[3, 4] = keyway::relu(%3)\n"
        "  %5: float32[6, 2] in %4 = keyway::view(%4, [6, 2])\n"
        "  return (%5)\n"
        "}\n");
}

TEST_CASE("arguments that a program does not take are errors that name them") {
  graph::Program program = Layer().program();
  CHECK(error_of([&] { program.run({}); }) == "the program takes 1 tensors, not 0");
  CHECK(error_of([&] { program.run({ones({3})}); }) ==
        "argument 'x' is float32[3], and the program takes float32[batch, 3]");
  CHECK(error_of([&] {
          program.run({ones({2, 4})});
        }) == "size 1 of argument 'x' is 4, and the program takes float32[batch, 3], with batch = 2");
  CHECK(error_of([&] {
          program.run({ones({2, 3}, kDouble)});
        }) == "argument 'x' is float64[2, 3], and the program takes float32[batch, 3]");
  CHECK(error_of([&] { program.graph({}); }) == "the size of the dimension 'batch' is missing");
}

TEST_CASE("captures that are not one program are refused, naming the call and the numbers") {
  const auto error_of_captures = [](auto&& function) {
    std::vector<Graph> captures;
    std::vector<Dimensions> sizes;
    for (std::int64_t n = 5; n < 20; ++n) {
      const Tensor x = rand({n});
      Capture capture(Level::Program);
      capture.add_argument(x, "x");
      captures.push_back(capture.finish({function(x)}));
      sizes.push_back({{"n", n}});
    }
    return error_of([&] { graph::Program(captures, sizes); });
  };
  CHECK(error_of_captures([](const Tensor& x) {
          return x.size(0) > 6 ? relu(x) : sigmoid(x);
        }).find("the program makes other calls for other sizes: '%1 = keyway::sigmoid(%0)', but '%1 = ") == 0);
  const auto bits = [](const Tensor& x) {
    return x.narrow(0, 0, std::popcount(static_cast<std::uint64_t>(x.size(0))));
  };
  CHECK(error_of_captures(bits).find(
            "the call '%1 = keyway::narrow(%0, 0, 0, 2)' has the integers 2, 2, 3, 1, 2, 2, 3, ") == 0);
  CHECK(error_of_captures(bits).find(" and 3, and no formula gives these for n = 5, 6, 7, 8, ") != std::string::npos);
  CHECK(error_of_captures([](const Tensor& x) {
          return x * (1. / double(x.size(0)));
        }).find("which are computed from sizes: compute them with tensors") != std::string::npos);
}

TEST_CASE("a text that is no program is an error that names the line") {
  CHECK(program_error_with("program", "executed") == "graph, line 1: 'program' is missing before 'executed'");
  CHECK(program_error_with("[batch * 2, 2]", "[2 * (batch, 2]") == "graph, line 4: ')' is missing before ','");
  CHECK(program_error_with("[batch * 2, 2]", "[size, 2]") == "graph, line 4: no dimension has the name 'size'");
  CHECK(program_error_with("[batch * 2, 2]", "[batch // 0, 2]") ==
        "graph, line 4: a formula divides by 0, which is not positive");
  CHECK(program_error_with("%4 = keyway::relu", "%9 = keyway::relu") ==
        "graph, line 3: the next value is %4, and %9 is no argument of the call");
  CHECK(program_error_with("%4 = keyway::relu(%3)", "%1 = keyway::relu(%3)") ==
        "graph, line 3: the next value is %4, and %1 is no argument of the call");
  CHECK(program_error_with("keyway::relu(%3)", "keyway::relu(%4)") == "graph, line 3: %4 is used before it is made");
  CHECK(program_error_with("keyway::relu(%3)", "keyway::relu(%-1)") == "graph, line 3: '-1' is no number of a value");
  CHECK(program_error_with("(%5)", "(%6)") == "graph, line 5: %6 is used before it is made");
  CHECK(program_error_with("keyway::relu", "keyway::rely").find("graph, line 3: ") == 0);
  CHECK(program_error_with("%2 'layer.bias'", "%1 'layer.bias'") == "graph, line 1: the next input is %2, not %1");
  CHECK(program_error_with("float32[4, 3] state", "float32[4, 3]") ==
        "there are 2 tensors of state, and the program uses 1");
  CHECK(program_error_with("layer.bias", "layer.shift") ==
        "the program uses 'layer.shift', and there is no such tensor");
  CHECK(program_error_with("float32[4] state", "float64[4] state") ==
        "the tensor 'layer.bias' is float32[4], and the program uses float64[4]");
  CHECK(program_error_with("float32[4] state", "float32[batch] state") != "");
  CHECK(program_error_with("float32[4, 3]", "float32[9223372036854775807, 9223372036854775807]")
            .find("graph, line 1: ") == 0);
  CHECK(program_error_with("float32[4, 3]", "float32[-4, 3]").find("graph, line 1: ") == 0);
  CHECK(program_error_with("keyway::relu", "keyway::rely") == "graph, line 3: there is no operator 'keyway::rely'");
}

TEST_CASE("what a text takes in memory has a limit: lists and results are no longer than 65,536") {
  std::string ones = "1", values = "%3";
  for (int i = 0; i < 65536; ++i) {
    ones += ",1";
    values += ",%3";
  }
  CHECK(program_error_with("[batch * 2, 2]", "[" + ones + "]") == "graph, line 4: a list has at most 65536 items");
  CHECK(program_error_with("return (%5)", "return (" + values + ")") ==
        "graph, line 5: a graph has at most 65536 results");
}

TEST_CASE("conditions and loops are run for all sizes, also from a file") {
  const Tensor scale = tensor({1.0, 2.0, 3.0});
  // Rows are scaled, or centred where their sum is negative, and halved until their sum is small.
  const auto halved = [&](const Tensor& x) -> std::vector<Tensor> {
    const std::int64_t rows = x.size(0);
    const std::vector<Tensor> y = cond(
        x.sum() > 0, [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] * scale}; },
        [&](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{in[0] - in[0].sum().div(rows) + zeros({rows, 3})};
        },
        {x});
    return while_loop([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].abs().sum() > rows}; },
                      [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].div(2)}; }, y);
  };
  std::vector<Graph> captures;
  std::vector<Dimensions> sizes;
  for (const std::int64_t rows : {5, 6, 8, 11, 17, 24}) {
    const Tensor x = ones({rows, 3});
    Capture capture(Level::Program);
    capture.add_argument(x, "x");
    captures.push_back(capture.finish(halved(x)));
    sizes.push_back({{"rows", rows}});
  }
  const graph::Program program(captures, sizes);
  CHECK(program.text().find("zeros([rows, 3]") != std::string::npos);
  const std::string bytes = program.serialize();
  const std::string schemas = nn::deserialize_safetensors(bytes).metadata.at("keyway.program.schemas");
  for (const char* name : {"cond(", "while_loop(", "zeros(", "abs(", "sub.Tensor("})
    CHECK(schemas.find(name) != std::string::npos);
  graph::Program loaded = graph::Program::deserialize(bytes);
  CHECK(loaded.text() == program.text());
  for (const std::int64_t rows : {1, 2, 9}) {
    for (const double low : {-1.0, 1.0, -9.0}) {
      const Tensor x = full({rows, 3}, low);
      for (int i = 0; i < 3; ++i) CHECK(bit_difference(loaded.run({x}), halved(x)) == "");
    }
    CHECK(to_string(loaded.graph({{"rows", rows}})).find(described_rows(rows)) != std::string::npos);
  }
}

TEST_CASE("a file that does not hold a program of this version is refused") {
  const std::string bytes = Layer().program().serialize();
  const nn::SafetensorsFile file = nn::deserialize_safetensors(bytes);
  const auto error_with_entry = [&](const std::string& key, const std::string& value) {
    nn::Metadata metadata = file.metadata;
    metadata[key] = value;
    return error_of([&] { graph::Program::deserialize(nn::serialize_safetensors(file.tensors, metadata)); });
  };
  const std::string schemas = file.metadata.at("keyway.program.schemas");
  CHECK(error_of([&] { graph::Program::deserialize(nn::serialize_safetensors(file.tensors)); }) ==
        "the file holds no program: its metadata has no entry 'keyway.program'");
  CHECK(error_with_entry("keyway.program", "2") ==
        "the program has format 2, of a later version of Keyway; this one reads up to 1");
  CHECK(error_with_entry("keyway.program", "x") == "the version of the program's format is no number");
  CHECK(error_with_entry("keyway.program.schemas", "").find(", whose schema the file does not have") !=
        std::string::npos);
  CHECK(error_with_entry("keyway.program.schemas", replaced(schemas, "relu(", "relu9(")) ==
        "the program calls relu9, and there is no such operator");
  CHECK(error_with_entry("keyway.program.schemas",
                         replaced(schemas, "relu(Tensor self)", "relu(Tensor self, float slope)"))
            .find("the program calls relu as it was before: there is no argument 'slope'\n") == 0);
  nn::StateDict more = file.tensors;
  more.insert("more", ones({1}));
  CHECK(error_of([&] { graph::Program::deserialize(nn::serialize_safetensors(more, file.metadata)); }) ==
        "there are 3 tensors of state, and the program uses 2");
}

TEST_CASE("a schema that calls fit as before is accepted") {
  const std::string bytes = Layer().program().serialize();
  nn::SafetensorsFile file = nn::deserialize_safetensors(bytes);
  std::string& schemas = file.metadata.at("keyway.program.schemas");
  schemas = replaced(schemas, "Tensor? bias=None", "Tensor? bias");  // the default came later
  graph::Program program = graph::Program::deserialize(nn::serialize_safetensors(file.tensors, file.metadata));
  CHECK(program.run({ones({2, 3})}).size() == 1);
}

TEST_CASE("a program runs with the default dtype that it was captured with") {
  graph::Program program(
      std::string("graph program default_dtype float64(%0: float32[2]) {\n  %1 = keyway::ones([2])\n  "
                  "return (%1)\n}\n"),
      {});
  CHECK(error_of([&] { program.run({ones({2})}); }) ==
        "the default dtype is float32, and the program was captured with float64");
}
