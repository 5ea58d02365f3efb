// The header of a safetensors file: what stands where in it. Reading one checks all that can be known without the data.
//
//   8 bytes   N, the length of the header, little-endian, at most 100,000,000
//   N bytes   JSON, UTF-8, beginning with '{', padded with spaces:
//             {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ..., "__metadata__": {"k": "v"}}
//   the rest  the elements, little-endian and row-major; offsets count from here. The tensors lie without overlap and
//             without holes, from the first byte to the last one of the file.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/core/dtype/scalar_type.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::nn {

struct SafetensorsEntry {
  std::string name;
  ScalarType dtype;
  std::vector<std::int64_t> shape;   // of a tensor of `dtype`: two 4-bit floats are one element
  std::uint64_t begin = 0, end = 0;  // bytes, from the start of the data
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  // in the header's order
  std::map<std::string, std::string> metadata;
  std::uint64_t data_start = 0;  // of the file
};

inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

// Where the header of a file of `file_size` bytes ends. `start` is the file or its first 8 bytes.
// Throws keyway::Error(Parse).
KEYWAY_API std::uint64_t safetensors_header_end(std::string_view start, std::uint64_t file_size);

// Throws keyway::Error(Parse) for whatever is not as described above. Requires: `start` is the file, or as much of it
// as safetensors_header_end() says.
KEYWAY_API SafetensorsHeader parse_safetensors_header(std::string_view start, std::uint64_t file_size);

// The first data_start bytes of a file. Sets data_start.
// Throws keyway::Error: a name that is not UTF-8 or reserved, a dtype that the format does not have, too many tensors.
KEYWAY_API std::string print_safetensors_header(SafetensorsHeader& header);

}  // namespace keyway::inline v1::nn
