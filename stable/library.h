// Library: how a library over the stable C ABI registers operators and kernels, as KEYWAY_LIBRARY does in the tree.
//
//   KEYWAY_STABLE_LIBRARY(my, m) {
//     m.def("scale(Tensor self, float by) -> Tensor");
//   }
//   KEYWAY_STABLE_LIBRARY_IMPL(my, CPU, m) {
//     m.impl("scale", [](const Tensor& self, double by) { ... });
//     m.impl<scale_cpu>("scale");
//   }
//
// With a schema in the place of the name, the operator must have that schema: m.impl("add.Tensor(Tensor self, ...",
// fn). Everything is registered once the library is loaded, or nothing, with every error listed.
#pragma once

#include <keyway/stable/slots.h>

#include <cstddef>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// Keyway's own, absent where PyTorch serves the library.
extern "C" {
__attribute__((weak)) void keyway_abi_fail(const char* message);
__attribute__((weak)) AOTITorchError keyway_abi_library_expect(TorchLibraryHandle library, const char* schema);
}

#pragma GCC visibility push(hidden)
namespace keyway::stable {

namespace detail {

template <typename F>
struct Signature : Signature<decltype(&F::operator())> {};
template <typename R, typename... Args>
struct Signature<R (*)(Args...)> {
  using Result = R;
  using Arguments = std::tuple<std::remove_cvref_t<Args>...>;
};
template <typename F, typename R, typename... Args>
struct Signature<R (F::*)(Args...) const> : Signature<R (*)(Args...)> {};

template <typename R>
struct Results {
  static constexpr std::size_t kCount = 1;
  static void make(StableIValue* stack, R&& result) { stack[0] = Slot<R>::make(std::move(result)); }
};
template <typename... R>
struct Results<std::tuple<R...>> {
  static constexpr std::size_t kCount = sizeof...(R);
  static void make(StableIValue* stack, std::tuple<R...>&& results) {
    make_each(stack, std::move(results), std::index_sequence_for<R...>());
  }
  template <std::size_t... i>
  static void make_each(StableIValue* stack, std::tuple<R...>&& results, std::index_sequence<i...>) {
    ((stack[i] = Slot<R>::make(std::move(std::get<i>(results)))), ...);
  }
};

// A function of C++ types as a KeywayKernel; Call gives it.
template <typename Call>
struct Boxed {
  using Function = decltype(Call::function());
  using Result = std::remove_cvref_t<typename Signature<Function>::Result>;
  using Arguments = typename Signature<Function>::Arguments;
  static constexpr std::size_t kArguments = std::tuple_size_v<Arguments>;

  static void run(StableIValue* stack, std::uint64_t num_arguments, std::uint64_t num_results) {
    KEYWAY_STABLE_CHECK(num_arguments == kArguments, "the schema has ", num_arguments,
                        " arguments, but the kernel takes ", kArguments);
    Arguments arguments = take(stack, std::make_index_sequence<kArguments>());
    if constexpr (std::is_void_v<Result>) {
      KEYWAY_STABLE_CHECK(num_results == 0, "the schema has ", num_results, " results, but the kernel gives none");
      std::apply(Call::function(), std::move(arguments));
    } else {
      KEYWAY_STABLE_CHECK(num_results == Results<Result>::kCount, "the schema has ", num_results,
                          " results, but the kernel gives ", Results<Result>::kCount);
      Results<Result>::make(stack, Result(std::apply(Call::function(), std::move(arguments))));
    }
  }

  // Exceptions do not cross: what one compiler's library throws, another's need not know.
  static void call(StableIValue* stack, std::uint64_t num_arguments, std::uint64_t num_results) {
    try {
      run(stack, num_arguments, num_results);
    } catch (const std::exception& error) {
      if (keyway_abi_fail == nullptr) throw;
      keyway_abi_fail(error.what());
    } catch (...) {
      if (keyway_abi_fail == nullptr) throw;
      keyway_abi_fail("a kernel threw what is no std::exception");
    }
  }

