#include <keyway/batching/batched_tensor.h>
#include <keyway/batching/vmap_rules.h>
#include <keyway/core/random/generator.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/ops/joining.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace keyway::inline v1::batching {
namespace {

// What the operator draws from: the generator among its arguments, or that of its tensors' device.
Generator generator_of(const VmapCall& call) {
  Device device = DeviceType::CPU;
  for (const IValue& argument : call.stack) {
    if (argument.is(ValueTag::Generator) && argument.to_generator().defined()) return argument.to_generator();
    if (argument.is(ValueTag::Device)) device = argument.to_device();
    any_tensor(argument, [&](const TensorBase& tensor) {
      device = tensor.device();
      return true;
    });
  }
  return default_generator(device);
}

// Has every example draw the numbers of the first.
class SameDraws {
 public:
  explicit SameDraws(const VmapCall& call) {
    if (call.level.randomness() != Randomness::Same || !call.op.has_tag("nondeterministic_seeded")) return;
    generator_.emplace(generator_of(call));
    state_ = generator_->get_state();
  }
  void begin_example() {
    if (generator_) generator_->set_state(state_);
  }

 private:
  std::optional<Generator> generator_;
  GeneratorState state_;
};

TensorBase stacked(const std::vector<Tensor>& results) {
  const auto is_defined = [](const Tensor& result) { return result.defined(); };
  const auto defined = std::ranges::count_if(results, is_defined);
  if (defined == 0) return {};
  KEYWAY_CHECK(defined == std::ssize(results), "vmap: there is a result for some examples, and none for others");
  for (const Tensor& result : results) {
    KEYWAY_CHECK(result.sizes() == results[0].sizes(),
                 "vmap: the result has shape {} for one example and {} for another; its shape depends on the data, so "
                 "there is no tensor of all of them",
                 results[0].sizes(), result.sizes());
  }
  return stack(results);
}

using Lists = std::vector<const std::vector<TensorBase>*>;  // of the examples

// The tensors at the same index of each.
std::vector<TensorBase> joined(const Lists& examples) {
  const std::size_t size = examples[0]->size();
  std::vector<TensorBase> list;
  for (std::size_t i = 0; i < size; ++i) {
    std::vector<Tensor> all;
    for (const std::vector<TensorBase>* of_example : examples) {
      KEYWAY_CHECK(of_example->size() == size, "vmap: the result has {} tensors for one example and {} for another",
                   size, of_example->size());
      all.emplace_back((*of_example)[i]);
    }
    list.push_back(stacked(all));
  }
  return list;
}

std::vector<std::vector<TensorBase>> joined_lists(const std::vector<Stack>& examples, std::size_t at) {
  const std::size_t size = examples[0][at].to_tensor_lists().size();
  std::vector<std::vector<TensorBase>> lists;
  for (std::size_t i = 0; i < size; ++i) {
    Lists of_examples;
    for (const Stack& example : examples) {
      const std::vector<std::vector<TensorBase>>& of_example = example[at].to_tensor_lists();
      KEYWAY_CHECK(of_example.size() == size, "vmap: the result has {} lists for one example and {} for another", size,
                   of_example.size());
      of_examples.push_back(&of_example[i]);
    }
    lists.push_back(joined(of_examples));
  }
  return lists;
}

// One result of all examples.
IValue joined(const std::vector<Stack>& examples, std::size_t at) {
  const IValue& first = examples[0][at];
  if (first.is(ValueTag::TensorListList)) return joined_lists(examples, at);
  if (first.is(ValueTag::TensorList)) {
    Lists lists;
    for (const Stack& example : examples) lists.push_back(&example[at].to_tensor_list());
    return joined(lists);
  }
  if (!first.is_tensor() && !first.is_none())
    throw CannotBatch(
        "the result is a number of Python or C++, of which there is one for each example; what depends on it "
        "cannot run for all of them at once");
  std::vector<Tensor> all;
  for (const Stack& example : examples) all.emplace_back(example[at].to_tensor());
  return stacked(all);
}

// That a call changed no more of what it writes to than elements, as it would if the tensors were all examples'.
class OnlyElements {
 public:
  OnlyElements(const OperatorEntry& op, Stack& arguments) {
    std::size_t i = 0;
    for (const Argument argument : op.schema().arguments()) {
      IValue& value = arguments[i++];
      if (!argument.is_write()) continue;
      for_each_tensor({&value, 1}, [&](const TensorBase& tensor) { before_.push_back(parts_of(tensor)); });
    }
  }
  void check() const {
    for (const Parts& before : before_)
      if (!(parts_of(before.tensor) == before))
        throw CannotBatch("the tensor of an example cannot be given other memory");
  }

 private:
  struct Parts {
    TensorBase tensor;
    const StorageImpl* storage;
    DimVector sizes;
    DimVector strides;
    std::int64_t offset;
    friend bool operator==(const Parts& a, const Parts& b) {
      return a.storage == b.storage && IntArrayRef(a.sizes) == IntArrayRef(b.sizes) &&
             IntArrayRef(a.strides) == IntArrayRef(b.strides) && a.offset == b.offset;
    }
  };
  static Parts parts_of(const TensorBase& tensor) {
    return {tensor, tensor.storage().impl(), DimVector(tensor.sizes()), DimVector(tensor.strides()),
            tensor.storage_offset()};
  }

  std::vector<Parts> before_;
};

}  // namespace

Stack example_of(const VmapCall& call, std::int64_t example) {
  Stack arguments = call.stack;
  update_tensors(arguments, [&](TensorBase& tensor) {
    if (const TensorBase* value = value_at(tensor, call.level)) tensor = Tensor(*value).select(0, example);
  });
  return arguments;
}

void call_each(VmapCall& call) {
  SameDraws draws(call);
  std::vector<Stack> results;
  for (std::int64_t i = 0; i < call.level.batch_size(); ++i) {
    Stack arguments = example_of(call, i);
    draws.begin_example();
    const OnlyElements written(call.op, arguments);
    call_boxed(call.op, arguments);
    written.check();
    results.push_back(std::move(arguments));
  }
  const std::size_t count = results[0].size();
  call.stack.clear();
  for (std::size_t i = 0; i < count; ++i) call.stack.push_back(joined(results, i));
}

}  // namespace keyway::inline v1::batching
