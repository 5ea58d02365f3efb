#include <keyway/core/base/error.h>
#include <keyway/dispatch/call/custom_object.h>

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace keyway::inline v1 {

std::string class_name_of(const std::type_info& type) {
  if (const auto registered = CustomClass::find(type)) return registered->name();
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  return text ? text.get() : type.name();
}

std::string CustomObject::class_name() const {
  if (!object_) return "None";
  const CustomClassHolder& held = *object_;
  const auto found = CustomClass::of(held, typeid(CustomClassHolder));
  return found ? found->name() : class_name_of(typeid(held));
}

bool CustomObject::is_of(std::string_view class_name) const {
  if (!object_) return false;
  const auto own = CustomClass::of(*object_, typeid(CustomClassHolder));
  if (own && own->name() == class_name) return true;
  const auto wanted = CustomClass::find(class_name);
  return wanted && wanted->holds(*object_);
}

void CustomObject::adopt(const std::type_info& known_as) {
  CustomClassHolder& held = *object_;
  const auto found = CustomClass::of(held, known_as);
  KEYWAY_CHECK_AS(Type, found, "objects of the C++ class {} are no values of operators: no library has registered it",
                  class_name_of(typeid(held)));
  found->adopt(held);
}

void CustomObject::wrong_class(const std::type_info& wanted) const {
  KEYWAY_FAIL(Type, "expected an object of class {}, but got one of class {}", class_name_of(wanted), class_name());
}

}  // namespace keyway::inline v1
