// Captures: what a graph is of, that it does what the program does, and what is refused.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/batching/vmap.h>
#include <keyway/dispatch/call/dict.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/forward/dual.h>
#include <keyway/graph/plan.h>
#include <keyway/ops/all.h>
#include <keyway/ops/from_blob.h>
#include <keyway/ops/tensor_literal.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/graph/replayed.h>

#include <thread>

using namespace keyway;
using namespace keyway::graph;
using namespace keyway::testing;

namespace {

Tensor numbers(IntArrayRef sizes, double first = 1) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return arange(first, first + static_cast<double>(count)).reshape(sizes);
}

std::string calls_of(const Graph& graph) {
  std::string names;
  for (const Node& node : graph.nodes) names += node.op->short_name() + " ";
  return names;
}

// The reason that a capture of the program gives; empty if there is a graph.
std::string refusal_of(const Program& program, const std::vector<Tensor>& inputs, Level level = Level::Executed) {
  try {
    captured(program, inputs, level);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void check_replays(const Program& program, const Graph& graph, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> eager = copies_of(inputs), replayed = copies_of(inputs);
  const std::vector<Tensor> expected = program(eager), results = run(graph, replayed);
  CHECK(bit_difference(joined(replayed, results), joined(eager, expected)) == "");
}

}  // namespace

TEST_CASE("a graph of what is executed has the parts of composites and of gradients") {
  const Program program = [](const std::vector<Tensor>& in) {
    const Tensor loss = in[0].matmul(in[1]).relu().sum();
    return autograd::grad({loss}, {in[1]});
  };
  const std::vector<Tensor> inputs = {numbers({2, 3}, -2), numbers({3, 2}, -1).requires_grad_()};
  const Graph graph = captured(program, inputs);
  CHECK(calls_of(graph) == "mm relu sum empty_like fill_.Scalar expand threshold_backward transpose.int mm ");
  check_replays(program, graph, {numbers({2, 3}, 5), numbers({3, 2}, -7).requires_grad_()});
}

TEST_CASE("a graph of the program as written can be differentiated") {
  const Program program = [](const std::vector<Tensor>& in) {
    const Tensor hidden = in[0].matmul(in[1]);
    Tensor cut;
    {
      const NoGradGuard no_grad;
      cut = hidden * 2;
    }
    return std::vector<Tensor>{(hidden * cut).sum()};
  };
  const Graph graph = captured(program, {numbers({2, 3}), numbers({3, 2}).requires_grad_()}, Level::Program);
  CHECK(calls_of(graph) == "matmul mul.Scalar mul.Tensor sum ");
  const Tensor x = numbers({2, 3}, 4), eager = numbers({3, 2}, -3).requires_grad_(),
               replayed = numbers({3, 2}, -3).requires_grad_();
  program({x, eager})[0].backward();
  run(graph, {x, replayed})[0].backward();
  CHECK(bit_difference({replayed.grad()}, {eager.grad()}) == "");
}

TEST_CASE("what a program uses beside its arguments is state, by reference") {
  const Tensor weight = numbers({3});
  const Program program = [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] * weight}; };
  const Graph graph = captured(program, {numbers({3})});
  REQUIRE(graph.inputs.size() == 2);
  CHECK(graph.inputs[1].state.is_same(weight));
  weight.fill_(10);
  CHECK(bit_difference(run(graph, {numbers({3})}), {numbers({3}) * 10}) == "");
}

TEST_CASE("state that has changed its sizes, dtype or memory is a mismatch") {
  Tensor weight = numbers({2, 3});
  const Graph graph =
      captured([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] + weight}; }, {numbers({2, 3})});
  weight.resize_({3, 2});
  CHECK(error_of([&] {
          run(graph, {numbers({2, 3})});
        }) ==
        "the graph does not hold for this call: the state is float32[3, 2], but was float32[2, 3] in the capture");
}

