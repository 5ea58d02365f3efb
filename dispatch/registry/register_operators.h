// RegisterOperators: PyTorch's older way to register operators with a function for all backends, without a macro:
//
//   static auto registry = keyway::RegisterOperators()
//                              .op("my::scale", &scale)                                      // schema of the function
//                              .op("my::twice(Tensor self) -> Tensor", [](Tensor x) { ... });
//
// Each op() is a Library of its own that adds to the namespace. It stays registered after the object has gone.
#pragma once

#include <keyway/dispatch/registry/library.h>

#include <string>
#include <string_view>
#include <utility>

namespace keyway::inline v1 {

class RegisterOperators {
 public:
  RegisterOperators() = default;
  template <typename F>
  explicit RegisterOperators(std::string_view schema_or_name, F fn, SourceLocation where = SourceLocation::current()) {
    op(schema_or_name, std::move(fn), where);
  }

  // Errors are those of a KEYWAY_LIBRARY that stands there.
  template <typename F>
  RegisterOperators& op(std::string_view schema_or_name, F fn, SourceLocation where = SourceLocation::current()) & {
    Library library(Library::Kind::Fragment, std::string(namespace_of(schema_or_name)), std::nullopt, where);
    library.def(schema_or_name, std::move(fn), where);
    const detail::LibraryBlock filled(std::move(library), [](Library&) {});
    return *this;
  }
  template <typename F>
  RegisterOperators&& op(std::string_view schema_or_name, F fn, SourceLocation where = SourceLocation::current()) && {
    return std::move(op(schema_or_name, std::move(fn), where));
  }

 private:
  static std::string_view namespace_of(std::string_view name) {
    const std::size_t end = name.substr(0, name.find('(')).find("::");
    return end == std::string_view::npos ? std::string_view() : name.substr(0, end);
  }
};

}  // namespace keyway::inline v1
