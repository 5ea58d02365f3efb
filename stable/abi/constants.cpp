// The getters of constants. Dtypes, layouts and memory formats have PyTorch's numbers.
#include <keyway/core/base/error.h>
#include <keyway/core/device/device.h>
#include <keyway/core/dtype/scalar_type.h>
#include <keyway/core/tensor/layout.h>
#include <keyway/core/tensor/memory_format.h>
#include <keyway/stable/abi/constants.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/slots.h>

#include <iterator>
#include <string_view>

namespace keyway::inline v1::abi {

namespace {

// By their numbers.
constexpr std::string_view kTags[] = {"core",
                                      "cudagraph_unsafe",
                                      "data_dependent_output",
                                      "dynamic_output_shape",
                                      "flexible_layout",
                                      "generated",
                                      "inplace_view",
                                      "maybe_aliasing_or_mutating",
                                      "needs_contiguous_strides",
                                      "needs_exact_strides",
                                      "needs_fixed_stride_order",
                                      "nondeterministic_bitwise",
                                      "nondeterministic_seeded",
                                      "out_variant",
                                      "pointwise",
                                      "pt2_compliant_tag",
                                      "reduction",
                                      "view_copy"};

consteval std::int32_t number_of_tag(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kTags); ++i) {
    if (kTags[i] == name) return static_cast<std::int32_t>(i);
  }
  throw "no such tag";
}

// Numbers of device types above all that Keyway can have.
enum class OtherDevice : std::int32_t { Xpu = kNumDeviceTypes, Mps, PrivateUse1 };

// oneDNN's opaque layout, which Layout leaves out.
constexpr std::int32_t kOpaqueLayout = 3;

}  // namespace

std::string names_of_tags(const std::int32_t* tags, std::int32_t count) {
  std::string names;
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t tag = (&checked(tags, "the list of tags"))[i];
    KEYWAY_CHECK(tag >= 0 && tag < static_cast<std::int32_t>(std::size(kTags)), "{} is no tag", tag);
    names += (i == 0 ? "" : " ") + std::string(kTags[tag]);
  }
  return names;
}

}  // namespace keyway::inline v1::abi

using namespace keyway;
using namespace keyway::abi;

std::uint64_t aoti_torch_abi_version() { return KEYWAY_ABI_VERSION; }

#define KEYWAY_ABI_CONSTANT(function, value) \
  std::int32_t function() { return static_cast<std::int32_t>(value); }

KEYWAY_ABI_CONSTANT(aoti_torch_device_type_cpu, DeviceType::CPU)
KEYWAY_ABI_CONSTANT(aoti_torch_device_type_cuda, DeviceType::CUDA)
KEYWAY_ABI_CONSTANT(aoti_torch_device_type_meta, DeviceType::Meta)
KEYWAY_ABI_CONSTANT(aoti_torch_device_type_xpu, OtherDevice::Xpu)
KEYWAY_ABI_CONSTANT(aoti_torch_device_type_mps, OtherDevice::Mps)
KEYWAY_ABI_CONSTANT(aoti_torch_device_type_privateuse1, OtherDevice::PrivateUse1)

KEYWAY_ABI_CONSTANT(aoti_torch_dtype_uint8, kUInt8)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_uint16, kUInt16)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_uint32, kUInt32)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_uint64, kUInt64)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_int8, kInt8)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_int16, kInt16)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_int32, kInt32)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_int64, kInt64)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_float16, kFloat16)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_bfloat16, kBFloat16)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_float32, kFloat32)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_float64, kFloat64)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_bool, kBool)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_complex32, kComplexHalf)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_complex64, kComplexFloat)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_complex128, kComplexDouble)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_float8_e5m2, kFloat8_e5m2)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_float8_e4m3fn, kFloat8_e4m3fn)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_float8_e5m2fnuz, kFloat8_e5m2fnuz)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_float8_e4m3fnuz, kFloat8_e4m3fnuz)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_float8_e8m0fnu, kFloat8_e8m0fnu)
KEYWAY_ABI_CONSTANT(aoti_torch_dtype_float4_e2m1fn_x2, ScalarType::Float4_e2m1fn_x2)
KEYWAY_ABI_CONSTANT(torch_dtype_float8_e8m0fnu, kFloat8_e8m0fnu)
KEYWAY_ABI_CONSTANT(torch_dtype_float4_e2m1fn_x2, ScalarType::Float4_e2m1fn_x2)

KEYWAY_ABI_CONSTANT(aoti_torch_layout_strided, Layout::Strided)
KEYWAY_ABI_CONSTANT(aoti_torch_layout_sparse_coo, Layout::Sparse)
KEYWAY_ABI_CONSTANT(aoti_torch_layout_sparse_csr, Layout::SparseCsr)
KEYWAY_ABI_CONSTANT(aoti_torch_layout_sparse_csc, Layout::SparseCsc)
KEYWAY_ABI_CONSTANT(aoti_torch_layout_sparse_bsr, Layout::SparseBsr)
KEYWAY_ABI_CONSTANT(aoti_torch_layout_sparse_bsc, Layout::SparseBsc)
KEYWAY_ABI_CONSTANT(aoti_torch_layout__mkldnn, kOpaqueLayout)
KEYWAY_ABI_CONSTANT(aoti_torch_layout_jagged, Layout::Jagged)

KEYWAY_ABI_CONSTANT(aoti_torch_memory_format_contiguous_format, MemoryFormat::Contiguous)
KEYWAY_ABI_CONSTANT(aoti_torch_memory_format_preserve_format, MemoryFormat::Preserve)
KEYWAY_ABI_CONSTANT(aoti_torch_memory_format_channels_last, MemoryFormat::ChannelsLast)
KEYWAY_ABI_CONSTANT(aoti_torch_memory_format_channels_last_3d, MemoryFormat::ChannelsLast3d)

#define KEYWAY_ABI_TAG(name) KEYWAY_ABI_CONSTANT(torch_tag_##name, number_of_tag(#name))
KEYWAY_ABI_TAG(core)
KEYWAY_ABI_TAG(cudagraph_unsafe)
KEYWAY_ABI_TAG(data_dependent_output)
KEYWAY_ABI_TAG(dynamic_output_shape)
KEYWAY_ABI_TAG(flexible_layout)
KEYWAY_ABI_TAG(generated)
KEYWAY_ABI_TAG(inplace_view)
KEYWAY_ABI_TAG(maybe_aliasing_or_mutating)
KEYWAY_ABI_TAG(needs_contiguous_strides)
KEYWAY_ABI_TAG(needs_exact_strides)
KEYWAY_ABI_TAG(needs_fixed_stride_order)
KEYWAY_ABI_TAG(nondeterministic_bitwise)
KEYWAY_ABI_TAG(nondeterministic_seeded)
KEYWAY_ABI_TAG(out_variant)
KEYWAY_ABI_TAG(pointwise)
KEYWAY_ABI_TAG(pt2_compliant_tag)
KEYWAY_ABI_TAG(reduction)
KEYWAY_ABI_TAG(view_copy)

std::size_t aoti_torch_dtype_element_size(std::int32_t dtype) {
  const bool known = dtype >= 0 && dtype < static_cast<std::int32_t>(kNumScalarTypes);
  return known ? element_size(static_cast<ScalarType>(dtype)) : 0;
}

AOTITorchError torch_parse_device_string(const char* text, std::uint32_t* device_type, std::int32_t* device_index) {
  return guarded(__func__, [&] {
    const Device device(std::string_view(&checked(text, "the text")));
    checked(device_type, "the result") = static_cast<std::uint32_t>(device.type());
    checked(device_index, "the result") = device.index();
  });
}
