// Snapshot: the tensors of a call before it, to be compared with what they are after it.
#pragma once

#include <keyway/core/base/small_vector.h>
#include <keyway/dispatch/call/ivalue.h>
#include <keyway/dispatch/call/kernel.h>

#include <cstdint>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

class Snapshot {
 public:
  explicit Snapshot(const Stack& arguments);

  // The first argument that changed, as a number and what changed; empty text if none did. Flags by argument: whose
  // metadata and whose elements may change.
  struct Difference {
    std::size_t argument = 0;
    std::string text;
  };
  Difference compare(const std::vector<bool>& metadata, const std::vector<bool>& elements) const;

 private:
  struct Seen {
    std::size_t argument;
    TensorBase tensor;
    DimVector sizes, strides;
    std::int64_t offset;
    ScalarType dtype;
    std::uint64_t bytes;  // a hash of the storage
  };
  std::vector<Seen> seen_;
};

}  // namespace keyway::inline v1::tools
