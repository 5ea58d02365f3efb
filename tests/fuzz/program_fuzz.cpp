// A fuzzer (fuzzing.h): any bytes either are the file of a program, which is saved and read back as it is and whose
// graph can be made and run for small sizes, or give an error. Bytes that begin with "graph" are a text alone, so that
// the fuzzer need not find its way through the header of a file. Each input stands for 32 others that differ from it in
// a place or two, and are read alone: most of the time of a run is libFuzzer's own, which looks at what it has covered.
// Texts are changed as texts, in files too. Run:
//   program_fuzz -max_len=2048 -entropic=0 -use_cmp=0 -dict=tests/fuzz/program.dict tests/fuzz/corpus/program
#include <keyway/core/base/error.h>
#include <keyway/core/device/host_allocator.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/parse.h>
#include <keyway/graph/program.h>
#include <keyway/ops/all.h>
#include <keyway/tests/fuzz/fuzzing.h>
#include <keyway/tests/fuzz/graph_text_mutator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace {

using namespace keyway;
using fuzzing::require;

constexpr std::size_t kMaxBytes = 1 << 20;                  // of all values of a program that is run
constexpr std::size_t kMostMemory = std::size_t{16} << 20;  // of all tensors

// With state as it is described, as far as that is small.
graph::Program program_of_text(std::string text) {
  nn::StateDict state;
  std::size_t bytes = 0;
  for (const graph::ProgramInput& input : graph::parse_signature(text).inputs) {
    if (!input.is_state) continue;
    const graph::TensorInfo& info = input.info;
    bytes += checked_nbytes(info.sizes, info.strides, info.offset, element_size(info.dtype));
    KEYWAY_CHECK(bytes <= kMaxBytes && info.device.is_cpu(), "the state is large");
    Tensor tensor(make_tensor_strided(info.sizes, info.strides, info.dtype, DeviceType::CPU));
    tensor.zero_();
    if (info.requires_grad) tensor.requires_grad_();
    state.insert(input.name, tensor);
  }
  return {std::move(text), std::move(state)};
}

void run(graph::Program& program, std::int64_t size) {
  graph::Dimensions sizes;
  for (const std::string& name : program.dimensions()) sizes[name] = size;
  const graph::Graph graph = program.graph(sizes);
  std::size_t bytes = 0;
  for (const graph::Value& value : graph.values) {
    bytes += checked_nbytes(value.info.sizes, value.info.strides, value.info.offset, element_size(value.info.dtype));
    KEYWAY_CHECK(bytes <= kMaxBytes && value.info.device.is_cpu(), "the values are large");
  }
  std::vector<Tensor> arguments;
  for (std::size_t i = 0; i < program.argument_count(); ++i) {
    const graph::TensorInfo& info = graph.values[i].info;
    arguments.push_back(zeros(info.sizes, info.dtype));
  }
  for (int i = 0; i < 2; ++i) program.run(arguments);
}

// What is done with an input beside reading it: that takes longer, and finds less.
enum class Depth : std::uint8_t { Read, Save, Run };

// Whether it is a program.
bool look_at(std::string_view bytes, Depth depth) {
  const bool is_text = bytes.starts_with("graph");
  try {
    graph::Program program = is_text ? program_of_text(std::string(bytes)) : graph::Program::deserialize(bytes);
    require(program.text() == bytes || !is_text, "the text is that of the program");
    if (depth == Depth::Read) return true;
    const std::string saved = program.serialize(program.notes());
    require(graph::Program::deserialize(saved).serialize(program.notes()) == saved,
            "a program is read as it was saved");
    // Whether a loop ends nobody knows.
    if (depth == Depth::Save || program.text().find("while_loop") != std::string::npos) return true;
    for (const std::int64_t its_size : {3, 0}) run(program, its_size);
    return true;
  } catch (const Error& error) {
    require(error.kind() != ErrorKind::Internal, "an error is not one of Keyway itself");
    require(error.message().size() < 10000, "a message is short");
    return false;
  }
}

// A text or a file that differs from it in a place or two.
std::string neighbour_of(std::string_view bytes, fuzzing::Choices& choices) {
  constexpr std::string_view kPieces[] = {"%",   "%0", "%1",  "0",        "1",  "-1",  "9223372036854775807",
                                          "[",   "]",  "(",   ")",        ",",  "\n",  "None",
                                          "*",   "n",  "{",   "}",        "=",  "in ", "True",
                                          "'\\", ": ", "//2", "float32[", "\"", " "};
  std::string other(bytes);
  for (std::size_t left = 1 + choices.below(2); left > 0 && !other.empty(); --left) {
    const std::size_t at = choices.below(other.size()), count = std::min(choices.below(8), other.size() - at);
    switch (choices.below(4)) {
      case 0: other.erase(at, count); break;
      case 1: other.insert(at, other.substr(choices.below(other.size()), count)); break;
      case 2: other[at] = static_cast<char>(choices.below(256)); break;
      default: other.replace(at, count, choices.of(kPieces));
    }
  }
  return other;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kNeighbours = 32;
  set_host_memory_limit(kMostMemory);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fuzzing::Choices choices(std::hash<std::string_view>()(bytes));
  const std::size_t luck = choices.below(64);
  const bool is_program = look_at(bytes, luck == 0 ? Depth::Run : luck < 4 ? Depth::Save : Depth::Read);
  for (int i = 0; i < kNeighbours; ++i) look_at(neighbour_of(bytes, choices), Depth::Read);
  return is_program ? 0 : -1;
}

namespace {

constexpr const char* kText = "keyway.program.text";  // the entry of a file's metadata

// The bytes of a file with another text, or those of a file of the text. Throws keyway::Error for bytes that are none.
std::string file_with(std::string_view bytes, fuzzing::GraphTextMutator& mutator, std::string_view other) {
  if (bytes.starts_with("graph")) return program_of_text(std::string(bytes)).serialize();
  nn::SafetensorsFile file = nn::deserialize_safetensors(bytes);
  std::string& text = file.metadata[kText];
  text = mutator.mutated(text, other.starts_with("graph") ? other : text);
  return nn::serialize_safetensors(file.tensors, file.metadata);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data, std::size_t size, const std::uint8_t* other,
                                                 std::size_t other_size, std::uint8_t* out, std::size_t most,
                                                 unsigned seed) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view others(reinterpret_cast<const char*>(other), other_size);
  const bool is_text = bytes.starts_with("graph");
  fuzzing::GraphTextMutator mutator(seed);
  std::string mutated = bytes;
  if (is_text && seed % 8 != 0) {
    mutated = mutator.mutated(bytes, others.starts_with("graph") ? others : bytes);
  } else if (seed % 2 == 0) {
    try {
      mutated = file_with(bytes, mutator, others);
    } catch (const Error&) {
      // The bytes are those of no program.
    }
  }
  const std::size_t count = std::min(mutated.size(), most);
  std::memcpy(out, mutated.data(), count);
  return mutated == bytes ? LLVMFuzzerMutate(out, count, most) : count;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return LLVMFuzzerCustomCrossOver(data, size, data, size, data, most, seed);
}
