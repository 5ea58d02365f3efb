#include <keyway/core/keys/dispatch_key.h>
#include <keyway/core/keys/dispatch_key_set.h>
#include <keyway/core/keys/key_names.h>

#include <algorithm>
#include <cctype>

namespace keyway::inline v1 {

namespace {

struct AliasName {
  DispatchKey key;
  std::string_view name;
};
constexpr AliasName kAliasNames[] = {
    {DispatchKey::Autograd, "Autograd"},
    {DispatchKey::Autocast, "Autocast"},
    {DispatchKey::CompositeExplicitAutograd, "CompositeExplicitAutograd"},
    {DispatchKey::CompositeImplicitAutograd, "CompositeImplicitAutograd"},
};

std::string backend_name(int number) {
  const auto type = static_cast<DeviceType>(number - 1);
  if (type == DeviceType::Meta) return "Meta";
  std::string name(to_string(type));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

}  // namespace

std::string_view to_string(Functionality f) { return detail::kFunctionalities[static_cast<std::size_t>(f)].name; }

std::string to_string(DispatchKey key) {
  for (const AliasName& alias : kAliasNames) {
    if (alias.key == key) return std::string(alias.name);
  }
  if (is_alias(key)) return "?";
  const Functionality f = functionality_of(key);
  if (!is_per_backend(f)) return std::string(to_string(f));
  const std::string prefix = f == Functionality::Dense ? "" : std::string(to_string(f));
  const int backend = backend_number_of(key);
  if (backend == 0) return std::string(to_string(f)) + " without a backend";
  return prefix + backend_name(backend);
}

std::optional<DispatchKey> parse_dispatch_key(std::string_view name) {
  for (const AliasName& alias : kAliasNames) {
    if (alias.name == name) return alias.key;
  }
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const auto key = static_cast<DispatchKey>(slot);
    const int backend = backend_number_of(key);
    if (is_per_backend(functionality_of(key)) &&
        (backend == 0 || to_string(static_cast<DeviceType>(backend - 1)) == "unknown"))
      continue;
    if (to_string(key) == name) return key;
  }
  return std::nullopt;
}

std::vector<DispatchKey> DispatchKeySet::keys() const {
  std::vector<DispatchKey> keys;
  for (int f = 1; f < kFunctionalityCount; ++f) {
    const auto functionality = static_cast<Functionality>(f);
    if (!has(functionality)) continue;
    if (!is_per_backend(functionality)) {
      keys.push_back(static_cast<DispatchKey>(slot_of(functionality, 0)));
      continue;
    }
    for (int b = 1; b <= kBackendBits; ++b) {
      if ((bits_ & bit_of_backend(b)) != 0) keys.push_back(static_cast<DispatchKey>(slot_of(functionality, b)));
    }
  }
  return keys;
}

std::vector<std::string> key_names(DispatchKeySet set) {
  const std::vector<DispatchKey> keys = set.keys();
  std::vector<std::string> names;
  auto next = keys.rbegin();
  for (int f = kFunctionalityCount - 1; f > 0; --f) {
    const auto functionality = static_cast<Functionality>(f);
    const std::size_t before = names.size();
    for (; next != keys.rend() && functionality_of(*next) == functionality; ++next) names.push_back(to_string(*next));
    if (set.has(functionality) && names.size() == before) names.emplace_back(to_string(functionality));
  }
  return names;
}

std::string to_string(DispatchKeySet set) {
  std::string text = "{";
  for (const std::string& name : key_names(set)) {
    if (text.size() > 1) text += ", ";
    text += name;
  }
  return text + "}";
}

}  // namespace keyway::inline v1
