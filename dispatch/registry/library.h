// Library: how kernels and operators are registered from outside the generated ones.
//
//   KEYWAY_LIBRARY(my, m) {
//     m.def("scale(Tensor self, float by) -> Tensor");
//   }
//   KEYWAY_LIBRARY_IMPL(my, CPU, m) {
//     m.impl("scale", [](const Tensor& self, double by) { return self * by; });
//   }
//
// Written as m.def<"...">(fn) and m.impl<"my::scale">(fn), both are checked by the compiler.
//
// A block is a transaction: when it ends, all of it is registered or, with every error listed, none of it.
#pragma once

#include <keyway/dispatch/call/backend_kernel.h>
#include <keyway/dispatch/call/checked_kernel.h>
#include <keyway/dispatch/registry/dispatcher.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace keyway::inline v1 {

// A function that is to be the kernel of a dispatch key.
template <typename F>
struct KernelAt {
  DispatchKey key;
  F function;
};
template <typename F>
KernelAt<F> dispatch(DispatchKey key, F function) {
  return {key, std::move(function)};
}
template <typename F>
KernelAt<F> dispatch(DeviceType type, F function) {
  return {runtime_key(Functionality::Dense, type), std::move(function)};
}

template <typename T>
class ClassBuilder;

class KEYWAY_API Library {
 public:
  enum class Kind {
    Def,       // owns its namespace: one in a process
    Fragment,  // adds to a namespace
    Impl,      // kernels for one key; namespace `_` for fallbacks
  };

  Library(Kind kind, std::string ns, std::optional<DispatchKey> key = std::nullopt,
          SourceLocation where = SourceLocation::current());

  // Defines an operator: "scale(Tensor self, float by) -> Tensor", with or without the block's namespace.
  Library& def(std::string_view schema, SourceLocation where = SourceLocation::current());
  // Defines it with a kernel for every backend, whose gradient is that of what it calls. Of a name alone the schema is
  // inferred from the function, whose arguments are called _0, _1 and so on: m.def("scale", fn) is "scale(Tensor _0,
  // float _1) -> Tensor" for Tensor fn(const Tensor&, double). Functions that write to their arguments need a schema.
  template <typename F>
  Library& def(std::string_view schema, F fn, SourceLocation where = SourceLocation::current()) {
    if (schema.find('(') != std::string_view::npos) {
      def(schema, where);
    } else {
      using Written = detail::WrittenSignature<typename detail::CallableSignature<F>::type>;
      constexpr SignatureCode kArguments = Written::arguments(), kResult = Written::result();
      def(inferred_schema(schema, kArguments.view(), kResult.view(), objects_of<F>(), where), where);
    }
    return add_impl(name_of_schema(schema), DispatchKey::CompositeImplicitAutograd, make_kernel(std::move(fn)), where);
  }

