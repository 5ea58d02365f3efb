#include <keyway/core/tensor/tensor_options.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using keyway::testing::error_of;

TEST_CASE("options that nobody set have their defaults and stay open") {
  const TensorOptions o;
  CHECK(o.dtype() == kFloat);
  CHECK(o.device() == Device(kCPU));
  CHECK(o.layout() == Layout::Strided);
  CHECK(o.memory_format() == MemoryFormat::Contiguous);
  CHECK(!o.pinned_memory());
  CHECK(!o.requires_grad());
  CHECK(!o.dtype_opt());
  CHECK(!o.device_opt());
  CHECK(!o.layout_opt());
  CHECK(!o.memory_format_opt());
  CHECK(!o.pinned_memory_opt());
  CHECK(!o.requires_grad_opt());
  CHECK(to_string(o) == "no options");
}

TEST_CASE("setters chain, leave the original alone, and take nullopt back to open") {
  const TensorOptions base;
  const TensorOptions o =
      base.dtype(kFloat64).device("cuda:1").layout(kSparse).requires_grad(true).pinned_memory(false);
  CHECK(base == TensorOptions());
  CHECK(o.dtype() == kDouble);
  CHECK(o.device_opt() == Device("cuda:1"));
  CHECK(o.requires_grad_opt() == true);
  CHECK(o.pinned_memory_opt() == false);
  CHECK(to_string(o) == "dtype=float64, device=cuda:1, layout=sparse_coo, pinned_memory=False, requires_grad=True");
  CHECK(o.dtype(std::nullopt)
            .device(std::nullopt)
            .layout(std::nullopt)
            .requires_grad(std::nullopt)
            .pinned_memory(std::nullopt) == base);
  CHECK(o.memory_format(MemoryFormat::ChannelsLast).memory_format_opt() == MemoryFormat::ChannelsLast);
}

TEST_CASE("options begin with any one option") {
  const TensorOptions from_dtype = kInt64, from_device = Device("meta"), from_type = kCUDA;
  CHECK(from_dtype == dtype(kLong));
  CHECK(from_device == device(kMeta));
  CHECK(from_type == TensorOptions().device(kCUDA));
  CHECK(TensorOptions(Layout::SparseCsr) == layout(kSparseCsr));
  CHECK(requires_grad().requires_grad());
}

TEST_CASE("merge_in takes what the other has set") {
  const TensorOptions a = dtype(kInt).device(kCUDA), b = dtype(kLong).requires_grad(false);
  const TensorOptions merged = a.merge_in(b);
  CHECK(merged.dtype() == kLong);
  CHECK(merged.device_opt() == Device(kCUDA));
  CHECK(merged.requires_grad_opt() == false);
}

TEST_CASE("the default dtype is a floating type and shows in the options") {
  CHECK(get_default_dtype() == kFloat);
  CHECK(get_default_complex_dtype() == kComplexFloat);
  set_default_dtype(kDouble);
  CHECK(TensorOptions().dtype() == kDouble);
  CHECK(get_default_complex_dtype() == kComplexDouble);
  set_default_dtype(kFloat);
  CHECK(error_of([] { set_default_dtype(kLong); }) ==
        "The default dtype is one of float16, float32, float64 or bfloat16, not int64.");
}

TEST_CASE("layouts and memory formats have Python's names and read both spellings") {
  CHECK(to_string(Layout::Sparse) == "sparse_coo");
  CHECK(try_parse_layout("sparse_csr") == Layout::SparseCsr);
  CHECK(try_parse_layout("Strided") == Layout::Strided);
  CHECK(!try_parse_layout("dense"));
  CHECK(to_string(static_cast<Layout>(3)) == "invalid");
  CHECK(to_string(MemoryFormat::Contiguous) == "contiguous_format");
  CHECK(to_string(MemoryFormat::ChannelsLast3d) == "channels_last_3d");
  CHECK(try_parse_memory_format("preserve_format") == MemoryFormat::Preserve);
  CHECK(!try_parse_memory_format("nhwc"));
}
