// What slots hold besides tensors, and the constants.
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/base/warning.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/tests/stable/handles.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

TEST_CASE("a list holds slots, and an index beyond it is a failure") {
  StableListHandle list = nullptr;
  std::size_t size = 0;
  StableIValue item = 0;
  REQUIRE(torch_new_list_reserve_size(2, &list) == KEYWAY_ABI_SUCCESS);
  for (const StableIValue value : {5, 6, 7}) REQUIRE(torch_list_push_back(list, value) == KEYWAY_ABI_SUCCESS);
  REQUIRE(torch_list_size(list, &size) == KEYWAY_ABI_SUCCESS);
  CHECK(size == 3);
  REQUIRE(torch_list_set_item(list, 1, 60) == KEYWAY_ABI_SUCCESS);
  REQUIRE(torch_list_get_item(list, 1, &item) == KEYWAY_ABI_SUCCESS);
  CHECK(item == 60);
  CHECK(failure(torch_list_get_item(list, 3, &item)) == "torch_list_get_item: index 3 is out of range of a list of 3");
  CHECK(failure(torch_list_push_back(nullptr, 1)) == "torch_list_push_back: the handle of a list is null");
  REQUIRE(torch_delete_list(list) == KEYWAY_ABI_SUCCESS);
}

TEST_CASE("a string may have zeros in it") {
  StringHandle string = nullptr;
  std::size_t length = 0;
  const char* text = nullptr;
  REQUIRE(torch_new_string_handle("a\0b", 3, &string) == KEYWAY_ABI_SUCCESS);
  REQUIRE(torch_string_length(string, &length) == KEYWAY_ABI_SUCCESS);
  REQUIRE(torch_string_c_str(string, &text) == KEYWAY_ABI_SUCCESS);
  CHECK(std::string(text, length) == std::string("a\0b", 3));
  REQUIRE(torch_delete_string(string) == KEYWAY_ABI_SUCCESS);
  REQUIRE(torch_new_string_handle(nullptr, 0, &string) == KEYWAY_ABI_SUCCESS);
  REQUIRE(torch_delete_string(string) == KEYWAY_ABI_SUCCESS);
  CHECK(failure(torch_new_string_handle(nullptr, 2, &string)).find("null") != std::string::npos);
}

TEST_CASE("a scalar keeps its kind, and converts where it can") {
  KeywayScalarHandle scalar = nullptr;
  std::int32_t dtype = 0;
  std::int64_t i = 0;
  double d = 0, im = 0;
  REQUIRE(keyway_abi_new_scalar_float64(2.5, &scalar) == KEYWAY_ABI_SUCCESS);
  REQUIRE(keyway_abi_scalar_get_dtype(scalar, &dtype) == KEYWAY_ABI_SUCCESS);
  CHECK(dtype == aoti_torch_dtype_float64());
  REQUIRE(keyway_abi_scalar_get_float64(scalar, &d) == KEYWAY_ABI_SUCCESS);
  CHECK(d == 2.5);
  REQUIRE(keyway_abi_scalar_get_int64(scalar, &i) == KEYWAY_ABI_SUCCESS);
  CHECK(i == 2);
  REQUIRE(keyway_abi_delete_scalar(scalar) == KEYWAY_ABI_SUCCESS);
  REQUIRE(keyway_abi_new_scalar_complex128(1, 2, &scalar) == KEYWAY_ABI_SUCCESS);
  CHECK(failure(keyway_abi_scalar_get_float64(scalar, &d)).find("keyway_abi_scalar_get_float64: ") == 0);
  REQUIRE(keyway_abi_scalar_get_complex128(scalar, &d, &im) == KEYWAY_ABI_SUCCESS);
  CHECK(im == 2);
  REQUIRE(keyway_abi_delete_scalar(scalar) == KEYWAY_ABI_SUCCESS);
  REQUIRE(keyway_abi_new_scalar_bool(true, &scalar) == KEYWAY_ABI_SUCCESS);
  REQUIRE(keyway_abi_scalar_get_dtype(scalar, &dtype) == KEYWAY_ABI_SUCCESS);
  CHECK(dtype == aoti_torch_dtype_bool());
  REQUIRE(keyway_abi_delete_scalar(scalar) == KEYWAY_ABI_SUCCESS);
}

