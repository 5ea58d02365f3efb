#include <keyway/core/schema/signature_code.h>
#include <keyway/dispatch/call/call_declined.h>
#include <keyway/dispatch/registry/block_collector.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/dispatch/registry/pin_library.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace keyway::inline v1 {

namespace {
RegistrationSite site_of(SourceLocation where) { return {where.file, where.line}; }

bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (char c : name) {
    if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) return false;
  }
  return true;
}

// A kernel that may decline a call, and what serves it then.
struct KernelOrElse {
  AnyKernel kernel;
  BoxedFn other;

  static void call(const OperatorEntry& op, const KernelBase& self, DispatchKeySet keys, Stack& stack) {
    const auto& both = *static_cast<const KernelOrElse*>(self.context);
    const std::size_t count = std::min<std::size_t>(op.info().boxed.arguments, stack.size());
    const std::size_t below = stack.size() - count;
    Stack arguments(stack.begin() + static_cast<std::ptrdiff_t>(below), stack.end());
    try {
      both.kernel.kernel.boxed(op, both.kernel.kernel, keys, stack);
    } catch (const CallDeclined&) {
      stack.resize(below);
      std::ranges::move(arguments, std::back_inserter(stack));
      both.other(op, self, keys, stack);
    }
  }
};

// "add" or "add.Tensor".
bool is_operator_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  return is_identifier(name.substr(0, dot)) && (dot == std::string_view::npos || is_identifier(name.substr(dot + 1)));
}
}  // namespace

Library::Library(Kind kind, std::string ns, std::optional<DispatchKey> key, SourceLocation where)
    : kind_(kind), ns_(std::move(ns)), key_(key) {
  request_.site = site_of(where);
  KEYWAY_CHECK_AS(Registration, is_identifier(ns_), "library block at {}: '{}' is not a namespace", request_.site.str(),
                  ns_);
  KEYWAY_CHECK_AS(Registration, ns_ != "_" || kind == Kind::Impl,
                  "library block at {}: namespace _ is for fallbacks, which stand in an IMPL block",
                  request_.site.str());
  KEYWAY_CHECK_AS(Registration, kind != Kind::Impl || key, "library block at {}: an IMPL block needs a dispatch key",
                  request_.site.str());
  if (kind == Kind::Def) request_.owns.push_back({ns_, request_.site});
}

std::string Library::qualified(std::string_view name, SourceLocation where) {
  const std::string_view front = name.substr(0, name.find('('));
  const std::size_t colons = front.find("::");
  const std::string_view own = front.substr(colons == std::string_view::npos ? 0 : colons + 2);
  if (front == name && !is_operator_name(own)) {
    error("kernel of '" + std::string(name) + "' at " + site_of(where).str() +
          ": that is not the name of an operator, which is an identifier, and another behind a dot where it has "
          "overloads: 'add.Tensor'");
  }
  if (colons == std::string_view::npos) return ns_ + "::" + std::string(name);
  if (name.substr(0, colons) != ns_) {
    error("'" + std::string(name) + "' at " + site_of(where).str() + " is in a library block of namespace " + ns_ +
          ": drop its namespace or open a block of its own");
  }
  return std::string(name);
}

Library& Library::def(std::string_view schema, SourceLocation where) {
  const RegistrationSite site = site_of(where);
  if (schema.find('(') == std::string_view::npos) {
    error("'" + std::string(schema) + "' at " + site.str() +
          " is no schema, \"name(Tensor self) -> Tensor\": a name alone goes with a function to infer it from");
    return *this;
  }
  if (kind_ == Kind::Impl) {
    error("'" + std::string(schema) + "' at " + site.str() + " is defined in an IMPL block, which only adds kernels");
    return *this;
  }
  request_.defs.push_back({qualified(schema, where), "", site});
  return *this;
}

std::string Library::class_in_schema(const std::type_info* type, std::string_view op, SourceLocation where) {
  const std::string prefix = "__torch__.torch.classes.";
  for (const ClassRequest& own : request_.classes) {
    if (type != nullptr && *own.info.type == *type) return prefix + own.info.name;
  }
  if (const auto known = type == nullptr ? nullptr : CustomClass::find(*type)) return prefix + known->name();
  error("'" + std::string(op) + "' at " + site_of(where).str() +
        " cannot have its schema inferred, since no class is registered for " +
        (type == nullptr ? std::string("a CustomObject") : "the C++ class " + class_name_of(*type)) +
        ": register it first, with class_()");
  return prefix + "unknown";
}

std::string Library::inferred_schema(std::string_view name, std::string_view arguments, std::string_view result,
                                     ArrayRef<const std::type_info*> objects, SourceLocation where,
                                     ArrayRef<std::string> spelled) {
  if (arguments.find('W') != std::string_view::npos || result.find('W') != std::string_view::npos) {
    error("'" + std::string(name) + "' at " + site_of(where).str() +
          " cannot have its schema inferred, since its function takes tensors that it may write to: give the schema, "
          "which says what is written and returned");
  }
  std::size_t next = 0;
  const auto append_class = [&](std::string& text) { text += class_in_schema(objects[next++], name, where); };
  std::string schema = std::string(name) + "(";
  for (std::size_t i = 0; !arguments.empty(); ++i) {
    if (i > 0) schema += ", ";
    append_schema_type(schema, first_code(arguments), append_class);
    schema += " " + (i < spelled.size() ? spelled[i] : "_" + std::to_string(i));
    arguments.remove_prefix(first_code(arguments).size());
  }
  schema += ") -> ";
  append_schema_type(schema, result, append_class);
  return schema;
}

