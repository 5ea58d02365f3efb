// Sequences, optionals and control flow.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>
#include <limits>

namespace keyway::inline v1::onnx {

namespace {

constexpr int kUnbounded = Operator::kAny;
using Sort = Operator::Sort;

Results sequence_empty(const Call&) { return {Slot(Sequence())}; }

Results sequence_construct(const Call& call) {
  Sequence sequence;
  for (std::size_t i = 0; i < call.inputs(); ++i) sequence.push_back(call.value(i));
  return {Slot(std::move(sequence))};
}

// A place in a sequence, which may count from the end.
std::size_t place_in(const Call& call, std::size_t size, std::size_t input, bool may_be_end) {
  return static_cast<std::size_t>(call.axis(call.integer(input), static_cast<std::int64_t>(size), may_be_end));
}

Results sequence_insert(const Call& call) {
  Sequence sequence = call.sequence(0);
  const std::size_t at = call.has(2) ? place_in(call, sequence.size(), 2, true) : sequence.size();
  sequence.insert(sequence.begin() + static_cast<std::ptrdiff_t>(at), call.value(1));
  return {Slot(std::move(sequence))};
}

Results sequence_erase(const Call& call) {
  Sequence sequence = call.sequence(0);
  call.check(!sequence.empty(), "the sequence is empty");
  const std::size_t at = call.has(1) ? place_in(call, sequence.size(), 1, false) : sequence.size() - 1;
  sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(at));
  return {Slot(std::move(sequence))};
}

Results sequence_at(const Call& call) {
  const Sequence& sequence = call.sequence(0);
  return {Slot(sequence[place_in(call, sequence.size(), 1, false)])};
}

Results sequence_length(const Call& call) {
  return {scalar_tensor(Scalar(static_cast<std::int64_t>(call.sequence(0).size())), kLong)};
}

// Parts of a size, or of sizes; without them of 1.
Results split_to_sequence(const Call& call) {
  const Tensor& x = call.tensor(0);
  const std::int64_t axis = call.axis(call.attribute("axis", 0), x.dim());
  std::vector<std::int64_t> sizes;
  if (call.has(1) && call.tensor(1).dim() > 0) {
    sizes = call.integers(1);
  } else {
    const std::int64_t part = call.has(1) ? call.integer(1) : 1;
    call.check(part > 0, "a part has the size {}", part);
    for (std::int64_t at = 0; at < x.size(axis); at += part) sizes.push_back(std::min(part, x.size(axis) - at));
  }
  Sequence sequence;
  for (const Tensor& part : split_with_sizes(x, sizes, axis)) {
    const bool keeps = call.has(1) || call.attribute("keepdims", 1) != 0;
    sequence.emplace_back(keeps ? part : squeeze(part, axis));
  }
  return {Slot(std::move(sequence))};
}

std::vector<Tensor> tensors_in(const Call& call, std::size_t input) {
  std::vector<Tensor> tensors;
  for (const Value& element : call.sequence(input)) {
    const auto* const tensor = std::get_if<Tensor>(&element);
    call.check(tensor != nullptr, "an element of the sequence is no tensor of numbers");
    tensors.push_back(*tensor);
  }
  call.check(!tensors.empty(), "the sequence is empty");
  return tensors;
}

Results concat_from_sequence(const Call& call) {
  const std::vector<Tensor> tensors = tensors_in(call, 0);
  const std::int64_t axis = call.attribute("axis");
  return {call.attribute("new_axis", 0) != 0 ? stack(tensors, axis) : cat(tensors, axis)};
}

Results sequence_map(const Call& call) {
  const Graph& body = call.graph_attribute("body");
  const std::size_t count = call.sequence(0).size();
  std::vector<Sequence> results(call.outputs());
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Slot> inputs;
    for (std::size_t input = 0; input < call.inputs(); ++input) {
      const auto* const sequence = std::get_if<Sequence>(&call.value(input));
      call.check(sequence == nullptr || sequence->size() == count, "the sequences have {} and {} elements", count,
                 sequence == nullptr ? 0 : sequence->size());
      inputs.emplace_back(sequence == nullptr ? call.value(input) : (*sequence)[i], call.slot(input).known);
    }
    const std::vector<Slot> outputs = call.run(body, std::move(inputs));
    call.check(outputs.size() >= results.size(), "the body has {} outputs", outputs.size());
    for (std::size_t o = 0; o < results.size(); ++o) results[o].push_back(outputs[o].value);
  }
  Results slots;
  for (Sequence& sequence : results) slots.emplace_back(std::move(sequence));
  return slots;
}

Results optional_of(const Call& call) {
  if (call.inputs() == 0 || !call.has(0)) return {Slot()};
  return {Slot(call.value(0))};
}