 private:
  template <std::size_t... i>
  static Arguments take(StableIValue* stack, std::index_sequence<i...>) {
    return Arguments{Slot<std::tuple_element_t<i, Arguments>>::take(stack[i])...};
  }
};

template <auto kFunction>
struct CallFunction {
  static constexpr auto function() { return kFunction; }
};
template <typename F>
struct CallLambda {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "a kernel is a lambda without captures, or a function: m.impl<function>(\"name\")");
  static constexpr F function() { return F(); }
};

}  // namespace detail

// The tag of a name, for Library::def: KEYWAY_STABLE_TAG(pointwise).
#define KEYWAY_STABLE_TAG(name) torch_tag_##name()

class Library {
 public:
  explicit Library(TorchLibraryHandle handle) : handle_(handle) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { aoti_torch_delete_library_object(handle_); }

  Library& def(const char* schema, std::initializer_list<std::int32_t> tags = {}) {
    check(torch_library_def_with_tags(handle_, schema, tags.begin(), static_cast<std::int32_t>(tags.size())));
    return *this;
  }
  // A lambda without captures.
  template <typename F>
  Library& impl(const char* op, F) {
    return add(op, detail::Boxed<detail::CallLambda<F>>::call);
  }
  template <auto kFunction>
  Library& impl(const char* op) {
    return add(op, detail::Boxed<detail::CallFunction<kFunction>>::call);
  }
  // A kernel that takes slots.
  Library& impl_boxed(const char* op, KeywayKernel kernel) { return add(op, kernel); }
  // The schema of an operator that the library calls: another one is an error.
  Library& expect(const char* schema) {
    if (keyway_abi_library_expect != nullptr) check(keyway_abi_library_expect(handle_, schema));
    return *this;
  }

 private:
  Library& add(const std::string& op, KeywayKernel kernel) {
    const std::size_t bracket = op.find('(');
    if (bracket != std::string::npos) expect(op.c_str());
    check(torch_library_impl(handle_, op.substr(0, bracket).c_str(), kernel, KEYWAY_ABI_VERSION));
    return *this;
  }

  TorchLibraryHandle handle_;
};

namespace detail {

// A block that runs when the library is loaded, and stays until it is unloaded. While Keyway loads it, statements do
// not fail: errors are listed at the end.
class LibraryBlock {
 public:
  template <typename Init>
  LibraryBlock(const Init& init, void (*block)(Library&)) {
    TorchLibraryHandle handle = nullptr;
    if (init(&handle) == KEYWAY_ABI_SUCCESS) block(library_.emplace(handle));
  }

 private:
  std::optional<Library> library_;
};

}  // namespace detail

}  // namespace keyway::stable
#pragma GCC visibility pop

#define KEYWAY_STABLE_CONCATENATE_(a, b) a##b
#define KEYWAY_STABLE_CONCATENATE(a, b) KEYWAY_STABLE_CONCATENATE_(a, b)
#define KEYWAY_STABLE_BLOCK_(id, m, init)                                                                       \
  static void KEYWAY_STABLE_CONCATENATE(keyway_stable_library_, id)(::keyway::stable::Library&);                \
  static const ::keyway::stable::detail::LibraryBlock KEYWAY_STABLE_CONCATENATE(keyway_stable_block_, id)(      \
      [](TorchLibraryHandle* handle) { return init; }, &KEYWAY_STABLE_CONCATENATE(keyway_stable_library_, id)); \
  static void KEYWAY_STABLE_CONCATENATE(keyway_stable_library_, id)(::keyway::stable::Library & m)

// Defines operators of a namespace; once a namespace.
#define KEYWAY_STABLE_LIBRARY(ns, m) \
  KEYWAY_STABLE_BLOCK_(__COUNTER__, m, aoti_torch_library_init_def(#ns, __FILE__, __LINE__, handle))
// Adds operators to a namespace.
#define KEYWAY_STABLE_LIBRARY_FRAGMENT(ns, m) \
  KEYWAY_STABLE_BLOCK_(__COUNTER__, m, aoti_torch_library_init_fragment(#ns, __FILE__, __LINE__, handle))
// Kernels of a dispatch key: KEYWAY_STABLE_LIBRARY_IMPL(my, CPU, m).
#define KEYWAY_STABLE_LIBRARY_IMPL(ns, key, m) \
  KEYWAY_STABLE_BLOCK_(__COUNTER__, m, aoti_torch_library_init_impl(#ns, #key, __FILE__, __LINE__, handle))
