#include <keyway/core/base/error.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/nn/serialize/json_scanner.h>
#include <keyway/nn/serialize/safetensors_header.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_set>

namespace keyway::inline v1::nn {

namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";

// What a dtype of the format is in memory here; Undefined if nothing.
struct Format {
  std::string_view name;
  std::uint64_t bits;
  ScalarType dtype;
};
constexpr Format kFormats[] = {
    {"BOOL", 8, ScalarType::Bool},
    {"U8", 8, ScalarType::Byte},
    {"I8", 8, ScalarType::Char},
    {"U16", 16, ScalarType::UInt16},
    {"I16", 16, ScalarType::Short},
    {"U32", 32, ScalarType::UInt32},
    {"I32", 32, ScalarType::Int},
    {"U64", 64, ScalarType::UInt64},
    {"I64", 64, ScalarType::Long},
    {"F16", 16, ScalarType::Half},
    {"BF16", 16, ScalarType::BFloat16},
    {"F32", 32, ScalarType::Float},
    {"F64", 64, ScalarType::Double},
    {"C64", 64, ScalarType::ComplexFloat},
    {"F8_E5M2", 8, ScalarType::Float8_e5m2},
    {"F8_E4M3", 8, ScalarType::Float8_e4m3fn},
    {"F8_E8M0", 8, ScalarType::Float8_e8m0fnu},
    {"F4", 4, ScalarType::Float4_e2m1fn_x2},
    {"F6_E2M3", 6, ScalarType::Undefined},
    {"F6_E3M2", 6, ScalarType::Undefined},
};

// A name as errors show it: of bounded length, and without control characters.
std::string shown(std::string_view name) {
  constexpr std::size_t kMost = 80;
  std::string text = json_string(name);
  if (text.size() <= kMost) return text;
  std::size_t cut = kMost;
  while ((static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  return text.substr(0, cut) + "...\"";
}

// One tensor as the file says it, not yet checked.
struct RawEntry {
  std::optional<std::string> dtype;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

template <typename T>
void set_once(JsonScanner& json, std::optional<T>& member, const std::string& key, T value) {
  if (member) json.fail("the key " + shown(key) + " stands twice in one tensor");
  member = std::move(value);
}

std::vector<std::uint64_t> read_naturals(JsonScanner& json) {
  std::vector<std::uint64_t> values;
  json.array([&] {
    if (values.size() == kMaxDims) json.fail("the list has more than " + std::to_string(kMaxDims) + " numbers");
    values.push_back(json.natural());
  });
  return values;
}

RawEntry read_entry(JsonScanner& json) {
  RawEntry raw;
  json.object([&](const std::string& key) {
    if (key == "dtype") {
      set_once(json, raw.dtype, key, json.string());
    } else if (key == "shape") {
      set_once(json, raw.shape, key, read_naturals(json));
    } else if (key == "data_offsets") {
      set_once(json, raw.offsets, key, read_naturals(json));
    } else {
      json.fail("a tensor has no key " + shown(key) + ": only dtype, shape and data_offsets");
    }
  });
  return raw;
}

const Format& format_of(const std::string& name, const std::string& dtype) {
  const auto* found = std::ranges::find(kFormats, dtype, &Format::name);
  KEYWAY_CHECK_AS(Parse, found != std::end(kFormats), "tensor {}: {} is no dtype of the format", name, shown(dtype));
  KEYWAY_CHECK_AS(Parse, found->dtype != ScalarType::Undefined, "tensor {}: Keyway has no dtype for {}", name, dtype);
  return *found;
}

std::vector<std::int64_t> checked_shape(const std::string& name, const std::vector<std::uint64_t>& shape) {
  std::vector<std::int64_t> sizes;
  for (const std::uint64_t size : shape) {
    KEYWAY_CHECK_AS(Parse, size <= std::numeric_limits<std::int64_t>::max(), "tensor {}: its size {} is above 2^63 - 1",
                    name, size);
    sizes.push_back(static_cast<std::int64_t>(size));
  }
  return sizes;
}

// Bytes of a tensor; sizes of 0 do not hide an overflow of the others.
std::uint64_t checked_bytes(const std::string& name, const std::vector<std::int64_t>& shape, std::uint64_t bits) {
  std::uint64_t numel = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    empty = empty || size == 0;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
    KEYWAY_CHECK_AS(Parse, !__builtin_mul_overflow(numel, factor, &numel),
                    "tensor {}: the product of its sizes {} exceeds 2^64 - 1", name, IntArrayRef(shape));
  }
  std::uint64_t all_bits = 0;
  KEYWAY_CHECK_AS(Parse, !__builtin_mul_overflow(numel, bits, &all_bits),
                  "tensor {}: {} elements of {} bits exceed 2^64 - 1 bits", name, numel, bits);
  if (empty) return 0;
  KEYWAY_CHECK_AS(Parse, all_bits % 8 == 0, "tensor {}: {} elements of {} bits do not fill whole bytes", name, numel,
                  bits);
  return all_bits / 8;
}

// The elements of a 4-bit type lie two in a byte, and pairs lie in the last dimension.
void pack_last_dim(const std::string& name, std::vector<std::int64_t>& shape) {
  KEYWAY_CHECK_AS(Parse, !shape.empty() && shape.back() % 2 == 0,
                  "tensor {}: the last of its sizes {} does not fill whole bytes", name, IntArrayRef(shape));
  shape.back() /= 2;
}

SafetensorsEntry checked_entry(const std::string& key, RawEntry raw) {
  const std::string name = shown(key);
  KEYWAY_CHECK_AS(Parse, raw.dtype, "tensor {}: it has no dtype", name);
  KEYWAY_CHECK_AS(Parse, raw.shape, "tensor {}: it has no shape", name);
  KEYWAY_CHECK_AS(Parse, raw.offsets, "tensor {}: it has no data_offsets", name);
  KEYWAY_CHECK_AS(Parse, raw.offsets->size() == 2, "tensor {}: it has {} data_offsets, not 2", name,
                  raw.offsets->size());
  const std::uint64_t begin = raw.offsets->front();
  const std::uint64_t end = raw.offsets->back();
  KEYWAY_CHECK_AS(Parse, begin <= end, "tensor {}: it ends at {}, before it begins at {}", name, end, begin);
  const Format& format = format_of(name, *raw.dtype);
  std::vector<std::int64_t> shape = checked_shape(name, *raw.shape);
  const std::uint64_t bytes = checked_bytes(name, shape, format.bits);
  KEYWAY_CHECK_AS(Parse, bytes == end - begin, "tensor {}: shape {} of {} is {} bytes, but its data_offsets hold {}",
                  name, IntArrayRef(shape), *raw.dtype, bytes, end - begin);
  if (format.bits < 8) pack_last_dim(name, shape);
  return {key, format.dtype, std::move(shape), begin, end};
}

void read_metadata(JsonScanner& json, std::map<std::string, std::string>& metadata) {
  json.object([&](const std::string& key) {
    if (!metadata.emplace(key, json.string()).second) json.fail("the metadata has the key " + shown(key) + " twice");
  });
}

void read_header(JsonScanner& json, SafetensorsHeader& header) {
  std::unordered_set<std::string> names;
  json.object([&](const std::string& key) {
    if (!names.insert(key).second) json.fail("the name " + shown(key) + " stands twice");
    if (key == kMetadata) {
      read_metadata(json, header.metadata);
    } else {
      header.tensors.push_back(checked_entry(key, read_entry(json)));
    }
  });
  json.end();
}

// The tensors fill the data from its first byte to its last.
void check_layout(const std::vector<SafetensorsEntry>& tensors, std::uint64_t data_bytes) {
  std::vector<const SafetensorsEntry*> order;
  for (const SafetensorsEntry& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, {}, [](const auto* tensor) { return std::pair(tensor->begin, tensor->end); });
  std::uint64_t filled = 0;
  for (const SafetensorsEntry* tensor : order) {
    KEYWAY_CHECK_AS(Parse, tensor->begin >= filled, "tensor {}: it begins at {} and overlaps the one before, up to {}",
                    shown(tensor->name), tensor->begin, filled);
    KEYWAY_CHECK_AS(Parse, tensor->begin == filled, "tensor {}: bytes {} to {} before it belong to no tensor",
                    shown(tensor->name), filled, tensor->begin);
    KEYWAY_CHECK_AS(Parse, tensor->end <= data_bytes, "tensor {}: it ends at {}, but the data has {} bytes",
                    shown(tensor->name), tensor->end, data_bytes);
    filled = tensor->end;
  }
  KEYWAY_CHECK_AS(Parse, filled == data_bytes, "{} bytes follow the last tensor", data_bytes - filled);
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

const Format& format_of(const SafetensorsEntry& tensor) {
  const auto* found = std::ranges::find(kFormats, tensor.dtype, &Format::dtype);
  KEYWAY_CHECK_AS(Type, found != std::end(kFormats), "tensor {}: the safetensors format has no dtype for {}",
                  shown(tensor.name), tensor.dtype);
  return *found;
}

void check_name(std::string_view name) {
  KEYWAY_CHECK(find_invalid_utf8(name) == name.size(), "the name of a tensor or of metadata is not valid UTF-8");
}

std::string entry_text(const SafetensorsEntry& tensor) {
  check_name(tensor.name);
  KEYWAY_CHECK(tensor.name != kMetadata, "no tensor can be named {}: the format keeps it for metadata", kMetadata);
  const Format& format = format_of(tensor);
  std::string text = json_string(tensor.name) + ":{\"dtype\":\"" + std::string(format.name) + "\",\"shape\":[";
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    const bool packed = format.bits < 8 && d + 1 == tensor.shape.size();
    text += (d == 0 ? "" : ",") + std::to_string(tensor.shape[d] * (packed ? 2 : 1));
  }
  return text + "],\"data_offsets\":[" + std::to_string(tensor.begin) + "," + std::to_string(tensor.end) + "]}";
}

std::string metadata_text(const std::map<std::string, std::string>& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata) {
    check_name(key);
    check_name(value);
    text += (text.empty() ? "" : ",") + json_string(key) + ":" + json_string(value);
  }
  return json_string(kMetadata) + ":{" + text + "}";
}

}  // namespace

std::uint64_t safetensors_header_end(std::string_view start, std::uint64_t file_size) {
  KEYWAY_CHECK_AS(Parse, file_size >= kLengthBytes && start.size() >= kLengthBytes,
                  "the file has {} bytes, but begins with 8 bytes of length", file_size);
  const std::uint64_t length = little_endian(start);
  KEYWAY_CHECK_AS(Parse, length <= kMaxSafetensorsHeader, "the header is said to have {} bytes; at most {} are allowed",
                  length, kMaxSafetensorsHeader);
  KEYWAY_CHECK_AS(Parse, length <= file_size - kLengthBytes,
                  "the header is said to have {} bytes, but {} follow in the file", length, file_size - kLengthBytes);
  return kLengthBytes + length;
}

SafetensorsHeader parse_safetensors_header(std::string_view start, std::uint64_t file_size) {
  SafetensorsHeader header;
  header.data_start = safetensors_header_end(start, file_size);
  const std::string_view text = start.substr(kLengthBytes, header.data_start - kLengthBytes);
  const std::size_t bad = find_invalid_utf8(text);
  KEYWAY_CHECK_AS(Parse, bad == text.size(), "byte {}: the header is not valid UTF-8", kLengthBytes + bad);
  KEYWAY_CHECK_AS(Parse, text.starts_with('{'), "the header does not begin with '{{'");
  JsonScanner json(text, kLengthBytes);
  read_header(json, header);
  check_layout(header.tensors, file_size - header.data_start);
  return header;
}

std::string print_safetensors_header(SafetensorsHeader& header) {
  constexpr std::size_t kAlignment = 8;
  std::string text;
  if (!header.metadata.empty()) text = metadata_text(header.metadata);
  for (const SafetensorsEntry& tensor : header.tensors) text += (text.empty() ? "" : ",") + entry_text(tensor);
  text = "{" + text + "}";
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  KEYWAY_CHECK(text.size() <= kMaxSafetensorsHeader,
               "the header of the file would have {} bytes; at most {} are allowed", text.size(),
               kMaxSafetensorsHeader);
  header.data_start = kLengthBytes + text.size();
  std::string length;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return length + text;
}

}  // namespace keyway::inline v1::nn