TEST_CASE("each argument must be as it was in the capture") {
  const Program sum = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] + in[1]}; };
  const Tensor a = numbers({2, 2}), b = numbers({2, 2}, 7);
  const Graph graph = captured(sum, {a, b});
  const auto why = [&](const std::vector<Tensor>& arguments) { return mismatch(graph, arguments).value_or(""); };
  CHECK(why({a, b}).empty());
  CHECK(why({b, a}).empty());
  CHECK(why({a}) == "there are 1 arguments, but were 2 in the capture");
  CHECK(why({a, numbers({2, 3})}) == "argument 1 is float32[2, 3], but was float32[2, 2] in the capture");
  CHECK(why({a, b.to(kDouble)}) == "argument 1 is float64[2, 2], but was float32[2, 2] in the capture");
  CHECK(why({a, b.t()}) == "argument 1 is float32[2, 2] stride [1, 2], but was float32[2, 2] in the capture");
  CHECK(why({a, numbers({3, 2}).slice(0, 1, 3)}) ==
        "argument 1 is float32[2, 2] offset 2, but was float32[2, 2] in the capture");
  CHECK(why({a, b.to(Device("meta"))}) ==
        "argument 1 is float32[2, 2] on 'meta', but was float32[2, 2] in the capture");
  CHECK(why({a, b.clone().requires_grad_()}) ==
        "argument 1 is float32[2, 2] requires_grad, but was float32[2, 2] in the capture");
  CHECK(why({a, a}) == "argument 1 and argument 0 are one tensor, as they were not in the capture");
  CHECK(why({a, a.detach()}) == "argument 1 shares memory with argument 0, as it did not in the capture");
  CHECK(why({a, Tensor()}) == "argument 1 is undefined");
  const NoGradGuard no_grad;
  CHECK(why({a, b}) == "gradients are not recorded, but were in the capture");
}

TEST_CASE("a tensor that is passed twice, and views of one memory, stay that") {
  const Program program = [](const std::vector<Tensor>& in) {
    in[0].add_(1);
    return std::vector<Tensor>{in[1] * 2};
  };
  const Tensor x = numbers({4});
  const Graph same = captured(program, {x, x});
  CHECK(same.inputs[1].value == same.inputs[0].value);
  check_replays(program, same, {x, x});
  CHECK(mismatch(same, {x, x.clone()}).has_value());
  const Tensor base = numbers({4});
  const Graph views = captured(program, {base.slice(0, 0, 2), base.slice(0, 0, 3)});
  check_replays(program, views, {base.slice(0, 0, 2), base.slice(0, 0, 3)});
}

TEST_CASE("what depends on elements is refused, where it is asked for") {
  const auto refusal = [](const auto& function) {
    return refusal_of([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{function(in[0])}; },
                      {numbers({3})});
  };
  CHECK(refusal([](const Tensor& x) {
          return x * x.sum().template item<float>();
        }).find("capture: _local_scalar_dense gives numbers or sizes that depend on the elements") !=
        std::string::npos);
  CHECK(refusal([](const Tensor& x) { return x.nonzero(); }).find("capture: nonzero gives") != std::string::npos);
  CHECK(refusal([](const Tensor& x) {
          return x.masked_select(x > 1);
        }).find("called from index.Tensor, masked_select") != std::string::npos);
  CHECK(refusal([](const Tensor& x) { return x.equal(x) ? x : -x; }).find("called from item, equal") !=
        std::string::npos);
  CHECK(refusal([](const Tensor& x) { return x.sum().item().to<double>() > 0 ? x : -x; }) != "");
}

TEST_CASE("an error that the program catches is refused, since another run may not have it") {
  const Program program = [](const std::vector<Tensor>& in) {
    try {
      return std::vector<Tensor>{in[0].index_select(0, in[1])};
    } catch (const Error&) {
      return std::vector<Tensor>{in[0].clone()};
    }
  };
  CHECK(refusal_of(program, {numbers({3}), tensor({7})}).find("the program caught an error of a call") !=
        std::string::npos);
  CHECK(refusal_of(program, {numbers({3}), tensor({1})}) == "");
}

TEST_CASE("a result that requires grad has a history, which what is executed has not") {
  const Program program = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] * 2}; };
  CHECK(refusal_of(program, {numbers({3}).requires_grad_()}).find("capture: result 0 requires grad") == 0);
  CHECK(refusal_of(program, {numbers({3}).requires_grad_()}, Level::Program) == "");
}

TEST_CASE("a capture whose refusal is to go on runs the program to its end") {
  const Tensor x = numbers({3});
  Capture capture(Level::Executed, Capture::Refusal::Continue);
  capture.add_argument(x);
  const Tensor result = x * x.sum().item<float>();
  CHECK(bit_difference({result}, {numbers({3}) * 6}) == "");
  CHECK(error_of([&] { capture.finish({result}); }).find("_local_scalar_dense") != std::string::npos);
}

