// Operators by name with slots, and kernels that get slots.
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tests/stable/handles.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

extern "C" {
AOTITorchError torch_tensor_from_pyobject(void* object, AtenTensorHandle* result);
AOTITorchError aoti_torch_cpu__int_mm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2);
// By the rule of stable/abi/schema_call.h.
AOTITorchError aoti_torch_cpu_abs(AtenTensorHandle self, AtenTensorHandle* ret0);
AOTITorchError aoti_torch_cpu_add_Tensor(AtenTensorHandle self, AtenTensorHandle other, double alpha,
                                         AtenTensorHandle* ret0);
AOTITorchError aoti_torch_cpu_mm_out(AtenTensorHandle out, AtenTensorHandle self, AtenTensorHandle mat2);
AOTITorchError aoti_torch_cpu_cat(const AtenTensorHandle* tensors, std::int64_t tensors_length, std::int64_t dim,
                                  AtenTensorHandle* ret0);
AOTITorchError aoti_torch_cpu_sort_stable(AtenTensorHandle self, std::int32_t* stable, std::int64_t dim,
                                          std::int32_t descending, AtenTensorHandle* ret0, AtenTensorHandle* ret1);
AOTITorchError aoti_torch_cpu_slice_Tensor(AtenTensorHandle self, std::int64_t dim, std::int64_t* start,
                                           std::int64_t* end, std::int64_t step, AtenTensorHandle* ret0);
AOTITorchError aoti_torch_cpu_index_Tensor(AtenTensorHandle self, const AtenTensorHandle** indices,
                                           std::int64_t indices_length, AtenTensorHandle* ret0);
AOTITorchError aoti_torch_cpu_rand(const std::int64_t* size, std::int64_t size_length, std::int32_t* dtype,
                                   std::int32_t* layout, std::int32_t* device_type, std::int32_t device_index,
                                   std::int32_t* pin_memory, AtenTensorHandle* ret0);
AOTITorchError aoti_torch_cpu_bernoulli__float(AtenTensorHandle self, double p, AtenGeneratorHandle* generator);
AOTITorchError aoti_torch_cpu_searchsorted_Tensor(AtenTensorHandle sorted_sequence, AtenTensorHandle self,
                                                  std::int32_t out_int32, std::int32_t right, const char** side,
                                                  AtenTensorHandle* sorter, AtenTensorHandle* ret0);
}

namespace {

StableIValue slot(const Tensor& tensor) { return reinterpret_cast<StableIValue>(handle_of(tensor).release()); }
StableIValue slot(std::int64_t number) { return static_cast<StableIValue>(number); }
StableIValue scalar_slot(double number) {
  KeywayScalarHandle scalar = nullptr;
  REQUIRE(keyway_abi_new_scalar_float64(number, &scalar) == KEYWAY_ABI_SUCCESS);
  return reinterpret_cast<StableIValue>(scalar);
}
StableIValue list_slot(const std::vector<StableIValue>& items) {
  StableListHandle list = nullptr;
  REQUIRE(torch_new_list_reserve_size(items.size(), &list) == KEYWAY_ABI_SUCCESS);
  for (const StableIValue item : items) REQUIRE(torch_list_push_back(list, item) == KEYWAY_ABI_SUCCESS);
  return reinterpret_cast<StableIValue>(list);
}
StableIValue optional_slot(StableIValue value) {
  StableIValue* made = nullptr;
  REQUIRE(torch_new_stable_ivalue(&made) == KEYWAY_ABI_SUCCESS);
  *made = value;
  return reinterpret_cast<StableIValue>(made);
}
Tensor tensor_in(StableIValue slot) { return tensor_of(TensorHandle(reinterpret_cast<AtenTensorHandle>(slot))); }

AOTITorchError call(const char* name, const char* overload, std::vector<StableIValue>& stack) {
  stack.resize(std::max<std::size_t>(stack.size(), 8));
  return torch_call_dispatcher(name, overload, stack.data(), KEYWAY_ABI_VERSION);
}

}  // namespace

