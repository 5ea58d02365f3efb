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

#include <keyway/graph/boxed_values.h>
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

// The tensor of that geometry over memory that has room for it.
TensorBase tensor_over(const Storage& memory, const TensorInfo& info);

// Whether it belongs to vmap, forward mode or a wrapper class of Python: such a tensor is no value of a graph.
bool is_of_transform(const TensorBase& tensor);

struct Value {
  TensorInfo info;  // when it was made; later calls may change its geometry in place
  ValueId memory;   // the first value that lies in its storage: itself, unless it is a view of another
};

// Elements that a graph holds for alone: those that the memory has in that version.
struct FrozenState {
  Storage memory;
  std::uint32_t version;
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
  std::optional<FrozenState> frozen = std::nullopt;  // of a constant: see passes/freeze.h
  bool is_inference = false;                         // made in inference mode
  // Of a leaf with hooks, whose calls are in the graph: what autograd::leaf_hook_changes() was.
  std::optional<std::uint64_t> hooks = std::nullopt;
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

// Whether calls write to a memory, of each by its number.
std::vector<bool> written_memories(const Graph& graph);

// The same graph, in which values are numbered in the order in which they are made, inputs first; values that nothing
// makes are left out.
Graph renumbered(Graph graph);
// The same without calls: what a pass makes another graph of.
Graph without_calls(const Graph& graph);

// "float32[2, 3] stride [1, 2] offset 4 on cuda:0 requires_grad": strides of a tensor that is not contiguous, an offset
// other than 0, a device other than the CPU.
KEYWAY_API std::string to_string(const TensorInfo& info);
// The text of a graph, as above. Arguments that are defaults are left out.
KEYWAY_API std::string to_string(const Graph& graph);
// The graph of such a text, without the tensors of its state. Throws keyway::Error(Parse) with the number of the line
// for what is no graph, and for values that have no text: generators, objects and dictionaries.
KEYWAY_API Graph parse(std::string_view text);

}  // namespace keyway::inline v1::graph
