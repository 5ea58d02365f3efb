// Tensors through the stable C ABI are what they are through Tensor.
#include <keyway/tests/stable/handles.h>

#include <array>
#include <cstring>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

template <typename Result, typename Handle>
Result get(AOTITorchError (*function)(Handle, Result*), const TensorHandle& tensor) {
  Result result{};
  REQUIRE(function(tensor.get(), &result) == KEYWAY_ABI_SUCCESS);
  return result;
}

std::vector<std::int64_t> list_of(const std::int64_t* numbers, std::int64_t count) {
  return {numbers, numbers + count};
}

}  // namespace

TEST_CASE("a handle tells what its tensor is") {
  const Tensor whole = arange(24, TensorOptions(kFloat64)).reshape({2, 3, 4});
  for (const Tensor& tensor : {whole, whole.transpose(0, 2), whole.select(1, 1), whole.to(kInt16), full({}, 3.5),
                               empty({0, 2}), empty({2, 2}, TensorOptions(kComplexFloat).device(kMeta))}) {
    const TensorHandle handle = handle_of(tensor);
    CHECK(get(aoti_torch_is_defined, handle));
    CHECK(get(torch_has_storage, handle));
    const std::int64_t dim = get(aoti_torch_get_dim, handle);
    CHECK(dim == tensor.dim());
    CHECK(get(aoti_torch_get_numel, handle) == tensor.numel());
    CHECK(list_of(get(aoti_torch_get_sizes, handle), dim) == tensor.sizes().vec());
    CHECK(list_of(get(aoti_torch_get_strides, handle), dim) == tensor.strides().vec());
    CHECK(get(aoti_torch_get_dtype, handle) == static_cast<int>(tensor.dtype()));
    CHECK(get(aoti_torch_get_device_type, handle) == static_cast<int>(tensor.device().type()));
    CHECK(get(aoti_torch_get_device_index, handle) == tensor.device().index());
    CHECK(get(aoti_torch_get_layout, handle) == aoti_torch_layout_strided());
    CHECK(get(aoti_torch_get_storage_offset, handle) == tensor.storage_offset());
    CHECK(get(aoti_torch_is_contiguous, handle) == tensor.is_contiguous());
    CHECK(get(aoti_torch_get_data_ptr, handle) == tensor.data_ptr());
    CHECK(get(torch_get_mutable_data_ptr, handle) == tensor.data_ptr());
    CHECK(get(torch_get_const_data_ptr, handle) == tensor.data_ptr());
    CHECK(get(aoti_torch_get_storage_size, handle) == static_cast<std::int64_t>(tensor.storage().nbytes()));
    CHECK(get(aoti_torch_get_storage_numel, handle) * static_cast<std::int64_t>(tensor.itemsize()) ==
          static_cast<std::int64_t>(tensor.storage().nbytes()));
    for (std::int64_t d = -dim; d < dim; ++d) {
      std::int64_t size = -1, stride = -1;
      REQUIRE(aoti_torch_get_size(handle.get(), d, &size) == KEYWAY_ABI_SUCCESS);
      REQUIRE(aoti_torch_get_stride(handle.get(), d, &stride) == KEYWAY_ABI_SUCCESS);
      CHECK(size == tensor.size(d));
      CHECK(stride == tensor.stride(d));
    }
  }
}

TEST_CASE("handles share their tensor, and can be given another") {
  const Tensor one = ones({2}), two = zeros({3});
  TensorHandle first = handle_of(one);
  const TensorHandle second = owned(aoti_torch_new_tensor_handle, first.get());
  const TensorHandle third = owned(aoti_torch_assign_tensors_out, first.get());
  const TensorHandle undefined = owned(aoti_torch_new_uninitialized_tensor);
  CHECK_FALSE(get(aoti_torch_is_defined, undefined));
  first.reset();
  CHECK(tensor_of(second).is_same(one));
  CHECK(tensor_of(third).is_same(one));
  REQUIRE(aoti_torch_assign_tensors(handle_of(two).get(), second.get()) == KEYWAY_ABI_SUCCESS);
  CHECK(tensor_of(second).is_same(two));
  CHECK(tensor_of(third).is_same(one));
}