TEST_CASE("a call by name computes what the operator does") {
  const Tensor x = arange(6, TensorOptions(kFloat32)).reshape({2, 3}), y = ones({2, 3});
  std::vector<StableIValue> stack{slot(x), slot(y), scalar_slot(0.5)};
  REQUIRE(call("aten::add", "Tensor", stack) == KEYWAY_ABI_SUCCESS);
  CHECK(equal(tensor_in(stack[0]), x + y * 0.5));

  stack = {slot(x), optional_slot(list_slot({slot(std::int64_t{1})})), 1,
           optional_slot(static_cast<StableIValue>(kFloat64))};
  REQUIRE(call("aten::sum", "dim_IntList", stack) == KEYWAY_ABI_SUCCESS);
  CHECK(equal(tensor_in(stack[0]), x.to(kFloat64).sum({1}, true)));

  stack = {list_slot({slot(x), slot(y)}), slot(std::int64_t{0})};
  REQUIRE(call("keyway::cat", nullptr, stack) == KEYWAY_ABI_SUCCESS);
  CHECK(equal(tensor_in(stack[0]), cat({x, y}, 0)));

  stack = {slot(x), 0, slot(std::int64_t{-1}), 1};
  REQUIRE(call("aten::sort", "stable", stack) == KEYWAY_ABI_SUCCESS);
  const auto [values, indices] = x.sort(-1, true);
  CHECK(equal(tensor_in(stack[0]), values));
  CHECK(equal(tensor_in(stack[1]), indices));

  const Tensor written = x.clone();
  stack = {slot(written)};
  REQUIRE(aoti_torch_call_dispatcher("aten::zero_", "", (stack.resize(8), stack.data())) == KEYWAY_ABI_SUCCESS);
  CHECK(tensor_in(stack[0]).is_same(written));
  CHECK(equal(written, zeros({2, 3})));

  stack = {slot(x), slot(y), scalar_slot(2)};
  REQUIRE(call("aten::subtract", "Tensor", stack) == KEYWAY_ABI_SUCCESS);
  CHECK(equal(tensor_in(stack[0]), x - y * 2));
}

TEST_CASE("calls that cannot be made say why, and give back what they were given") {
  const Tensor x = ones({2, 3}), y = ones({2, 4});
  std::vector<StableIValue> stack{slot(x), slot(y), scalar_slot(1)};
  CHECK(failure(call("aten::add", "Tensor", stack)).find("shapes [2, 3] and [2, 4] do not broadcast") !=
        std::string::npos);
  CHECK(x.use_count() == 1);
  stack = {list_slot({}), slot(y), scalar_slot(1)};
  CHECK(failure(call("aten::add", "Tensor", stack)) ==
        "torch_call_dispatcher: a handle of a tensor is expected, but this is a list");
  CHECK(y.use_count() == 1);
  stack = {slot(x), 0, 17};
  CHECK(failure(call("aten::add", "Tensor", stack)).find("the handle of a tensor is null") != std::string::npos);
  stack = {slot(x), 0, 7, 0};
  CHECK(failure(call("aten::sum", "dim_IntList", stack)).find("7 is no bool") != std::string::npos);
  stack = {slot(x), 0, 0, optional_slot(99)};
  CHECK(failure(call("aten::sum", "dim_IntList", stack)).find("99 is no dtype") != std::string::npos);
  stack = {};
  CHECK(failure(call("aten::no_such", "", stack)).find("keyway::no_such") != std::string::npos);
  CHECK(failure(call("no_namespace", "", stack)).find("has no namespace") != std::string::npos);
  CHECK(failure(call(nullptr, "", stack)).find("name is null") != std::string::npos);
  CHECK(failure(call("aten::_linalg_svd", "", stack)).find("other arguments") != std::string::npos);
  CHECK(failure(torch_call_dispatcher("aten::zero_", "", nullptr, KEYWAY_ABI_VERSION)).find("the stack is null") !=
        std::string::npos);
  CHECK(failure(torch_call_dispatcher("aten::zero_", "", stack.data(), std::uint64_t{9} << 56)).find("version 9") !=
        std::string::npos);
}

