// Decompositions of every operator: what they give is what the operator gives, but for last bits, and they consist of
// operators of the Core ATen set and of those that the list here has.
#include <keyway/graph/run.h>
#include <keyway/ops/all.h>
#include <keyway/tests/ops/decomposed.h>
#include <keyway/tests/ops/differentiable.h>

#include <map>
#include <set>
#include <string>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Names = std::set<std::string>;

// The sample's call with other tensors in the places of those that have gradients.
Program with_leaves(const Sample& sample, const Differentiable& function) {
  return [&, call = program_of(sample)](const std::vector<Tensor>& leaves) {
    std::vector<Tensor> arguments = inputs_of(sample);
    const std::vector<Slot> slots = slots_of(sample.arguments);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      for (std::size_t j = 0; j < leaves.size(); ++j) {
        if (function.slots[j].argument == slots[i].argument && function.slots[j].item == slots[i].item)
          arguments[i] = leaves[j];
      }
    }
    return call(arguments);
  };
}

// The operators in the graph outside of the Core ATen set.
void note_others(const graph::Graph& graph, Names& others) {
  for (const graph::Node& node : graph.nodes) {
    if (!node.op->has_tag("core")) others.insert(node.op->short_name());
  }
}

void check_results(const graph::Graph& graph, const Program& program, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> expected, given;
  manual_seed(7);
  if (!error_in([&] { expected = program(copies_of(inputs)); }).empty()) return;
  manual_seed(7);
  const std::string error = error_in([&] { given = graph::run(graph, copies_of(inputs)); });
  CHECK(error == "");
  if (!error.empty()) return;
  CHECK(difference(stack_of(given), stack_of(expected)) == "");
  for (std::size_t i = 0; i < std::min(given.size(), expected.size()); ++i) {
    if (given[i].defined() && expected[i].defined()) CHECK(given[i].strides() == expected[i].strides());
  }
}

std::string text_of(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

// What is left when all is decomposed, and why.
constexpr std::pair<const char*, const char*> kOthers[] = {
    {"_adaptive_avg_pool3d_backward", "PyTorch has the gradient for images alone"},
    {"_assert_async", "stops the program, which PyTorch has no core operator for"},
    {"_assert_async.msg", "as _assert_async"},
    {"_fft_c2c", "the core set transforms real numbers alone"},
    {"_fft_half", "as _fft_c2c"},
    {"_gather_products", "adds up products at indices, a kernel of its own"},
    {"_gather_weighted", "as _gather_products"},
    {"_linalg_check_errors", "raises"},
    {"_linalg_cholesky", "an algorithm of linear algebra"},
    {"_linalg_eig", "as _linalg_cholesky"},
    {"_linalg_eigh", "as _linalg_cholesky"},
    {"_linalg_lu", "as _linalg_cholesky"},
    {"_linalg_svd", "as _linalg_cholesky"},
    {"_order_statistic", "finds an element without sorting"},
    {"_pad_from_inside_backward", "its result may lie within larger memory"},
    {"_pivots_to_permutation", "interchanges one after another"},
    {"_scatter_weighted", "as _gather_products"},
    {"_three_way_compare", "compares integers and floats exactly, which no conversion does"},
    {"avg_pool3d_backward", "as _adaptive_avg_pool3d_backward"},
    {"bernoulli", "takes a generator"},
    {"bernoulli.p", "as bernoulli"},
    {"bernoulli_.Tensor", "writes"},
    {"bernoulli_.float", "writes"},
    {"bitwise_left_shift.Tensor", "no core operator shifts bits"},
    {"bitwise_right_shift.Tensor", "as bitwise_left_shift"},
    {"copy_", "writes"},
    {"copysign.Tensor", "no core operator tells the sign of NaN"},
    {"cummax", "no core operator keeps what was greatest"},
    {"cummin", "as cummax"},
    {"cumprod", "no core operator multiplies up"},
    {"detach", "is what ends a history"},
    {"digamma", "a series of its own"},
    {"erfc", "1 - erf is not exact where that is near 0"},
    {"erfinv", "as digamma"},
    {"gcd", "an algorithm that ends by the elements"},
    {"geqrf", "as _linalg_cholesky"},
    {"i0", "as digamma"},
    {"igamma", "as digamma"},
    {"igammac", "as digamma"},
    {"im2col", "as _pad_from_inside_backward"},
    {"lgamma", "as digamma"},
    {"linalg_matrix_exp", "what it calls depends on elements"},
    {"linalg_solve_triangular", "as _linalg_cholesky"},
    {"logcumsumexp", "the sums of exponentials overflow"},
    {"multinomial", "as bernoulli"},
    {"nextafter", "counts bits"},
    {"normal.Tensor_Tensor", "as bernoulli"},
    {"normal.Tensor_float", "as bernoulli"},
    {"normal.float_Tensor", "as bernoulli"},
    {"normal.float_float", "as bernoulli"},
    {"normal_", "writes"},
    {"polygamma", "as digamma"},
    {"rand.generator", "as bernoulli"},
    {"randint.generator", "as bernoulli"},
    {"randint.low_generator", "as bernoulli"},
    {"randn.generator", "as bernoulli"},
    {"random_.from", "writes"},
    {"randperm.generator", "as bernoulli"},
    {"special_erfcx", "as digamma"},
    {"special_i0e", "as digamma"},
    {"special_i1", "as digamma"},
    {"special_i1e", "as digamma"},
    {"special_log_ndtr", "as digamma"},
    {"special_ndtri", "as digamma"},
    {"special_zeta", "as digamma"},
    {"tril_indices", "as linalg_matrix_exp"},
    {"triu_indices", "as linalg_matrix_exp"},
    {"unfold", "a view that overlaps: as_strided would have its strides"},
    {"uniform_", "writes"},
    {"view.dtype", "no core operator reads bits"},
    {"view_as_complex", "no core operator takes pairs for complex numbers"},
    {"view_as_real", "as view_as_complex"},
};

Names others() {
  Names names;
  for (const auto& [name, reason] : kOthers) names.insert(name);
  return names;
}

}  // namespace

