#include <keyway/core/base/number_text.h>
#include <keyway/dispatch/registry/class_builder.h>
#include <keyway/dispatch/registry/register_block.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace keyway::inline v1 {

namespace {

std::string quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string default_text(const IValue& value) {
  const auto list = [](const auto& elements) {
    std::string text = "[";
    for (const auto& element : elements) text += (text.size() > 1 ? ", " : "") + default_text(IValue(element));
    return text + "]";
  };
  switch (value.tag()) {
    case ValueTag::None: return "None";
    case ValueTag::Int: return std::to_string(value.to_int());
    case ValueTag::Bool: return value.to_bool() ? "True" : "False";
    case ValueTag::Double: return detail::python_repr(value.to_double());
    case ValueTag::String: return quoted(value.to_string_ref());
    case ValueTag::IntList: return list(value.to_list_of<std::int64_t>());
    case ValueTag::DoubleList: return list(value.to_list_of<double>());
    case ValueTag::BoolList: return list(value.to_list_of<bool>());
    default: KEYWAY_FAIL(NotImplemented, "a default of type {} cannot be written in a schema", type_name(value));
  }
}

// What stands behind the dot in an operator's name: some names are reserved there.
std::string overload_of(const std::string& function) {
  return (function == "default" || function.starts_with("__") ? "method" : "") + function;
}

}  // namespace

MethodArgument& MethodArgument::operator=(const IValue& value) & {
  default_ = "=" + default_text(value);
  return *this;
}

ClassBuilderBase::ClassBuilderBase(Library& library, std::string_view name, const std::type_info& type, Holds holds,
                                   std::string doc, SourceLocation where)
    : library_(&library), index_(library.request_.classes.size()), name_(name), where_(where) {
  const RegistrationSite site{where.file, where.line};
  if (library.kind_ == Library::Kind::Impl)
    library.error("class " + name_ + " at " + site.str() + " is in an IMPL block, which only adds kernels");
  library.request_.classes.push_back({{library.ns_ + "." + name_, std::move(doc), {}, &type, holds}, site});
}

ClassBuilderBase::ClassBuilderBase(std::string ns, std::string_view name, const std::type_info& type, Holds holds,
                                   std::string doc, SourceLocation where)
    : ClassBuilderBase(*new Library(Library::Kind::Fragment, std::move(ns), std::nullopt, where), name, type, holds,
                       std::move(doc), where) {
  own_.reset(library_);
}

ClassBuilderBase::~ClassBuilderBase() noexcept(false) {
  if (own_ == nullptr || std::uncaught_exceptions() > 0) return;
  BlockRequest request = own_->take_request();
  if (request.classes.empty()) return;  // of a copy, the first of which registers it
  const auto code = reinterpret_cast<const void*>(request.classes.front().info.holds);
  register_block(std::move(request), code);
}

CustomClassInfo& ClassBuilderBase::info() { return library_->request_.classes[index_].info; }

void ClassBuilderBase::add_member(ClassMember member) {
  const auto same = [&](const ClassMember& other) { return other.name == member.name; };
  if (std::ranges::any_of(info().members, same))
    library_->error("class " + info().name + " at " + RegistrationSite{where_.file, where_.line}.str() +
                    " has two members of the name " + member.name);
  info().members.push_back(std::move(member));
}

std::string ClassBuilderBase::define(const std::string& function, bool takes_object, Function from,
                                     Arguments arguments) {
  const std::string op = name_ + (function.empty() ? "" : "." + overload_of(function));
  std::vector<std::string> spelled;
  if (takes_object) spelled.emplace_back("self");
  for (const MethodArgument& argument : arguments) spelled.push_back(argument.text());
  std::size_t count = 0;
  for (std::string_view rest = from.arguments; !rest.empty(); ++count) rest.remove_prefix(first_code(rest).size());
  if (!arguments.empty() && spelled.size() != count)
    library_->error("'" + op + "' at " + RegistrationSite{where_.file, where_.line}.str() + " takes " +
                    std::to_string(count) + " arguments, the object among them, but " + std::to_string(spelled.size()) +
                    " have names: name all or none");
  library_->def(library_->inferred_schema(op, from.arguments, from.result, from.kernel.objects, where_, spelled),
                where_);
  library_->add_impl(op, DispatchKey::CompositeImplicitAutograd, std::move(from.kernel), where_);
  return library_->ns_ + "::" + op;
}

void ClassBuilderBase::add(Kind kind, const std::string& name, Function function, std::string doc,
                           Arguments arguments) {
  const bool is_constructor = kind == Kind::Constructor;
  const std::string op = define(is_constructor ? "" : name, kind == Kind::Method, std::move(function), arguments);
  add_member({kind, name, op, "", std::move(doc)});
}

void ClassBuilderBase::add_property(const std::string& name, Function getter, Function setter, std::string doc) {
  const bool can_be_set = !setter.arguments.empty();
  const std::string get = define(name + "_getter", true, std::move(getter), {});
  const std::string set = can_be_set ? define(name + "_setter", true, std::move(setter), {}) : "";
  add_member({Kind::Property, name, get, set, std::move(doc)});
}

}  // namespace keyway::inline v1