TEST_CASE("tensors of numbers are made anew in each run") {
  const Program program = [](const std::vector<Tensor>& in) {
    const Tensor total = tensor({1.0, 2.0});
    total.add_(in[0]);
    return std::vector<Tensor>{total};
  };
  const Graph graph = captured(program, {numbers({2})});
  check_replays(program, graph, {numbers({2})});
  check_replays(program, graph, {numbers({2}, 5)});
}

TEST_CASE("memory that is written to directly is refused where it is read") {
  const auto refusal = [](const auto& use) {
    return refusal_of(
        [&](const std::vector<Tensor>& in) {
          const Tensor made = empty({2});
          made.data_ptr<float>()[0] = made.data_ptr<float>()[1] = 3;
          return std::vector<Tensor>{use(made, in[0])};
        },
        {numbers({2})});
  };
  constexpr const char* kReason = "which empty() gave and no call has written to";
  CHECK(refusal([](const Tensor& made, const Tensor& x) { return made + x; }).find(kReason) != std::string::npos);
  CHECK(refusal([](const Tensor& made, const Tensor& x) {
          return x * made.view({2, 1}).select(0, 1);
        }).find(kReason) != std::string::npos);
  CHECK(refusal([](Tensor made, const Tensor& x) { return made.add_(x); }).find(kReason) != std::string::npos);
  CHECK(refusal([](const Tensor& made, const Tensor&) { return made; }).find("is what empty() gave") !=
        std::string::npos);
  CHECK(refusal([](Tensor made, const Tensor& x) { return made.scatter_(0, arange(2), x, "add"); }).find(kReason) !=
        std::string::npos);
  CHECK(refusal([](Tensor made, const Tensor& x) { return made.scatter_(0, arange(2), x); }) == "");
  CHECK(refusal([](Tensor made, const Tensor& x) { return made.copy_(x); }) == "");
  CHECK(refusal([](Tensor made, const Tensor& x) { return made.select(0, 1).fill_(1), zeros_like(made) + x; }) == "");
}

TEST_CASE("from_blob is refused within a capture") {
  float memory[2] = {1, 2};
  CHECK(error_of([&] {
          captured([&](const std::vector<Tensor>& in) { return std::vector<Tensor>{from_blob(memory, {2}) + in[0]}; },
                   {numbers({2})});
        }).find("from_blob: within a capture") != std::string::npos);
}

TEST_CASE("sizes and memory that are changed in place are followed, but for those of arguments and state") {
  const Program inside = [](const std::vector<Tensor>& in) {
    Tensor x = in[0] * 2;
    x.t_().add_(in[1]);
    x.unsqueeze_(0);
    Tensor y = in[0] + 1;
    y.set_data(x);
    return std::vector<Tensor>{y.sum(0), x, in[0].data()};
  };
  const std::vector<Tensor> inputs = {numbers({2, 3}), numbers({3, 2})};
  check_replays(inside, captured(inside, inputs), {numbers({2, 3}, 5), numbers({3, 2}, 8)});
  CHECK(refusal_of([](const std::vector<Tensor>& in) { return std::vector<Tensor>{Tensor(in[0]).t_()}; },
                   {numbers({2, 3})}) == "capture: the sizes or the memory of argument 0 were changed in place");
  const Program resizes = [](const std::vector<Tensor>& in) { return std::vector<Tensor>{(in[0] * 2).resize_({9})}; };
  CHECK(refusal_of(resizes, {numbers({2, 3})}).find("was given another size beside the dispatcher") !=
        std::string::npos);
}

TEST_CASE("the gradients that backward() leaves are those of the program") {
  const Tensor weight = numbers({3, 2}).requires_grad_();
  const Program step = [&](const std::vector<Tensor>& in) {
    autograd::set_grad(weight, Tensor());
    in[0].matmul(weight).relu().sum().backward();
    const Tensor grad = weight.grad();
    weight.detach().sub_(grad, 0.5);
    return std::vector<Tensor>{grad * 2};
  };
  const Graph graph = captured(step, {numbers({2, 3}, -2)});
  REQUIRE(graph.grads.size() == 1);
  CHECK(to_string(parse(to_string(graph))) == to_string(graph));
  const Tensor x = numbers({2, 3}, -4), start = weight.detach().clone();
  std::vector<Tensor> expected = step({x});
  expected = joined(expected, {weight.grad().clone(), weight.detach().clone()});
  weight.detach().copy_(start);
  autograd::set_grad(weight, Tensor());
  const std::vector<Tensor> results = run(graph, {x});
  CHECK(bit_difference(joined(results, {weight.grad(), weight.detach()}), expected) == "");
}

