// libFuzzer: any bytes either are the file of a program, which is saved and read back as it is and whose graph can be
// made and run for small sizes, or give an error. Bytes that begin with "graph" are a text alone, so that the fuzzer
// need not find its way through the header of a file. Run:
//   program_fuzz -max_len=4096 -dict=tests/fuzz/program.dict tests/fuzz/corpus/program
#include <keyway/core/base/error.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/parse.h>
#include <keyway/graph/program.h>
#include <keyway/ops/all.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace keyway;

constexpr std::size_t kMaxBytes = 1 << 20;  // of all values of a program that is run

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool is_text = bytes.starts_with("graph");
  try {
    graph::Program program = is_text ? program_of_text(std::string(bytes)) : graph::Program::deserialize(bytes);
    require(program.text() == bytes || !is_text, "the text is that of the program");
    if (size % 8 != 0) return 0;  // reading is most of what there is to find, and quick
    const std::string saved = program.serialize(program.notes());
    require(graph::Program::deserialize(saved).serialize(program.notes()) == saved,
            "a program is read as it was saved");
    for (const std::int64_t its_size : {3, 0}) run(program, its_size);
  } catch (const Error& error) {
    require(error.kind() != ErrorKind::Internal, "an error is not one of Keyway itself");
    require(error.message().size() < 10000, "a message is short");
  }
  return 0;
}
