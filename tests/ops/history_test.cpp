// The generated suite: what is recorded of a call, and what keeps a gradient from being silently wrong.
#include <keyway/autograd/variable.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/differentiable.h>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("a result that is no function of the inputs, or of integers, requires no gradient") {
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    const bool stated_none = entry.derivatives.empty() && !entry.implicit;
    for (const Sample& sample : double_samples(entry)) {
      INFO(entry.op << ": " << sample.text);
      const Differentiable function = differentiable(sample, entry.op);
      for (const Tensor& result : function.results(function.leaves())) {
        if (!result.defined() || !result.requires_grad()) continue;
        CHECK((is_floating_point(result.dtype()) || is_complex(result.dtype())));
        CHECK_FALSE(stated_none);
      }
    }
  }
}

TEST_CASE("nothing is recorded without grad mode, and the results are the same") {
  Tally tally("no_grad");
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& sample : double_samples(entry)) {
      INFO(entry.op << ": " << sample.text);
      tally.count(entry);
      const Differentiable function = differentiable(sample, entry.op);
      const variable_list recorded = function.results(function.leaves());
      const NoGradGuard no_grad;
      const variable_list results = function.results(function.leaves());
      CHECK(difference(stack_of(results), stack_of(recorded)) == "");
      for (const Tensor& result : results) {
        // A result that is the leaf itself stays what it is.
        if (result.defined() && !result.is_leaf()) CHECK_FALSE(result.requires_grad());
      }
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(500));
}

namespace {

// Changes a tensor's values behind the graph's back; its version says so. A tensor whose elements share memory refuses
// that, and stays as it is.
void change(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_floating_point() || tensor.numel() == 0) return;
  error_in([&] { tensor.detach().mul_(-3).add_(0.7); });
}

// The gradients after inputs or results were changed are those before, or the backward refuses.
void check_changed(const Differentiable& function, const variable_list& expected, bool inputs_change, Tally& tally) {
  const variable_list leaves = function.leaves();
  variable_list inputs;
  for (const Tensor& leaf : leaves) inputs.push_back(leaf.clone());
  const variable_list results = function(inputs);
  for (const Tensor& tensor : inputs_change ? inputs : results) change(tensor);
  tally.count(*function.sample.entry);
  variable_list grads;
  const std::string error = error_in([&] { grads = gradients_of(results, leaves, ones_as); });
  INFO(error);
  if (error.empty())
    CHECK(difference(stack_of(grads), stack_of(expected)) == "");
  else
    CHECK(error.find("changed in place") != std::string::npos);
}

}  // namespace

TEST_CASE("after inputs or results were changed in place, gradients are right or refused") {
  Tally tally("changed in place");
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& sample : double_samples(entry)) {
      INFO(entry.op << ": " << sample.text);
      const Differentiable function = differentiable(sample, entry.op);
      if (function.slots.empty()) continue;
      const variable_list expected = gradients_of(function, ones_as);
      check_changed(function, expected, true, tally);
      check_changed(function, expected, false, tally);
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(1000));
}

TEST_CASE("a leaf that requires a gradient is not written to, nor is a tensor whose elements share memory") {
  Tally tally("refused writes");
  for (const OpCases& entry : kOpCases) {
    const std::string_view op = entry.inplace.empty() ? entry.op : entry.inplace;
    if (!operator_named(op).schema().is_inplace() || is_about_the_graph(entry)) continue;
    for (const Sample& sample : double_samples(entry)) {
      INFO(op << ": " << sample.text);
      const Tensor self = tensor_at(sample.arguments, {0, 0});
      const Outcome written = call(op, sample.arguments);
      // dropout_ that is not in training writes nothing.
      const bool writes = written.error.empty() && difference({written.results[0]}, {IValue(TensorBase(self))}) != "";
      if (self.dtype() != kDouble || !writes) continue;
      tally.count(entry);
      Tensor leaf = laid(self, Lay::Contiguous);
      leaf.requires_grad_();
      Stack stack = with_tensor(sample.arguments, {0, 0}, leaf);
      CHECK(call_in_place(op, stack).error != "");
      CHECK(difference({IValue(TensorBase(leaf.detach()))}, {IValue(TensorBase(self))}) == "");
      if (self.dim() == 0 || self.size(0) < 2 || self.numel() < 2) continue;
      if (has_tag(entry, "inplace_view")) continue;  // writes no element
      const Tensor shared = expanded(self, 0), before = laid(shared, Lay::Contiguous);
      const Outcome outcome = call_in_place(op, with_tensor(sample.arguments, {0, 0}, shared));
      CHECK(outcome.error != "");
      CHECK(outcome.is_ours);
      CHECK(difference({IValue(TensorBase(shared))}, {IValue(TensorBase(before))}) == "");
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(100));
}

TEST_CASE("out= with an input that requires a gradient is refused where the gradient would be lost") {
  Tally tally("out= and gradients");
  for (const OpCases& entry : kOpCases) {
    if (entry.out.empty() || is_about_the_graph(entry) || entry.derivatives.empty()) continue;
    for (const Sample& sample : double_samples(entry)) {
      INFO(entry.out << ": " << sample.text);
      const Differentiable function = differentiable(sample, entry.op);
      const variable_list leaves = function.leaves();
      const variable_list results = function.results(leaves);
      if (function(leaves).empty() || !function(leaves)[0].requires_grad()) continue;
      Stack stack = sample.arguments;
      for (std::size_t i = 0; i < leaves.size(); ++i) stack = with_tensor(stack, function.slots[i], leaves[i]);
      if (operator_named(entry.out).schema().arguments().size() != stack.size() + results.size()) continue;
      for (const Tensor& result : results) {
        stack.emplace_back(TensorBase(result.defined() ? keyway::empty_like(result.detach()) : keyway::empty({0})));
      }
      tally.count(entry);
      const Outcome outcome = call_in_place(entry.out, stack);
      INFO(outcome.error);
      CHECK(outcome.error != "");
      CHECK(outcome.is_ours);
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(100));
}
