#include <keyway/autograd/variable.h>
#include <keyway/core/schema/evolution.h>
#include <keyway/core/schema/owned.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/control_flow.h>
#include <keyway/graph/program_parts.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <string>

namespace keyway::inline v1::graph {
namespace {

// Entries of the file's metadata.
constexpr std::string_view kFormat = "keyway.program";  // has the version of the format
constexpr std::string_view kText = "keyway.program.text";
constexpr std::string_view kSchemas = "keyway.program.schemas";  // of the operators, each on a line
constexpr int kVersion = 1;

std::string taken(nn::Metadata& metadata, std::string_view key) {
  const auto found = metadata.find(std::string(key));
  KEYWAY_CHECK_AS(Parse, found != metadata.end(), "the file holds no program: its metadata has no entry '{}'", key);
  std::string value = std::move(found->second);
  metadata.erase(found);
  return value;
}

void check_version(const std::string& version) {
  int number = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
  KEYWAY_CHECK_AS(Parse, error == std::errc() && end == version.data() + version.size() && number > 0,
                  "the version of the program's format is no number");
  KEYWAY_CHECK_AS(NotImplemented, number <= kVersion,
                  "the program has format {}, of a later version of Keyway; this one reads up to {}", number, kVersion);
}

// Throws unless calls that were written for this schema mean the same here.
const OperatorEntry* checked_operator(std::string_view schema) {
  const std::string_view name = schema.substr(0, schema.find('('));
  const std::optional<OperatorHandle> op = Dispatcher::singleton().find_op(name);
  KEYWAY_CHECK_AS(NotImplemented, op, "the program calls {}, and there is no such operator", name);
  if (op->entry().info().schema == schema) return &op->entry();
  const OwnedSchema before(schema);
  const SchemaCompatibility compatibility = compare_schemas(*before, op->schema());
  KEYWAY_CHECK_AS(NotImplemented, compatibility.is_backward(), "the program calls {} as it was before: {}", name,
                  schema_difference(*before, op->schema()));
  return &op->entry();
}

// The operators that may be called.
std::set<const OperatorEntry*> checked_operators(std::string_view schemas) {
  register_control_flow();  // a file may be the first that has any
  std::set<const OperatorEntry*> operators;
  while (!schemas.empty()) {
    const std::size_t end = std::min(schemas.find('\n'), schemas.size());
    operators.insert(checked_operator(schemas.substr(0, end)));
    schemas.remove_prefix(std::min(end + 1, schemas.size()));
  }
  return operators;
}

// Moves the elements of a contiguous tensor to where the strides of `to` have them, within its memory: there may be
// room for one such tensor alone. Each element takes the place of another, which is moved next, until a place is free.
// Requires: `to` is dense, with the same sizes.
void move_elements(const Tensor& tensor, const TensorInfo& to) {
  const std::size_t size = tensor.itemsize(), count = static_cast<std::size_t>(tensor.numel());
  const auto place_of = [&](std::size_t number) {
    std::size_t place = 0;
    for (std::size_t dim = to.sizes.size(); dim-- > 0;) {
      const auto length = static_cast<std::size_t>(to.sizes[dim]);
      place += number % length * static_cast<std::size_t>(to.strides[dim]);
      number /= length;
    }
    return place;
  };
  auto* const elements = static_cast<char*>(tensor.impl()->data());
  std::vector<bool> is_moved(count);
  char carried[16], next[16];  // bytes of an element
  for (std::size_t first = 0; first < count; ++first) {
    if (is_moved[first]) continue;
    std::memcpy(carried, elements + first * size, size);
    std::size_t place = first;
    do {
      place = place_of(place);
      std::memcpy(next, elements + place * size, size);
      std::memcpy(elements + place * size, carried, size);
      std::memcpy(carried, next, size);
      is_moved[place] = true;
    } while (place != first);
  }
}

// A tensor of the file as the program uses it, in its memory: with its strides, and whether it requires grad. Another
// one stays.
Tensor as_described(const Tensor& tensor, const ProgramInput& input) {
  const TensorInfo& info = input.info;
  if (tensor.dtype() != info.dtype || tensor.sizes() != IntArrayRef(info.sizes)) return tensor;
  KEYWAY_CHECK_AS(NotImplemented, info.device.is_cpu(), "the program uses '{}' on {}: files have tensors on the CPU",
                  input.name, to_string(info.device));
  Tensor described = tensor;
  if (tensor.strides() != IntArrayRef(info.strides)) {
    KEYWAY_CHECK_AS(Parse, is_non_overlapping_and_dense(info.sizes, info.strides),
                    "the strides {} of '{}' are not those of a dense tensor", IntArrayRef(info.strides), input.name);
    move_elements(tensor, info);
    described = Tensor(make_view(tensor, info.sizes, info.strides, 0));
  }
  if (info.requires_grad) autograd::set_requires_grad(described, true);
  return described;
}

}  // namespace

Program Program::of_file(nn::SafetensorsFile file) {
  check_version(taken(file.metadata, kFormat));
  std::string text = taken(file.metadata, kText);
  const std::set<const OperatorEntry*> operators = checked_operators(taken(file.metadata, kSchemas));
  Signature signature = parse_signature(text);
  for (const OperatorEntry* op : signature.operators)
    KEYWAY_CHECK_AS(Parse, operators.contains(op), "the program calls {}, whose schema the file does not have",
                    op->full_name());
  for (const ProgramInput& input : signature.inputs) {
    Tensor* const tensor = input.is_state ? file.tensors.find(input.name) : nullptr;
    if (tensor != nullptr) *tensor = as_described(*tensor, input);
  }
  auto parts = std::make_unique<Parts>(std::move(text), std::move(signature), std::move(file.tensors));
  parts->notes = std::move(file.metadata);
  return Program(std::move(parts));
}

Program Program::deserialize(std::string_view bytes) { return of_file(nn::deserialize_safetensors(bytes)); }

Program Program::load(const std::string& path) {
  nn::SafetensorsFile file = nn::read_safetensors(path);
  try {
    return of_file(std::move(file));
  } catch (const Error& error) {
    throw Error(error.kind(), path + ": " + std::string(error.message()), error.file(), error.line());
  }
}

namespace {

nn::Metadata metadata_of(const std::string& text, const Signature& signature, const nn::Metadata& notes) {
  nn::Metadata metadata = notes;
  const auto set = [&](std::string_view key, std::string value) {
    KEYWAY_CHECK(metadata.emplace(key, std::move(value)).second, "the entry '{}' of the metadata is the program's own",
                 key);
  };
  std::set<std::string> schemas;  // in an order that does not depend on addresses
  for (const OperatorEntry* op : signature.operators) schemas.emplace(op->info().schema);
  std::string lines;
  for (const std::string& schema : schemas) lines += schema + "\n";
  set(kFormat, std::to_string(kVersion));
  set(kText, text);
  set(kSchemas, std::move(lines));
  return metadata;
}

}  // namespace

void Program::save(const std::string& path, const nn::Metadata& notes) const {
  nn::save_safetensors(parts_->state, path, metadata_of(parts_->text, parts_->signature, notes));
}

std::string Program::serialize(const nn::Metadata& notes) const {
  return nn::serialize_safetensors(parts_->state, metadata_of(parts_->text, parts_->signature, notes));
}

}  // namespace keyway::inline v1::graph
