// The generated suite: gradients of every operator, and their gradients, against differences in float64.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/gradcheck.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/generator.h>
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/gradient_exceptions.h>
#include <keyway/tests/ops/samples.h>

using namespace keyway;
using namespace keyway::testing;
using autograd::variable_list;

namespace {

// A call as a function of those of its tensors that have gradients.
struct Differentiable {
  Sample sample;
  std::string op;  // the overload to call
  std::vector<Slot> slots;

  variable_list leaves() const {
    variable_list inputs;
    for (const Slot slot : slots) {
      Tensor leaf = tensor_at(sample.arguments, slot).detach();
      inputs.push_back(leaf.requires_grad_());
    }
    return inputs;
  }
  // All that it returns.
  variable_list results(const variable_list& inputs) const {
    const ArgumentList arguments = operator_named(op).schema().arguments();
    Stack stack = sample.arguments;
    for (std::size_t i = 0; i < slots.size(); ++i) stack = with_tensor(stack, slots[i], inputs[i]);
    for (const Slot slot : slots_of(stack)) {
      if (arguments[slot.argument].is_write()) stack = with_tensor(stack, slot, tensor_at(stack, slot).clone());
    }
    manual_seed(7);
    operator_named(op).call_boxed(stack);
    return tensors_in(stack);
  }
  // The results that have gradients: those that are floating, and where an entry states derivatives and not for all
  // results, those for which it does.
  variable_list operator()(const variable_list& inputs) const {
    variable_list all = results(inputs);
    std::erase_if(all, [](const Tensor& tensor) { return !tensor.defined() || !is_floating_point(tensor.dtype()); });
    const auto has_history = [](const Tensor& result) { return result.requires_grad(); };
    if (!sample.entry->implicit && std::any_of(all.begin(), all.end(), has_history))
      std::erase_if(all, std::not_fn(has_history));
    return all;
  }
};

Differentiable differentiable(const Sample& sample, std::string_view op) {
  Differentiable function{sample, std::string(op), {}};
  const ArgumentList arguments = operator_named(op).schema().arguments();
  for (const Slot slot : slots_of(sample.arguments)) {
    if (tensor_at(sample.arguments, slot).dtype() != kDouble) continue;
    if (!is_constant(sample.entry->op, arguments[slot.argument].name())) function.slots.push_back(slot);
  }
  return function;
}

// What is checked by differences has to be small.
bool is_small(const Sample& sample) {
  std::int64_t numel = 0;
  for (const Slot slot : slots_of(sample.arguments)) numel += tensor_at(sample.arguments, slot).numel();
  return numel <= 40;
}

struct Counts {
  Tally gradients{"gradcheck"};
  Tally recorded{"gradcheck with history"};
  Tally double_gradients{"gradgradcheck"};
};

// The message of the error, empty if there was none.
template <typename F>
std::string error_in(const F& check) {
  try {
    check();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

// The first derivative, and where the results have a history the second.
void check(const Differentiable& function, Counts& counts) {
  const variable_list inputs = function.leaves();
  const variable_list results = function(inputs);
  if (inputs.empty() || results.empty()) return;
  counts.gradients.count(*function.sample.entry);
  if (!has_other_gradient(function.sample)) CHECK(error_in([&] { autograd::gradcheck(function, inputs); }) == "");
  const bool has_history =
      std::any_of(results.begin(), results.end(), [](const Tensor& result) { return result.requires_grad(); });
  if (!has_history) return;
  counts.recorded.count(*function.sample.entry);
  counts.double_gradients.count(*function.sample.entry);
  CHECK(error_in([&] { autograd::gradgradcheck(function, inputs); }) == "");
}

// Each input with a gradient of its own, while the others have none.
void check_each(const Differentiable& function, Counts& counts) {
  if (function.slots.size() < 2) return;
  for (const Slot slot : function.slots) {
    INFO(function.op << ": " << function.sample.text << ", only argument " << slot.argument << " requires a gradient");
    check({function.sample, function.op, {slot}}, counts);
  }
}

// The sample, the same with other layouts, and with other sizes where it broadcasts.
std::vector<Sample> variants(const Sample& sample) {
  std::vector<Sample> list{sample};
  for (const auto& [lay, name] : {std::pair{Lay::Transposed, "transposed"}, std::pair{Lay::Strided, "strided"}}) {
    list.push_back({sample.entry, sample.text + ", " + name,
                    map_tensors(sample.arguments, [lay = lay](const Tensor& t) { return laid(t, lay); })});
  }
  for (Sample& broadcast : broadcast_samples(sample)) list.push_back(std::move(broadcast));
  return list;
}

// Also every tensor without dimensions, and all of them, where that is a call.
std::vector<Sample> zero_dim_variants(const Sample& sample) {
  std::vector<Sample> list;
  Sample all = sample;
  std::size_t first = 1000;  // values that the other arguments have not
  for (const Slot slot : slots_of(sample.arguments)) {
    list.push_back({sample.entry, sample.text + ", an argument without dimensions", resized(sample, slot, {}, first)});
    all.arguments = resized(all, slot, {}, first);
  }
  all.text += ", arguments without dimensions";
  list.push_back(all);
  std::erase_if(list, [](const Sample& made) { return !call(made.entry->op, made.arguments).error.empty(); });
  return list;
}

std::vector<Sample> double_samples(const OpCases& entry) {
  std::vector<Sample> samples = all_samples(entry);
  std::erase_if(samples, [](const Sample& sample) {
    return sample.text.find("in float64") == std::string::npos || !is_small(sample);
  });
  return samples;
}

bool is_about_the_graph(const OpCases& entry) {
  return has_tag(entry, "nondeterministic") || entry.samples.find("requires_grad_(") != std::string_view::npos ||
         is_exempt(entry.op);
}

}  // namespace

TEST_CASE("gradients, and the gradients of gradients, are those of differences") {
  Counts counts;
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& sample : double_samples(entry)) {
      std::vector<Sample> list = variants(sample);
      for (Sample& made : zero_dim_variants(sample)) list.push_back(std::move(made));
      for (const Sample& made : list) {
        INFO(entry.op << ": " << made.text);
        if (call(entry.op, made.arguments).error.empty()) check(differentiable(made, entry.op), counts);
      }
      check_each(differentiable(sample, entry.op), counts);
    }
    INFO(entry.op);
    // An operator that has derivatives and that nothing was recorded of was not tested.
    if (!entry.derivatives.empty() || entry.implicit)
      CHECK((counts.recorded.of(entry) > 0) == !is_without_gradient(entry.op));
  }
  CHECK(counts.gradients.total() > 3000);
}

