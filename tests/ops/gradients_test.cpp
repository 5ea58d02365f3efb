// The generated suite: where gradients of every operator lie, those on Meta, and those of empty tensors.
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/differentiable.h>
#include <keyway/tests/ops/samples.h>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("gradients do not depend on how the gradient of the result lies in memory", "[kernels]") {
  Tally tally("layouts of gradients");
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& sample : all_samples(entry)) {
      const Differentiable function = differentiable(sample, entry.op);
      if (function.slots.empty()) continue;
      INFO(entry.op << ": " << sample.text);
      tally.count(entry);
      const auto expected = gradients_of(function, ones_as);
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
  CHECK(tally.total() >= kOpCases.at_least(500));
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
      const variable_list expected = gradients_of(function, ones_as);
      Differentiable meta = function;
      meta.sample.arguments = on_meta(operator_named(entry.op).schema(), sample.arguments);
      variable_list grads;
      CHECK(error_in([&] { grads = gradients_of(meta, ones_as); }) == "");
      for (std::size_t i = 0; i < grads.size(); ++i) {
        CHECK(grads[i].defined() == expected[i].defined());
        if (!grads[i].defined()) continue;
        CHECK(grads[i].is_meta());
        CHECK(grads[i].sizes() == expected[i].sizes());
        CHECK(grads[i].dtype() == expected[i].dtype());
      }
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(500));
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
        CHECK(error_in([&] { grads = gradients_of(function, ones_as); }) == "");
        for (std::size_t i = 0; i < grads.size(); ++i) {
          if (grads[i].defined()) CHECK(grads[i].sizes() == inputs[i].sizes());
        }
      }
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(200));
}