TEST_CASE("a tensor that requires grad is asked for, and its gradient arrives") {
  const Tensor x = ones({2});
  const TensorHandle handle = handle_of(x);
  REQUIRE(torch_set_requires_grad(handle.get(), true) == KEYWAY_ABI_SUCCESS);
  CHECK(x.requires_grad());
  (x * 3).sum().backward();
  CHECK(equal(x.grad(), full({2}, 3.0)));
  CHECK(failure(torch_set_requires_grad(handle_of(ones({2}, kInt64)).get(), true)).find("int64") != std::string::npos);
}

TEST_CASE("a new tensor has the geometry that is asked for") {
  const std::array<std::int64_t, 2> sizes{2, 3}, strides{1, 2};
  AtenTensorHandle result = nullptr;
  REQUIRE(aoti_torch_empty_strided(2, sizes.data(), strides.data(), aoti_torch_dtype_int32(),
                                   aoti_torch_device_type_cpu(), -1, &result) == KEYWAY_ABI_SUCCESS);
  const TensorHandle handle(result);
  const Tensor made = tensor_of(handle);
  CHECK(made.dtype() == kInt32);
  CHECK(made.sizes().vec() == std::vector<std::int64_t>{2, 3});
  CHECK(made.strides().vec() == std::vector<std::int64_t>{1, 2});
  REQUIRE(aoti_torch_empty_strided(0, nullptr, nullptr, aoti_torch_dtype_bool(), aoti_torch_device_type_meta(), -1,
                                   &result) == KEYWAY_ABI_SUCCESS);
  CHECK(tensor_of(TensorHandle(result)).is_meta());
}

TEST_CASE("a tensor over memory of the caller gives it back when nothing refers to it") {
  std::array<float, 8> memory{0, 1, 2, 3, 4, 5, 6, 7};
  const std::array<std::int64_t, 2> sizes{2, 2}, strides{3, 1};
  int deleted = 0;
  AtenTensorHandle result = nullptr;
  REQUIRE(torch_from_blob(
              memory.data(), 2, sizes.data(), strides.data(), 1, aoti_torch_dtype_float32(),
              aoti_torch_device_type_cpu(), -1, &result, aoti_torch_layout_strided(), nullptr, 0,
              [](void*, void* context) { ++*static_cast<int*>(context); }, &deleted) == KEYWAY_ABI_SUCCESS);
  TensorHandle handle(result);
  Tensor view = tensor_of(handle).select(0, 1);
  CHECK(equal(tensor_of(handle), arange(6, TensorOptions(kFloat32)).as_strided({2, 2}, {3, 1}, 1)));
  handle.reset();
  CHECK(deleted == 0);
  CHECK(view.data_ptr() == &memory[4]);
  view = Tensor();
  CHECK(deleted == 1);

  REQUIRE(aoti_torch_create_tensor_from_blob(memory.data(), 2, sizes.data(), strides.data(), 0,
                                             aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(), -1,
                                             &result) == KEYWAY_ABI_SUCCESS);
  handle.reset(result);
  CHECK(get(aoti_torch_get_data_ptr, handle) == memory.data());
  const auto make = [&](std::int64_t ndim, std::int64_t offset, int dtype, int device, int layout) {
    return aoti_torch_create_tensor_from_blob_v2(memory.data(), ndim, sizes.data(), strides.data(), offset, dtype,
                                                 device, -1, &result, layout, nullptr, 0);
  };
  const int float32 = aoti_torch_dtype_float32(), cpu = aoti_torch_device_type_cpu();
  const int strided = aoti_torch_layout_strided();
  CHECK(failure(make(-1, 0, float32, cpu, strided)).find("the sizes are -1") != std::string::npos);
  CHECK(failure(make(65, 0, float32, cpu, strided)).find("at most 64 dimensions") != std::string::npos);
  CHECK(failure(make(2, -1, float32, cpu, strided)).find("offset -1") != std::string::npos);
  CHECK(failure(make(2, 0, 99, cpu, strided)).find("99 is no dtype") != std::string::npos);
  CHECK(failure(make(2, 0, float32, aoti_torch_device_type_xpu(), strided)).find("no device type") !=
        std::string::npos);
  CHECK(failure(make(2, 0, float32, cpu, aoti_torch_layout_sparse_csr())).find("sparse_csr") != std::string::npos);
}

