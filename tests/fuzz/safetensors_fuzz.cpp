// A fuzzer (fuzzing.h): any bytes either are a safetensors file whose tensors fill it, and whose header prints and
// parses as it should, or give an error of kind Parse. Run: safetensors_fuzz -max_len=4096
// tests/fuzz/corpus/safetensors
#include <keyway/core/base/error.h>
#include <keyway/nn/serialize/safetensors_header.h>
#include <keyway/tests/fuzz/fuzzing.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace keyway;
using fuzzing::require;

void check_accepted(nn::SafetensorsHeader header, std::size_t size) {
  std::uint64_t bytes = 0;
  for (const nn::SafetensorsEntry& tensor : header.tensors) bytes += tensor.end - tensor.begin;
  require(header.data_start + bytes == size, "the tensors fill the file");
  const std::string printed = nn::print_safetensors_header(header);
  const auto again = nn::parse_safetensors_header(printed, printed.size() + bytes);
  require(again.metadata == header.metadata, "metadata survives printing");
  require(again.tensors.size() == header.tensors.size(), "tensors survive printing");
  for (std::size_t i = 0; i < again.tensors.size(); ++i) {
    require(again.tensors[i].name == header.tensors[i].name, "names survive printing");
    require(again.tensors[i].shape == header.tensors[i].shape, "shapes survive printing");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  nn::SafetensorsHeader header;
  try {
    header = nn::parse_safetensors_header(file, size);
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Parse, "a bad file is an error of kind Parse");
    require(error.message().size() < 1000, "a message is short");
    return 0;
  }
  check_accepted(std::move(header), size);
  return 0;
}
