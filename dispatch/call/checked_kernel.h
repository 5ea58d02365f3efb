// check_kernel: whether a function fits a schema, asked of the compiler. What does not fit does not compile, and the
// error says why in a sentence.
#pragma once

#include <keyway/core/schema/literal.h>
#include <keyway/core/schema/signature_code.h>
#include <keyway/dispatch/call/schema_of.h>
#include <keyway/dispatch/call/user_kernel.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

namespace detail {

// The letters of a kernel as its author wrote it, which tell optional tensors apart.
template <typename T>
struct WrittenCode {
  static constexpr void append(SignatureCode& code) { ArgumentCode<typename Param<T>::Canonical>::append(code); }
};
template <TensorType T>
struct WrittenCode<std::optional<T>> {
  static constexpr void append(SignatureCode& code) { code << '?' << 'T'; }
};
template <TensorType T>
struct WrittenCode<ArrayRef<std::optional<T>>> {
  static constexpr void append(SignatureCode& code) { code << '[' << '?' << 'T'; }
};
template <TensorType T>
struct WrittenCode<std::vector<std::optional<T>>> : WrittenCode<ArrayRef<std::optional<T>>> {};
template <typename T>
struct WrittenCode<const T&> : WrittenCode<T> {};

template <typename T>
struct WrittenResult {
  static constexpr void append(SignatureCode& code) { ResultCode<typename Result<T>::Canonical>::append(code); }
};
template <TensorType T>
struct WrittenResult<std::optional<T>> : WrittenCode<std::optional<T>> {};
template <TensorType T>
struct WrittenResult<std::vector<std::optional<T>>> : WrittenCode<ArrayRef<std::optional<T>>> {};
template <typename T, typename U, typename... More>
struct WrittenResult<std::tuple<T, U, More...>> {
  static constexpr void append(SignatureCode& code) {
    code << '(';
    WrittenResult<T>::append(code);
    WrittenResult<U>::append(code);
    (WrittenResult<More>::append(code), ...);
    code << ')';
  }
};
template <typename T>
struct WrittenResult<std::tuple<T>> : WrittenResult<T> {};

// What a kernel takes and gives. A key set that comes first is none of the operator's arguments.
template <typename Sig>
struct WrittenSignature;
template <typename R, typename... A>
struct WrittenSignature<R(A...)> {
  static constexpr std::size_t kArguments = sizeof...(A);
  static constexpr SignatureCode arguments() {
    SignatureCode code;
    (WrittenCode<A>::append(code), ...);
    return code;
  }
  static constexpr SignatureCode result() {
    SignatureCode code;
    WrittenResult<R>::append(code);
    return code;
  }
};
template <typename R, typename... A>
struct WrittenSignature<R(DispatchKeySet, A...)> : WrittenSignature<R(A...)> {};

// Appends how a kernel differs from its schema; nothing if it fits.
class KernelCheck {
 public:
  constexpr KernelCheck(FunctionSchema schema, std::size_t arguments, std::string_view code, std::string_view result)
      : schema_(schema), arguments_(arguments), code_(code), result_(result) {}

  template <typename Sink>
  constexpr void write(Sink& sink) const {
    const ArgumentList all = schema_.arguments();
    std::string_view rest = code_;
    for (std::size_t i = 0; i < all.size() && i < arguments_; ++i) {
      const std::string_view have = first_code(rest);
      rest.remove_prefix(have.size());
      SignatureCode wanted;
      const bool possible = append_code(wanted, all[i].type(), AbsentTensors::Optional);
      if (possible && wanted.view() == have) continue;
      put(sink, "argument ", i + 1, ", '", all[i].name(), "', is ");
      SchemaPrinter<Sink>(sink).print(all[i].type());
      return finish(sink, possible ? wanted.view() : "", have, false);
    }
    if (all.size() != arguments_) {
      return put(sink, "the schema has ", all.size(), " arguments, but the kernel takes ", arguments_);
    }
    // A tensor may be returned where it may be absent.
    SignatureCode wanted, present;
    const bool possible = append_result_code(wanted, schema_, AbsentTensors::Optional);
    append_result_code(present, schema_);
    if (possible && (wanted.view() == result_ || present.view() == result_)) return;
    put(sink, "the operator returns ");
    SchemaPrinter<Sink>(sink).print_returns(schema_);
    finish(sink, possible ? wanted.view() : "", result_, true);
  }