TEST_CASE("gradients that add up are those that the leaf keeps when the graph runs") {
  const Tensor weight = numbers({2}).requires_grad_();
  const Program add = [&](const std::vector<Tensor>& in) {
    (in[0] * weight).sum().backward();
    return std::vector<Tensor>{};
  };
  add({numbers({2})});
  const Graph graph = captured(add, {numbers({2})});
  CHECK(bit_difference({weight.grad()}, {numbers({2}) * 2}) == "");
  autograd::set_grad(weight, full({2}, 10.0));  // another tensor than in the capture
  run(graph, {numbers({2})});
  CHECK(bit_difference({weight.grad()}, {numbers({2}) + 10}) == "");
  autograd::set_grad(weight, Tensor());
  CHECK(error_of([&] { run(graph, {numbers({2})}); }).find("has no gradient, as it had one in the capture") !=
        std::string::npos);
  // The reverse: it had none in the capture.
  const Graph first = captured(add, {numbers({2})});
  CHECK(error_of([&] { run(first, {numbers({2})}); }).find("has a gradient, as it had none in the capture") !=
        std::string::npos);
}

TEST_CASE("a tensor that the program keeps beyond its end is refused") {
  Tensor kept;
  const Program program = [&](const std::vector<Tensor>& in) {
    kept = in[0] * 2;
    return std::vector<Tensor>{kept + 1};
  };
  CHECK(refusal_of(program, {numbers({2})}) ==
        "capture: the program keeps a result of mul.Scalar beyond its end, which a run of the graph would not: return "
        "it");
}

TEST_CASE("a backward in a program as written, which needs what only its calls have computed, is refused") {
  const Tensor weight = numbers({3, 2}).requires_grad_();
  const auto gradient_of = [&](const auto& function) {
    return refusal_of([&](const std::vector<Tensor>& in) { return autograd::grad({function(in[0]).sum()}, {weight}); },
                      {numbers({2, 3})}, Level::Program);
  };
  CHECK(gradient_of([&](const Tensor& x) { return x.matmul(weight); }) == "");
  CHECK(gradient_of([&](const Tensor& x) {
          return layer_norm(x.matmul(weight), {2}).cosh();
        }).find("was computed within a call") != std::string::npos);
}

TEST_CASE("both levels are captured in one run") {
  const Tensor x = numbers({2, 2}), weight = numbers({2, 2}).requires_grad_();
  Capture program(Level::Program), executed(Level::Executed);
  program.add_argument(x);
  executed.add_argument(x);
  Tensor y = x.matmul(weight).t();
  const Tensor plain = y.detach();
  CHECK(calls_of(program.finish({y, plain})) == "matmul t detach ");
  const Tensor more = plain.clone();
  y = Tensor();
  CHECK(calls_of(executed.finish({plain, more})) == "mm transpose.int detach clone ");
}

TEST_CASE("an error in a run names the operator") {
  const Program program = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0].index_select(0, in[1])};
  };
  const Graph graph = captured(program, {numbers({3}), tensor({1})});
  Plan plan(graph);
  plan.run({numbers({3}), tensor({2})});
  for (int i = 0; i < 2; ++i)
    CHECK(error_of([&] { plan.run({numbers({3}), tensor({7})}); }).find("index_select: ") == 0);
  CHECK(bit_difference(plan.run({numbers({3}), tensor({0})}), {numbers({1})}) == "");
}

