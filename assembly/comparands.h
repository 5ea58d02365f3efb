// Comparands: the operands of a comparison as its kernel wants them. Where no dtype holds the values of both, they are
// what _three_way_compare gives of the pairs and 0, so that kernels of one dtype compare everything.
#pragma once

#include <keyway/assembly/plan.h>
#include <keyway/ops/rules/comparison.h>

namespace keyway::inline v1 {

class ComparedTensors {
 public:
  // `common` is their compared_dtype. Requires: both outlive this.
  [[gnu::always_inline]] ComparedTensors(const TensorBase& self, const TensorBase& other, ScalarType common,
                                         Device device)
      : self_(&self), other_(&other) {
    const bool as_they_are =
        self.dtype() == common && other.dtype() == common && self.device() == device && other.device() == device;
    if (!as_they_are) [[unlikely]]
      convert(common, device);
  }
  ComparedTensors(const ComparedTensors&) = delete;
  ComparedTensors& operator=(const ComparedTensors&) = delete;

  const TensorBase& self() const { return *self_; }
  const TensorBase& other() const { return *other_; }

 private:
  KEYWAY_API void convert(ScalarType common, Device device);

  const TensorBase* self_;
  const TensorBase* other_;
  TensorBase converted_[2];
};

class ComparedWithNumber {
 public:
  // `common` is what both promote to. Requires: the tensor outlives this.
  [[gnu::always_inline]] ComparedWithNumber(const TensorBase& self, const Scalar& other, ScalarType common, Device)
      : self_(&self), other_(other) {
    const bool as_they_are = self.dtype() == common && (common == other.type() || !is_integral(common, false));
    if (!as_they_are) [[unlikely]]
      convert(common);
  }
  ComparedWithNumber(const ComparedWithNumber&) = delete;
  ComparedWithNumber& operator=(const ComparedWithNumber&) = delete;

  const TensorBase& self() const { return *self_; }
  const Scalar& other() const { return other_; }

 private:
  KEYWAY_API void convert(ScalarType common);

  const TensorBase* self_;
  TensorBase converted_;
  Scalar other_;
};

inline ComparedTensors compared(const TensorBase& self, const TensorBase& other, ScalarType common, Device device) {
  return ComparedTensors(self, other, common, device);
}
inline ComparedWithNumber compared(const TensorBase& self, const Scalar& other, ScalarType common, Device device) {
  return ComparedWithNumber(self, other, common, device);
}

}  // namespace keyway::inline v1