TEST_CASE("functions of operators compute what the operators do") {
  const Tensor x = arange(12, TensorOptions(kFloat32)).reshape({3, 4}), y = full({3, 4}, 2.0);
  const TensorHandle self = handle_of(x), other = handle_of(y);
  const std::array<std::int64_t, 2> dims{0, 1}, size{2, 5}, pad{1, 2}, strides{1, 4}, shape{4, 3};
  double value = 7;
  int dtype = aoti_torch_dtype_float64(), device = aoti_torch_device_type_cpu();
  int* absent = nullptr;

  CHECK(equal(tensor_of(owned(aoti_torch_aten_amax, self.get(), dims.data(), std::int64_t{1}, 1)), x.amax({0}, true)));
  CHECK(equal(tensor_of(owned(aoti_torch_aten_narrow, self.get(), std::int64_t{1}, std::int64_t{1}, std::int64_t{2})),
              x.narrow(1, 1, 2)));
  CHECK(equal(tensor_of(owned(aoti_torch_aten_subtract_Tensor, self.get(), other.get(), 0.5)), x - y * 0.5));
  CHECK(equal(tensor_of(owned(aoti_torch_aten_pad, self.get(), pad.data(), std::int64_t{2}, "constant", &value)),
              keyway::pad(x, {1, 2}, "constant", 7.0)));
  const Tensor filled =
      tensor_of(owned(aoti_torch_aten_full, size.data(), std::int64_t{2}, 1.5, &dtype, absent, &device, -1, absent));
  CHECK(filled.dtype() == kFloat64);
  CHECK(equal(filled, full({2, 5}, 1.5, kFloat64)));
  CHECK(equal(tensor_of(owned(aoti_torch_aten_new_zeros, self.get(), size.data(), std::int64_t{2}, absent, absent,
                              absent, -1, absent)),
              zeros({2, 5})));
  CHECK(tensor_of(owned(aoti_torch_aten_new_empty, self.get(), size.data(), std::int64_t{2}, &dtype, absent, absent, -1,
                        absent))
            .dtype() == kFloat64);
  CHECK(equal(tensor_of(owned(aoti_torch_as_strided, self.get(), shape.data(), strides.data())),
              x.as_strided({4, 3}, {1, 4})));
  CHECK(equal(tensor_of(owned(aoti_torch__reinterpret_tensor, self.get(), std::int64_t{1}, size.data(), dims.data() + 1,
                              std::int64_t{3})),
              x.as_strided({2}, {1}, 3)));
  const TensorHandle copy = owned(aoti_torch_clone, self.get());
  CHECK(equal(tensor_of(copy), x));
  CHECK_FALSE(tensor_of(copy).is_alias_of(x));
  const Tensor permuted = x.t();
  CHECK(tensor_of(owned(aoti_torch_clone_preserve_strides, handle_of(permuted).get())).strides().vec() ==
        permuted.strides().vec());
  REQUIRE(aoti_torch_copy_(copy.get(), other.get(), 0) == KEYWAY_ABI_SUCCESS);
  CHECK(equal(tensor_of(copy), y));
  REQUIRE(aoti_torch_aten_fill__Scalar(copy.get(), 4) == KEYWAY_ABI_SUCCESS);
  CHECK(equal(tensor_of(copy), full({3, 4}, 4.0)));
  REQUIRE(aoti_torch_zero_(copy.get()) == KEYWAY_ABI_SUCCESS);
  CHECK(equal(tensor_of(copy), zeros({3, 4})));
}

