#include <keyway/python/foreign_memory.h>

#include <cstdint>
#include <utility>

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

TensorBase tensor_over(DataPtr data, IntArrayRef sizes, IntArrayRef strides, ScalarType dtype) {
  const std::int64_t numel = checked_numel(sizes);
  const DimVector steps = numel == 0 ? contiguous_strides(sizes) : DimVector(strides);
  for (const std::int64_t step : steps)
    KEYWAY_CHECK(step >= 0, "a tensor cannot have negative strides, as {}: make a copy first", strides);
  KEYWAY_CHECK(reinterpret_cast<std::uintptr_t>(data.get()) % element_size(dtype) == 0,
               "the memory begins at an address that is no multiple of the {} bytes of {}: make a copy first",
               element_size(dtype), dtype);
  const std::size_t bytes = checked_nbytes(sizes, steps, 0, element_size(dtype));
  Storage storage(make_intrusive<StorageImpl>(std::move(data), bytes, /*resizable=*/false));
  return TensorBase(
      make_intrusive<TensorImpl>(std::move(storage), dtype, sizes, steps, numel, is_contiguous(sizes, steps)));
}

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
