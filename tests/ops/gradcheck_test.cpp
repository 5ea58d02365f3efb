// The generated suite: gradients of every operator, and their gradients, against differences in float64 and complex128.
#include <keyway/autograd/gradcheck.h>
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/differentiable.h>
#include <keyway/tests/ops/gradient_exceptions.h>
#include <keyway/tests/ops/samples.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

struct GradientCounts {
  Tally gradients{"gradcheck"};
  Tally recorded{"gradcheck with history"};
  Tally double_gradients{"gradgradcheck"};
};

// The first derivative, and where the results have a history the second.
void check(const Differentiable& function, GradientCounts& counts) {
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
void check_each(const Differentiable& function, GradientCounts& counts) {
  if (function.slots.size() < 2) return;
  for (const Slot slot : function.slots) {
    INFO(function.op << ": " << function.sample.text << ", only argument " << slot.argument << " requires a gradient");
    check({function.sample, function.op, {slot}}, counts);
  }
}

// Whether its gradient is none: of a library's composite, of which no list says so, if it gives no floats.
bool is_without_gradient(const OpCases& entry, const GradientCounts& counts) {
  const bool gives_no_floats = entry.implicit && counts.gradients.of(entry) == 0;
  return testing::is_without_gradient(entry.op) || (kOpCases.of_library() && gives_no_floats);
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

// Whether a result is no number: nothing can be said of differences of such.
bool is_undefined(const Outcome& outcome) {
  const std::vector<Tensor> tensors = tensors_in(outcome.results);
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) {
    return t.defined() && t.is_floating_point() && t.isnan().sum().item<std::int64_t>() > 0;
  });
}

// Also every tensor without dimensions, and all of them, where that is a call and gives numbers.
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
  std::erase_if(list, [](const Sample& made) {
    const Outcome outcome = call(made.entry->op, made.arguments);
    return !outcome.error.empty() || is_undefined(outcome);
  });
  return list;
}

}  // namespace

TEST_CASE("gradients, and the gradients of gradients, are those of differences") {
  GradientCounts counts;
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
    INFO(entry.op << ": no call in float64 has a gradient");
    // An operator that has derivatives and that nothing was recorded of was not tested.
    if (!entry.derivatives.empty() || entry.implicit)
      CHECK((counts.recorded.of(entry) > 0) == !is_without_gradient(entry, counts));
  }
  CHECK(counts.gradients.total() >= kOpCases.at_least(3000));
}

TEST_CASE("gradients of complex numbers are those of differences of their parts") {
  GradientCounts counts;
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& sample : double_samples(entry)) {
      const std::optional<Sample> made = in_complex(sample);
      if (!made) continue;
      INFO(entry.op << ": " << made->text);
      check(differentiable(*made, entry.op), counts);
      check_each(differentiable(*made, entry.op), counts);
    }
  }
  CHECK(counts.gradients.total() >= kOpCases.at_least(500));
}

TEST_CASE("gradients flow through in-place overloads") {
  GradientCounts counts;
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
  CHECK(counts.gradients.total() >= kOpCases.at_least(500));
}
