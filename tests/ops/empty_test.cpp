// The generated suite: tensors without elements, and tensors without dimensions. A call gives what Meta says, or an
// error that names an operator.
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/samples.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

struct EmptyCounts {
  Tally results{"empty"};
  Tally errors{"empty, refused"};
};

void check(const Sample& sample, const Stack& arguments, const std::string& what, EmptyCounts& counts) {
  INFO(sample.entry->op << ": " << sample.text << ", " << what);
  const Outcome outcome = call(sample.entry->op, arguments);
  (outcome.error.empty() ? counts.results : counts.errors).count(*sample.entry);
  if (!outcome.error.empty()) {
    INFO(outcome.error);
    CHECK(outcome.is_ours);
    return;
  }
  if (has_meta(*sample.entry)) CHECK(meta_difference(*sample.entry, arguments, outcome.results) == "");
}

std::string name_of(Slot slot, IntArrayRef sizes) {
  return "argument " + std::to_string(slot.argument) + " of sizes " + FormatArg(sizes).str();
}

// Each tensor, and then all of them, with dimension d emptied.
void check_empty(const Sample& sample, std::int64_t d, EmptyCounts& counts) {
  Sample all = sample;
  std::size_t first = 0;
  bool any = false;
  for (const Slot slot : slots_of(sample.arguments)) {
    DimVector sizes = tensor_at(sample.arguments, slot).sizes();
    if (d >= static_cast<std::int64_t>(sizes.size())) continue;
    any = true;
    sizes[static_cast<std::size_t>(d)] = 0;
    check(sample, resized(sample, slot, sizes, first), name_of(slot, sizes), counts);
    all.arguments = resized(all, slot, sizes, first);
  }
  if (any) check(sample, all.arguments, "arguments without elements in dimension " + std::to_string(d), counts);
}

// Each tensor, and then all of them, without dimensions.
void check_zero_dim(const Sample& sample, EmptyCounts& counts) {
  Sample all = sample;
  std::size_t first = 0;
  for (const Slot slot : slots_of(sample.arguments)) {
    check(sample, resized(sample, slot, {}, first), name_of(slot, {}), counts);
    all.arguments = resized(all, slot, {}, first);
  }
  check(sample, all.arguments, "arguments without dimensions", counts);
}

}  // namespace

TEST_CASE("tensors without elements or dimensions give what Meta says, or an error that names an operator",
          "[kernels]") {
  EmptyCounts counts;
  for (const OpCases& entry : kOpCases) {
    for (const Sample& sample : all_samples(entry)) {
      for (std::int64_t d = 0; d < 5; ++d) check_empty(sample, d, counts);
      check_zero_dim(sample, counts);
    }
  }
  CHECK(counts.results.total() >= kOpCases.at_least(2000));
}
