// The generated suite: vmap of an operator gives for each example of a batch what a call for that example gives.
#include <keyway/autograd/engine.h>
#include <keyway/batching/vmap.h>
#include <keyway/core/schema/transform_rules.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/differentiable.h>
#include <keyway/tests/ops/samples.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr std::int64_t kExamples = 2;

// The same elements in another order: values that the operator takes too.
Tensor reversed(const Tensor& tensor) {
  std::vector<std::int64_t> dims;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) dims.push_back(i);
  return tensor.flip(dims);
}

// A call, and which of its tensors differ from example to example.
struct Batch {
  const Sample& sample;
  std::vector<Slot> batched;

  Tensor tensor_of(Slot slot, std::int64_t example) const {
    const Tensor written = tensor_at(sample.arguments, slot);
    return example == 0 ? written.clone() : reversed(written);
  }
  Stack example(std::int64_t number) const {
    Stack arguments = map_tensors(sample.arguments, [](const Tensor& t) { return t.clone(); });
    for (const Slot slot : batched) arguments = with_tensor(arguments, slot, tensor_of(slot, number));
    return arguments;
  }
  Tensor stacked(Slot slot) const { return stack({tensor_of(slot, 0), tensor_of(slot, 1)}); }
};

// The tensors of each example's results, one behind the other in a new first dimension.
std::vector<Tensor> stacked(const std::vector<Outcome>& examples) {
  std::vector<Tensor> results;
  const std::vector<Tensor> first = tensors_in(examples[0].results);
  const std::vector<Tensor> second = tensors_in(examples[1].results);
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    results.push_back(first[i].defined() ? stack({first[i], second[i]}) : Tensor());
  return results;
}

Stack arguments_of_all(const Batch& batch, const Vmap& vmap) {
  Stack arguments = map_tensors(batch.sample.arguments, [](const Tensor& t) { return t.clone(); });
  for (const Slot slot : batch.batched)
    arguments = with_tensor(arguments, slot, vmap.add_batch_dim(batch.stacked(slot)));
  return arguments;
}

Outcome call_for_all(std::string_view op, const Batch& batch) {
  const Vmap vmap(kExamples, Randomness::Same);
  Outcome outcome = call_in_place(op, arguments_of_all(batch, vmap));
  outcome.results = map_tensors(outcome.results, [&](const Tensor& t) { return vmap.remove_batch_dim(t); });
  return outcome;
}

Stack as_stack(const std::vector<Tensor>& tensors) {
  Stack values;
  for (const Tensor& tensor : tensors) values.emplace_back(tensor);
  return values;
}

// Which calls vmap refuses though each example's is fine.
std::string reason_of(const std::string& error) {
  const std::size_t begin = error.find("vmap: ");
  if (begin == std::string::npos) return {};
  return error.substr(begin, error.find_first_of(";:'", begin + 6) - begin);
}

void check(const Batch& batch, std::string_view op, std::map<std::string, std::set<std::string>>& refused) {
  std::vector<Outcome> examples;
  for (std::int64_t i = 0; i < kExamples; ++i) examples.push_back(call_in_place(op, batch.example(i)));
  const Outcome all = call_for_all(op, batch);
  if (!examples[0].error.empty() || !examples[1].error.empty()) {
    CHECK(!all.error.empty());
    CHECK(all.is_ours);
    return;
  }
  if (!all.error.empty()) {
    CHECK(all.is_ours);
    INFO(all.error);
    const std::string reason = reason_of(all.error);
    CHECK(!reason.empty());
    refused[reason].emplace(op);
    return;
  }
  if (!has_values(*batch.sample.entry)) return;
  const std::vector<Tensor> results = tensors_in(all.results);
  CHECK(difference(as_stack(results), as_stack(stacked(examples))) == "");
}

std::vector<Batch> batches_of(const Sample& sample) {
  std::vector<Batch> batches;
  const std::vector<Slot> slots = slots_of(sample.arguments);
  if (slots.empty()) return batches;
  batches.push_back({sample, slots});
  for (const Slot slot : slots)
    if (slots.size() > 1) batches.push_back({sample, {slot}});
  return batches;
}

