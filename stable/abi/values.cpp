// What slots hold besides tensors and numbers: lists, strings, optional values, generators, scalars.
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/handles.h>

using namespace keyway;
using namespace keyway::abi;

namespace {

StableIValue& item_of(StableListHandle list, std::size_t index) {
  std::vector<StableIValue>& items = held(list);
  KEYWAY_CHECK_AS(Index, index < items.size(), "index {} is out of range of a list of {}", index, items.size());
  return items[index];
}

template <typename T>
AOTITorchError new_scalar(const char* function, T value, KeywayScalarHandle* result) {
  return guarded(function, [&] { give_handle(result, value); });
}

}  // namespace

AOTITorchError torch_new_list_reserve_size(std::size_t capacity, StableListHandle* result) {
  return guarded(__func__, [&] {
    std::vector<StableIValue> items;
    items.reserve(capacity);
    give_handle(result, std::move(items));
  });
}
AOTITorchError torch_list_size(StableListHandle list, std::size_t* result) {
  return guarded(__func__, [&] { checked(result, "the result") = held(list).size(); });
}
AOTITorchError torch_list_get_item(StableListHandle list, std::size_t index, StableIValue* result) {
  return guarded(__func__, [&] { checked(result, "the result") = item_of(list, index); });
}
AOTITorchError torch_list_set_item(StableListHandle list, std::size_t index, StableIValue item) {
  return guarded(__func__, [&] { item_of(list, index) = item; });
}
AOTITorchError torch_list_push_back(StableListHandle list, StableIValue item) {
  return guarded(__func__, [&] { held(list).push_back(item); });
}
AOTITorchError torch_delete_list(StableListHandle list) {
  return guarded(__func__, [&] { delete_handle(list); });
}

AOTITorchError torch_new_string_handle(const char* data, std::size_t length, StringHandle* result) {
  return guarded(__func__, [&] {
    const char* const begin = length == 0 ? "" : &checked(data, "the text");
    give_handle(result, begin, length);
  });
}
AOTITorchError torch_string_length(StringHandle string, std::size_t* result) {
  return guarded(__func__, [&] { checked(result, "the result") = held(string).size(); });
}
AOTITorchError torch_string_c_str(StringHandle string, const char** result) {
  return guarded(__func__, [&] { checked(result, "the result") = held(string).c_str(); });
}
AOTITorchError torch_delete_string(StringHandle string) {
  return guarded(__func__, [&] { delete_handle(string); });
}

// By operator new: libraries that are built for versions before 2.13 make and delete such slots themselves.
AOTITorchError torch_new_stable_ivalue(StableIValue** result) {
  return guarded(__func__, [&] {
    StableIValue*& given = checked(result, "the result");
    given = new StableIValue(0);
  });
}
AOTITorchError torch_delete_stable_ivalue(StableIValue* slot) {
  return guarded(__func__, [&] { delete &checked(slot, "the slot"); });
}

AOTITorchError torch_new_generator_handle(AtenGeneratorHandle generator, AtenGeneratorHandle* result) {
  return guarded(__func__, [&] { give_handle(result, held(generator)); });
}
AOTITorchError torch_generator_get_device(AtenGeneratorHandle generator, std::int32_t* device_type,
                                          std::int32_t* device_index) {
  return guarded(__func__, [&] {
    const Device device = held(generator).device();
    checked(device_type, "the result") = static_cast<std::int32_t>(device.type());
    checked(device_index, "the result") = device.index();
  });
}
AOTITorchError torch_delete_generator(AtenGeneratorHandle generator) {
  return guarded(__func__, [&] { delete_handle(generator); });
}

AOTITorchError keyway_abi_new_scalar_bool(bool value, KeywayScalarHandle* result) {
  return new_scalar(__func__, value, result);
}
AOTITorchError keyway_abi_new_scalar_int64(std::int64_t value, KeywayScalarHandle* result) {
  return new_scalar(__func__, value, result);
}
AOTITorchError keyway_abi_new_scalar_float64(double value, KeywayScalarHandle* result) {
  return new_scalar(__func__, value, result);
}
AOTITorchError keyway_abi_new_scalar_complex128(double re, double im, KeywayScalarHandle* result) {
  return new_scalar(__func__, complex<double>(re, im), result);
}
AOTITorchError keyway_abi_scalar_get_dtype(KeywayScalarHandle scalar, std::int32_t* result) {
  return guarded(__func__, [&] { checked(result, "the result") = static_cast<std::int32_t>(held(scalar).type()); });
}
AOTITorchError keyway_abi_scalar_get_int64(KeywayScalarHandle scalar, std::int64_t* result) {
  return guarded(__func__, [&] { checked(result, "the result") = held(scalar).to<std::int64_t>(); });
}
AOTITorchError keyway_abi_scalar_get_float64(KeywayScalarHandle scalar, double* result) {
  return guarded(__func__, [&] { checked(result, "the result") = held(scalar).to<double>(); });
}
AOTITorchError keyway_abi_scalar_get_complex128(KeywayScalarHandle scalar, double* re, double* im) {
  return guarded(__func__, [&] {
    const auto value = held(scalar).to<complex<double>>();
    checked(re, "the result") = value.real();
    checked(im, "the result") = value.imag();
  });
}
AOTITorchError keyway_abi_delete_scalar(KeywayScalarHandle scalar) {
  return guarded(__func__, [&] { delete_handle(scalar); });
}
