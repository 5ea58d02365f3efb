#include <keyway/core/base/error.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/tools/keyway/conform/functional_reference.h>
#include <keyway/tools/keyway/conform/neighbour_calls.h>
#include <keyway/tools/keyway/conform/operator_judges.h>
#include <keyway/tools/keyway/conform/poisoned_memory.h>
#include <keyway/tools/keyway/conform/spread_elements.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <fmt/format.h>
#include <optional>
#include <utility>

namespace keyway::inline v1::tools {

namespace {

class ConsistencyJudge final : public Judge {
 public:
  ConsistencyJudge(const OperatorHandle& op, DeviceType device)
      : Judge(device), op_(op), reference_(op, device), neighbours_(op_, reference_) {}
  ConsistencyJudge(const ConsistencyJudge&) = delete;
  ConsistencyJudge& operator=(const ConsistencyJudge&) = delete;

  Outcome judge(const std::vector<Value>& values) const override {
    if (!can_be_made(values)) return {Verdict::NotServed, "tensors that cannot be copied"};
    if (writes_shared_list(op_, values))
      return {Verdict::NotServed, "a list that is written, and memory that is shared"};
    const Outcome outcome = compare(values);
    return outcome.verdict == Verdict::Returned ? compare(with_spread_elements(values)) : outcome;
  }

 private:
  Outcome compare(const std::vector<Value>& values) const {
    const ConformCall call = poisoned_call(values, 0xff);
    if (!call.is_served) return {Verdict::NotServed, call.error};
    std::string problem = changed_argument(values, call);
    if (!problem.empty()) return {Verdict::ArgumentChanged, problem};
    if (!call.error.empty()) return {Verdict::Refused, call.error};
    problem = inconsistency(call.results);
    if (!problem.empty()) return {Verdict::WrongResult, problem};
    problem = repeat_difference(values, call);
    if (problem.empty()) problem = plain_difference(values, call);
    if (problem.empty()) problem = longer_difference(values, call);
    return problem.empty() ? Outcome() : Outcome{Verdict::Differs, problem};
  }

  ConformCall poisoned_call(const std::vector<Value>& values, unsigned char byte) const {
    std::optional<PoisonedMemory> memory;
    if (device() == DeviceType::CPU) memory.emplace(byte);
    return op_.call(values, device());
  }

  std::string changed_argument(const std::vector<Value>& values, const ConformCall& call) const {
    const Stack fresh = op_.arguments(values, device());
    std::size_t tensor = 0;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const std::vector<TensorBase> now = tensors_of({call.arguments[i]}), before = tensors_of({fresh[i]});
      for (std::size_t k = 0; k < now.size() && k < before.size(); ++k, ++tensor) {
        const std::string problem = change(i, now[k], before[k], call, call.versions[tensor]);
        if (!problem.empty()) return op_.argument_name(i) + problem;
      }
    }
    return {};
  }
  // What became of a tensor that must not; empty if nothing.
  std::string change(std::size_t argument, const TensorBase& now, const TensorBase& before, const ConformCall& call,
                     std::uint32_t version) const {
    const bool returned = call.error.empty(), is_written = op_.is_written(argument);
    if (op_.is_out(argument) && !returned) return {};  // it may have grown before the error
    const bool same_geometry = now.sizes() == before.sizes() && now.strides() == before.strides() &&
                               now.storage_offset() == before.storage_offset() && now.dtype() == before.dtype();
    if (is_written && returned) return same_geometry ? change_of_written(now, before, version) : "";
    if (returned && op_.is_written_elsewhere(now, call)) return {};
    const char* const why = returned ? ", which the schema does not say" : " by a call that is refused";
    if (!same_geometry) return fmt::format(" has become {}{}", describe(now), why);
    if (!same_bits(whole_storage(now), whole_storage(before))) return fmt::format(" was changed{}", why);
    if (version_of(now) != version) return fmt::format(" has another version, as if it was changed{}", why);
    return {};
  }
  static std::string change_of_written(const TensorBase& now, const TensorBase& before, std::uint32_t version) {
    const NoGradGuard no_grad;
    if (overlaps_itself(now.sizes(), now.strides()) || now.storage().nbytes() != before.storage().nbytes()) return {};
    if (!same_bits(on_cpu(now), on_cpu(before)) && version_of(now) == version) {
      return " was written, but its version did not grow: a backward that has saved it would not notice";
    }
    const TensorBase there = Tensor(whole_storage(before)).clone();
    Tensor(make_view(there, now.sizes(), now.strides(), now.storage_offset())).copy_(Tensor(on_cpu(now)).detach());
    return same_bits(there, whole_storage(now)) ? "" : ": memory beside it was changed";
  }

  std::string repeat_difference(const std::vector<Value>& values, const ConformCall& call) const {
    if (!op_.has_values()) return {};
    const ConformCall again = poisoned_call(values, 0);
    if (!again.is_served) return {};
    if (!again.error.empty()) return "the second time it is refused: " + again.error;
    const std::string problem = bits_difference(op_, again, call);
    return problem.empty() ? "" : "the second time, with other contents of new memory, " + problem;
  }

