#include <keyway/core/schema/printer.h>
#include <keyway/core/schema/value_code.h>
#include <keyway/stable/abi/calls.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/handles.h>
#include <keyway/stable/abi/schema_call.h>
#include <keyway/stable/abi/slots.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace keyway::inline v1::abi {

namespace {

static_assert(std::endian::native == std::endian::little, "an int32_t is read from the begin of a word");

template <typename T>
T load(const void* at) {
  return *static_cast<const T*>(at);
}

[[noreturn]] void fail_type(SchemaType type) {
  KEYWAY_FAIL(NotImplemented, "a C function has no parameter of the type {}", to_string(type));
}

// The value at an address: of a parameter, or what one points to.
IValue value_at(SchemaType type, const void* at) {
  switch (detail::without_symbols(type.kind())) {
    case TypeKind::Tensor: return held(load<AtenTensorHandle>(at));
    case TypeKind::Int: return load<std::int64_t>(at);
    case TypeKind::Float:
    case TypeKind::Scalar: return load<double>(at);
    case TypeKind::Bool: return load<std::int32_t>(at) != 0;
    case TypeKind::ScalarType: return dtype_of(load<std::int32_t>(at));
    case TypeKind::Layout: return layout_of(load<std::int32_t>(at));
    case TypeKind::MemoryFormat: return memory_format_of(load<std::int32_t>(at));
    case TypeKind::Str: return &checked(load<const char*>(at), "the text");
    case TypeKind::Generator: return held(load<AtenGeneratorHandle>(at));
    default: fail_type(type);
  }
}

// Of a list of `Given`, each as a `Kept`.
template <typename Kept, typename Given, typename F>
IValue list_at(const void* at, std::size_t length, const F& convert) {
  std::vector<Kept> items;
  for (std::size_t i = 0; i < length; ++i) items.push_back(convert(static_cast<const Given*>(at)[i]));
  return IValue(std::move(items));
}

IValue list_at(SchemaType element, const void* at, std::int64_t length) {
  KEYWAY_CHECK(length >= 0, "{} is no length of a list", length);
  const auto size = static_cast<std::size_t>(length);
  KEYWAY_CHECK_AS(Type, size == 0 || at != nullptr, "the list is null");
  const auto same = [](auto item) { return item; };
  switch (detail::without_symbols(element.kind())) {
    case TypeKind::Int: return list_at<std::int64_t, std::int64_t>(at, size, same);
    case TypeKind::Float: return list_at<double, double>(at, size, same);
    case TypeKind::Bool: return list_at<bool, std::int32_t>(at, size, [](std::int32_t item) { return item != 0; });
    case TypeKind::Tensor:
      return list_at<TensorBase, AtenTensorHandle>(at, size, [](AtenTensorHandle item) { return held(item); });
    case TypeKind::Optional:
      if (!element.element().is(TypeKind::Tensor)) fail_type(element);
      return list_at<TensorBase, AtenTensorHandle*>(
          at, size, [](AtenTensorHandle* item) { return item == nullptr ? TensorBase() : held(*item); });
    default: fail_type(element);
  }
}

// The parameters, one after the other.
class Parameters {
 public:
  explicit Parameters(std::span<const std::uint64_t> words) : words_(words) {}

  IValue next(SchemaType type) {
    if (type.is(TypeKind::Optional)) return next_optional(type.element());
    if (type.is(TypeKind::Device)) {
      const auto device_type = static_cast<std::int64_t>(word());
      return device_of(device_type, static_cast<std::int64_t>(word()));
    }
    if (!type.is(TypeKind::List)) return value_at(type, &word());
    const void* const list = pointer();
    return list_at(type.element(), list, static_cast<std::int64_t>(word()));
  }
  AtenTensorHandle* next_result() { return static_cast<AtenTensorHandle*>(pointer()); }
  void check_end() const {
    KEYWAY_CHECK_AS(Internal, words_.empty(), "the function has {} parameters more than its schema", words_.size());
  }

 private:
  const std::uint64_t& word() {
    KEYWAY_CHECK_AS(Internal, !words_.empty(), "the function has fewer parameters than its schema");
    const std::uint64_t& first = words_.front();
    words_ = words_.subspan(1);
    return first;
  }
  void* pointer() { return reinterpret_cast<void*>(word()); }

  IValue next_optional(SchemaType type) {
    const void* const given = pointer();
    if (type.is(TypeKind::Device)) {
      const auto index = static_cast<std::int64_t>(word());
      return given == nullptr ? IValue() : IValue(device_of(load<std::int32_t>(given), index));
    }
    if (type.is(TypeKind::List)) {
      const auto length = static_cast<std::int64_t>(word());
      return given == nullptr ? IValue() : list_at(type.element(), load<const void*>(given), length);
    }
    if (given != nullptr) return value_at(type, given);
    return type.is(TypeKind::Tensor) ? IValue(TensorBase()) : IValue();
  }

  std::span<const std::uint64_t> words_;
};

}  // namespace

AOTITorchError call_by_schema(const char* function, const char* op,
                              std::span<const std::uint64_t> parameters) noexcept {
  return guarded(function, [&] {
    const OperatorHandle handle = operator_of("keyway::" + std::string(op));
    const FunctionSchema& schema = handle.schema();
    const ArgumentList arguments = schema.arguments();
    Parameters given(parameters);
    Stack stack(arguments.size());
    for (const bool is_out : {true, false}) {
      for (std::size_t i = 0; i < arguments.size(); ++i)
        if (arguments[i].is_out() == is_out) stack[i] = given.next(arguments[i].type());
    }
    std::vector<AtenTensorHandle*> results;
    if (!schema.is_mutable()) results.resize(schema.returns().size());
    for (AtenTensorHandle*& result : results) result = given.next_result();
    given.check_end();
    handle.call_boxed(stack);
    for (std::size_t i = 0; i < results.size(); ++i) give_handle(results[i], stack[i].to_tensor());
  });
}

}  // namespace keyway::inline v1::abi
