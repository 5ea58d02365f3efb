// Tags of operators by their numbers in the ABI.
#pragma once

#include <cstdint>
#include <string>

namespace keyway::inline v1::abi {

// "core pointwise". Throws keyway::Error(Value) for a number that no torch_tag_* function gives.
std::string names_of_tags(const std::int32_t* tags, std::int32_t count);

}  // namespace keyway::inline v1::abi
