// Records of event files: messages of protobuf in the frames that TensorFlow's record files have.
#pragma once

#include <keyway/core/base/proto_message.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace keyway::inline v1::nn {

using Message = ProtoMessage;

// CRC-32C (Castagnoli).
std::uint32_t crc32c(std::string_view bytes);

// Length, its checksum, the bytes, and theirs; checksums are masked, since what is in a record may have some of its
// own.
std::string framed(std::string_view bytes);

}  // namespace keyway::inline v1::nn
