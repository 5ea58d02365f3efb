// Samples: calls of an operator that the generated suite makes, derived from its entry; and what came of a call.
#pragma once

#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tests/ops/op_cases.h>
#include <keyway/tests/ops/tensor_arguments.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::testing {

struct Sample {
  const OpCases* entry;
  std::string text;  // for people
  Stack arguments;
};

std::vector<std::string> lines_of(std::string_view text);
bool has_word(std::string_view words, std::string_view word);
OperatorHandle operator_named(std::string_view full_name);
// All overloads in the namespace of the suite's entries.
std::vector<OperatorHandle> operators_of_suite();
bool has_tag(const OpCases& entry, std::string_view tag);
// Not so of operators whose results are not set, and of those that are about the graph.
bool has_values(const OpCases& entry);
// Whether Meta can know the results without data.
bool has_meta(const OpCases& entry);

// The calls of the entry, as written.
std::vector<Sample> written_samples(const OpCases& entry);
// The same call with values of float64 in all tensors that take them; none if the operator refuses them.
std::optional<Sample> in_double(const Sample& sample);
// Both, and with larger tensors where all of them may have one size.
std::vector<Sample> all_samples(const OpCases& entry);
// For tests that make dozens of calls of a sample: two of an entry where the build is sanitized, as such calls take a
// dozen times as long there; all of them elsewhere, and in a long campaign.
std::vector<Sample> affordable_samples(const OpCases& entry);
// Whether that is all of them.
bool can_afford_all_samples();
// Calls with sizes that broadcast, as the sample is otherwise. None unless the entry says that it broadcasts.
std::vector<Sample> broadcast_samples(const Sample& sample);
// The tensors of a call that the entry says are broadcast, expanded to one size. The others stay.
Stack expanded_arguments(const Sample& sample);

// The call with new values of other sizes in a tensor.
Stack resized(const Sample& sample, Slot slot, IntArrayRef sizes, std::size_t& first);

// What came of a call. The generator is seeded before.
struct Outcome {
  Stack results;
  std::string error;    // empty if it returned
  bool is_ours = true;  // the error is a keyway::Error that names an operator
};
Outcome call_in_place(std::string_view op, Stack arguments);
// The same on copies of what is written.
Outcome call(std::string_view op, const Stack& arguments);

// Where results differ, in shape, dtype or value; empty if nowhere. Floats may differ by rounding.
std::string difference(const Stack& results, const Stack& expected);
// Where the results on Meta differ in shape, dtype or strides.
std::string meta_difference(const OpCases& entry, const Stack& arguments, const Stack& results);

// How often each operator was tested; printed at the end if the variable KEYWAY_SUITE_FIGURES is set.
class Tally {
 public:
  explicit Tally(const char* what) : what_(what) {}
  ~Tally();
  void count(const OpCases& entry) { ++runs_[entry.op]; }
  std::size_t of(const OpCases& entry) const;
  std::size_t total() const;

 private:
  const char* what_;
  std::map<std::string_view, std::size_t> runs_;
};

}  // namespace keyway::inline v1::testing