Library& Library::tags(std::initializer_list<std::string_view> names) {
  KEYWAY_CHECK_AS(Registration, !request_.defs.empty(), "library block at {}: tags() follows def()",
                  request_.site.str());
  std::string& all = request_.defs.back().tags;
  for (const std::string_view name : names) {
    if (!is_identifier(name))
      error("'" + std::string(name) + "' at " + request_.defs.back().site.str() + " is not a tag");
    all += (all.empty() ? "" : " ") + std::string(name);
  }
  return *this;
}

Library& Library::or_else(BoxedFn other) {
  KEYWAY_CHECK_AS(Registration, last_given_ == Given::Kernels,
                  "library block at {}: or_else() follows impl() or kernel()", request_.site.str());
  for (std::size_t i = 0; i < kernels_given_; ++i) {
    AnyKernel& kernel = request_.impls[request_.impls.size() - 1 - i].kernel;
    const char* const code = kernel.code;
    auto both = std::make_shared<KernelOrElse>(KernelOrElse{std::move(kernel), other});
    kernel = make_boxed_kernel(KernelOrElse::call, both.get());
    kernel.code = code;
    kernel.callable = std::move(both);
  }
  return *this;
}

Library& Library::debug(std::string_view name) {
  KEYWAY_CHECK_AS(Registration, last_given_ != Given::None, "library block at {}: debug() follows impl() or fallback()",
                  request_.site.str());
  if (last_given_ == Given::Fallback) {
    request_.fallbacks.back().name = name;
  } else {
    for (std::size_t i = 0; i < kernels_given_; ++i) request_.impls[request_.impls.size() - 1 - i].name = name;
  }
  return *this;
}

Library& Library::add_impl(std::string_view op, DispatchKey key, AnyKernel kernel, SourceLocation where) {
  const RegistrationSite site = site_of(where);
  if (ns_ == "_") {
    error("kernel of '" + std::string(op) + "' at " + site.str() + ": namespace _ takes fallbacks only");
  } else if (key_ && key != *key_) {
    error("kernel of '" + std::string(op) + "' at " + site.str() + " is for " + to_string(key) +
          ", but its block is for " + to_string(*key_));
  } else {
    request_.impls.push_back({qualified(op, where), key, std::move(kernel), "", site});
    last_given_ = Given::Kernels;
    kernels_given_ = 1;
  }
  return *this;
}

Library& Library::add_backend_kernel(std::string_view op, std::shared_ptr<void> kernel, const char* code,
                                     SourceLocation where) {
  const std::string name = qualified(op, where);
  const auto refuse = [&](const std::string& why) -> Library& {
    error("kernel of " + name + " at " + site_of(where).str() + ": " + why);
    return *this;
  };
  if (!key_ || is_alias(*key_) || functionality_of(*key_) != Functionality::Dense)
    return refuse("a function in out style serves the key of a backend" +
                  (key_ ? ", not " + to_string(*key_) : std::string()));
  const auto known = Dispatcher::singleton().find_op(name);
  if (!known) return refuse("there is no operator " + name + ", or its library is not loaded yet");
  const OpInfo& info = known->entry().info();
  if (info.wrapper == nullptr)
    return refuse("no function in out style can serve it: it is defined by hand, a view or a composite; use impl()");
  if (std::string_view(info.wrapper->function) != code)
    return refuse("the function is " + signature_text_of_code(code) + ", but one of this operator's is " +
                  signature_text_of_code(info.wrapper->function));
  std::size_t given = 0;
  const auto serve = [&](const OpInfo& overload) {
    AnyKernel any{overload.wrapper->kernel(), overload.wrapper->code, kernel};
    any.kernel.context = kernel.get();
    add_impl(std::string(overload.name) + (overload.overload.empty() ? "" : ".") + std::string(overload.overload),
             *key_, std::move(any), where);
    ++given;
  };
  serve(info);
  for (std::string_view rest = info.served_too; !rest.empty();) {
    const std::string_view other = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), other.size() + 1));
    // In a build with some operators only, others are not there.
    if (const auto overload = Dispatcher::singleton().find_op(ns_ + "::" + std::string(other)))
      serve(overload->entry().info());
  }
  kernels_given_ = given;
  return *this;
}

Library& Library::add_fallback(AnyKernel kernel, SourceLocation where) {
  const RegistrationSite site = site_of(where);
  if (ns_ == "_") {
    request_.fallbacks.push_back({*key_, std::move(kernel), "", site});
    last_given_ = Given::Fallback;
  } else {
    error("fallback at " + site.str() + ": a fallback serves every namespace, so its block is _");
  }
  return *this;
}

Library& Library::fallback(BoxedFn fn, SourceLocation where) { return add_fallback(make_boxed_kernel(fn), where); }

Library& Library::fallback(Fallthrough, SourceLocation where) {
  return add_fallback(make_kernel(Fallthrough{}), where);
}

BlockRequest Library::take_request() {
  last_given_ = Given::None;
  return std::exchange(request_, BlockRequest{});
}

RegistrationHandle Library::commit() { return Dispatcher::singleton().commit(take_request()); }

void Library::commit_for_good() {
  request_.for_good = true;
  commit().release();
}

namespace detail {
LibraryBlock::LibraryBlock(Library library, void (*block)(Library&)) {
  if (BlockCollector* const loading = BlockCollector::current()) {
    loading->add(library, block);
    return;
  }
  block(library);
  library.commit_for_good();
  pin_library_of(reinterpret_cast<const void*>(block));
}
}  // namespace detail

}  // namespace keyway::inline v1