TEST_CASE("gradients flow through in-place overloads") {
  Counts counts;
  for (const OpCases& entry : kOpCases) {
    if (entry.inplace.empty() || is_about_the_graph(entry)) continue;
    for (const Sample& sample : double_samples(entry)) {
      for (const Sample& made : variants(sample)) {
        INFO(entry.inplace << ": " << made.text);
        if (!call(entry.inplace, made.arguments).error.empty()) continue;
        check(differentiable(made, entry.inplace), counts);
      }
    }
    if (!entry.derivatives.empty()) CHECK(counts.recorded.of(entry) > 0);
  }
  CHECK(counts.gradients.total() > 500);
}

TEST_CASE("a result that is no function of the inputs, or of integers, requires no gradient") {
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    const bool stated_none = entry.derivatives.empty() && !entry.implicit;
    for (const Sample& sample : double_samples(entry)) {
      INFO(entry.op << ": " << sample.text);
      const Differentiable function = differentiable(sample, entry.op);
      for (const Tensor& result : function.results(function.leaves())) {
        if (!result.defined() || !result.requires_grad()) continue;
        CHECK(is_floating_point(result.dtype()));
        CHECK_FALSE(stated_none);
      }
    }
  }
}

namespace {

// The gradients of the inputs for a gradient of the results that `seed` makes.
template <typename Seed>
variable_list gradients_of(const Differentiable& function, const Seed& seed) {
  const variable_list inputs = function.leaves();
  variable_list outputs, seeds;
  for (const Tensor& result : function(inputs)) {
    if (!result.requires_grad()) continue;
    outputs.push_back(result);
    seeds.push_back(seed(result));
  }
  if (outputs.empty()) return {};
  return autograd::grad(outputs, inputs, seeds, false, false, true);
}

Stack stack_of(const variable_list& tensors) {
  Stack stack;
  for (const Tensor& tensor : tensors) stack.emplace_back(TensorBase(tensor));
  return stack;
}

}  // namespace

