// The generated suite: what the tensors of a call look like in memory changes no result, and Meta knows the results.
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/ops/boxed_example.h>
#include <keyway/tests/ops/samples.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Operators whose results are about memory.
bool is_about_memory(const OpCases& entry) {
  // as_strided and data read memory; view and its like refuse what has no such view; the others say how it lies there.
  return has_word(
      "keyway::as_strided keyway::as_strided_ keyway::as_strided_scatter keyway::view keyway::view.dtype "
      "keyway::view_as keyway::view_as_complex "
      "keyway::sym_is_contiguous keyway::sym_storage_offset keyway::sym_stride.int",
      entry.op);
}

// The call with some tensors laid out otherwise, against the same values in rows.
void check_layout(const Sample& sample, const Stack& arguments, const std::string& layout, Tally& tally) {
  INFO(sample.entry->op << ": " << sample.text << ", " << layout);
  tally.count(*sample.entry);
  const Outcome outcome = call(sample.entry->op, arguments);
  // What a tensor remembers of its strides once it was asked changes nothing.
  for (const Slot slot : slots_of(arguments)) tensor_at(arguments, slot).is_contiguous();
  const Outcome again = call(sample.entry->op, arguments);
  CHECK(again.error == outcome.error);
  for (std::size_t i = 0; i < outcome.results.size() && outcome.error.empty() && again.error.empty(); ++i) {
    CHECK(metadata_difference(again.results[i], outcome.results[i]) == "");
  }
  const Outcome rows =
      call(sample.entry->op, map_tensors(arguments, [](const Tensor& t) { return laid(t, Lay::Contiguous); }));
  // A library's operator may take tensors of some layouts alone, if it says so.
  if (kOpCases.of_library() && !outcome.error.empty() && rows.error.empty()) {
    CHECK(outcome.is_ours);
    return;
  }
  if (outcome.error != rows.error) {
    CHECK(outcome.error == rows.error);
    return;
  }
  if (!outcome.error.empty()) {
    CHECK(outcome.is_ours);
    return;
  }
  if (has_values(*sample.entry)) CHECK(difference(outcome.results, rows.results) == "");
  if (has_meta(*sample.entry)) CHECK(meta_difference(*sample.entry, arguments, outcome.results) == "");
}

void check_layouts(const Sample& sample, Tally& tally) {
  constexpr std::pair<Lay, const char*> lays[] = {{Lay::Transposed, "transposed"}, {Lay::Strided, "strided"}};
  const std::vector<Slot> slots = slots_of(sample.arguments);
  check_layout(sample, sample.arguments, "as written", tally);
  for (const auto& [lay, name] : lays) {
    for (const Slot slot : slots) {
      check_layout(sample, with_tensor(sample.arguments, slot, laid(tensor_at(sample.arguments, slot), lay)),
                   std::string(name) + " argument " + std::to_string(slot.argument), tally);
    }
    check_layout(sample, map_tensors(sample.arguments, [lay = lay](const Tensor& t) { return laid(t, lay); }),
                 std::string(name) + " arguments", tally);
  }
  const ArgumentList arguments = operator_named(sample.entry->op).schema().arguments();
  for (const Slot slot : slots) {
    const Tensor tensor = tensor_at(sample.arguments, slot);
    if (arguments[slot.argument].is_write()) continue;
    for (std::int64_t d = 0; d < tensor.dim(); ++d) {
      if (tensor.size(d) < 2) continue;
      check_layout(sample, with_tensor(sample.arguments, slot, expanded(tensor, d)),
                   "expanded argument " + std::to_string(slot.argument), tally);
    }
  }
}

}  // namespace

TEST_CASE("results do not depend on strides, and Meta knows their shape, dtype and strides", "[kernels]") {
  Tally tally("layouts");
  for (const OpCases& entry : kOpCases) {
    if (is_about_memory(entry) || entry.samples.find("requires_grad_(") != std::string_view::npos) continue;
    for (const Sample& sample : all_samples(entry)) check_layouts(sample, tally);
  }
  CHECK(tally.total() >= kOpCases.at_least(3000));
}

TEST_CASE("broadcasting gives what expanding first gives", "[kernels]") {
  Tally tally("broadcasts");
  for (const OpCases& entry : kOpCases) {
    for (const Sample& written : all_samples(entry)) {
      for (const Sample& sample : broadcast_samples(written)) {
        INFO(entry.op << ": " << sample.text);
        tally.count(entry);
        const Outcome outcome = call(entry.op, sample.arguments);
        const Outcome full = call(entry.op, expanded_arguments(sample));
        CHECK(without_arguments(outcome.error) == without_arguments(full.error));
        if (!outcome.error.empty()) continue;
        CHECK(difference(outcome.results, full.results) == "");
        if (has_meta(entry)) CHECK(meta_difference(entry, sample.arguments, outcome.results) == "");
      }
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(500));
}