TEST_CASE("a result that a call gives other sizes in place is right in each run") {
  const Program program = [](const std::vector<Tensor>& in) {
    Tensor out = empty({0});
    add_out(out, in[0], in[0]);
    return std::vector<Tensor>{out * 2, out};
  };
  Plan plan(captured(program, {numbers({100'000})}));
  for (int i = 0; i < 3; ++i)
    CHECK(bit_difference(plan.run({numbers({100'000}, i)}), program({numbers({100'000}, i)})) == "");
}

TEST_CASE("random operators draw in each run what they draw eagerly then") {
  const Program program = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0].bernoulli(0.5), randn({3}), in[0].clone().uniform_()};
  };
  manual_seed(1);
  const Graph graph = captured(program, {numbers({8})});
  manual_seed(5);
  const std::vector<Tensor> expected = program({numbers({8})}), next = program({numbers({8})});
  manual_seed(5);
  CHECK(bit_difference(run(graph, {numbers({8})}), expected) == "");
  CHECK(bit_difference(run(graph, {numbers({8})}), next) == "");
  Generator own;
  const Graph with_own = captured(
      [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].bernoulli(0.5, own)}; }, {numbers({8})});
  own.manual_seed(3);
  const Tensor drawn = numbers({8}).bernoulli(0.5, own);
  own.manual_seed(3);
  CHECK(bit_difference(run(with_own, {numbers({8})}), {drawn}) == "");
}

TEST_CASE("vmap within a capture is a part of it, and a graph cannot take what vmap gives") {
  const Program program = [](const std::vector<Tensor>& in) {
    const Vmap batch(3);
    const Tensor x = batch.add_batch_dim(in[0]);
    return std::vector<Tensor>{batch.remove_batch_dim((x * x).sum() + x)};
  };
  for (const Level level : {Level::Executed, Level::Program}) {
    const Graph graph = captured(program, {numbers({3, 2})}, level);
    check_replays(program, graph, {numbers({3, 2}, 9)});
  }
  const Graph plain =
      captured([](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0] + 1}; }, {numbers({2})});
  const Vmap batch(3);
  const Tensor x = batch.add_batch_dim(numbers({3, 2}));
  CHECK(mismatch(plain, {x}).value_or("").find("a tensor of vmap") != std::string::npos);
  CHECK(error_of([&] { Capture(Level::Executed).add_argument(x); }).find("of vmap, forward mode") != std::string::npos);
}

TEST_CASE("a capture begins in no other, and its thread makes all calls") {
  Capture capture(Level::Executed);
  CHECK(error_of([] { const Capture inner(Level::Executed); }) == "a capture begins within another one of its thread");
  std::string error;
  const std::uint64_t included = thread_state.included;
  std::thread([&] {
    thread_state.included = included;  // as a thread of the engine takes it over
    error = error_of([] { numbers({2}).add(1); });
  }).join();
  CHECK(error.find("its thread is in no capture") != std::string::npos);
  capture.abandon();
  CHECK_FALSE(is_capturing());
  CHECK(error_of([&] { capture.finish({}); }).find("the capture has ended") != std::string::npos);
}

TEST_CASE("tensors that die in the program are not mistaken for later ones at their address") {
  const Program program = [](const std::vector<Tensor>& in) {
    Tensor total = in[0].clone();
    for (int i = 0; i < 50; ++i) total = total + in[0].mul(i).relu();
    return std::vector<Tensor>{total};
  };
  const Graph graph = captured(program, {numbers({3}, -1)});
  CHECK(graph.nodes.size() == 151);
  check_replays(program, graph, {numbers({3}, -2)});
}

TEST_CASE("operators out of tree are recorded, and refused where they give numbers") {
  Library library(Library::Kind::Def, "graphs");
  library.def("twice(Tensor x) -> Tensor", [](const Tensor& x) { return x * 2; });
  library.def("count(Tensor x) -> int", [](const Tensor& x) { return x.numel(); });
  library.def("named(Dict(str, Tensor) d) -> Tensor", [](const Dict<std::string, Tensor>& d) { return d.at("x") + 1; });
  const auto registered = library.commit();
  const auto call = [](const char* op, Stack stack) {
    Dispatcher::singleton().op(op).call_boxed(stack);
    return stack;
  };
  const Program twice = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{Tensor(call("graphs::twice", {TensorBase(in[0])})[0].to_tensor())};
  };
  check_replays(twice, captured(twice, {numbers({2})}), {numbers({2}, 5)});
  CHECK(refusal_of(
            [&](const std::vector<Tensor>& in) {
              call("graphs::count", {TensorBase(in[0])});
              return in;
            },
            {numbers({2})}) == "");
}
