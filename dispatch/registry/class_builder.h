// ClassBuilder: registers a C++ class whose objects operators take and return, and that Python makes and uses.
//
//   struct Stack : CustomClassHolder {
//     explicit Stack(std::int64_t depth);
//     void push(const Tensor& x);
//     std::int64_t depth() const;
//   };
//   KEYWAY_LIBRARY(my, m) {
//     m.class_<Stack>("Stack")
//         .def(constructor<std::int64_t>())
//         .def("push", &Stack::push)
//         .def("shape", [](const intrusive_ptr<Stack>& self) { return self->depth(); })
//         .def_property("depth", &Stack::depth);
//     m.def("total(__torch__.torch.classes.my.Stack stack) -> Tensor", [](const intrusive_ptr<Stack>& stack) { ... });
//   }
//
// Each function becomes an operator with a kernel for every backend, whose schema is inferred: my::Stack is the
// constructor, my::Stack.push a method. They come and go with the library's block.
#pragma once

#include <keyway/dispatch/registry/library.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// The name of an argument, and the default that it may have: MethodArgument("n") = 3.
class KEYWAY_API MethodArgument {
 public:
  explicit MethodArgument(std::string name) : name_(std::move(name)) {}
  // None, numbers, strings and lists of them. Throws keyway::Error(NotImplemented) for others.
  MethodArgument& operator=(const IValue& value) &;
  MethodArgument operator=(const IValue& value) && { return *this = value; }
  static IValue none() { return {}; }
  // As a schema spells it: "n=3".
  std::string text() const { return name_ + default_; }

 private:
  std::string name_, default_;
};

namespace detail {

template <typename... A>
struct ConstructorOf {};
template <typename F>
struct ConstructorBy {
  F make;
};

// A function as the operator of a class is one: of a member function, with the object first.
template <typename T, typename C, typename R, typename F, typename... A>
auto with_object(F function) {
  static_assert(std::is_base_of_v<C, T>, "the function is a member of another class");
  return [function](const intrusive_ptr<T>& self, A... args) -> std::remove_cvref_t<R> {
    return ((*self).*function)(std::forward<A>(args)...);
  };
}
template <typename T, typename R, typename C, typename... A>
auto as_method(R (C::*function)(A...)) {
  return with_object<T, C, R, decltype(function), A...>(function);
}
template <typename T, typename R, typename C, typename... A>
auto as_method(R (C::*function)(A...) const) {
  return with_object<T, C, R, decltype(function), A...>(function);
}
template <typename T, typename F>
auto as_method(F function) {
  return function;
}

// What makes an object of its state, taking the elements of a tuple one by one, as an operator does.
template <typename F, typename R, typename... A>
auto spread_tuple(F make, R (*)(std::tuple<A...>)) {
  return [make](A... parts) -> R { return make(std::tuple<A...>(std::move(parts)...)); };
}
template <typename F, typename R, typename A>
auto spread_tuple(F make, R (*)(A)) {
  return make;
}
template <typename Sig>
struct WithoutReferences;
template <typename R, typename... A>
struct WithoutReferences<R(A...)> {
  using type = R(std::remove_cvref_t<A>...);
};

constexpr std::string_view without_parentheses(std::string_view code) {
  return code.starts_with('(') ? code.substr(1, code.size() - 2) : code;
}

}  // namespace detail

// A constructor for ClassBuilder::def: of the class itself, or a function that returns intrusive_ptr to a new object.
template <typename... A>
detail::ConstructorOf<A...> constructor() {
  return {};
}
template <typename F>
detail::ConstructorBy<F> constructor(F make) {
  return {std::move(make)};
}

// What does not depend on the class.
class KEYWAY_API ClassBuilderBase {
 public:
  // Registers what a builder without a block was told. Throws keyway::Error(Registration), unless the thread loads a
  // library, which gets the errors.
  ~ClassBuilderBase() noexcept(false);
  ClassBuilderBase(const ClassBuilderBase&) = default;
  ClassBuilderBase& operator=(const ClassBuilderBase&) = default;

 protected:
  using Kind = ClassMember::Kind;
  using Holds = bool (*)(const CustomClassHolder& object);
  using Arguments = ArrayRef<MethodArgument>;
  // A function, told by its letters.
  struct Function {
    AnyKernel kernel;
    std::string arguments, result;
  };

  ClassBuilderBase(Library& library, std::string_view name, const std::type_info& type, Holds holds, std::string doc,
                   SourceLocation where);
  ClassBuilderBase(std::string ns, std::string_view name, const std::type_info& type, Holds holds, std::string doc,
                   SourceLocation where);

  template <typename F>
  static Function function(F f) {
    using Written = detail::WrittenSignature<typename detail::CallableSignature<F>::type>;
    constexpr SignatureCode kArguments = Written::arguments(), kResult = Written::result();
    return {make_kernel(std::move(f)), std::string(kArguments.view()), std::string(kResult.view())};
  }
  void add(Kind kind, const std::string& name, Function function, std::string doc, Arguments arguments);
  void add_property(const std::string& name, Function getter, Function setter, std::string doc);

