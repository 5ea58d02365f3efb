// CallDeclined: what a kernel throws that serves some calls of its operator and not this one.
#pragma once

#include <keyway/core/base/error.h>

#include <string>

namespace keyway::inline v1 {

// The call then goes on to what Library::or_else() names:
//
//   void npu_mm(const TensorBase& self, const TensorBase& mat2, TensorBase& out) {
//     if (self.dtype() != kFloat32) throw CallDeclined("the matrix unit multiplies float32");
//     ...
//   }
//   m.kernel("mm", npu_mm).or_else(cpu_fallback);
//
// Of a kernel without or_else() it is an error of kind NotImplemented, with `why` as its text. Requires: the kernel has
// changed nothing yet.
class KEYWAY_API CallDeclined : public Error {
 public:
  explicit CallDeclined(std::string why, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  ~CallDeclined() override;
};

}  // namespace keyway::inline v1
