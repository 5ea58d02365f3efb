// Outputs: where a generated wrapper gets the tensors that a kernel writes to.
#pragma once

#include <keyway/core/tensor/pinned_memory.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/ops/rules/output_meta.h>

namespace keyway::inline v1 {

// A new tensor for a functional call; undefined if the rule leaves the result out.
inline TensorBase allocate_output(const OutputMeta& meta, ScalarType dtype, Device device) {
  if (!meta.defined) [[unlikely]]
    return {};
  if (meta.strides.empty()) [[likely]]
    return make_tensor(meta.sizes, dtype, device);
  if (meta.pinned) return make_pinned_tensor(meta.sizes, meta.strides, dtype, device);
  return make_tensor_strided(meta.sizes, meta.strides, dtype, device);
}

// Checks that an in-place call may write its result over `self`: same sizes, a dtype that the result converts
// to, no two elements in one memory location.
KEYWAY_API void check_inplace(const TensorBase& self, const OutputMeta& meta, ScalarType dtype);

// What dtypes the tensor of an out= call may have.
enum class OutDtype {
  Same,      // the result's
  Flags,     // bool or uint8: of whether something holds
  CastFrom,  // all that the result converts to: of operators whose operands promote
  AsResult,  // any: the operator computes in it where no dtype is asked for
};
// Checks that the tensor of an out= call can take a result: device, dtype, and unless it will be resized, no two
// elements in one memory location.
KEYWAY_API void check_out(const TensorBase& out, std::string_view name, const OutputMeta& meta, ScalarType dtype,
                          Device device, OutDtype which);
// Checks that no two tensors of an out= call share elements: one result would be written over the other.
KEYWAY_API void check_apart(const char* const* names, ArrayRef<TensorBase*> outs);
inline bool fits(const TensorBase& out, const OutputMeta& meta) { return out.sizes() == IntArrayRef(meta.sizes); }

// Resizes the tensor of an out= call for a kernel; gives it its geometry back if the kernel throws.
class ResizedOut {
 public:
  ResizedOut() = default;
  ResizedOut(const ResizedOut&) = delete;
  ResizedOut& operator=(const ResizedOut&) = delete;
  ~ResizedOut() {
    if (out_ != nullptr) [[unlikely]]
      restore();
  }
  // Requires: `out` outlives this. Called once.
  KEYWAY_API void resize(TensorBase& out, const OutputMeta& meta);
  void keep() { out_ = nullptr; }

 private:
  KEYWAY_API void restore() noexcept;

  TensorBase* out_ = nullptr;
  DimVector sizes_;
  DimVector strides_;
  std::int64_t offset_ = 0;
};

// Throws if two elements of `tensor`, which the operator writes to, share a memory location. Undefined ones pass.
KEYWAY_API void check_writable(std::string_view argument, const TensorBase& tensor);
KEYWAY_API void check_writable(std::string_view argument, ArrayRef<TensorBase> tensors);

// `tensor` itself if it is of that dtype and device, else a converted copy.
KEYWAY_API TensorBase cast_to(const TensorBase& tensor, ScalarType dtype, Device device);
// Writes `from` over `to`, converting its dtype: the last step of an in-place or out= call whose kernel
// computed in another dtype or could not write where it reads.
KEYWAY_API void copy_into(TensorBase& to, const TensorBase& from);

}  // namespace keyway::inline v1