  // A kernel for the block's key; without one, for every backend (CompositeImplicitAutograd). `fn` may be Fallthrough.
  template <typename F>
  Library& impl(std::string_view op, F fn, SourceLocation where = SourceLocation::current()) {
    return add_impl(op, key_.value_or(DispatchKey::CompositeImplicitAutograd), make_kernel(std::move(fn)), where);
  }
  template <typename F>
  Library& impl(std::string_view op, DispatchKey key, F fn, SourceLocation where = SourceLocation::current()) {
    return add_impl(op, key, make_kernel(std::move(fn)), where);
  }
  // The same, as PyTorch writes it: m.impl("scale", dispatch(DispatchKey::CPU, scale_cpu)).
  template <typename F>
  Library& impl(std::string_view op, KernelAt<F> kernel, SourceLocation where = SourceLocation::current()) {
    return impl(op, kernel.key, std::move(kernel.function), where);
  }
  // The same with text that the compiler reads: a schema that cannot be parsed, or a kernel that does not fit it, does
  // not compile.
  //
  //   m.def<"scale(Tensor self, float by) -> Tensor">(scale);
  //
  // Or the name of an operator whose schema is visible, as for impl.
  template <FixedString schema>
  Library& def(SourceLocation where = SourceLocation::current()) {
    return def(schema_literal<detail::schema_text<schema>()>.text(), where);
  }
  template <FixedString schema, typename F>
  Library& def(F fn, SourceLocation where = SourceLocation::current()) {
    detail::check_kernel<schema, F>();
    return def(schema_literal<detail::schema_text<schema>()>.text(), std::move(fn), where);
  }
  // Of an operator by its name with the namespace, whose schema is visible: that of a generated header, or of a
  // KEYWAY_SCHEMA.
  //
  //   m.impl<"my::scale">(scale_cpu);
  template <FixedString op, typename F>
  Library& impl(F fn, SourceLocation where = SourceLocation::current()) {
    detail::check_kernel<op, F>();
    return impl(detail::full_name(op.view()), std::move(fn), where);
  }
  template <FixedString op, typename F>
  Library& impl(DispatchKey key, F fn, SourceLocation where = SourceLocation::current()) {
    detail::check_kernel<op, F>();
    return impl(detail::full_name(op.view()), key, std::move(fn), where);
  }

  // The function in out style by which the block's backend serves a generated operator and its other overloads
  // (backend_kernel.h). The operator must be known; errors, listed by commit(): it has no such form, as composites and
  // views, or the function's type is another.
  template <typename R, typename... Args>
  Library& kernel(std::string_view op, R (*fn)(Args...), SourceLocation where = SourceLocation::current()) {
    using Function = R(Args...);
    return add_backend_kernel(op, std::make_shared<BackendKernel<Function>>(BackendKernel<Function>{fn}),
                              signature_code<Function>, where);
  }

  // A kernel that takes its arguments on a stack (BoxedFn).
  Library& impl_boxed(std::string_view op, BoxedFn fn, SourceLocation where = SourceLocation::current()) {
    return add_impl(op, key_.value_or(DispatchKey::CompositeImplicitAutograd), make_boxed_kernel(fn), where);
  }

  // Where the calls go that the kernel given last, or any of kernel()'s, declines (CallDeclined): m.kernel("mm",
  // npu_mm).or_else(cpu_fallback). Such a kernel is called with a stack. Errors: none was given.
  Library& or_else(BoxedFn other);
  // Tags of the operator that was defined last: m.def("...").tags({"core", "pointwise"}). Errors: nothing was defined.
  Library& tags(std::initializer_list<std::string_view> names);
  // The name of the kernel or fallback that was given last, for people: m.impl("add", add_npu).debug("npu::add"); for
  // kernel(), of the kernels of all overloads. It stands in explanations, traces and profiles. Errors: none was given.
  Library& debug(std::string_view name);

  // A kernel of the block's key for every operator that has none of its own there. Namespace `_` only.
  Library& fallback(BoxedFn fn, SourceLocation where = SourceLocation::current());
  // Makes the key transparent to operators that have no kernel for it.
  Library& fallback(Fallthrough, SourceLocation where = SourceLocation::current());

  // Registers a C++ class, of whose objects operators may then take and return: class_builder.h. T derives from
  // CustomClassHolder. Its name in schemas is __torch__.torch.classes.<the block's namespace>.<name>.
  template <typename T>
  ClassBuilder<T> class_(std::string_view name, std::string doc = "", SourceLocation where = SourceLocation::current());

  // Registers everything that was asked for. Throws keyway::Error(Registration) that lists every error; then
  // nothing was registered. The handle undoes it; release() keeps it for good.
  [[nodiscard]] RegistrationHandle commit();
  // The same for as long as the process runs.
  void commit_for_good();
  // Hands over what was collected, for the caller to register.
  BlockRequest take_request();

 private:
  friend class ClassBuilderBase;

