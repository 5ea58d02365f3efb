// A call of a backend's function in out style that has been made ready once, to be made again and again: arguments that
// are checked, converted and wrapped, as the wrapper of its operator has handed them to the function.
#pragma once

#include <keyway/dispatch/call/value_class.h>

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

class KEYWAY_API DirectCall {
 public:
  DirectCall() = default;
  virtual ~DirectCall();
  DirectCall(const DirectCall&) = delete;
  DirectCall& operator=(const DirectCall&) = delete;
  // Calls the function with the arguments that it was given then, on what its tensors hold now.
  virtual void run() = 0;
  // The same call, with handles of its own.
  virtual std::unique_ptr<DirectCall> clone() const = 0;

  // The tensors among the arguments; another handle may be put in the place of each. `is_out` of one that the function
  // takes as TensorBase&: a result, or what it writes to.
  struct TensorSlot {
    TensorBase* tensor;
    bool is_out;
  };
  virtual std::vector<TensorSlot> tensors() = 0;
};

// While it lives, functions of spies in this thread are kept as calls: the wrapper of an operator is called with a spy
// in the place of the backend's function, which calls that and notes what it was given.
class KEYWAY_API DirectCallRecording {
 public:
  // Requires: `called` has the type of the spy that the wrapper is called with.
  explicit DirectCallRecording(void (*called)());
  ~DirectCallRecording();
  DirectCallRecording(const DirectCallRecording&) = delete;
  DirectCallRecording& operator=(const DirectCallRecording&) = delete;

  // Of the call that was made; null if there was none, or more than one.
  std::unique_ptr<DirectCall> take() { return count_ == 1 ? std::move(call_) : nullptr; }

  void (*function() const)() { return function_; }
  void add(std::unique_ptr<DirectCall> call) {
    call_ = std::move(call);
    ++count_;
  }
  // That of this thread. Requires: there is one.
  static DirectCallRecording& current();

 private:
  void (*function_)();
  std::unique_ptr<DirectCall> call_;
  int count_ = 0;
  DirectCallRecording* outer_;
};

namespace detail {

// How an argument is kept, and what a function gets of it.
template <typename Arg>
struct KeptArgument {
  using type = std::remove_cvref_t<Arg>;
  static type keep(const type& arg) { return arg; }
  static Arg give(type& kept) { return kept; }
  static type copy(const type& kept) { return kept; }
};
template <>
struct KeptArgument<std::string_view> {
  using type = std::string;
  static type keep(std::string_view arg) { return std::string(arg); }
  static std::string_view give(const type& kept) { return kept; }
  static type copy(const type& kept) { return kept; }
};
template <typename T>
struct KeptArgument<ArrayRef<T>> {
  struct type {
    std::unique_ptr<T[]> items;  // std::vector<bool> has none
    std::size_t size;
  };
  static type keep(ArrayRef<T> arg) {
    type kept{std::make_unique<T[]>(arg.size()), arg.size()};
    std::copy(arg.begin(), arg.end(), kept.items.get());
    return kept;
  }
  static ArrayRef<T> give(const type& kept) { return ArrayRef<T>(kept.items.get(), kept.size); }
  static type copy(const type& kept) { return keep(give(kept)); }
};
template <typename T>
struct KeptArgument<std::optional<T>> {
  using Inner = KeptArgument<T>;
  using type = std::optional<typename Inner::type>;
  static type keep(const std::optional<T>& arg) { return arg ? type(Inner::keep(*arg)) : type(); }
  static std::optional<T> give(type& kept) { return kept ? std::optional<T>(Inner::give(*kept)) : std::nullopt; }
  static type copy(const type& kept) { return kept ? type(Inner::copy(*kept)) : type(); }
};

template <typename Arg, typename Kept>
void add_tensors(Kept& kept, std::vector<DirectCall::TensorSlot>& slots) {
  if constexpr (std::is_same_v<Kept, TensorBase>) {
    slots.push_back({&kept, std::is_same_v<Arg, TensorBase&>});
  } else if constexpr (std::is_same_v<Arg, ArrayRef<TensorBase>>) {
    for (std::size_t i = 0; i < kept.size; ++i) slots.push_back({&kept.items[i], false});
  }
}

template <typename Function>
class TypedDirectCall;
template <typename... Args>
class TypedDirectCall<void(Args...)> final : public DirectCall {
 public:
  using Function = void(Args...);
  TypedDirectCall(Function* function, const std::remove_cvref_t<Args>&... args)
      : function_(function), kept_(KeptArgument<Args>::keep(args)...) {}

  TypedDirectCall(const TypedDirectCall& other) : TypedDirectCall(other, std::index_sequence_for<Args...>()) {}

  void run() override { run_with(std::index_sequence_for<Args...>()); }
  std::unique_ptr<DirectCall> clone() const override { return std::make_unique<TypedDirectCall>(*this); }
  std::vector<TensorSlot> tensors() override {
    std::vector<TensorSlot> slots;
    std::apply([&](auto&... kept) { (add_tensors<Args>(kept, slots), ...); }, kept_);
    return slots;
  }

 private:
  template <std::size_t... I>
  TypedDirectCall(const TypedDirectCall& other, std::index_sequence<I...>)
      : DirectCall(), function_(other.function_), kept_(KeptArgument<Args>::copy(std::get<I>(other.kept_))...) {}
  template <std::size_t... I>
  void run_with(std::index_sequence<I...>) {
    function_(KeptArgument<Args>::give(std::get<I>(kept_))...);
  }
  Function* function_;
  std::tuple<typename KeptArgument<Args>::type...> kept_;
};

// The function that stands in for a backend's of that type; null for one that returns its results, whose sizes are not
// known before.
template <typename Function>
struct Spy {
  static constexpr Function* kFunction = nullptr;
};
template <typename... Args>
struct Spy<void(Args...)> {
  using Function = void(Args...);
  static void call(Args... args) {
    DirectCallRecording& recording = DirectCallRecording::current();
    auto* const function = reinterpret_cast<Function*>(recording.function());
    recording.add(std::make_unique<TypedDirectCall<Function>>(function, args...));
    function(static_cast<Args>(args)...);
  }
  static constexpr Function* kFunction = &call;
};

}  // namespace detail

}  // namespace keyway::inline v1