TEST_CASE("a decomposed call gives what the call gives, by calls of Core ATen") {
  Tally tally("decomposed");
  Names found;
  for (const OpCases& entry : kOpCases) {
    if (!has_values(entry) || operator_named(entry.op).schema().is_mutable()) continue;
    for (const Sample& sample : affordable_samples(entry)) {
      for (const graph::Level level : {graph::Level::Executed, graph::Level::Program}) {
        INFO(entry.op << ": " << sample.text << (level == graph::Level::Program ? " as written" : ""));
        const Program program = program_of(sample);
        const std::vector<Tensor> inputs = inputs_of(sample);
        const std::optional<graph::Graph> graph = decomposed(program, inputs, level);
        if (!graph) continue;
        tally.count(entry);
        INFO(graph::to_string(*graph));
        note_others(*graph, found);
        check_results(*graph, program, inputs);
      }
    }
  }
  CHECK(tally.total() >= (can_afford_all_samples() ? 5000 : 1500));
  if (!can_afford_all_samples()) return;
  CHECK(text_of(found) == text_of(others()));
}

TEST_CASE("gradients of a decomposed call are those of the call") {
  Tally tally("gradients of decomposed");
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry) || operator_named(entry.op).schema().is_mutable()) continue;
    for (const Sample& sample : double_samples(entry)) {
      const Differentiable function = differentiable(sample, entry.op);
      if (function.slots.empty()) continue;
      INFO(entry.op << ": " << sample.text);
      const variable_list leaves = function.leaves();
      const Program program = with_leaves(sample, function);
      const std::optional<graph::Graph> graph = decomposed(program, leaves, graph::Level::Program);
      if (!graph) continue;
      tally.count(entry);
      INFO(graph::to_string(*graph));
      // Where a result does not depend on a leaf, as if its gradient were 0.
      const auto gradients = [&](const Program& run) {
        manual_seed(7);
        variable_list differentiable;
        for (const Tensor& result : run(leaves)) {
          if (result.defined() && result.requires_grad()) differentiable.push_back(result);
        }
        variable_list found(leaves.size());
        if (!differentiable.empty()) found = gradients_of(differentiable, leaves, ones_as);
        for (std::size_t i = 0; i < leaves.size(); ++i) {
          if (!found[i].defined()) found[i] = keyway::zeros_like(leaves[i]);
        }
        return stack_of(found);
      };
      Stack expected, given;
      if (!error_in([&] { expected = gradients(program); }).empty()) continue;
      const Program run = [&](const std::vector<Tensor>& inputs) { return graph::run(*graph, inputs); };
      CHECK(error_in([&] { given = gradients(run); }) == "");
      CHECK(difference(given, expected) == "");
    }
  }
  CHECK(tally.total() >= 500);
}