TEST_CASE("constants are those of Keyway's enumerators, and devices that it lacks have numbers of their own") {
  CHECK(aoti_torch_abi_version() == KEYWAY_ABI_VERSION);
  CHECK(aoti_torch_dtype_float32() == static_cast<int>(kFloat32));
  CHECK(aoti_torch_dtype_bfloat16() == static_cast<int>(kBFloat16));
  CHECK(aoti_torch_dtype_uint64() == static_cast<int>(kUInt64));
  CHECK(torch_dtype_float8_e8m0fnu() == static_cast<int>(kFloat8_e8m0fnu));
  CHECK(aoti_torch_dtype_element_size(aoti_torch_dtype_complex128()) == 16);
  CHECK(aoti_torch_dtype_element_size(-1) == 0);
  CHECK(aoti_torch_dtype_element_size(1000) == 0);
  const std::set<int> devices{aoti_torch_device_type_cpu(),  aoti_torch_device_type_cuda(),
                              aoti_torch_device_type_meta(), aoti_torch_device_type_xpu(),
                              aoti_torch_device_type_mps(),  aoti_torch_device_type_privateuse1()};
  CHECK(devices.size() == 6);
  const std::set<int> layouts{aoti_torch_layout_strided(),    aoti_torch_layout_sparse_coo(),
                              aoti_torch_layout_sparse_csr(), aoti_torch_layout_sparse_csc(),
                              aoti_torch_layout_sparse_bsr(), aoti_torch_layout_sparse_bsc(),
                              aoti_torch_layout__mkldnn(),    aoti_torch_layout_jagged()};
  CHECK(layouts.size() == 8);
  CHECK(aoti_torch_memory_format_channels_last() == static_cast<int>(MemoryFormat::ChannelsLast));
  std::uint32_t type = 99;
  std::int32_t index = 99;
  REQUIRE(torch_parse_device_string("cpu", &type, &index) == KEYWAY_ABI_SUCCESS);
  CHECK(type == static_cast<unsigned>(aoti_torch_device_type_cpu()));
  CHECK(index == -1);
  REQUIRE(torch_parse_device_string("cuda:3", &type, &index) == KEYWAY_ABI_SUCCESS);
  CHECK(type == static_cast<unsigned>(aoti_torch_device_type_cuda()));
  CHECK(index == 3);
  CHECK(failure(torch_parse_device_string("nowhere", &type, &index)).find("nowhere") != std::string::npos);
}

TEST_CASE("the message of a failure is its thread's") {
  std::size_t size = 0;
  CHECK(failure(torch_list_size(nullptr, &size)) == "torch_list_size: the handle of a list is null");
  std::thread([] { CHECK(std::string(torch_exception_get_what()).empty()); }).join();
  CHECK(torch_exception_get_what() == std::string("torch_list_size: the handle of a list is null"));
}

TEST_CASE("a check throws, and a warning is heard, with the place they stand at") {
  std::string heard;
  const WarningHandler before = set_warning_handler([&](std::string_view text) { heard = text; });
  aoti_torch_warn("f", "file.cpp", 3, "beware");
  set_warning_handler(before);
  CHECK(heard == "beware (f at file.cpp:3)");
  aoti_torch_check(true, "f", "file.cpp", 3, "wrong");
  CHECK_THROWS_WITH(aoti_torch_check(false, "f", nullptr, 3, "wrong"), "wrong (f at ?:3)");
}

TEST_CASE("a range is gone through once, from several threads") {
  std::vector<std::atomic<int>> seen(1000);
  const auto visit = [](std::int64_t begin, std::int64_t end, void* context) {
    auto& counts = *static_cast<std::vector<std::atomic<int>>*>(context);
    for (std::int64_t i = begin; i < end; ++i) ++counts[static_cast<std::size_t>(i)];
  };
  REQUIRE(torch_parallel_for(0, 1000, 10, visit, &seen) == KEYWAY_ABI_SUCCESS);
  for (const std::atomic<int>& count : seen) REQUIRE(count == 1);
  const auto throws = [](std::int64_t, std::int64_t, void*) { throw std::runtime_error("a part failed"); };
  CHECK(failure(torch_parallel_for(0, 10, 0, throws, nullptr)) == "torch_parallel_for: a part failed");
  CHECK(failure(torch_parallel_for(0, 10, 1, nullptr, nullptr)) == "torch_parallel_for: the function is null");
  std::uint32_t threads = 0;
  REQUIRE(torch_get_num_threads(&threads) == KEYWAY_ABI_SUCCESS);
  CHECK(threads == static_cast<unsigned>(get_num_threads()));
}

TEST_CASE("the thread's mode of gradients is the same on both sides") {
  CHECK(aoti_torch_grad_mode_is_enabled());
  {
    const NoGradGuard no_grad;
    CHECK_FALSE(aoti_torch_grad_mode_is_enabled());
  }
  aoti_torch_grad_mode_set_enabled(false);
  CHECK_FALSE(grad_enabled());
  aoti_torch_grad_mode_set_enabled(true);
}

TEST_CASE("what asks for a device that is not there is a failure that says so") {
  DeviceGuardHandle guard = nullptr;
  StreamHandle stream = nullptr;
  void* native = nullptr;
  if (device_count(DeviceType::CUDA) > 0) return;
  CHECK(failure(aoti_torch_create_device_guard(0, &guard)).find("cuda") != std::string::npos);
  CHECK(failure(aoti_torch_get_current_stream(0, &stream)).find("cuda") != std::string::npos);
  CHECK(failure(aoti_torch_get_current_cuda_stream(0, &native)).find("cuda") != std::string::npos);
  CHECK(failure(torch_cuda_stream_synchronize(nullptr, 0)).find("cuda") != std::string::npos);
  char* message = nullptr;
  REQUIRE(torch_c10_cuda_check_msg(0, "file", "function", 1, false, &message) == KEYWAY_ABI_SUCCESS);
  CHECK(message == nullptr);
  REQUIRE(torch_c10_cuda_check_msg(2, "file", "function", 1, false, &message) == KEYWAY_ABI_SUCCESS);
  CHECK(std::string(message).starts_with("CUDA error 2"));
  torch_c10_cuda_free_error_msg(message);
}