Results has_element(const Call& call) {
  const bool has = call.has(0) && call.value(0).has_value();
  return {scalar_tensor(Scalar(has), kBool)};
}

Results get_element(const Call& call) {
  call.check(call.value(0).has_value(), "the optional has no value");
  return {Slot(call.value(0))};
}

Results if_else(const Call& call) {
  return call.run(call.graph_attribute(call.truth(0) ? "then_branch" : "else_branch"), {});
}

// Values that each step gives, on top of each other.
Slot stacked(const Call& call, const std::vector<Slot>& steps, std::int64_t axis, bool reversed) {
  std::vector<Tensor> tensors;
  for (const Slot& step : steps) {
    const auto* const tensor = std::get_if<Tensor>(&step.value);
    call.check(tensor != nullptr, "what a step gives to be collected is no tensor of numbers");
    tensors.push_back(*tensor);
  }
  if (reversed) std::ranges::reverse(tensors);
  return stack(tensors, axis);
}

// Of no steps: no elements, of the type that the body says.
Slot nothing_collected(const Type& type, std::int64_t axis) {
  std::vector<std::int64_t> sizes;
  for (const Type::Dim& dim : type.sizes) sizes.push_back(std::max<std::int64_t>(dim.size, 0));
  axis = std::clamp<std::int64_t>(axis, 0, static_cast<std::int64_t>(sizes.size()));
  sizes.insert(sizes.begin() + axis, 0);
  return {Value(empty(sizes, type.dtype == ScalarType::Undefined ? kFloat : type.dtype)), true};
}

bool truth_of(const Call& call, const Slot& slot) {
  const auto* const condition = std::get_if<Tensor>(&slot.value);
  call.check(condition != nullptr && condition->numel() == 1, "a condition must be a tensor with one element");
  if (!slot.known) call.refuse_within_capture("the condition of ONNX's Loop");
  return integers_in(*condition)[0] != 0;
}

Results loop(const Call& call) {
  const Graph& body = call.graph_attribute("body");
  const std::int64_t most = call.has(0) ? call.integer(0) : std::numeric_limits<std::int64_t>::max();
  bool goes_on = !call.has(1) || truth_of(call, call.slot(1));
  std::vector<Slot> carried;
  for (std::size_t i = 2; i < call.inputs(); ++i) carried.push_back(call.slot(i));
  call.check(body.outputs.size() >= carried.size() + 1, "the body has {} outputs for {} values that it carries",
             body.outputs.size(), carried.size());
  const std::size_t count = carried.size();
  std::vector<std::vector<Slot>> collected(body.outputs.size() - 1 - count);
  for (std::int64_t step = 0; step < most && goes_on; ++step) {
    std::vector<Slot> inputs = {Slot(Value(known_number(Scalar(step), kLong)), true),
                                Slot(Value(known_number(Scalar(goes_on), kBool)), true)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    std::vector<Slot> outputs = call.run(body, std::move(inputs));
    goes_on = truth_of(call, outputs[0]);
    for (std::size_t i = 0; i < count; ++i) carried[i] = std::move(outputs[i + 1]);
    for (std::size_t i = 0; i < collected.size(); ++i) collected[i].push_back(std::move(outputs[i + 1 + count]));
  }
  Results results = std::move(carried);
  for (std::size_t i = 0; i < collected.size(); ++i) {
    results.push_back(collected[i].empty() ? nothing_collected(body.output_types[i + 1 + count], 0)
                                           : stacked(call, collected[i], 0, false));
  }
  return results;
}

// An entry of a list of directions or axes, of as many as there are inputs or outputs.
std::int64_t entry_of(const std::vector<std::int64_t>& list, std::size_t at) { return at < list.size() ? list[at] : 0; }

// The steps of tensors along an axis. `slots` are the states, then what is scanned.
Results scan_steps(const Call& call, std::vector<Slot> slots, std::size_t states) {
  const Graph& body = call.graph_attribute("body");
  const std::vector<std::int64_t> directions =
      call.list_attribute(call.version() < 9 ? "directions" : "scan_input_directions");
  const std::vector<std::int64_t> input_axes = call.list_attribute("scan_input_axes");
  const std::vector<std::int64_t> output_directions = call.list_attribute("scan_output_directions");
  const std::vector<std::int64_t> output_axes = call.list_attribute("scan_output_axes");
  call.check(slots.size() > states && body.outputs.size() >= states, "the body does not fit {} states", states);
  std::vector<std::vector<Tensor>> scanned;
  for (std::size_t i = states; i < slots.size(); ++i) {
    const auto* const tensor = std::get_if<Tensor>(&slots[i].value);
    call.check(tensor != nullptr && tensor->dim() > 0, "what is scanned must be a tensor with dimensions");
    scanned.push_back(unbind(*tensor, call.axis(entry_of(input_axes, i - states), tensor->dim())));
    if (entry_of(directions, i - states) != 0) std::ranges::reverse(scanned.back());
    call.check(scanned.back().size() == scanned.front().size(), "what is scanned has {} and {} steps",
               scanned.front().size(), scanned.back().size());
  }
  std::vector<Slot> carried(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(states));
  std::vector<std::vector<Slot>> collected(body.outputs.size() - states);
  for (std::size_t step = 0; step < scanned.front().size(); ++step) {
    std::vector<Slot> inputs = carried;
    for (std::size_t i = 0; i < scanned.size(); ++i)
      inputs.emplace_back(Value(scanned[i][step]), slots[states + i].known);
    std::vector<Slot> outputs = call.run(body, std::move(inputs));
    for (std::size_t i = 0; i < states; ++i) carried[i] = std::move(outputs[i]);
    for (std::size_t i = 0; i < collected.size(); ++i) collected[i].push_back(std::move(outputs[i + states]));
  }
  Results results = std::move(carried);
  for (std::size_t i = 0; i < collected.size(); ++i) {
    const std::int64_t axis = entry_of(output_axes, i);
    results.push_back(collected[i].empty() ? nothing_collected(body.output_types[i + states], axis)
                                           : stacked(call, collected[i], axis, entry_of(output_directions, i) != 0));
  }
  return results;
}

Results scan(const Call& call) {
  const std::int64_t scanned = call.attribute("num_scan_inputs");
  call.check(scanned > 0 && scanned <= static_cast<std::int64_t>(call.inputs()), "num_scan_inputs is {} of {} inputs",
             scanned, call.inputs());
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < call.inputs(); ++i) slots.push_back(call.slot(i));
  return scan_steps(call, std::move(slots), call.inputs() - static_cast<std::size_t>(scanned));
}

