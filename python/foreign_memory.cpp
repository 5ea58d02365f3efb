#include <keyway/python/foreign_memory.h>

namespace keyway::inline v1::python {
namespace {

struct Format {
  ScalarType dtype;
  char kind;
  const char* text;
};
constexpr Format kFormats[] = {{kBool, 'b', "?"},          {kByte, 'u', "B"},          {kUInt16, 'u', "H"},
                               {kUInt32, 'u', "I"},        {kUInt64, 'u', "Q"},        {kChar, 'i', "b"},
                               {kShort, 'i', "h"},         {kInt, 'i', "i"},           {kLong, 'i', "q"},
                               {kHalf, 'f', "e"},          {kFloat, 'f', "f"},         {kDouble, 'f', "d"},
                               {kComplexFloat, 'c', "Zf"}, {kComplexDouble, 'c', "Zd"}};

}  // namespace

DimVector strides_in_elements(IntArrayRef bytes, ScalarType dtype) {
  const auto itemsize = static_cast<std::int64_t>(element_size(dtype));
  DimVector strides;
  for (const std::int64_t step : bytes) {
    KEYWAY_CHECK(step % itemsize == 0, "the strides {} in bytes are no multiples of the {} bytes of {}", bytes,
                 itemsize, dtype);
    strides.push_back(step / itemsize);
  }
  return strides;
}

std::optional<ScalarType> dtype_of(char kind, std::size_t itemsize) {
  for (const Format& format : kFormats)
    if (format.kind == kind && element_size(format.dtype) == itemsize) return format.dtype;
  return std::nullopt;
}

const char* format_of(ScalarType dtype) {
  for (const Format& format : kFormats)
    if (format.dtype == dtype) return format.text;
  return nullptr;
}

}  // namespace keyway::inline v1::python
