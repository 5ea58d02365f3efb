// Libraries of operators: what they ask for goes to the registry statement by statement.
#include <keyway/core/base/warning.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/dispatch/registry/register_block.h>
#include <keyway/stable/abi/constants.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/handles.h>
#include <keyway/stable/abi/kernels.h>
#include <keyway/stable/abi/names.h>

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace keyway::inline v1::abi {

// A block. Its statements are registered one by one, as it has no end.
class OperatorLibrary {
 public:
  OperatorLibrary(Library::Kind kind, const char* ns, const char* key, const char* file, std::uint32_t line)
      : kind_(kind),
        ns_(own_namespace(ns == nullptr ? "" : ns)),
        key_name_(key == nullptr ? "" : key),
        key_(parse_dispatch_key(key_name_)),
        site_{file == nullptr ? "?" : file, static_cast<int>(line)} {}

  // Begins the block: a Def owns its namespace from now on.
  void begin() const {
    if (is_left_out()) {
      warn("kernels for " + key_name_ + " at " + site_.str() + " are left out: Keyway has no such device");
      return;
    }
    KEYWAY_CHECK_AS(Registration, kind_ != Library::Kind::Impl || key_,
                    "library block at {}: there is no dispatch key '{}'", site_.str(), key_name_);
    register_block(Library(kind_, ns_, key_, where()).take_request(), nullptr);
  }
  void def(const char* schema, std::string tags) {
    Library library(without_claim());
    library.def(without_namespace(&checked(schema, "the schema")), where());
    BlockRequest request = library.take_request();
    if (!request.defs.empty()) request.defs.back().tags = std::move(tags);
    register_block(std::move(request), nullptr);
  }
  void impl(const char* name, KeywayKernel kernel, std::uint64_t version) {
    checked(kernel, "the kernel");
    const std::string op = without_namespace(&checked(name, "the operator's name"));
    check_version(version);
    if (is_left_out()) return;
    Library library(without_claim());
    library.impl_boxed(op, nullptr, where());
    BlockRequest request = library.take_request();
    if (!request.impls.empty()) request.impls.back().kernel = kernel_of(kernel);
    register_block(std::move(request), reinterpret_cast<const void*>(kernel));
  }
  void expect(const char* schema) {
    expect_schema(ns_ + "::" + without_namespace(&checked(schema, "the schema")), site_);
  }

 private:
  SourceLocation where() const { return {site_.file.c_str(), site_.line}; }
  // Without the claim of the namespace, which is made once.
  Library without_claim() const {
    return Library(kind_ == Library::Kind::Def ? Library::Kind::Fragment : kind_, ns_, key_, where());
  }
  // The namespace "aten" is Keyway's own.
  std::string without_namespace(std::string_view text) const {
    const std::string_view front = text.substr(0, text.find('('));
    const std::size_t colons = front.find("::");
    if (colons == std::string_view::npos || own_namespace(front.substr(0, colons)) != ns_) return std::string(text);
    return std::string(text.substr(colons + 2));
  }
  // Whether its kernels are for a device that Keyway does not have.
  bool is_left_out() const { return kind_ == Library::Kind::Impl && !key_ && is_of_other_device(key_name_); }

  Library::Kind kind_;
  std::string ns_;
  std::string key_name_;
  std::optional<DispatchKey> key_;
  RegistrationSite site_;
};

namespace {

// Runs a statement of a block. While its library is loaded, an error is listed with all others at the end, and the
// statement succeeds: an exception of C++ must not leave the functions that the loader calls.
template <typename Body>
AOTITorchError statement(const char* function, const Body& body) noexcept {
  return guarded(function, [&] {
    std::string problem;
    try {
      body();
      return;
    } catch (const std::exception& error) {
      if (!is_loading_library()) throw;
      problem = error.what();
    }
    BlockRequest request;
    request.errors.push_back(std::string(function) + ": " + problem);
    register_block(std::move(request), nullptr);
  });
}

AOTITorchError init(const char* function, Library::Kind kind, const char* ns, const char* key, const char* file,
                    std::uint32_t line, TorchLibraryHandle* result) {
  return statement(function, [&] {
    checked(result, "the result") = nullptr;
    TorchLibraryHandle library = new_handle<TorchLibraryOpaque>(kind, ns, key, file, line);
    *result = library;
    held(library).begin();
  });
}

}  // namespace

}  // namespace keyway::inline v1::abi

using namespace keyway;
using namespace keyway::abi;

AOTITorchError aoti_torch_library_init_def(const char* ns, const char* file, std::uint32_t line,
                                           TorchLibraryHandle* result) {
  return init(__func__, Library::Kind::Def, ns, nullptr, file, line, result);
}
AOTITorchError aoti_torch_library_init_fragment(const char* ns, const char* file, std::uint32_t line,
                                                TorchLibraryHandle* result) {
  return init(__func__, Library::Kind::Fragment, ns, nullptr, file, line, result);
}
AOTITorchError aoti_torch_library_init_impl(const char* ns, const char* key, const char* file, std::uint32_t line,
                                            TorchLibraryHandle* result) {
  return init(__func__, Library::Kind::Impl, ns, key, file, line, result);
}

AOTITorchError aoti_torch_library_def(TorchLibraryHandle library, const char* schema) {
  return statement(__func__, [&] { held(library).def(schema, ""); });
}
AOTITorchError torch_library_def_with_tags(TorchLibraryHandle library, const char* schema, const std::int32_t* tags,
                                           std::int32_t num_tags) {
  return statement(__func__, [&] { held(library).def(schema, names_of_tags(tags, num_tags)); });
}
AOTITorchError torch_library_set_python_module(TorchLibraryHandle library, const char*, const char*) {
  return guarded(__func__, [&] { held(library); });
}

AOTITorchError aoti_torch_library_impl(TorchLibraryHandle library, const char* name, KeywayKernel kernel) {
  return statement(__func__, [&] { held(library).impl(name, kernel, aoti_torch_abi_version()); });
}
AOTITorchError torch_library_impl(TorchLibraryHandle library, const char* name, KeywayKernel kernel,
                                  std::uint64_t built_version) {
  return statement(__func__, [&] { held(library).impl(name, kernel, built_version); });
}
AOTITorchError keyway_abi_library_expect(TorchLibraryHandle library, const char* schema) {
  return statement(__func__, [&] { held(library).expect(schema); });
}

AOTITorchError aoti_torch_delete_library_object(TorchLibraryHandle library) {
  return guarded(__func__, [&] { delete_handle(library); });
}
