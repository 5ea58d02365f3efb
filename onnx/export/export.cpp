#include <keyway/core/base/error.h>
#include <keyway/graph/effects.h>
#include <keyway/onnx/export/builder.h>
#include <keyway/onnx/export/call.h>
#include <keyway/onnx/export/export.h>
#include <keyway/onnx/export/operators/table.h>
#include <keyway/onnx/export/source.h>

#include <charconv>
#include <fmt/format.h>

namespace keyway::inline v1::onnx::exporter {

using graph::index;
using graph::kNoValue;

namespace {

constexpr std::size_t kMostInside = std::size_t{1} << 30;  // bytes of state, of a model without external data
constexpr std::size_t kLeastOutside = 1024;                // bytes of a tensor in the file beside the model
constexpr std::size_t kAlignment = 4096;                   // of these, so that a reader may map them
constexpr unsigned kExternalField = 13, kLocationField = 14;

class Exporter {
 public:
  Exporter(const graph::Program& program, const ExportOptions& options)
      : source_(source_of(program)), options_(options), vars_(source_.graph.values.size()) {
    for (const graph::Input& input : source_.graph.inputs) arguments_ += input.is_state ? 0 : 1;
    const auto check_names = [](const std::vector<std::string>& names, std::size_t count, const char* what) {
      KEYWAY_CHECK(names.empty() || names.size() == count, "ONNX export: there are {} names of {}s, and {} {}s",
                   names.size(), what, count, what);
    };
    check_names(options.input_names, arguments_, "input");
    check_names(options.output_names, source_.graph.outputs.size(), "output");
  }

  Builder& made() {
    add_inputs();
    for (std::size_t i = 0; i < source_.graph.outputs.size(); ++i) {
      const bool has_name = !options_.output_names.empty();
      const std::string wanted = has_name ? options_.output_names[i] : fmt::format("output.{}", i);
      const std::string name = builder_.new_name(wanted);
      KEYWAY_CHECK(!has_name || name == wanted, "ONNX export: two values have the name '{}'", wanted);
      outputs_.push_back(name);
    }
    for (std::size_t node = 0; node < source_.graph.nodes.size(); ++node) add_call(node);
    builder_.set_site({});
    add_outputs();
    return builder_;
  }

 private:
  std::vector<Dim> dims_of(graph::ValueId id) const {
    std::vector<Dim> dims;
    for (const std::string& text : source_.sizes[index(id)]) {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      const bool is_number = error == std::errc() && end == text.data() + text.size() && !text.empty();
      dims.push_back(is_number ? Dim{number} : Dim{-1, text});
    }
    return dims;
  }

  void add_inputs() {
    for (std::size_t i = 0; i < source_.graph.inputs.size(); ++i) {
      const graph::Input& input = source_.graph.inputs[i];
      const ScalarType dtype = graph::info_of(source_.graph, input.value).dtype;
      const bool has_name = i < options_.input_names.size();
      std::string wanted = has_name ? options_.input_names[i] : input.name;
      if (wanted.empty()) wanted = fmt::format("input.{}", i);
      const std::string name = builder_.new_name(wanted);
      KEYWAY_CHECK(!has_name || name == wanted, "ONNX export: two values have the name '{}'", wanted);
      vars_[index(input.value)] = {name, dtype};
      if (input.is_state) {
        builder_.add_state(name, input.state);
      } else {
        builder_.add_input(name, dtype, dims_of(input.value));
        builder_.add_dimensions(name, source_.sizes[index(input.value)]);
      }
    }
  }

  void add_call(std::size_t number) {
    const graph::Node& node = source_.graph.nodes[number];
    const Mapping* const mapping = find_mapping(*node.op);
    builder_.set_site(node.site);
    const Call call(source_, number, vars_, builder_, options_.opset_version, mapping->word);
    const Vars results = mapping->nodes(call);
    std::size_t at = 0;
    graph::for_each_value(node.op->schema().returns(), node.results, [&](graph::ValueId id) {
      const std::size_t result = at++;
      if (id == kNoValue || result >= results.size() || results[result].name.empty()) return;
      const ScalarType dtype = graph::info_of(source_.graph, id).dtype;
      vars_[index(id)] = call.cast(results[result], dtype);
    });
  }

  void add_outputs() {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const graph::ValueId id = source_.graph.outputs[i];
      KEYWAY_CHECK_AS(NotImplemented, id != kNoValue && !vars_[index(id)].name.empty(),
                      "ONNX export: result {} is none that a model can have", i);
      builder_.add_identity(vars_[index(id)], outputs_[i]);
      builder_.add_output(outputs_[i], vars_[index(id)].dtype, dims_of(id));
    }
  }

  Source source_;
  const ExportOptions& options_;
  std::vector<Var> vars_;
  Builder builder_;
  std::size_t arguments_ = 0;
  std::vector<std::string> outputs_;
};

std::size_t bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype());
}

ProtoMessage entry(std::string_view key, std::string_view value) {
  ProtoMessage message;
  message.text(1, key).text(2, value);
  return message;
}

}  // namespace

Exported export_model(const graph::Program& program, const ExportOptions& options, const std::string& data_name) {
  KEYWAY_CHECK(options.opset_version >= kLowestExportedOpset && options.opset_version <= kHighestExportedOpset,
               "ONNX export: opset_version is {}: models are written for {} to {}", options.opset_version,
               kLowestExportedOpset, kHighestExportedOpset);
  Exporter exporter(program, options);
  const Builder& builder = exporter.made();
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : builder.state()) bytes += bytes_of(tensor);
  Exported exported;
  std::map<std::string, ProtoMessage> external;
  if (options.external_data.value_or(bytes > kMostInside)) {
    KEYWAY_CHECK(!data_name.empty(), "ONNX export: external data lies beside a file, and there is none");
    for (const auto& [name, tensor] : builder.state()) {
      if (bytes_of(tensor) < kLeastOutside) continue;
      exported.data.resize((exported.data.size() + kAlignment - 1) / kAlignment * kAlignment);
      ProtoMessage message = tensor_header(name, tensor);
      message.message(kExternalField, entry("location", data_name));
      message.message(kExternalField, entry("offset", std::to_string(exported.data.size())));
      message.message(kExternalField, entry("length", std::to_string(bytes_of(tensor))));
      message.integer(kLocationField, 1);
      external.emplace(name, std::move(message));
      exported.data += elements_of(tensor);
    }
  }
  exported.model = builder.model(options.opset_version, "keyway", external);
  return exported;
}

}  // namespace keyway::inline v1::onnx::exporter