TEST_CASE("functions that Keyway does not serve are failures that say so") {
  CHECK(failure(torch_tensor_from_pyobject(nullptr, nullptr)) ==
        "torch_tensor_from_pyobject: Keyway does not have it: tensors of Python do not cross the stable C ABI");
}

TEST_CASE("operators as C functions take what their schemas say") {
  const Tensor x = arange(6, TensorOptions(kFloat32)).reshape({2, 3}) - 2.5, y = ones({2, 3});
  const TensorHandle self = handle_of(x), other = handle_of(y);
  CHECK(equal(tensor_of(owned(aoti_torch_cpu_abs, self.get())), x.abs()));
  CHECK(equal(tensor_of(owned(aoti_torch_cpu_add_Tensor, self.get(), other.get(), 0.5)), x + y * 0.5));
  const Tensor product = empty({2, 2});
  REQUIRE(aoti_torch_cpu_mm_out(handle_of(product).get(), self.get(), handle_of(y.t()).get()) == KEYWAY_ABI_SUCCESS);
  CHECK(equal(product, x.mm(y.t())));
  const AtenTensorHandle both[] = {self.get(), other.get()};
  CHECK(equal(tensor_of(owned(aoti_torch_cpu_cat, &both[0], std::int64_t{2}, std::int64_t{1})), cat({x, y}, 1)));

  std::int32_t stable = 1;
  AtenTensorHandle values = nullptr, indices = nullptr;
  REQUIRE(aoti_torch_cpu_sort_stable(self.get(), &stable, 1, 1, &values, &indices) == KEYWAY_ABI_SUCCESS);
  CHECK(equal(tensor_of(TensorHandle(values)), std::get<0>(x.sort(1, true))));
  CHECK(equal(tensor_of(TensorHandle(indices)), std::get<1>(x.sort(1, true))));

  std::int64_t from = 1, *absent = nullptr;
  CHECK(
      equal(tensor_of(owned(aoti_torch_cpu_slice_Tensor, self.get(), std::int64_t{1}, &from, absent, std::int64_t{1})),
            x.slice(1, 1)));
  AtenTensorHandle columns = handle_of(full({1}, 2, kInt64)).release();
  const AtenTensorHandle* where[] = {nullptr, &columns};
  CHECK(equal(tensor_of(owned(aoti_torch_cpu_index_Tensor, self.get(), &where[0], std::int64_t{2})), x.slice(1, 2, 3)));
  aoti_torch_delete_tensor_object(columns);

  const std::int64_t size[] = {3, 2};
  std::int32_t dtype = aoti_torch_dtype_float64(), device = aoti_torch_device_type_cpu(), *none = nullptr;
  const Tensor random =
      tensor_of(owned(aoti_torch_cpu_rand, &size[0], std::int64_t{2}, &dtype, none, &device, -1, none));
  CHECK(random.dtype() == kFloat64);
  CHECK(random.sizes().vec() == std::vector<std::int64_t>{3, 2});
  const Tensor drawn = zeros({8});
  REQUIRE(aoti_torch_cpu_bernoulli__float(handle_of(drawn).get(), 1.0, nullptr) == KEYWAY_ABI_SUCCESS);
  CHECK(equal(drawn, ones({8})));
  const char* side = "right";
  CHECK(equal(
      tensor_of(owned(aoti_torch_cpu_searchsorted_Tensor, handle_of(arange(4)).get(),
                      handle_of(full({1}, 2, kInt64)).get(), 0, 0, &side, static_cast<AtenTensorHandle*>(nullptr))),
      full({1}, 3, kInt64)));

  AtenTensorHandle result = nullptr;
  CHECK(failure(aoti_torch_cpu_cat(nullptr, 2, 0, &result)) == "aoti_torch_cpu_cat: the list is null");
  CHECK(failure(aoti_torch_cpu_cat(&both[0], -1, 0, &result)) == "aoti_torch_cpu_cat: -1 is no length of a list");
  CHECK(failure(aoti_torch_cpu_abs(self.get(), nullptr)) == "aoti_torch_cpu_abs: the result is null");
  CHECK(failure(aoti_torch_cpu_abs(nullptr, &result)) == "aoti_torch_cpu_abs: the handle of a tensor is null");
  CHECK(failure(aoti_torch_cpu__int_mm_out(self.get(), self.get(), self.get())).find("there is no such operator") !=
        std::string::npos);
}