 private:
  CustomClassInfo& info();
  // Returns the operator's full name.
  std::string define(const std::string& function, bool takes_object, Function from, Arguments arguments);
  void add_member(ClassMember member);

  std::shared_ptr<Library> own_;  // of a builder without a block
  Library* library_;
  std::size_t index_;  // of the class among those of the block
  std::string name_;
  SourceLocation where_;
};

// What class_() returns. By itself it registers a class without a block, at the end of its statement:
//
//   static const auto registered = ClassBuilder<Stack>("my", "Stack").def(constructor<std::int64_t>());
//
// Errors of names, and of functions that no kernel can be made of, are listed when the block is committed.
template <typename T>
class ClassBuilder : public ClassBuilderBase {
  static_assert(std::derived_from<T, CustomClassHolder>, "a class to register derives from CustomClassHolder");

 public:
  ClassBuilder(std::string ns, std::string_view name, std::string doc = "",
               SourceLocation where = SourceLocation::current())
      : ClassBuilderBase(std::move(ns), name, typeid(T), holds, std::move(doc), where) {}
  ClassBuilder(Library& library, std::string_view name, std::string doc, SourceLocation where)
      : ClassBuilderBase(library, name, typeid(T), holds, std::move(doc), where) {}

  // The constructor. `arguments` are the names and defaults of all arguments, or none of them.
  template <typename... A>
  ClassBuilder& def(detail::ConstructorOf<A...>, std::string doc = "",
                    std::initializer_list<MethodArgument> arguments = {}) {
    return def(constructor([](A... args) { return make_intrusive<T>(std::forward<A>(args)...); }), std::move(doc),
               arguments);
  }
  template <typename F>
  ClassBuilder& def(detail::ConstructorBy<F> made, std::string doc = "",
                    std::initializer_list<MethodArgument> arguments = {}) {
    add(Kind::Constructor, "__init__", function(std::move(made.make)), std::move(doc), arguments);
    return *this;
  }
  // A method: a member function, or a function that takes the object first, as const intrusive_ptr<T>&. `arguments` are
  // those behind the object.
  template <typename F>
  ClassBuilder& def(const std::string& name, F f, std::string doc = "",
                    std::initializer_list<MethodArgument> arguments = {}) {
    add(Kind::Method, name, function(detail::as_method<T>(std::move(f))), std::move(doc), arguments);
    return *this;
  }
  // A function of the class, which takes no object.
  template <typename F>
  ClassBuilder& def_static(const std::string& name, F f, std::string doc = "",
                           std::initializer_list<MethodArgument> arguments = {}) {
    add(Kind::Static, name, function(std::move(f)), std::move(doc), arguments);
    return *this;
  }
  template <typename Get>
  ClassBuilder& def_property(const std::string& name, Get get, std::string doc = "") {
    add_property(name, function(detail::as_method<T>(std::move(get))), {}, std::move(doc));
    return *this;
  }
  template <typename Get, typename Set>
  requires(!std::is_convertible_v<Set, std::string>) ClassBuilder& def_property(const std::string& name, Get get,
                                                                                Set set, std::string doc = "") {
    add_property(name, function(detail::as_method<T>(std::move(get))), function(detail::as_method<T>(std::move(set))),
                 std::move(doc));
    return *this;
  }
  // A member variable as a property.
  template <typename C, typename V>
  ClassBuilder& def_readonly(const std::string& name, V C::*field, std::string doc = "") {
    return def_property(name, reader(field), std::move(doc));
  }
  template <typename C, typename V>
  ClassBuilder& def_readwrite(const std::string& name, V C::*field, std::string doc = "") {
    return def_property(
        name, reader(field), [field](const intrusive_ptr<T>& self, V value) { (*self).*field = std::move(value); },
        std::move(doc));
  }
  // How objects are pickled and copied: the state of an object, and an object of a state.
  template <typename Get, typename Set>
  ClassBuilder& def_pickle(Get get, Set set) {
    using SetType = typename detail::WithoutReferences<typename detail::CallableSignature<Set>::type>::type;
    auto make = detail::spread_tuple(std::move(set), static_cast<SetType*>(nullptr));
    using Written = detail::WrittenSignature<typename detail::CallableSignature<decltype(make)>::type>;
    using Given = detail::WrittenSignature<typename detail::CallableSignature<Get>::type>;
    constexpr SignatureCode kTaken = Written::arguments(), kGiven = Given::result();
    static_assert(detail::without_parentheses(kGiven.view()) == kTaken.view(),
                  "an object is made of what its state is, and of no other type");
    add(Kind::Method, "__getstate__", function(std::move(get)), "", {});
    add(Kind::Static, "__setstate__", function(std::move(make)), "", {});
    return *this;
  }

 private:
  static bool holds(const CustomClassHolder& object) { return dynamic_cast<const T*>(&object) != nullptr; }
  template <typename C, typename V>
  static auto reader(V C::*field) {
    return [field](const intrusive_ptr<T>& self) -> V { return (*self).*field; };
  }
};

template <typename T>
ClassBuilder<T> Library::class_(std::string_view name, std::string doc, SourceLocation where) {
  return ClassBuilder<T>(*this, name, std::move(doc), where);
}

}  // namespace keyway::inline v1
