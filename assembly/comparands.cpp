#include <keyway/assembly/comparands.h>
#include <keyway/ops/comparison_entries.h>
#include <keyway/ops/creation_entries.h>

namespace keyway::inline v1 {

namespace {

// One element, on a device.
TensorBase number_on(Device device, ScalarType dtype, const Scalar& value) {
  TensorBase number = make_tensor({}, dtype, device);
  const DispatchKeySet keys = number.key_set() & kAfterADInplaceOrView;
  Caller<ops::fill__Scalar_sig>::redispatch(ops::fill__Scalar, keys, number, value);
  return number;
}

TensorBase converted(const TensorBase& tensor, ScalarType dtype, Device device) {
  return tensor.dtype() == dtype && tensor.device() == device ? tensor : cast_to(tensor, dtype, device);
}

// `integers` of any dtype, and floats or uint64.
TensorBase three_way(const TensorBase& integers, const TensorBase& others) {
  const DispatchKeySet keys = (integers.key_set() | others.key_set()) & kAfterADInplaceOrView;
  return Caller<ops::_three_way_compare_sig>::redispatch(ops::_three_way_compare, keys, integers, others);
}

}  // namespace

void ComparedTensors::convert(ScalarType common, Device device) {
  if (!is_compared_three_way(self_->dtype(), other_->dtype())) {
    converted_[0] = converted(*self_, common, device);
    converted_[1] = converted(*other_, common, device);
    self_ = &converted_[0];
    other_ = &converted_[1];
    return;
  }
  const ScalarType dtype = self_->dtype();
  const bool swapped = is_floating_point(dtype) || (dtype == ScalarType::UInt64 && !is_floating_point(other_->dtype()));
  const TensorBase &integers = swapped ? *other_ : *self_, &others = swapped ? *self_ : *other_;
  converted_[0] = three_way(converted(integers, integers.dtype(), device), converted(others, others.dtype(), device));
  converted_[1] = number_on(device, ScalarType::Float, 0.0);
  self_ = &converted_[swapped ? 1 : 0];
  other_ = &converted_[swapped ? 0 : 1];
}

void ComparedWithNumber::convert(ScalarType common) {
  if (!is_compared_three_way(self_->dtype(), other_)) {
    converted_ = converted(*self_, common, self_->device());
  } else {
    // An integer beyond the range of self is beyond it as a float, too.
    converted_ = three_way(*self_, number_on(self_->device(), ScalarType::Double, other_.to<double>()));
    other_ = Scalar(0.0);
  }
  self_ = &converted_;
}

}  // namespace keyway::inline v1
