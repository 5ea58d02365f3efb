// The generated suite: arguments that do not fit. A call gives a result, which Meta knows, or an error that names an
// operator; Meta gives the same error, unless it is about data.
#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/samples.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

struct RefusalCounts {
  Tally results{"changed arguments"};
  Tally errors{"changed arguments, refused"};
};

// Errors that come of what tensors hold. How many elements index_put's masks pick is one of these; which integers
// random_ can give to a dtype is tested by the kernel.
bool is_about_data(const std::string& error) {
  for (const char* part :
       {" at position ", "to the number of indices", "is zero or False", "a zero", "the mask has ",
        "but a weight is finite", "weights that are not zero", "(called from index_put", "holds the integers from",
        " of U is zero", "the input is not positive-definite", "infinite or no numbers", "did not converge"}) {
    if (error.find(part) != std::string::npos) return true;
  }
  return false;
}

// Without what the operator was given, which says where it lies.
std::string without_arguments(const std::string& error) {
  const std::size_t given = error.find("; given ");
  const std::size_t path = error.rfind(" (called from");
  return error.substr(0, given) + (given < path && path != std::string::npos ? error.substr(path) : "");
}

void check(const Sample& sample, const Stack& arguments, const std::string& what, RefusalCounts& counts) {
  INFO(sample.entry->op << ": " << sample.text << ", " << what);
  const Outcome outcome = call(sample.entry->op, arguments);
  (outcome.error.empty() ? counts.results : counts.errors).count(*sample.entry);
  if (outcome.error.empty()) {
    if (has_meta(*sample.entry)) CHECK(meta_difference(*sample.entry, arguments, outcome.results) == "");
    return;
  }
  INFO(outcome.error);
  CHECK(outcome.is_ours);
  if (!has_meta(*sample.entry) || is_about_data(outcome.error)) return;
  const Outcome meta = call(sample.entry->op, on_meta(operator_named(sample.entry->op).schema(), arguments));
  // What a library's kernel refuses of data has a text of its own.
  if (kOpCases.of_library() && meta.error.empty()) return;
  CHECK(without_arguments(meta.error) == without_arguments(outcome.error));
}

void check_sizes(const Sample& sample, Slot slot, const std::string& name, RefusalCounts& counts) {
  const Tensor tensor = tensor_at(sample.arguments, slot);
  std::size_t first = 0;
  std::vector<DimVector> changed;
  for (std::size_t d = 0; d < tensor.sizes().size(); ++d) {
    for (const std::int64_t size : {tensor.sizes()[d] + 1, tensor.sizes()[d] * 2, std::int64_t{1}}) {
      changed.emplace_back(tensor.sizes());
      changed.back()[d] = size;
    }
  }
  changed.emplace_back(tensor.sizes());
  changed.back().push_back(1);
  changed.emplace_back(tensor.sizes());
  changed.back().insert(0, 2);
  for (const DimVector& sizes : changed) {
    check(sample, resized(sample, slot, sizes, first), name + " of sizes " + FormatArg(IntArrayRef(sizes)).str(),
          counts);
  }
}

void check_dtypes(const Sample& sample, Slot slot, const std::string& name, RefusalCounts& counts) {
  const NoGradGuard no_grad;
  const Tensor tensor = tensor_at(sample.arguments, slot);
  for (const ScalarType dtype : {kBool, kByte, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble, kComplexFloat}) {
    check(sample, with_tensor(sample.arguments, slot, tensor.to(dtype)), name + " of " + std::string(to_string(dtype)),
          counts);
  }
}

}  // namespace

TEST_CASE("arguments of other sizes and dtypes give a result that Meta knows, or an error that Meta gives, too",
          "[kernels]") {
  RefusalCounts counts;
  for (const OpCases& entry : kOpCases) {
    for (const Sample& sample : written_samples(entry)) {
      if (sample.text.find("requires_grad_(") != std::string::npos) continue;
      for (const Slot slot : slots_of(sample.arguments)) {
        const std::string name = "argument " + std::to_string(slot.argument);
        check_sizes(sample, slot, name, counts);
        check_dtypes(sample, slot, name, counts);
      }
    }
  }
  CHECK(counts.errors.total() >= kOpCases.at_least(2000));
}

TEST_CASE("an undefined tensor, and one on another device, are refused or do not matter", "[kernels]") {
  RefusalCounts counts;
  for (const OpCases& entry : kOpCases) {
    for (const Sample& sample : written_samples(entry)) {
      for (const Slot slot : slots_of(sample.arguments)) {
        for (const bool undefined : {true, false}) {
          INFO(entry.op << ": " << sample.text << ", argument " << slot.argument
                        << (undefined ? " undefined" : " on Meta"));
          const Tensor changed = undefined ? Tensor() : on_meta(tensor_at(sample.arguments, slot));
          const Outcome outcome = call(entry.op, with_tensor(sample.arguments, slot, changed));
          (outcome.error.empty() ? counts.results : counts.errors).count(entry);
          INFO(outcome.error);
          if (!outcome.error.empty()) CHECK(outcome.is_ours);
        }
      }
    }
  }
  CHECK(counts.errors.total() >= kOpCases.at_least(500));
}
