// The generated suite: what an entry says of autocast is what happens: as if its arguments had been converted before.
#include <keyway/autocast/autocast.h>
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/samples.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

// "lower", "float32", "promote"; empty: autocast leaves it alone.
std::string policy_of(const OpCases& entry) {
  const SlotContent slot = explain_slot(operator_named(entry.op), DispatchKey::AutocastCPU);
  if (!slot.kernel) return {};
  constexpr std::string_view kFolder = "autocast::";
  // A kernel that somebody else has registered is no policy.
  if (!slot.kernel->name.starts_with(kFolder)) return {};
  return slot.kernel->name.substr(kFolder.size());
}

Stack converted(const Stack& arguments, ScalarType dtype) {
  return map_tensors(arguments, [&](const Tensor& t) {
    return t.is_floating_point() && t.scalar_type() != kDouble ? t.to(dtype) : t;
  });
}

// Every second tensor: what is to be promoted differs.
Stack mixed(const Stack& arguments) {
  std::size_t count = 0;
  return map_tensors(
      arguments, [&](const Tensor& t) { return t.scalar_type() == kFloat && count++ % 2 == 0 ? t.to(kBFloat16) : t; });
}

bool takes_part(const Stack& arguments) {
  for (const Slot slot : slots_of(arguments)) {
    const Tensor tensor = tensor_at(arguments, slot);
    if (tensor.is_floating_point() && tensor.scalar_type() != kDouble) return true;
  }
  return false;
}

Outcome autocast_call(std::string_view op, const Stack& arguments) {
  const AutocastMode autocast(DeviceType::CPU, kBFloat16);
  return call(op, arguments);
}

void check_same(const Sample& sample, const Stack& given, const Stack& computed_with) {
  const Outcome outcome = autocast_call(sample.entry->op, given);
  const Outcome expected = call(sample.entry->op, computed_with);
  CHECK(outcome.error.empty() == expected.error.empty());
  if (!outcome.error.empty()) {
    CHECK(outcome.is_ours);
  } else if (expected.error.empty()) {
    CHECK(difference(outcome.results, expected.results) == "");
  }
}

}  // namespace

TEST_CASE("operators are autocast as their entries say") {
  Tally tally("autocast");
  for (const OpCases& entry : kOpCases) {
    const std::string policy = policy_of(entry);
    if (policy.empty()) continue;
    for (const Sample& sample : written_samples(entry)) {
      if (!takes_part(sample.arguments)) continue;
      INFO(entry.op << ": " << sample.text << ", " << policy);
      tally.count(entry);
      if (policy == "lower") {
        check_same(sample, sample.arguments, converted(sample.arguments, kBFloat16));
        check_same(sample, converted(sample.arguments, kHalf), converted(sample.arguments, kBFloat16));
      } else if (policy == "float32") {
        check_same(sample, sample.arguments, sample.arguments);
        const Stack lower = converted(sample.arguments, kBFloat16);
        check_same(sample, lower, converted(lower, kFloat));
      } else {
        REQUIRE(policy == "promote");
        check_same(sample, sample.arguments, sample.arguments);
        const Stack lower = converted(sample.arguments, kBFloat16);
        check_same(sample, lower, lower);
        const Stack some = mixed(sample.arguments);
        const bool any_float = slots_of(some).size() > 1;
        check_same(sample, some, any_float ? converted(some, kFloat) : some);
      }
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(150));
}

TEST_CASE("other operators, and float64, are left as they are in autocast regions") {
  Tally tally("autocast, others");
  for (const OpCases& entry : kOpCases) {
    const bool autocast = !policy_of(entry).empty();
    // What these call is autocast.
    if (!autocast && entry.implicit) continue;
    for (const Sample& sample : written_samples(entry)) {
      const std::optional<Sample> given = autocast ? in_double(sample) : sample;
      if (!given || !has_values(entry)) continue;
      INFO(entry.op << ": " << given->text);
      tally.count(entry);
      check_same(*given, given->arguments, given->arguments);
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(800));
}