// Of version 8: the first dimension is that of a batch, whose elements are scanned one by one.
Results batched_scan(const Call& call) {
  if (call.has(0)) call.refuse("sequence_lens of Scan of version 8 is not there");
  const std::int64_t scanned = call.attribute("num_scan_inputs");
  call.check(scanned > 0 && scanned < static_cast<std::int64_t>(call.inputs()), "num_scan_inputs is {} of {} inputs",
             scanned, call.inputs());
  const std::int64_t batch = call.tensor(1).dim() > 0 ? call.tensor(1).size(0) : 0;
  std::vector<std::vector<Tensor>> results(call.outputs());
  for (std::int64_t element = 0; element < batch; ++element) {
    std::vector<Slot> slots;
    for (std::size_t i = 1; i < call.inputs(); ++i) slots.emplace_back(select(call.tensor(i), 0, element));
    const Results of_one = scan_steps(call, std::move(slots), call.inputs() - 1 - static_cast<std::size_t>(scanned));
    call.check(of_one.size() >= results.size(), "the body gives {} outputs", of_one.size());
    for (std::size_t o = 0; o < results.size(); ++o) results[o].push_back(std::get<Tensor>(of_one[o].value));
  }
  Results slots;
  for (const std::vector<Tensor>& of_batch : results) slots.emplace_back(stack(of_batch, 0));
  return slots;
}

constexpr std::string_view kScanAttributes =
    "body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions";

constexpr Operator kControls[] = {
    {"ConcatFromSequence", 11, concat_from_sequence, 1, "axis new_axis"},
    {"If", 1, if_else, 1, "then_branch else_branch", kUnbounded, Sort::Control},
    {"Loop", 1, loop, kUnbounded, "body", kUnbounded, Sort::Control},
    {"Optional", 15, optional_of, 1, "type"},
    {"OptionalGetElement", 15, get_element},
    {"OptionalHasElement", 15, has_element, 1, "", 1, Sort::Sizes},
    {"Scan", 8, batched_scan, kUnbounded, "body directions num_scan_inputs", kUnbounded, Sort::Control},
    {"Scan", 9, scan, kUnbounded, kScanAttributes, kUnbounded, Sort::Control},
    {"SequenceAt", 11, sequence_at, 2},
    {"SequenceConstruct", 11, sequence_construct, kUnbounded},
    {"SequenceEmpty", 11, sequence_empty, 0, "dtype"},
    {"SequenceErase", 11, sequence_erase, 2},
    {"SequenceInsert", 11, sequence_insert, 3},
    {"SequenceLength", 11, sequence_length, 1, "", 1, Sort::Sizes},
    {"SequenceMap", 17, sequence_map, kUnbounded, "body", kUnbounded, Sort::Control},
    {"SplitToSequence", 11, split_to_sequence, 2, "axis keepdims"},
};

}  // namespace

Family control_family() { return kControls; }

}  // namespace keyway::inline v1::onnx
