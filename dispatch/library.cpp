#include <keyway/dispatch/library.h>

namespace keyway::inline v1 {

namespace {
Site site_of(std::source_location where) { return {where.file_name(), static_cast<int>(where.line())}; }

bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (char c : name) {
    if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
      return false;
  }
  return true;
}
}  // namespace

Library::Library(Kind kind, std::string ns, std::optional<DispatchKey> key, std::source_location where)
    : kind_(kind), ns_(std::move(ns)), key_(key) {
  request_.site = site_of(where);
  KEYWAY_CHECK_AS(Registration, is_identifier(ns_), "library block at {}: '{}' is not a namespace",
                  request_.site.str(), ns_);
  KEYWAY_CHECK_AS(Registration, ns_ != "_" || kind == Kind::Impl,
                  "library block at {}: namespace _ is for fallbacks, which stand in an IMPL block",
                  request_.site.str());
  KEYWAY_CHECK_AS(Registration, kind != Kind::Impl || key,
                  "library block at {}: an IMPL block needs a dispatch key", request_.site.str());
  if (kind == Kind::Def) request_.owns_namespace = ns_;
}

std::string Library::qualified(std::string_view name, std::source_location where) const {
  const std::size_t colons = name.find("::");
  if (colons == std::string_view::npos) return ns_ + "::" + std::string(name);
  KEYWAY_CHECK_AS(
      Registration, name.substr(0, colons) == ns_,
      "'{}' at {} is in a library block of namespace {}: drop its namespace or open a block of its own", name,
      site_of(where).str(), ns_);
  return std::string(name);
}

Library& Library::def(std::string_view schema, std::source_location where) {
  KEYWAY_CHECK_AS(Registration, kind_ != Kind::Impl,
                  "'{}' at {} is defined in an IMPL block, which only adds kernels", schema,
                  site_of(where).str());
  request_.defs.push_back({qualified(schema, where), "", site_of(where)});
  return *this;
}

Library& Library::add_impl(std::string_view op, DispatchKey key, AnyKernel kernel,
                           std::source_location where) {
  const Site site = site_of(where);
  KEYWAY_CHECK_AS(Registration, ns_ != "_", "kernel of '{}' at {}: namespace _ takes fallbacks only", op,
                  site.str());
  KEYWAY_CHECK_AS(Registration, !key_ || key == *key_,
                  "kernel of '{}' at {} is for {}, but its block is for {}", op, site.str(), to_string(key),
                  to_string(*key_));
  request_.impls.push_back({qualified(op, where), key, kernel, "", site});
  return *this;
}

Library& Library::fallback(BoxedFn fn, std::source_location where) {
  KEYWAY_CHECK_AS(Registration, ns_ == "_",
                  "fallback at {}: a fallback serves every namespace, so its block is _",
                  site_of(where).str());
  request_.fallbacks.push_back({*key_, false, make_boxed_kernel(fn), "", site_of(where)});
  return *this;
}

Library& Library::fallback(Fallthrough, std::source_location where) {
  KEYWAY_CHECK_AS(Registration, ns_ == "_",
                  "fallback at {}: a fallback serves every namespace, so its block is _",
                  site_of(where).str());
  request_.fallbacks.push_back({*key_, true, make_boxed_kernel(nullptr), "", site_of(where)});
  return *this;
}

RegistrationHandle Library::commit() {
  return Dispatcher::singleton().commit(std::exchange(request_, LibraryRequest{}));
}

namespace detail {
LibraryBlock::LibraryBlock(Library library, void (*block)(Library&)) {
  block(library);
  library.commit().release();
}
}  // namespace detail

}  // namespace keyway::inline v1
