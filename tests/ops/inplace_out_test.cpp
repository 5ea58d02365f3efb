// The generated suite: in-place and out= overloads give what the functional one gives.
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/samples.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr std::pair<Lay, const char*> kLays[] = {
    {Lay::Contiguous, "in rows"}, {Lay::Transposed, "transposed"}, {Lay::Strided, "strided"}};

Tensor first_of(const Stack& stack) { return tensors_in(stack).at(0); }

Stack cast(const Stack& results, ScalarType dtype) {
  return map_tensors(results, [dtype](const Tensor& tensor) { return tensor.to(dtype); });
}

void check_inplace(const Sample& sample, const Outcome& functional, Lay lay, Tally& tally) {
  const Tensor self = laid(tensor_at(sample.arguments, {0, 0}), lay);
  const Tensor before = laid(self, Lay::Contiguous);
  const std::vector<std::int64_t> strides = self.strides().vec();
  tally.count(*sample.entry);
  const Outcome outcome = call_in_place(sample.entry->inplace, with_tensor(sample.arguments, {0, 0}, self));
  const bool fits = functional.error.empty() && first_of(functional.results).sizes() == before.sizes() &&
                    can_cast(first_of(functional.results).dtype(), before.dtype());
  INFO(outcome.error);
  CHECK(outcome.error.empty() == fits);
  if (!fits) {
    CHECK(outcome.is_ours);
    CHECK(difference({IValue(TensorBase(self))}, {IValue(TensorBase(before))}) == "");
    return;
  }
  if (!outcome.error.empty()) return;
  CHECK(difference(outcome.results, cast(functional.results, before.dtype())) == "");
  CHECK(first_of(outcome.results).is_same(self));
  CHECK(self.strides() == IntArrayRef(strides));
}

std::vector<Sample> with_broadcasts(const OpCases& entry) {
  std::vector<Sample> samples = all_samples(entry);
  const std::size_t count = samples.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (Sample& sample : broadcast_samples(samples[i])) samples.push_back(std::move(sample));
  }
  return samples;
}

// The arguments of the out= overload that stand before its results.
Stack without_options(const Sample& sample) {
  const ArgumentList given = operator_named(sample.entry->op).schema().arguments();
  Stack stack;
  for (const Argument argument : operator_named(sample.entry->out).schema().arguments()) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i].name() == argument.name()) stack.push_back(sample.arguments[i]);
    }
  }
  return stack;
}

// Tensors for the results, full of something else.
Tensor garbage(IntArrayRef sizes, ScalarType dtype) { return keyway::full(sizes, 77, TensorOptions().dtype(dtype)); }

void check_out(const Sample& sample, const Stack& expected, const std::vector<Tensor>& outs, Tally& tally) {
  Stack stack = without_options(sample);
  for (const Tensor& out : outs) stack.emplace_back(TensorBase(out));
  tally.count(*sample.entry);
  std::vector<std::vector<std::int64_t>> sizes, strides;
  for (const Tensor& out : outs) {
    sizes.push_back(out.sizes().vec());
    strides.push_back(out.strides().vec());
  }
  const Outcome outcome = call_in_place(sample.entry->out, stack);
  CHECK(outcome.error == "");
  if (!outcome.error.empty()) return;
  Stack wanted = expected;
  for (IValue& result : wanted) {
    if (!result.to_tensor().defined()) result = IValue(TensorBase(garbage({2}, kFloat)));
  }
  if (has_values(*sample.entry)) CHECK(difference(outcome.results, wanted) == "");
  for (std::size_t i = 0; i < outs.size(); ++i) {
    CHECK(outcome.results.at(i).to_tensor().is_same(outs[i]));
    const bool fits = wanted[i].to_tensor().sizes() == IntArrayRef(sizes[i]);
    if (fits) CHECK(outs[i].strides() == IntArrayRef(strides[i]));
  }
}

// An input as the result: right, or refused.
void check_out_is_input(const Sample& sample, const Stack& expected, Tally& tally) {
  if (expected.size() != 1) return;
  const Tensor result = first_of(expected);
  for (const Slot slot : slots_of(sample.arguments)) {
    const Tensor input = laid(tensor_at(sample.arguments, slot), Lay::Contiguous);
    if (input.dtype() != result.dtype()) continue;
    INFO("argument " << slot.argument << " is the result");
    tally.count(*sample.entry);
    Stack stack = without_options({sample.entry, sample.text, with_tensor(sample.arguments, slot, input)});
    stack.emplace_back(TensorBase(input));
    const Outcome outcome = call_in_place(sample.entry->out, stack);
    INFO(outcome.error);
    if (outcome.error.empty())
      CHECK(difference(outcome.results, expected) == "");
    else
      CHECK(outcome.is_ours);
  }
}