 private:
  template <typename Sink>
  static constexpr void finish(Sink& sink, std::string_view wanted, std::string_view have, bool result) {
    if (wanted.empty()) return put(sink, ", which no kernel can have");
    put(sink, result ? ": a kernel returns " : ": a kernel takes ");
    const HeldAs held = result ? HeldAs::Value : HeldAs::Argument;
    append_cpp(sink, wanted, held, "Tensor");
    put(sink, ", this one ");
    append_cpp(sink, have, held, "Tensor");
  }
  template <typename Sink, typename... Parts>
  static constexpr void put(Sink& sink, const Parts&... parts) {
    (put_one(sink, parts), ...);
  }
  template <typename Sink>
  static constexpr void put_one(Sink& sink, std::string_view text) {
    sink.append(text);
  }
  template <typename Sink>
  static constexpr void put_one(Sink& sink, std::size_t number) {
    if (number >= 10) put_one(sink, number / 10);
    const char digit[] = {static_cast<char>('0' + number % 10)};
    sink.append(std::string_view(digit, 1));
  }

  FunctionSchema schema_;
  std::size_t arguments_;
  std::string_view code_, result_;
};

template <FixedString schema, typename Sig>
struct KernelDifference {
  static constexpr SignatureCode kArguments = WrittenSignature<Sig>::arguments();
  static constexpr SignatureCode kResult = WrittenSignature<Sig>::result();
  static constexpr void write(auto& sink) {
    KernelCheck(schema_literal<schema>, WrittenSignature<Sig>::kArguments, kArguments.view(), kResult.view())
        .write(sink);
  }
};

template <FixedString text>
struct NameOfSchema {
  static constexpr void write(auto& sink) { sink.append(schema_literal<text>.full_name()); }
};
// "mm" for "keyway::mm".
template <FixedString name>
struct ShortName {
  static constexpr void write(auto& sink) {
    constexpr std::string_view kOwn = "keyway::";
    sink.append(name.view().substr(name.view().starts_with(kOwn) ? kOwn.size() : 0));
  }
};
template <FixedString short_name>
struct SchemaText {
  static constexpr void write(auto& sink) { sink.append(schema_of<short_name>); }
};

// With the namespace of Keyway's own where there is none.
inline std::string full_name(std::string_view name) {
  return (name.find("::") == std::string_view::npos ? "keyway::" : "") + std::string(name);
}

template <FixedString difference, FixedString schema, typename F>
constexpr void report_kernel() {
  static_assert(difference.view().empty(),
                "this kernel does not fit its schema; the template argument of report_kernel says where");
}
template <FixedString name, typename F, bool visible>
constexpr void report_schema_of() {
  static_assert(
      visible,
      "no schema of this operator is visible here: include the header of its family, keyway/ops/<family>.h, or "
      "state the schema with KEYWAY_SCHEMA");
}

// A schema's text, by itself or by the operator's name.
template <FixedString text, typename F = void>
constexpr auto schema_text() {
  if constexpr (text.view().find('(') != std::string_view::npos) {
    return text;
  } else {
    constexpr auto kName = fixed_text<ShortName<text>>();
    constexpr bool kVisible = !schema_of<kName>.empty();
    report_schema_of<text, F, kVisible>();
    return fixed_text<SchemaText<kName>>();
  }
}

template <FixedString text, typename F>
constexpr void check_kernel() {
  constexpr auto kSchema = schema_text<text, F>();
  if constexpr (!kSchema.view().empty()) {
    report_kernel<fixed_text<KernelDifference<kSchema, typename CallableSignature<F>::type>>(), kSchema, F>();
  }
}

}  // namespace detail

}  // namespace keyway::inline v1
