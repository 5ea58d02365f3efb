// The Dispatcher: all operators of the process, and what is registered to them.
#pragma once

#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/dispatch/call/sharing_keys.h>
#include <keyway/dispatch/call/user_kernel.h>
#include <keyway/dispatch/registry/resolver.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

// Where a call is written, as a default argument tells it; clang 14 has no std::source_location.
struct SourceLocation {
  const char* file;
  int line;
  static constexpr SourceLocation current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// Where a registration was written: a SourceLocation that owns its text, since the plug-in that has the literal may go.
struct RegistrationSite {
  std::string file;
  int line = 0;
  std::string str() const { return file + ":" + std::to_string(line); }
  friend bool operator==(const RegistrationSite&, const RegistrationSite&) = default;
};

// What a library block asks for. Nothing of it happens before the block is committed.
struct DefRequest {
  std::string schema;  // with its namespace
  std::string tags;
  RegistrationSite site;
};
struct ImplRequest {
  std::string op;  // full name
  DispatchKey key;
  AnyKernel kernel;
  std::string name;  // of the kernel, for people
  RegistrationSite site;
};
struct FallbackRequest {
  DispatchKey key;
  AnyKernel kernel;
  std::string name;
  RegistrationSite site;
};
struct NamespaceRequest {  // of a KEYWAY_LIBRARY, which may stand once for a namespace
  std::string name;
  RegistrationSite site;
};
struct ClassRequest {
  CustomClassInfo info;
  RegistrationSite site;
};
struct BlockRequest {
  RegistrationSite site;
  std::vector<NamespaceRequest> owns;
  std::vector<ClassRequest> classes;
  std::vector<DefRequest> defs;
  std::vector<ImplRequest> impls;
  std::vector<FallbackRequest> fallbacks;
  std::vector<std::string> errors;  // found while the block was written: it will not be registered
  // Its kernels are there as long as the process, so that calls need not count themselves in and out at it.
  bool for_good = false;
};

// Undoes a committed library block when it goes: earlier kernels come back, its operators lose their schema.
class KEYWAY_API RegistrationHandle {
 public:
  RegistrationHandle() = default;
  explicit RegistrationHandle(std::uint64_t id) : id_(id) {}
  RegistrationHandle(RegistrationHandle&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  RegistrationHandle& operator=(RegistrationHandle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  // Should undo() throw, the block stays, with a warning.
  ~RegistrationHandle();

  // When it returns, no call is under way in a kernel of the block: its callables are destroyed, and its library may be
  // unloaded. Throws, and then nothing is undone: std::bad_alloc; keyway::Error(Registration) from inside a call of one
  // of the kernels. A kernel must not wait for a thread that undoes its block.
  void undo();
  // How many calls are in kernels of the block at this moment; 0 if it stays or is undone. Throws as undo() does from
  // inside one of them.
  std::int64_t calls_under_way() const;
  // Keeps the registrations for good: calls of the kernels cost what those of any other do.
  void release() noexcept;

 private:
  std::uint64_t id_ = 0;
};

// Handle of an operator: a pointer, valid for ever. When its schema goes, calls are errors; when the same schema comes
// back, they work again.
template <typename Sig>
class TypedOperatorHandle;
class OperatorHandle {
 public:
  explicit OperatorHandle(const OperatorEntry& entry) : entry_(&entry) {}
  const OperatorEntry& entry() const { return *entry_; }
  const FunctionSchema& schema() const { return entry_->schema(); }
  std::string name() const { return entry_->full_name(); }
  void call_boxed(Stack& stack) const { keyway::call_boxed(*entry_, stack); }
  void callBoxed(Stack& stack) const { call_boxed(stack); }  // PyTorch's spellings
  void callBoxed(Stack* stack) const { call_boxed(*stack); }
  // By keys that a kernel was called with, or a tensor had; what the call writes to may share its bytes since.
  void redispatch_boxed(DispatchKeySet keys, Stack& stack) const {
    redispatch_boxed_with_sharing(*entry_, keys, stack);
  }
  // Sig may be any C++ signature that a kernel of this schema could have, such as one with std::vector for ArrayRef.
  // Throws keyway::Error(Type) with both texts if it does not fit the schema.
  template <typename Sig>
  TypedOperatorHandle<Sig> typed() const;

 private:
  const OperatorEntry* entry_;
};

namespace detail {
KEYWAY_API void check_signature(const OperatorEntry& op, std::uint64_t hash, const char* code);
struct NoCallable {};
}  // namespace detail

template <typename R, typename... Args>
class TypedOperatorHandle<R(Args...)> : public OperatorHandle {
 public:
  using Canonical = typename detail::UserKernel<detail::NoCallable, R(Args...)>::Canonical;

  explicit TypedOperatorHandle(const OperatorHandle& handle) : OperatorHandle(handle) {}
  R call(Args... args) const {
    return result_of([&]() -> decltype(auto) {
      return Caller<Canonical>::call(entry(),
                                     detail::as_kernel_arg<typename detail::Param<Args>::Canonical, Args>(args)...);
    });
  }
  R redispatch(DispatchKeySet keys, Args... args) const {
    return result_of([&]() -> decltype(auto) {
      return SharingCaller<Canonical>::redispatch(
          entry(), keys, detail::as_kernel_arg<typename detail::Param<Args>::Canonical, Args>(args)...);
    });
  }

 private:
  template <typename Call>
  static R result_of(const Call& call) {
    if constexpr (std::is_void_v<R>) {
      call();
    } else if constexpr (std::is_lvalue_reference_v<R>) {
      return static_cast<R>(call());
    } else {
      return detail::convert_result<R>(call());
    }
  }
};

template <typename Sig>
TypedOperatorHandle<Sig> OperatorHandle::typed() const {
  TypedOperatorHandle<Sig> handle(*this);
  using Canonical = typename TypedOperatorHandle<Sig>::Canonical;
  detail::check_signature(*entry_, signature_hash<Canonical>, signature_code<Canonical>);
  return handle;
}

class KEYWAY_API Dispatcher {
 public:
  static Dispatcher& singleton();

  // By name: "keyway::add.Tensor", or "add.Tensor" for the built-in namespace. Nothing if there is none.
  std::optional<OperatorHandle> find_op(std::string_view name) const;
  // The same; throws keyway::Error naming the nearest name there is.
  OperatorHandle op(std::string_view name) const;
  // The same in PyTorch's spelling, with the overload's name, or "", by itself.
  OperatorHandle findSchemaOrThrow(std::string_view name, std::string_view overload) const;
  // Changes whenever an operator is defined or removed, before the registering call returns. Keep it with whatever you
  // looked up by name, and look up again when it differs. Takes no lock.
  std::uint64_t generation() const noexcept;
  // Every operator that has a schema, by full name.
  std::vector<OperatorHandle> ops() const;
  // Kernels that no schema has come for: "my::op: CPU kernel at my.cpp:12".
  std::vector<std::string> dangling_impls() const;
  // Warns once of kernels whose operator was never defined, with the nearest name. Runs at process exit if there are
  // any; a language runtime that is shut down by then should call it earlier.
  void warn_of_dangling_impls() const noexcept;

  // All of a library block or, with every error listed, none of it.
  RegistrationHandle commit(BlockRequest request);

 private:
  friend class RegistrationHandle;
  void undo(std::uint64_t id);
  std::int64_t calls_under_way(std::uint64_t id);
  void release(std::uint64_t id);
};

KEYWAY_API std::string_view to_string(ResolutionRule rule);

}  // namespace keyway::inline v1