std::string text_of(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name.substr(name.find("::") + 2) + " ";
  return text;
}

}  // namespace

TEST_CASE("vmap of an operator gives what its calls for each example give") {
  Tally tally("vmap");
  std::map<std::string, std::set<std::string>> refused;
  for (const OpCases& entry : kOpCases) {
    if (entry.samples.find("requires_grad_(") != std::string_view::npos) continue;
    for (const Sample& sample : written_samples(entry)) {
      for (const Batch& batch : batches_of(sample)) {
        INFO(entry.op << ": " << sample.text << ", batched arguments: " << batch.batched.size() << ", the first is "
                      << batch.batched[0].argument);
        tally.count(entry);
        check(batch, entry.op, refused);
        if (!entry.inplace.empty() && batch.batched[0].argument == 0) check(batch, entry.inplace, refused);
      }
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(1500));
  if (kOpCases.of_library()) return;  // it may refuse what it says the reason of
  std::map<std::string, std::string> texts;
  for (const auto& [reason, ops] : refused) texts[reason] = text_of(ops);
  CHECK(texts == std::map<std::string, std::string>{
                     {"vmap: ",  // what is written to is the same tensor for all examples
                      "_amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_ _foreach_add_.Scalar _fused_adam_ "
                      "_fused_adamw_ _fused_sgd_ _native_batch_norm_legit bernoulli_.Tensor copy_ float_power_.Tensor "
                      "index_put_ "},
                     {"vmap: the result is a number of Python or C++, of which there is one for each example",
                      "_local_scalar_dense allclose equal item "},
                     {"vmap: there is no view of all examples", "unfold "},  // of a tensor without dimensions
                     {"vmap: the tensor of an example cannot be given other memory", "set_data "},
                     {"vmap: this cannot change the tensor of an example in place", "resize_ "},
                 });
}

namespace {

// How often the kernels of one operator are called that compute, with or without memory.
class CallsOf : public CallObserver {
 public:
  explicit CallsOf(const OperatorEntry& op) : op_(op) {}
  void call(const ObservedCall& call) override {
    if (&call.op == &op_ && computes(call.keys.highest_functionality())) ++count;
    call.proceed();
  }
  std::atomic<int> count{0};

 private:
  const OperatorEntry& op_;
};

// Whether one call, or another operator's, stands for those of all examples.
bool is_one_call(const OperatorEntry& op, std::string_view name, const Batch& batch) {
  const Vmap vmap(kExamples, Randomness::Different);
  Stack arguments = arguments_of_all(batch, vmap);
  const auto calls = std::make_shared<CallsOf>(op);
  const ObserverHandle counted = observe_calls(calls);
  return call_in_place(name, std::move(arguments)).error.empty() && calls->count <= 1;
}

}  // namespace

// A rule that always refuses would go unseen: examples are called one by one then.
TEST_CASE("a rule of vmap serves calls of every operator that names one") {
  std::set<std::string> unserved;
  for (const OpCases& entry : kOpCases) {
    const OperatorEntry& op = Dispatcher::singleton().op(entry.op).entry();
    if (kVmapRules[op.info().vmap].name == "each") continue;
    bool served = false, tried = false;
    for (const Sample& sample : written_samples(entry)) {
      for (const Batch& batch : batches_of(sample)) {
        if (served || !call_in_place(entry.op, batch.example(1)).error.empty()) continue;
        tried = true;
        served = is_one_call(op, entry.op, batch);
      }
    }
    if (tried && !served) unserved.emplace(entry.op);
  }
  CHECK(text_of(unserved) == "");
}

namespace {

Tensor numbered(const Tensor& result) {
  return keyway::arange(1, result.numel() + 1, result.options()).reshape(result.sizes());
}

// One behind the other; undefined if none is defined.
Tensor stacked_or_none(const Tensor& first, const Tensor& second) {
  if (!first.defined() && !second.defined()) return {};
  return stack({first.defined() ? first : zeros_like(second), second.defined() ? second : zeros_like(first)});
}

variable_list stacked_lists(const variable_list& first, const variable_list& second) {
  variable_list all;
  for (std::size_t i = 0; i < first.size(); ++i) all.push_back(stacked_or_none(first[i], second[i]));
  return all;
}

// The gradients by leaves that hold all examples' inputs.
variable_list gradients_through_vmap(const Differentiable& function) {
  variable_list leaves;
  for (const Tensor& input : function.leaves())
    leaves.push_back(stack({input.detach(), reversed(input.detach())}).requires_grad_());
  variable_list results;
  {
    const Vmap vmap(kExamples, Randomness::Same);
    variable_list examples;
    for (const Tensor& leaf : leaves) examples.push_back(vmap.add_batch_dim(leaf));
    for (const Tensor& result : function(examples)) results.push_back(vmap.remove_batch_dim(result));
  }
  // The examples' gradients of results are numbered alike.
  const auto seed = [](const Tensor& result) { return numbered(result[0]).expand(result.sizes()); };
  return gradients_of(results, leaves, seed);
}

variable_list gradients_of_examples(const Differentiable& function) {
  variable_list first = function.leaves();
  variable_list second;
  for (const Tensor& input : function.leaves()) second.push_back(reversed(input.detach()).requires_grad_());
  return stacked_lists(gradients_of(function(first), first, numbered),
                       gradients_of(function(second), second, numbered));
}

// The gradients for several gradients of the results at once.
variable_list batched_gradients(const Differentiable& function) {
  const variable_list leaves = function.leaves();
  const variable_list results = function(leaves);
  const Vmap vmap(kExamples, Randomness::Same);
  const auto seed = [&](const Tensor& result) {
    return vmap.add_batch_dim(stack({numbered(result), keyway::ones_like(result)}));
  };
  variable_list all;
  for (const Tensor& gradient : gradients_of(results, leaves, seed)) all.push_back(vmap.remove_batch_dim(gradient));
  return all;
}

// Of operators that vmap refuses though each example's call is fine.
bool is_refusal(const std::string& error) { return error.find("vmap: ") != std::string::npos; }

}  // namespace

TEST_CASE("gradients flow through vmap as through the calls for each example") {
  Tally tally("gradients through vmap");
  std::set<std::string> refused;
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& sample : double_samples(entry)) {
      const Differentiable function = differentiable(sample, entry.op);
      if (function.slots.empty()) continue;
      INFO(entry.op << ": " << sample.text);
      tally.count(entry);
      variable_list grads, expected;
      if (!error_in([&] { expected = gradients_of_examples(function); }).empty()) continue;
      const std::string error = error_in([&] { grads = gradients_through_vmap(function); });
      if (is_refusal(error)) {
        refused.emplace(entry.op);
        continue;
      }
      CHECK(error == "");
      CHECK(difference(stack_of(grads), stack_of(expected)) == "");
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(500));
  if (!kOpCases.of_library()) CHECK(text_of(refused) == "_local_scalar_dense allclose equal item unfold ");
}

TEST_CASE("several gradients of a result are computed at once") {
  Tally tally("batched gradients");
  std::set<std::string> refused;
  for (const OpCases& entry : kOpCases) {
    if (is_about_the_graph(entry)) continue;
    for (const Sample& sample : double_samples(entry)) {
      const Differentiable function = differentiable(sample, entry.op);
      if (function.slots.empty()) continue;
      INFO(entry.op << ": " << sample.text);
      tally.count(entry);
      variable_list grads, expected;
      const std::string wrong = error_in(
          [&] { expected = stacked_lists(gradients_of(function, numbered), gradients_of(function, ones_as)); });
      if (!wrong.empty()) continue;
      const std::string error = error_in([&] { grads = batched_gradients(function); });
      if (is_refusal(error)) {
        refused.emplace(std::string(entry.op) + " (" + error + ")\n");
        continue;
      }
      CHECK(error == "");
      CHECK(difference(stack_of(grads), stack_of(expected)) == "");
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(500));
  if (!kOpCases.of_library()) CHECK(text_of(refused).empty());
}
