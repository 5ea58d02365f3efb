#include <keyway/core/base/error.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/onnx/import/format/element_type.h>
#include <keyway/onnx/import/format/message.h>
#include <keyway/onnx/import/format/tensor_proto.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace keyway::inline v1::onnx {

static_assert(std::endian::native == std::endian::little, "ONNX's files are little-endian");

namespace {

// Numbers of the fields of TensorProto.
enum class TensorField : unsigned {
  Dims = 1,
  DataType = 2,
  Segment = 3,
  FloatData = 4,
  Int32Data = 5,
  StringData = 6,
  Int64Data = 7,
  Name = 8,
  RawData = 9,
  DoubleData = 10,
  Uint64Data = 11,
  ExternalData = 13,
  DataLocation = 14,
};

// Where external data lies.
struct Place {
  std::string_view location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

// A TensorProto but for its elements.
struct Header {
  std::string_view proto;
  std::string_view name;
  std::vector<std::int64_t> sizes;
  std::int64_t type = 0;
  std::optional<std::string_view> raw;
  Place external;
  bool is_external = false;
  std::uint64_t numel = 1;
};

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  KEYWAY_CHECK_AS(Parse, error == std::errc() && end == text.data() + text.size() && number < (std::uint64_t{1} << 62),
                  "external data: '{}' is no number of bytes", shown(text));
  return number;
}

void read_place(std::string_view entry, Place& place) {
  std::string_view key;
  std::string_view text;
  Message message(entry);
  for (Field field; message.next(field);) {
    if (field.number == 1) key = field.text();
    if (field.number == 2) text = field.text();
  }
  if (key == "location") {
    place.location = text;
  } else if (key == "offset") {
    place.offset = number_in(text);
  } else if (key == "length") {
    place.length = number_in(text);
  } else {
    KEYWAY_CHECK_AS(NotImplemented, key == "checksum" || key == "basepath", "external data has the unknown key '{}'",
                    shown(key));
  }
}

// Adds the sizes of a field, one or several.
void add_sizes(const Field& field, std::vector<std::int64_t>& sizes) {
  constexpr std::size_t kMostDims = 64;
  const auto add = [&](std::uint64_t size) {
    KEYWAY_CHECK_AS(Parse, sizes.size() < kMostDims, "a tensor has more than {} dimensions", kMostDims);
    sizes.push_back(static_cast<std::int64_t>(size));
  };
  if (field.wire != Field::Wire::Bytes) return add(static_cast<std::uint64_t>(field.integer()));
  for (std::string_view rest = field.bytes; !rest.empty();) add(take_varint(rest));
}

Header read_header(std::string_view proto) {
  Header header;
  header.proto = proto;
  Message message(proto);
  for (Field field; message.next(field);) {
    switch (TensorField(field.number)) {
      case TensorField::Dims: add_sizes(field, header.sizes); break;
      case TensorField::DataType: header.type = field.integer(); break;
      case TensorField::Segment: KEYWAY_FAIL(NotImplemented, "a tensor is stored in segments");
      case TensorField::Name: header.name = field.text(); break;
      case TensorField::RawData: header.raw = field.content(); break;
      case TensorField::ExternalData: read_place(field.content(), header.external); break;
      case TensorField::DataLocation: header.is_external = field.integer() == 1; break;
      default: break;
    }
  }
  for (const std::int64_t size : header.sizes) {
    KEYWAY_CHECK_AS(Parse, size >= 0, "tensor '{}': a size is {}", shown(header.name), size);
    const bool fits = size == 0 || header.numel <= (std::uint64_t{1} << 60) / static_cast<std::uint64_t>(size);
    KEYWAY_CHECK_AS(Parse, fits, "tensor '{}': it has more elements than there can be", shown(header.name));
    header.numel *= static_cast<std::uint64_t>(size);
  }
  return header;
}

// Which field has the elements of a type that are not raw.
TensorField typed_field(std::int64_t type) {
  switch (type) {
    case 1:
    case 14: return TensorField::FloatData;
    case 7: return TensorField::Int64Data;
    case kStringType: return TensorField::StringData;
    case 11:
    case 15: return TensorField::DoubleData;
    case 12:
    case 13: return TensorField::Uint64Data;
    default: return TensorField::Int32Data;
  }
}

// Calls take(number) for each number of the typed field, one by one or packed, as the bits that it has.
template <typename Take>
void for_each_number(const Header& header, Take&& take) {
  const TensorField number = typed_field(header.type);
  const std::size_t width = number == TensorField::FloatData    ? 4
                            : number == TensorField::DoubleData ? 8
                                                                : 0;  // 0: a varint
  Message message(header.proto);
  for (Field field; message.next(field);) {
    if (TensorField(field.number) != number) continue;
    if (field.wire != Field::Wire::Bytes) {
      const Field::Wire wire = width == 4   ? Field::Wire::Fixed32
                               : width == 8 ? Field::Wire::Fixed64
                                            : Field::Wire::Varint;
      KEYWAY_CHECK_AS(Parse, field.wire == wire, "tensor '{}': its data are of another type", shown(header.name));
      take(field.value);
      continue;
    }
    KEYWAY_CHECK_AS(Parse, width == 0 || field.bytes.size() % width == 0, "tensor '{}': a number is cut off",
                    shown(header.name));
    for (std::string_view rest = field.bytes; !rest.empty();) {
      std::uint64_t bits = 0;
      if (width == 0) {
        bits = take_varint(rest);
      } else {
        std::memcpy(&bits, rest.data(), width);
        rest.remove_prefix(width);
      }
      take(bits);
    }
  }
}

void check_count(const Header& header, std::uint64_t count, std::uint64_t wanted, std::string_view what) {
  KEYWAY_CHECK_AS(Parse, count == wanted, "tensor '{}' of sizes {} has {} {}, but must have {}", shown(header.name),
                  IntArrayRef(header.sizes), count, what, wanted);
}

Tensor allocate(const Header& header, ScalarType dtype) { return make_tensor(header.sizes, dtype, DeviceType::CPU); }

Tensor read_external(const Header& header, ScalarType dtype, const ExternalData& external) {
  const std::uint64_t bytes = header.numel * element_size(dtype);
  const ExternalData::File file = external.open(header.external.location);
  if (header.external.length) check_count(header, *header.external.length, bytes, "bytes");
  KEYWAY_CHECK_AS(Parse, header.external.offset <= file.size() && bytes <= file.size() - header.external.offset,
                  "tensor '{}': it has {} bytes from byte {} on of '{}', which has {}", shown(header.name), bytes,
                  header.external.offset, shown(header.external.location), file.size());
  const Tensor tensor = allocate(header, dtype);
  file.read(tensor.impl()->data(), bytes, header.external.offset);
  return tensor;
}

Tensor read_raw(const Header& header, ScalarType dtype) {
  check_count(header, header.raw->size(), header.numel * element_size(dtype), "bytes");
  const Tensor tensor = allocate(header, dtype);
  if (!header.raw->empty()) std::memcpy(tensor.impl()->data(), header.raw->data(), header.raw->size());
  return tensor;
}

// The lowest bytes of a number: all of them if it has no more. Integers are held to their type.
void put(const Header& header, ScalarType dtype, std::uint64_t bits, char*& to) {
  const std::size_t width = header.type == 14 ? 4 : header.type == 15 ? 8 : element_size(dtype);
  if (typed_field(header.type) == TensorField::Int32Data && is_integral(dtype, true)) {
    const auto number = static_cast<std::int64_t>(bits);
    const int digits = static_cast<int>(8 * width);
    const std::int64_t least = is_signed(dtype) ? -(std::int64_t{1} << (digits - 1)) : 0;
    const std::int64_t most = (std::int64_t{1} << (is_signed(dtype) ? digits - 1 : digits)) - 1;
    KEYWAY_CHECK_AS(Parse, number >= least && number <= most, "tensor '{}': {} is no {}", shown(header.name), number,
                    dtype);
  }
  std::memcpy(to, &bits, width);
  to += width;
}

Tensor read_numbers(const Header& header, ScalarType dtype) {
  std::uint64_t count = 0;
  for_each_number(header, [&](std::uint64_t) { ++count; });
  check_count(header, count, header.numel * (is_complex(dtype) ? 2 : 1), "numbers");
  const Tensor tensor = allocate(header, dtype);
  auto* to = static_cast<char*>(tensor.impl()->data());
  for_each_number(header, [&](std::uint64_t bits) { put(header, dtype, bits, to); });
  return tensor;
}

// A bool of another value than 0 or 1 would be undefined behaviour in every kernel.
void check_bools(const Header& header, const Tensor& tensor) {
  if (tensor.dtype() != kBool) return;
  const auto* bytes = static_cast<const unsigned char*>(tensor.const_data_ptr());
  const bool fine = std::all_of(bytes, bytes + tensor.nbytes(), [](unsigned char byte) { return byte <= 1; });
  KEYWAY_CHECK_AS(Parse, fine, "tensor '{}': an element of bool is neither 0 nor 1", shown(header.name));
}

Strings read_strings(const Header& header) {
  KEYWAY_CHECK_AS(Parse, !header.raw && !header.is_external, "tensor '{}': texts are raw data", shown(header.name));
  Strings strings{header.sizes, {}};
  Message message(header.proto);
  for (Field field; message.next(field);) {
    if (TensorField(field.number) == TensorField::StringData) strings.elements.emplace_back(field.text());
  }
  check_count(header, strings.elements.size(), header.numel, "texts");
  return strings;
}

}  // namespace

NamedValue read_tensor(std::string_view proto, const ExternalData& external) {
  const Header header = read_header(proto);
  if (header.type == kStringType) return {header.name, read_strings(header)};
  const ScalarType dtype = dtype_of_element_type(header.type);
  const Tensor tensor = header.is_external ? read_external(header, dtype, external)
                        : header.raw       ? read_raw(header, dtype)
                                           : read_numbers(header, dtype);
  check_bools(header, tensor);
  return {header.name, tensor};
}

}  // namespace keyway::inline v1::onnx