TEST_CASE("gradients do not depend on how the gradient of the result lies in memory") {
  Tally tally("layouts of gradients");
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& sample : all_samples(entry)) {
      const Differentiable function = differentiable(sample, entry.op);
      if (function.slots.empty()) continue;
      INFO(entry.op << ": " << sample.text);
      tally.count(entry);
      const auto ones = [](const Tensor& result) { return keyway::ones(result.sizes(), result.options()); };
      const auto expected = gradients_of(function, ones);
      const auto expanded_one = [](const Tensor& result) {
        return keyway::ones({}, result.options()).expand(result.sizes());
      };
      CHECK(difference(stack_of(gradients_of(function, expanded_one)), stack_of(expected)) == "");
      const auto seed = [](const Tensor& result) {
        return keyway::arange(result.numel(), result.options()).reshape(result.sizes());
      };
      const auto from_rows = gradients_of(function, seed);
      for (const Lay lay : {Lay::Transposed, Lay::Strided}) {
        const auto turned = [&](const Tensor& result) { return laid(seed(result), lay); };
        CHECK(difference(stack_of(gradients_of(function, turned)), stack_of(from_rows)) == "");
      }
    }
  }
  CHECK(tally.total() > 500);
}

TEST_CASE("gradients on Meta have the shape and dtype of those on the CPU") {
  Tally tally("gradients on Meta");
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry) || !has_meta(entry)) continue;
    for (const Sample& sample : all_samples(entry)) {
      const Differentiable function = differentiable(sample, entry.op);
      if (function.slots.empty()) continue;
      INFO(entry.op << ": " << sample.text);
      tally.count(entry);
      const auto ones = [](const Tensor& result) { return keyway::ones(result.sizes(), result.options()); };
      const variable_list expected = gradients_of(function, ones);
      Differentiable meta = function;
      meta.sample.arguments = on_meta(operator_named(entry.op).schema(), sample.arguments);
      variable_list grads;
      CHECK(error_in([&] { grads = gradients_of(meta, ones); }) == "");
      for (std::size_t i = 0; i < grads.size(); ++i) {
        CHECK(grads[i].defined() == expected[i].defined());
        if (!grads[i].defined()) continue;
        CHECK(grads[i].is_meta());
        CHECK(grads[i].sizes() == expected[i].sizes());
        CHECK(grads[i].dtype() == expected[i].dtype());
      }
    }
  }
  CHECK(tally.total() > 500);
}

TEST_CASE("gradients of tensors without elements have the shape of the tensors") {
  Tally tally("empty gradients");
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& sample : double_samples(entry)) {
      for (std::int64_t d = 0; d < 4; ++d) {
        Sample empty = sample;
        std::size_t first = 0;
        for (const Slot slot : slots_of(sample.arguments)) {
          DimVector sizes = tensor_at(sample.arguments, slot).sizes();
          if (d >= static_cast<std::int64_t>(sizes.size())) continue;
          sizes[static_cast<std::size_t>(d)] = 0;
          empty.arguments = resized(empty, slot, sizes, first);
        }
        if (!call(entry.op, empty.arguments).error.empty()) continue;
        INFO(entry.op << ": " << sample.text << " with dimension " << d << " empty");
        const Differentiable function = differentiable(empty, entry.op);
        if (function.slots.empty()) continue;
        tally.count(entry);
        const variable_list inputs = function.leaves();
        variable_list grads;
        CHECK(error_in([&] {
                grads = gradients_of(function, [](const Tensor& r) { return keyway::ones(r.sizes(), r.options()); });
              }) == "");
        for (std::size_t i = 0; i < grads.size(); ++i) {
          if (grads[i].defined()) CHECK(grads[i].sizes() == inputs[i].sizes());
        }
      }
    }
  }
  CHECK(tally.total() > 200);
}
