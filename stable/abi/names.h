// Names of the ABI's world: PyTorch's namespace, devices and operators, as Keyway has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace keyway::inline v1::abi {

// "keyway" for "aten"; others are the same.
std::string own_namespace(std::string_view ns);

// The full name of the operator that a call by name means. Throws keyway::Error(NotImplemented) for one of PyTorch's
// own whose slots here would be others.
std::string own_operator(std::string_view name, std::string_view overload);

// Whether a dispatch key is one of PyTorch's for a device that Keyway does not have: "XPU", "AutogradMPS".
bool is_of_other_device(std::string_view key);

// Throws keyway::Error(Registration) if libraries that are built for this version of the ABI cannot be served.
void check_version(std::uint64_t built_version);

}  // namespace keyway::inline v1::abi