TEST_CASE("one number goes into a tensor and comes out of it, bit by bit") {
  float f = 0;
  double d = 0;
  std::int64_t i = 0;
  std::uint16_t bits = 0;
  bool b = false;
  KeywayComplexFloat z{};
  const TensorHandle number = owned(aoti_torch_scalar_to_tensor_float32, 0.1F);
  CHECK(tensor_of(number).dim() == 0);
  REQUIRE(aoti_torch_item_float32(number.get(), &f) == KEYWAY_ABI_SUCCESS);
  CHECK(f == 0.1F);
  REQUIRE(aoti_torch_item_float64(owned(aoti_torch_scalar_to_tensor_float64, 0.1).get(), &d) == KEYWAY_ABI_SUCCESS);
  CHECK(d == 0.1);
  REQUIRE(aoti_torch_item_int64(owned(aoti_torch_scalar_to_tensor_int64, std::int64_t{-5}).get(), &i) ==
          KEYWAY_ABI_SUCCESS);
  CHECK(i == -5);
  REQUIRE(aoti_torch_item_bool(owned(aoti_torch_scalar_to_tensor_bool, true).get(), &b) == KEYWAY_ABI_SUCCESS);
  CHECK(b);
  REQUIRE(aoti_torch_item_complex64(owned(aoti_torch_scalar_to_tensor_complex64, KeywayComplexFloat{1, -2}).get(),
                                    &z) == KEYWAY_ABI_SUCCESS);
  CHECK(z.re == 1);
  CHECK(z.im == -2);
  REQUIRE(aoti_torch_item_bfloat16(handle_of(full({}, 1.0, kBFloat16)).get(), &bits) == KEYWAY_ABI_SUCCESS);
  CHECK(bits == 0x3f80);
  REQUIRE(aoti_torch_item_float16(handle_of(full({}, 1.0, kFloat16)).get(), &bits) == KEYWAY_ABI_SUCCESS);
  CHECK(bits == 0x3c00);
  CHECK(failure(aoti_torch_item_float32(handle_of(ones({2})).get(), &f)).find("2 elements") != std::string::npos);
  CHECK(failure(aoti_torch_item_float64(number.get(), &d)).find("float32, not float64") != std::string::npos);
}

TEST_CASE("handles that are null, deleted, undefined or of another kind are failures") {
  std::int64_t dim = 0;
  CHECK(failure(aoti_torch_get_dim(nullptr, &dim)) == "aoti_torch_get_dim: the handle of a tensor is null");
  CHECK(failure(aoti_torch_get_dim(reinterpret_cast<AtenTensorHandle>(17), &dim)) ==
        "aoti_torch_get_dim: 17 is no handle of a tensor");
  StableListHandle list = nullptr;
  REQUIRE(torch_new_list_reserve_size(3, &list) == KEYWAY_ABI_SUCCESS);
  CHECK(failure(aoti_torch_get_dim(reinterpret_cast<AtenTensorHandle>(list), &dim)) ==
        "aoti_torch_get_dim: a handle of a tensor is expected, but this is a list");
  CHECK(failure(aoti_torch_delete_tensor_object(reinterpret_cast<AtenTensorHandle>(list))).find("a list") !=
        std::string::npos);
  REQUIRE(torch_delete_list(list) == KEYWAY_ABI_SUCCESS);
  const TensorHandle undefined = owned(aoti_torch_new_uninitialized_tensor);
  CHECK(failure(aoti_torch_get_dim(undefined.get(), &dim)) == "aoti_torch_get_dim: the tensor is undefined");
  const TensorHandle handle = handle_of(ones({2, 2}));
  CHECK(failure(aoti_torch_get_dim(handle.get(), nullptr)) == "aoti_torch_get_dim: the result is null");
  CHECK(failure(aoti_torch_get_size(handle.get(), 2, &dim)).find("2") != std::string::npos);
}