// What the functional overload gives in a dtype, if it can be asked for one.
Stack in_dtype(const Sample& sample, ScalarType dtype) {
  const auto position = operator_named(sample.entry->op).schema().arguments().find("dtype");
  if (!position) return {};
  Stack arguments = sample.arguments;
  arguments[*position] = IValue(dtype);
  return call(sample.entry->op, arguments).results;
}

// Right up to the dtype, or refused with `out` as it was. What does not fit may have been computed in the dtype of
// `out`.
void check_right_or_refused(const Sample& sample, const Stack& expected, const Tensor& out, bool may_fit,
                            Tally& tally) {
  const Tensor before = laid(out, Lay::Contiguous);
  Stack stack = without_options(sample);
  stack.emplace_back(TensorBase(out));
  tally.count(*sample.entry);
  const Outcome outcome = call_in_place(sample.entry->out, stack);
  INFO(outcome.error);
  if (outcome.error.empty()) {
    const bool computed_in_it = difference(outcome.results, in_dtype(sample, out.dtype())) == "";
    if (!computed_in_it) {
      CHECK(may_fit);
      CHECK(difference(outcome.results, cast(expected, out.dtype())) == "");
    }
    return;
  }
  CHECK(outcome.is_ours);
  CHECK(difference({IValue(TensorBase(out))}, {IValue(TensorBase(before))}) == "");
}

// Results of another dtype; results whose elements share memory.
void check_unfit_outs(const Sample& sample, const Stack& expected, Tally& tally) {
  const Tensor result = first_of(expected);
  const bool is_factory = has_tag(*sample.entry, "factory");  // makes what it is given the dtype of
  for (const ScalarType dtype : {kBool, kLong, kFloat, kDouble, kComplexFloat}) {
    INFO("out of " << to_string(dtype));
    const bool fits = is_factory || can_cast(result.dtype(), dtype);
    if (is_factory && has_tag(*sample.entry, "nondeterministic_seeded")) continue;  // draws others
    check_right_or_refused(sample, expected, garbage(result.sizes(), dtype), fits, tally);
  }
  for (std::int64_t d = 0; d < result.dim(); ++d) {
    if (result.size(d) < 2 || result.numel() == 0) continue;
    INFO("out expanded in dimension " << d);
    check_right_or_refused(sample, expected, expanded(garbage(result.sizes(), result.dtype()), d), false, tally);
  }
}

void check_outs(const Sample& sample, const Stack& expected, Tally& tally) {
  const std::vector<Tensor> results = tensors_in(expected);
  const auto outs = [&](const std::function<Tensor(const Tensor&)>& make) {
    std::vector<Tensor> list;
    // A result that is not asked for leaves its tensor as it was.
    for (const Tensor& result : results) list.push_back(result.defined() ? make(result) : garbage({2}, kFloat));
    return list;
  };
  for (const auto& [lay, name] : kLays) {
    INFO(name);
    check_out(sample, expected, outs([lay = lay](const Tensor& t) { return laid(garbage(t.sizes(), t.dtype()), lay); }),
              tally);
  }
  const std::vector<std::vector<std::int64_t>> wrong_sizes = {{0}, {5}, {2, 3, 2}};
  for (const auto& sizes : wrong_sizes) {
    INFO("of sizes " << FormatArg(IntArrayRef(sizes)).str());
    check_out(sample, expected, outs([&](const Tensor& t) { return garbage(sizes, t.dtype()); }), tally);
  }
  if (!has_values(*sample.entry)) return;
  check_out_is_input(sample, expected, tally);
  if (expected.size() == 1 && results[0].defined()) check_unfit_outs(sample, expected, tally);
}

}  // namespace

TEST_CASE("in-place overloads give what functional ones give, or leave their tensor as it was", "[kernels]") {
  Tally tally("in-place");
  for (const OpCases& entry : kOpCases) {
    if (entry.inplace.empty()) continue;
    for (const Sample& sample : with_broadcasts(entry)) {
      const Outcome functional = call(entry.op, sample.arguments);
      for (const auto& [lay, name] : kLays) {
        INFO(entry.inplace << ": " << sample.text << ", " << name);
        check_inplace(sample, functional, lay, tally);
      }
    }
    CHECK(tally.of(entry) > 0);
  }
}

TEST_CASE("out= overloads give what functional ones give, of every size and layout before", "[kernels]") {
  Tally tally("out=");
  for (const OpCases& entry : kOpCases) {
    if (entry.out.empty()) continue;
    for (const Sample& sample : all_samples(entry)) {
      const Outcome functional = call(entry.op, sample.arguments);
      INFO(entry.out << ": " << sample.text);
      CHECK(functional.error == "");
      check_outs(sample, functional.results, tally);
    }
    CHECK(tally.of(entry) > 0);
  }
}
