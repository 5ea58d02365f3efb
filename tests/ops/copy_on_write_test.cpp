// The generated suite: a call on lazy clones gives what it gives on copies, and nobody but the tensor that it writes to
// sees it.
#include <keyway/core/device/host_allocator.h>
#include <keyway/core/schema/schema.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>
#include <keyway/tests/ops/samples.h>

#include <cstring>

using namespace keyway;
using namespace keyway::testing;

namespace {

// The same elements and strides in memory that can be shared, which that of a small tensor cannot.
Tensor apart(const Tensor& tensor) {
  const Tensor rows = laid(tensor.detach(), Lay::Contiguous);
  if (!rows.is_cpu() || rows.numel() == 0) return rows;
  Storage storage(make_intrusive<StorageImpl>(host_allocator().allocate(rows.nbytes()), rows.nbytes(), true));
  std::memcpy(storage.data(), rows.const_data_ptr(), rows.nbytes());
  return TensorBase(make_intrusive<TensorImpl>(std::move(storage), rows.dtype(), rows.sizes(), rows.strides(),
                                               rows.numel(), /*contiguous=*/true));
}

std::string bytes_of(const Tensor& tensor) {
  const auto* const data = static_cast<const char*>(tensor.const_data_ptr());
  return data == nullptr ? std::string() : std::string(data, tensor.nbytes());
}

// Tensors of a call, which share their bytes with others.
struct Shared {
  std::vector<Tensor> tensors, others;
  std::vector<std::string> bytes;
  Stack arguments;

  // `clones`: the call gets the clones, and the others are what they were cloned from; else the other way round.
  Shared(const Stack& given, bool clones) {
    arguments = map_tensors(given, [&](const Tensor& tensor) {
      const Tensor original = apart(tensor), clone = original._lazy_clone();
      CHECK(clone.storage().is_shared() == (original.is_cpu() && original.numel() != 0));
      CHECK_FALSE(clone.is_alias_of(original));
      tensors.push_back(clones ? clone : original);
      others.push_back(clones ? original : clone);
      bytes.push_back(bytes_of(original));
      return tensors.back();
    });
  }
};

// With either side as the arguments. What the schema does not write to is shared still, at its address.
void check_call(const std::string& op, const Stack& given, const OpCases& entry, Tally& tally) {
  INFO("overload " << op);
  const ArgumentList schema = operator_named(op).schema().arguments();
  const std::vector<Slot> slots = slots_of(given);
  const Outcome expected = call_in_place(
      op, map_tensors(given, [](const Tensor& tensor) { return laid(tensor.detach(), Lay::Contiguous); }));
  for (const bool clones : {true, false}) {
    INFO((clones ? "the clones are arguments" : "the originals are arguments"));
    tally.count(entry);
    Shared shared(given, clones);
    std::vector<const void*> addresses;
    for (const Tensor& tensor : shared.tensors) addresses.push_back(tensor.const_data_ptr());
    const Outcome outcome = call_in_place(op, shared.arguments);
    CHECK(without_arguments(outcome.error) == without_arguments(expected.error));
    for (std::size_t i = 0; i < shared.tensors.size(); ++i) {
      INFO("argument " << schema[slots[i].argument].name());
      CHECK(bytes_of(shared.others[i]) == shared.bytes[i]);
      if (schema[slots[i].argument].is_write() || shared.others[i].numel() == 0) continue;
      CHECK(shared.tensors[i].storage().is_shared());
      CHECK(shared.tensors[i].const_data_ptr() == addresses[i]);
      CHECK(bytes_of(shared.tensors[i]) == shared.bytes[i]);
    }
    // Last, since the comparison takes addresses of results, which may be views of arguments.
    if (has_values(entry) && outcome.error.empty() && expected.error.empty())
      CHECK(difference(outcome.results, expected.results) == "");
  }
}

// The arguments of the out= overload, with tensors for its results that are full of something else.
Stack with_outs(const Sample& sample, const Stack& results) {
  const ArgumentList given = operator_named(sample.entry->op).schema().arguments();
  Stack stack;
  for (const Argument argument : operator_named(sample.entry->out).schema().arguments()) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i].name() == argument.name()) stack.push_back(sample.arguments[i]);
    }
  }
  for (const Tensor& result : tensors_in(results)) {
    const Tensor out = result.defined() ? keyway::full(result.sizes(), 77, TensorOptions().dtype(result.dtype()))
                                        : keyway::full({2}, 77);
    stack.emplace_back(TensorBase(out));
  }
  return stack;
}

}  // namespace

TEST_CASE("calls on lazy clones give what they give on copies, and leave the originals as they are") {
  Tally tally("lazy clones");
  for (const OpCases& entry : kOpCases) {
    if (entry.samples.find("requires_grad_(") != std::string_view::npos) continue;
    for (const Sample& sample : affordable_samples(entry)) {
      INFO(entry.op << ": " << sample.text);
      check_call(std::string(entry.op), sample.arguments, entry, tally);
      if (!entry.inplace.empty()) check_call(std::string(entry.inplace), sample.arguments, entry, tally);
      if (entry.out.empty()) continue;
      const Outcome functional = call(entry.op, sample.arguments);
      if (functional.error.empty())
        check_call(std::string(entry.out), with_outs(sample, functional.results), entry, tally);
    }
  }
  CHECK(tally.total() >= kOpCases.at_least(can_afford_all_samples() ? 5000 : 1500));
}