  template <typename F>
  static ArrayRef<const std::type_info*> objects_of() {
    return detail::ObjectTypesOf<typename detail::CallableSignature<F>::type>::kTypes;
  }
  Library& add_impl(std::string_view op, DispatchKey key, AnyKernel kernel, SourceLocation where);
  Library& add_fallback(AnyKernel kernel, SourceLocation where);
  Library& add_backend_kernel(std::string_view op, std::shared_ptr<void> kernel, const char* code,
                              SourceLocation where);
  // The name in the block's namespace. Errors are kept for commit(), which lists them all.
  std::string qualified(std::string_view name, SourceLocation where);
  // From the letters of a function, and the classes of its objects. `spelled` are the names of its arguments, each with
  // its default, as a schema spells them; those that it has not are called by their numbers. Errors are kept for
  // commit().
  std::string inferred_schema(std::string_view name, std::string_view arguments, std::string_view result,
                              ArrayRef<const std::type_info*> objects, SourceLocation where,
                              ArrayRef<std::string> spelled = {});
  // "__torch__.torch.classes.my.Foo" of a C++ class that the block registers, or that is registered.
  std::string class_in_schema(const std::type_info* type, std::string_view op, SourceLocation where);
  void error(std::string text) { request_.errors.push_back(std::move(text)); }
  static std::string_view name_of_schema(std::string_view schema) {
    const std::string_view name = schema.substr(0, schema.find('('));
    return name.substr(0, name.find_last_not_of(' ') + 1);
  }

  Kind kind_;
  std::string ns_;
  std::optional<DispatchKey> key_;
  BlockRequest request_;
  // What debug() names: the last of these.
  enum class Given { None, Kernels, Fallback } last_given_ = Given::None;
  std::size_t kernels_given_ = 0;
};

namespace detail {
// Runs a block before main, or when its shared library is loaded. The registrations, and that library, stay for good;
// what is to go again is a plug-in (plugin.h).
class KEYWAY_API LibraryBlock {
 public:
  LibraryBlock(Library library, void (*block)(Library&));
};
}  // namespace detail

}  // namespace keyway::inline v1

// States the schema of an operator that is defined by hand, for m.def<"my::scale">() and m.impl<"my::scale">(fn). At
// global scope:
//
//   KEYWAY_SCHEMA("my::scale(Tensor self, float by) -> Tensor");
#define KEYWAY_SCHEMA(text) \
  template <>               \
  inline constexpr std::string_view keyway::schema_of<keyway::fixed_text<keyway::detail::NameOfSchema<text>>()> = text

#define KEYWAY_CONCATENATE_(a, b) a##b
#define KEYWAY_CONCATENATE(a, b) KEYWAY_CONCATENATE_(a, b)
#define KEYWAY_LIBRARY_BLOCK_(id, m, ...)                                            \
  static void KEYWAY_CONCATENATE(keyway_library_, id)(::keyway::Library&);           \
  static const ::keyway::detail::LibraryBlock KEYWAY_CONCATENATE(keyway_block_, id)( \
      ::keyway::Library(__VA_ARGS__), &KEYWAY_CONCATENATE(keyway_library_, id));     \
  static void KEYWAY_CONCATENATE(keyway_library_, id)(::keyway::Library & m)

// Defines operators of a namespace; once a namespace.
#define KEYWAY_LIBRARY(ns, m) KEYWAY_LIBRARY_BLOCK_(__COUNTER__, m, ::keyway::Library::Kind::Def, #ns)
// Adds operators to a namespace.
#define KEYWAY_LIBRARY_FRAGMENT(ns, m) KEYWAY_LIBRARY_BLOCK_(__COUNTER__, m, ::keyway::Library::Kind::Fragment, #ns)
// Kernels of a dispatch key: KEYWAY_LIBRARY_IMPL(my, CPU, m). Namespace `_` for fallbacks.
#define KEYWAY_LIBRARY_IMPL(ns, key, m) \
  KEYWAY_LIBRARY_BLOCK_(__COUNTER__, m, ::keyway::Library::Kind::Impl, #ns, ::keyway::DispatchKey::key)