  // Beside the overload that returns what this one writes, with contiguous copies of the arguments.
  std::string plain_difference(const std::vector<Value>& values, const ConformCall& call) const {
    if (shares_memory(values) && op_.handle().schema().is_mutable()) return {};
    const ConformCall plain = reference_.call(op_.arguments(values, device()));
    const std::string other = reference_.is_another_form()
                                  ? fmt::format("beside {}", reference_.caller().handle().entry().short_name())
                                  : "beside the call with contiguous copies";
    if (!plain.is_served) return {};
    if (!plain.error.empty()) return fmt::format("{}, it is served where that is refused: {}", other, plain.error);
    const std::vector<TensorBase> got = produced(op_, call), expected = produced(reference_.caller(), plain);
    if (got.size() != expected.size()) {
      return fmt::format("{}, {} tensors are made, not {}", other, got.size(), expected.size());
    }
    const std::vector<TensorBase> unrounded = produced(reference_.caller(), neighbours_.exact(values));
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool writes = reference_.is_another_form();
      const TensorBase& a = got[i];
      if (a.sizes() != expected[i].sizes() || (a.dtype() != expected[i].dtype() && !writes)) {
        return fmt::format("{}, {} is made, not {}", other, describe(a), describe(expected[i]));
      }
      if (!op_.has_values() || a.dtype() != expected[i].dtype()) continue;
      Expected held{.cpu = expected[i], .exact = {}, .is_pointwise = op_.is_pointwise(), .is_basic = op_.is_basic()};
      if (i < unrounded.size() && unrounded[i].sizes() == a.sizes()) held.exact = unrounded[i];
      const std::string problem = neighbours_.float_difference(values, a, held, [&](const ConformCall& near) {
        const std::vector<TensorBase> results = produced(reference_.caller(), near);
        return i < results.size() ? results[i] : TensorBase();
      });
      if (!problem.empty())
        return fmt::format("{}, {}: {}", other, got.size() == 1 ? "the result" : fmt::format("result {}", i), problem);
    }
    return op_.handle().schema().is_mutable() ? "" : number_difference(call, plain, other);
  }
  std::string number_difference(const ConformCall& call, const ConformCall& plain, const std::string& other) const {
    for (std::size_t i = 0; i < call.results.size() && i < plain.results.size() && op_.has_values(); ++i) {
      const IValue &a = call.results[i], &b = plain.results[i];
      if (!b.is(ValueTag::Int) && !b.is(ValueTag::Bool) && !b.is(ValueTag::Double)) continue;
      if (to_string(a) != to_string(b)) {
        return fmt::format("{}, result {} is {}, not {}", other, i, to_string(a), to_string(b));
      }
    }
    return {};
  }

  // Of a pointwise operator: the same elements twice, one copy behind the other, give the same results twice. What a
  // loop does at the end of a tensor, it does in the middle too.
  std::string longer_difference(const std::vector<Value>& values, const ConformCall& call) const {
    if (!op_.is_pointwise() || !op_.has_values() || op_.handle().schema().is_mutable()) return {};
    const std::vector<TensorBase> given = tensors_of(call.arguments);
    for (const TensorBase& tensor : given) {
      if (tensor.sizes() != given[0].sizes() || tensor.numel() == 0) return {};
    }
    Stack longer = op_.arguments(values, device());
    {
      const NoGradGuard no_grad;
      update_tensors(longer, [](TensorBase& tensor) {
        const Tensor row = Tensor(tensor).detach().reshape({-1});
        tensor = cat({row, row});
      });
    }
    const ConformCall twice = op_.call(std::move(longer), device());
    if (!twice.error.empty()) return {};
    const std::vector<TensorBase> made = produced(op_, twice), once = produced(op_, call);
    for (std::size_t i = 0; i < made.size() && i < once.size(); ++i) {
      const std::int64_t count = once[i].numel();
      if (made[i].numel() != 2 * count) return fmt::format("of twice as many elements, {} are made", made[i].numel());
      const NoGradGuard no_grad;
      const Tensor row = Tensor(once[i]).detach().reshape({-1});
      for (const std::int64_t begin : {std::int64_t{0}, count}) {
        const Tensor part = Tensor(made[i]).detach().narrow(0, begin, count);
        const std::string problem = value_difference(part, {.cpu = row, .exact = {}, .is_pointwise = true});
        if (!problem.empty()) {
          return fmt::format("with the same elements twice in a row, {} of them: {}",
                             begin == 0 ? "the first" : "the second", problem);
        }
      }
    }
    return {};
  }

  ConformOperator op_;
  FunctionalReference reference_;
  NeighbourCalls neighbours_;
};

}  // namespace

std::unique_ptr<Judge> make_consistency_judge(const OperatorHandle& op, DeviceType device) {
  return std::make_unique<ConsistencyJudge>(op, device);
}

}  // namespace keyway::inline v1::tools
