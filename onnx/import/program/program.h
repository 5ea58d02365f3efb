// What a model becomes when it is loaded: graphs whose values have numbers instead of names.
#pragma once

#include <keyway/onnx/import/format/type_proto.h>
#include <keyway/onnx/onnx.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace keyway::inline v1::onnx {

class Call;
struct Graph;

// A value while a graph runs.
struct Slot {
  Slot() = default;
  Slot(Value held, bool is_known = false) : value(std::move(held)), known(is_known) {}  // NOLINT
  Slot(Tensor tensor) : value(std::move(tensor)) {}                                     // NOLINT

  Value value;
  // Within a capture: whether it depends on sizes and on values of the file alone, not on elements that the capture
  // made. What is known is computed outside of what is recorded, and may be read.
  bool known = false;
};
using Results = std::vector<Slot>;

// A row of the table of operators.
struct Operator {
  enum class Sort : std::uint8_t {
    Plain,    // what it gives depends on its inputs' elements
    Sizes,    // on their sizes alone
    Random,   // on more than its inputs
    Control,  // it runs graphs, which know what they know
  };
  static constexpr int kAny = 1 << 20;

  std::string_view name;
  int since = 1;  // the version of its domain on that has it so
  Results (*run)(const Call& call) = nullptr;
  int most_inputs = 1;
  std::string_view attributes = {};  // their names, with blanks between
  int most_outputs = 1;
  Sort sort = Sort::Plain;
  std::string_view domain = {};  // empty: ai.onnx
};

struct Attribute {
  using Content = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, Value, std::shared_ptr<const Graph>, Type>;
  std::string name;
  Content content;
};

inline constexpr std::int32_t kNoSlot = -1;

struct Node {
  const Operator* op = nullptr;
  int version = 0;                    // of the operator's domain that the model asks for
  std::string name;                   // as the model has it, for errors
  std::vector<std::int32_t> inputs;   // kNoSlot: left out
  std::vector<std::int32_t> outputs;  // kNoSlot: not asked for
  std::vector<Attribute> attributes;
  std::vector<std::int32_t> ended;  // slots that nothing needs after it
};

struct Graph {
  std::vector<std::string> input_names;
  std::vector<Type> input_types;
  std::vector<std::int32_t> inputs;
  std::vector<std::pair<std::int32_t, Value>> initializers;
  std::vector<std::pair<std::int32_t, std::int32_t>> outer;  // the slot of the graph around it, and the one here
  std::vector<Node> nodes;
  std::vector<std::string> output_names;
  std::vector<Type> output_types;
  std::vector<std::int32_t> outputs;
  std::int32_t slots = 0;
};

}  // namespace keyway::inline v1::onnx