TEST_CASE("calls record gradients as those of the C++ API do") {
  const Tensor x = full({3}, 2.0).requires_grad_(true);
  std::vector<StableIValue> stack{slot(x), slot(x)};
  REQUIRE(call("aten::mul", "Tensor", stack) == KEYWAY_ABI_SUCCESS);
  tensor_in(stack[0]).sum().backward();
  CHECK(equal(x.grad(), full({3}, 4.0)));
}

TEST_CASE("what a library registers after it was loaded is there at once, or a failure") {
  TorchLibraryHandle defs = nullptr, impls = nullptr;
  REQUIRE(aoti_torch_library_init_fragment("late", __FILE__, 1, &defs) == KEYWAY_ABI_SUCCESS);
  REQUIRE(aoti_torch_library_def(defs, "late::twice(Tensor self) -> Tensor") == KEYWAY_ABI_SUCCESS);
  CHECK(failure(aoti_torch_library_def(defs, "broken(")).find("broken(") != std::string::npos);
  CHECK(failure(aoti_torch_library_def(defs, nullptr)).find("the schema is null") != std::string::npos);
  CHECK(failure(aoti_torch_library_def(nullptr, "f() -> ()")).find("the handle of a library is null") !=
        std::string::npos);
  CHECK(failure(aoti_torch_library_init_impl("late", "Nowhere", __FILE__, 1, &impls)).find("'Nowhere'") !=
        std::string::npos);
  aoti_torch_delete_library_object(impls);
  REQUIRE(aoti_torch_library_init_impl("late", "CPU", __FILE__, 1, &impls) == KEYWAY_ABI_SUCCESS);
  const auto twice = [](StableIValue* stack, std::uint64_t, std::uint64_t) {
    const AtenTensorHandle self = reinterpret_cast<AtenTensorHandle>(stack[0]);
    AtenTensorHandle copy = nullptr;
    aoti_torch_new_tensor_handle(self, &copy);
    std::vector<StableIValue> arguments{stack[0], reinterpret_cast<StableIValue>(copy), scalar_slot(1)};
    if (call("aten::add", "Tensor", arguments) != KEYWAY_ABI_SUCCESS)
      throw std::runtime_error(torch_exception_get_what());
    stack[0] = arguments[0];
  };
  REQUIRE(torch_library_impl(impls, "twice", twice, KEYWAY_ABI_VERSION) == KEYWAY_ABI_SUCCESS);
  CHECK(
      equal(Dispatcher::singleton().op("late::twice").typed<Tensor(const Tensor&)>().call(ones({2})), full({2}, 2.0)));
  CHECK(failure(keyway_abi_library_expect(impls, "twice(Tensor self, int times) -> Tensor")).find("times") !=
        std::string::npos);
  REQUIRE(keyway_abi_library_expect(impls, "twice(Tensor self) -> Tensor") == KEYWAY_ABI_SUCCESS);
  std::int32_t tag = 999;
  CHECK(failure(torch_library_def_with_tags(defs, "tagged() -> ()", &tag, 1)).find("999 is no tag") !=
        std::string::npos);
  REQUIRE(torch_library_set_python_module(defs, "late.meta", "") == KEYWAY_ABI_SUCCESS);
  aoti_torch_delete_library_object(defs);
  aoti_torch_delete_library_object(impls);
}
