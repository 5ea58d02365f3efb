#include <keyway/core/base/error.h>
#include <keyway/onnx/import/compile.h>
#include <keyway/onnx/import/format/message.h>
#include <keyway/onnx/import/model.h>
#include <keyway/onnx/import/program/call.h>
#include <keyway/onnx/import/program/run.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <set>

namespace keyway::inline v1::onnx {

namespace {

class Program final : public Model {
 public:
  explicit Program(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {
    for (const auto& [slot, value] : graph_->initializers) defaults_.insert(slot);
    note_memory(*graph_);
    for (const bool is_required : {true, false}) {
      for (std::size_t i = 0; i < graph_->inputs.size(); ++i) {
        if (defaults_.contains(graph_->inputs[i]) == is_required) continue;
        inputs_.push_back({graph_->input_names[i], to_string(graph_->input_types[i])});
        required_ += is_required ? 1 : 0;
      }
    }
    for (std::size_t i = 0; i < graph_->outputs.size(); ++i) {
      outputs_.push_back({graph_->output_names[i], to_string(graph_->output_types[i])});
    }
  }

  const std::vector<Argument>& inputs() const override { return inputs_; }
  std::size_t required_inputs() const override { return required_; }
  const std::vector<Argument>& outputs() const override { return outputs_; }

  std::vector<Value> run(const std::map<std::string, Value>& inputs) const override {
    check_names(inputs);
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < graph_->inputs.size(); ++i) slots.push_back(input(inputs, i));
    std::vector<Value> outputs;
    for (Slot& slot : run_graph(*graph_, std::move(slots), nullptr))
      outputs.push_back(of_its_own(std::move(slot.value)));
    return outputs;
  }

 private:
  void check_names(const std::map<std::string, Value>& inputs) const {
    for (const auto& [name, value] : inputs) {
      const bool is_there = std::ranges::find(graph_->input_names, name) != graph_->input_names.end();
      KEYWAY_CHECK(is_there, "the model has no input '{}'; it has {}", shown(name), names());
    }
  }

  std::string names() const {
    std::string names;
    for (const Argument& argument : inputs_) names += (names.empty() ? "'" : ", '") + argument.name + "'";
    return std::string(shown(names));
  }

  Slot input(const std::map<std::string, Value>& inputs, std::size_t number_of_input) const {
    const std::string& name = graph_->input_names[number_of_input];
    const auto given = inputs.find(name);
    if (given == inputs.end()) {
      const std::int32_t slot = graph_->inputs[number_of_input];
      KEYWAY_CHECK(defaults_.contains(slot), "the input '{}' is missing", shown(name));
      const auto initializer = std::ranges::find(graph_->initializers, slot, [](const auto& one) { return one.first; });
      return {initializer->second, true};
    }
    KEYWAY_CHECK(graph_->input_types[number_of_input].accepts(given->second),
                 "the input '{}' is {}, but the model takes {}", shown(name), describe(given->second),
                 to_string(graph_->input_types[number_of_input]));
    const auto* const number = std::get_if<Scalar>(&given->second);
    if (number == nullptr) return given->second;
    const ScalarType dtype = graph_->input_types[number_of_input].dtype;
    KEYWAY_CHECK(dtype != ScalarType::Undefined, "the input '{}' must not be a number", shown(name));
    return {known_number(*number, dtype), true};
  }

  void note_memory(const Value& value) {
    if (const auto* const tensor = std::get_if<Tensor>(&value)) memory_.insert(tensor->storage().impl());
  }

  void note_memory(const Graph& graph) {
    for (const auto& [slot, value] : graph.initializers) note_memory(value);
    for (const Node& node : graph.nodes) {
      for (const Attribute& attribute : node.attributes) {
        if (const auto* const value = std::get_if<Value>(&attribute.content)) note_memory(*value);
        if (const auto* const inner = std::get_if<std::shared_ptr<const Graph>>(&attribute.content))
          note_memory(**inner);
      }
    }
  }

  // The values of the file are the model's: an output that shares their memory is a copy.
  Value of_its_own(Value value) const {
    if (const auto* const tensor = std::get_if<Tensor>(&value)) {
      if (tensor->defined() && memory_.contains(tensor->storage().impl())) return tensor->clone();
    } else if (auto* const sequence = std::get_if<Sequence>(&value)) {
      for (Value& element : *sequence) element = of_its_own(std::move(element));
    }
    return value;
  }

  std::shared_ptr<const Graph> graph_;
  std::set<std::int32_t> defaults_;  // slots that initializers fill
  std::set<const void*> memory_;     // of the values of the file
  std::vector<Argument> inputs_;
  std::vector<Argument> outputs_;
  std::size_t required_ = 0;
};

}  // namespace

std::shared_ptr<const Model> make_model(std::string_view bytes, const ExternalData& external) {
  return std::make_shared<Program>(compile(bytes, external));
}

}  // namespace keyway::inline v1::onnx
