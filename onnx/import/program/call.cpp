#include <keyway/graph/capture.h>
#include <keyway/keyway.h>
#include <keyway/onnx/import/format/message.h>
#include <keyway/onnx/import/program/call.h>
#include <keyway/onnx/import/program/run.h>
#include <keyway/ops/tensor_literal.h>

#include <algorithm>
#include <limits>

namespace keyway::inline v1::onnx {

namespace {

template <typename T, ScalarType dtype>
std::vector<T> elements_in(const Tensor& tensor) {
  const Unrecorded unrecorded;
  const NoGradGuard no_grad;
  const Tensor plain = tensor.detach().to(DeviceType::CPU).to(dtype).contiguous();
  const T* const data = plain.const_data_ptr<T>();
  return {data, data + plain.numel()};
}

}  // namespace

std::vector<std::int64_t> integers_in(const Tensor& tensor) { return elements_in<std::int64_t, kLong>(tensor); }
std::vector<double> numbers_in(const Tensor& tensor) { return elements_in<double, kDouble>(tensor); }

const Slot& Call::slot(std::size_t input) const {
  KEYWAY_CHECK(has(input), "input {} is missing", input);
  return frame_[static_cast<std::size_t>(node_.inputs[input])];
}

const Tensor& Call::tensor(std::size_t input) const {
  const auto* const tensor = std::get_if<Tensor>(&value(input));
  KEYWAY_CHECK(tensor != nullptr, "input {} must be a tensor of numbers, not {}", input, describe(value(input)));
  return *tensor;
}

const Strings& Call::strings(std::size_t input) const {
  const auto* const strings = std::get_if<Strings>(&value(input));
  KEYWAY_CHECK(strings != nullptr, "input {} must be a tensor of texts, not {}", input, describe(value(input)));
  return *strings;
}

const Sequence& Call::sequence(std::size_t input) const {
  const auto* const sequence = std::get_if<Sequence>(&value(input));
  KEYWAY_CHECK(sequence != nullptr, "input {} must be a sequence, not {}", input, describe(value(input)));
  return *sequence;
}

std::optional<Tensor> Call::tensor_if(std::size_t input) const {
  return has(input) ? std::optional(tensor(input)) : std::nullopt;
}

std::vector<Tensor> Call::tensors(std::size_t from) const {
  std::vector<Tensor> tensors;
  for (std::size_t i = from; i < inputs(); ++i) tensors.push_back(tensor(i));
  return tensors;
}

Tensor known_number(const Scalar& number, ScalarType dtype) {
  const Unrecorded unrecorded;
  return scalar_tensor(number, dtype);
}

Tensor known_numbers(const std::vector<std::int64_t>& numbers) {
  const Unrecorded unrecorded;
  return tensor(numbers);
}

Tensor known_numbers(const std::vector<double>& numbers) {
  const Unrecorded unrecorded;
  return tensor(numbers);
}

void Call::refuse_within_capture(std::string_view asked) { graph::refuse_within_capture(asked); }

void Call::check_readable(std::size_t input) const {
  if (slot(input).known || !graph::is_capturing()) return;
  refuse_within_capture("the elements of input " + std::to_string(input) + " of ONNX's " + std::string(op()));
}

std::vector<std::int64_t> Call::integers(std::size_t input) const {
  check_readable(input);
  return integers_in(tensor(input));
}

std::vector<double> Call::numbers(std::size_t input) const {
  check_readable(input);
  return numbers_in(tensor(input));
}

std::int64_t Call::integer(std::size_t input) const {
  KEYWAY_CHECK(tensor(input).numel() == 1, "input {} must have one element, not {}", input, tensor(input).numel());
  return integers(input)[0];
}

double Call::number(std::size_t input) const {
  KEYWAY_CHECK(tensor(input).numel() == 1, "input {} must have one element, not {}", input, tensor(input).numel());
  return numbers(input)[0];
}

std::vector<std::int64_t> Call::integers_of(std::size_t input, std::string_view attribute) const {
  return has(input) ? integers(input) : list_attribute(attribute);
}

const Attribute* Call::find(std::string_view name) const {
  const auto found = std::ranges::find(node_.attributes, name, &Attribute::name);
  return found == node_.attributes.end() ? nullptr : &*found;
}

template <typename T>
const T* Call::content(std::string_view name, std::string_view type) const {
  const Attribute* const attribute = find(name);
  if (attribute == nullptr) return nullptr;
  const T* const content = std::get_if<T>(&attribute->content);
  KEYWAY_CHECK_AS(Parse, content != nullptr, "attribute '{}' must be {}", name, type);
  return content;
}

void Call::fail_missing(std::string_view name) const { KEYWAY_FAIL(Parse, "attribute '{}' is missing", name); }

std::int64_t Call::attribute(std::string_view name, std::optional<std::int64_t> otherwise) const {
  const auto* const number = content<std::int64_t>(name, "an integer");
  if (number == nullptr && !otherwise) fail_missing(name);
  return number != nullptr ? *number : *otherwise;
}

double Call::single_attribute(std::string_view name, std::optional<double> otherwise) const {
  const auto* const number = content<float>(name, "a float");
  if (number == nullptr && !otherwise) fail_missing(name);
  return number != nullptr ? static_cast<double>(*number) : *otherwise;
}

std::string Call::text_attribute(std::string_view name, std::optional<std::string_view> otherwise) const {
  const auto* const text = content<std::string>(name, "a text");
  if (text == nullptr && !otherwise) fail_missing(name);
  return text != nullptr ? *text : std::string(*otherwise);
}

std::vector<std::int64_t> Call::list_attribute(std::string_view name) const {
  const auto* const list = content<std::vector<std::int64_t>>(name, "a list of integers");
  return list != nullptr ? *list : std::vector<std::int64_t>();
}

std::vector<float> Call::singles_attribute(std::string_view name) const {
  const auto* const list = content<std::vector<float>>(name, "a list of floats");
  return list != nullptr ? *list : std::vector<float>();
}

std::vector<std::string> Call::texts_attribute(std::string_view name) const {
  const auto* const list = content<std::vector<std::string>>(name, "a list of texts");
  return list != nullptr ? *list : std::vector<std::string>();
}

const Value& Call::value_attribute(std::string_view name) const {
  const auto* const value = content<Value>(name, "a tensor");
  if (value == nullptr) fail_missing(name);
  return *value;
}

const Graph& Call::graph_attribute(std::string_view name) const {
  const auto* const graph = content<std::shared_ptr<const Graph>>(name, "a graph");
  if (graph == nullptr) fail_missing(name);
  return **graph;
}

const Type& Call::type_attribute(std::string_view name) const {
  const auto* const type = content<Type>(name, "a type");
  if (type == nullptr) fail_missing(name);
  return *type;
}

std::int64_t Call::axis(std::int64_t axis, std::int64_t dims, bool may_be_end) const {
  const std::int64_t most = may_be_end ? dims : dims - 1;
  KEYWAY_CHECK(axis >= -dims && axis <= most, "axis {} of a tensor of {} dimensions; it must be from {} to {}", axis,
               dims, -dims, most);
  return axis < 0 ? axis + dims : axis;
}

std::vector<Slot> Call::run(const Graph& graph, std::vector<Slot> inputs) const {
  return run_graph(graph, std::move(inputs), &frame_);
}

}  // namespace keyway::inline v1::onnx
