// Graph: a program as the calls that it makes, in order, and the tensors that go from one to another.
//
//   graph executed(%0 x: float32[2, 3], %1: float32[3, 4] state) {
//     %2: float32[2, 4] = keyway::mm(%0, %1)
//     %3: float32[4] offset 4 in %2 = keyway::select.int(%2, 0, 1)
//     %2 = keyway::mul_.Tensor(%2, %3)
//     return (%2)
//   }
//
// A graph says what is done, not how: its calls may be made one after the other as they stand (run.h), or a pass may
// make another graph of it, which computes the same.
#pragma once

#include <keyway/tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::graph {

// Where calls are recorded, and so what a graph consists of.
enum class Level : std::uint8_t {
  Program,   // at the key Tracer, above Autograd: calls as they are written; their gradients can be recorded again
  Executed,  // at Functionalize, below Autograd: what is executed, gradient formulas and fused steps among it;
             // operators that are written with others are replaced by what they call
};

// A tensor of a graph, by its number.
using ValueId = std::int64_t;
inline constexpr ValueId kNoValue = -1;  // an undefined tensor in a list

// All of a tensor but its elements.
struct KEYWAY_API TensorInfo {
  explicit TensorInfo(const TensorBase& tensor);
  // Contiguous.
  TensorInfo(ScalarType dtype, Device device, std::vector<std::int64_t> sizes);
  // Whether the tensor has this dtype, device and geometry.
  bool is_of(const TensorBase& tensor) const;
  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;

  ScalarType dtype;
  Device device;
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;
  bool requires_grad = false;
};

struct Value {
  TensorInfo info;  // when it was made; later calls may change its geometry in place
  ValueId memory;   // the first value that lies in its storage: itself, unless it is a view of another
};

struct Input {
  ValueId value;          // that of an earlier argument, if a tensor is passed twice
  std::string name = {};  // may be empty
  bool is_state = false;  // what the program uses beside its arguments
  Tensor state = {};      // it, by reference; undefined in a graph that was read from text
  // The gradient that another input, a leaf, keeps when the program begins: no tensor of its own.
  ValueId grad_of = kNoValue;
  // Of a leaf: whether it has a gradient then, if the program asked before it gave it another one.
  std::optional<bool> has_grad = std::nullopt;
};

// What the program leaves as the gradient that a leaf keeps; kNoValue for none.
struct LeafGrad {
  ValueId leaf;
  ValueId grad;
};

// One call. Where a tensor stands among `arguments` and `results`, they have an integer, the number of its value: the
// schema says which integers are tensors. A list of tensors is a list of numbers; a tensor that is absent is None.
struct Node {
  const OperatorEntry* op;
  Stack arguments;
  Stack results;          // an argument that the call writes to and returns has its number here, too
  std::string site = {};  // where the call was made, "model.py:12"; may be empty
  bool no_grad = false;   // at Level::Program: no gradient is recorded
};

// The state of the thread that a program begins in, as far as it decides what calls do.
struct Surroundings {
  static Surroundings now();
  friend bool operator==(const Surroundings&, const Surroundings&) = default;

  bool grad_enabled = true;
  bool inference = false;
  std::uint32_t autocast = 0;               // device types, one bit each
  std::vector<ScalarType> autocast_dtypes;  // of these
  ScalarType default_dtype = ScalarType::Float;
};

struct Graph {
  Level level = Level::Executed;
  Surroundings surroundings = {};
  std::vector<Value> values;
  std::vector<Input> inputs;  // arguments first, in order
  std::vector<Node> nodes;
  std::vector<LeafGrad> grads;
  std::vector<ValueId> outputs;  // kNoValue for an undefined tensor

  std::size_t argument_count() const;
};

// Throws keyway::Error(Value) unless each value is made before it is used, and by one input or call, all numbers are
// those of values, and each call has the arguments and results of its operator.
KEYWAY_API void check(const Graph& graph);

// The same graph, in which values are numbered in the order in which they are made, inputs first; values that nothing
// makes are left out.
Graph renumbered(const Graph& graph);

// Calls visit(id) for each tensor of the values, which belong to `arguments` of a schema; kNoValue for one that is
// absent from a list.
template <typename F>
void for_each_value(const ArgumentList& arguments, const Stack& values, F&& visit);

// Whether a value of that type holds tensors, by itself, in a list or in a list of lists.
KEYWAY_API bool is_of_tensors(SchemaType type);

template <typename F>
void for_each_value(const ArgumentList& arguments, const Stack& values, F&& visit) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_none() || !is_of_tensors(arguments[i].type())) continue;
    if (values[i].is(ValueTag::Int)) {
      visit(values[i].to_int());
    } else if (values[i].is(ValueTag::IntList)) {
      for (const ValueId id : values[i].to_int_list()) visit(id);
    } else {
      for (const std::vector<ValueId>& list : values[i].to_list_of<std::vector<ValueId>>())
        for (const ValueId id : list) visit(id);
    }
  }
}

// The values with another number for each tensor: what `change` makes of it.
template <typename F>
Stack with_values(const ArgumentList& arguments, const Stack& values, F&& change) {
  Stack changed = values;
  const auto change_list = [&](std::vector<ValueId> list) {
    for (ValueId& id : list) id = change(id);
    return list;
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_none() || !is_of_tensors(arguments[i].type())) continue;
    if (values[i].is(ValueTag::Int)) {
      changed[i] = IValue(ValueId{change(values[i].to_int())});
    } else if (values[i].is(ValueTag::IntList)) {
      changed[i] = IValue(change_list(values[i].to_int_list()));
    } else {
      std::vector<std::vector<ValueId>> lists;
      for (const std::vector<ValueId>& list : values[i].to_list_of<std::vector<ValueId>>())
        lists.push_back(change_list(list));
      changed[i] = IValue(std::move(lists));
    }
  }
  return changed;
}

// "float32[2, 3] stride [1, 2] offset 4 on cuda:0 requires_grad": strides of a tensor that is not contiguous, an offset
// other than 0, a device other than the CPU.
KEYWAY_API std::string to_string(const TensorInfo& info);
// The text of a graph, as above. Arguments that are defaults are left out.
KEYWAY_API std::string to_string(const Graph& graph);
// The graph of such a text, without the tensors of its state. Throws keyway::Error(Parse) with the number of the line
// for what is no graph, and for values that have no text: generators, objects and dictionaries.
KEYWAY_API Graph parse(std::string_view text);

}  // namespace keyway::inline v1::graph
