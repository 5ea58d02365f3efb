#include <keyway/assembly/composite.h>
#include <keyway/assembly/outputs.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/ops/copy_entries.h>

namespace keyway::inline v1 {

namespace {

// A tensor that was made in inference mode has no version that a change would bump.
void check_not_frozen(std::string_view argument, const TensorBase& tensor) {
  KEYWAY_CHECK_AS(Autograd, !tensor.defined() || !tensor.is_inference() || InferenceMode::is_enabled(),
                  "argument '{}' was made in inference mode, and can be changed only there: clone() it first",
                  argument);
}

// Whether copy_ can write a result of one dtype to a tensor of another.
bool can_store(ScalarType result, ScalarType to) {
  return kCastTypes.contains(to) && (result == to || (kCastTypes.contains(result) && can_cast(result, to)));
}

void check_out_dtype(const TensorBase& out, std::string_view name, ScalarType dtype, OutDtype which) {
  if (which == OutDtype::Flags) {
    KEYWAY_CHECK_AS(Type, out.dtype() == kBool || out.dtype() == kByte,
                    "argument '{}' is {}, but must be bool or uint8", name, out.dtype());
    return;
  }
  KEYWAY_CHECK_AS(Type, can_store(dtype, out.dtype()),
                  "the result is {}, which cannot be stored in argument '{}' of {}", dtype, name, out.dtype());
  KEYWAY_CHECK_AS(Type, which == OutDtype::CastFrom || dtype == out.dtype(),
                  "the result is {}, but argument '{}' is {}: it must have the result's dtype", dtype, name,
                  out.dtype());
}

}  // namespace

void check_writable(std::string_view argument, const TensorBase& tensor) {
  check_not_frozen(argument, tensor);
  const bool is_plain = !tensor.defined() || tensor.numel() <= 1 || tensor.is_non_overlapping_and_dense();
  KEYWAY_CHECK(is_plain || !overlaps_itself(tensor.sizes(), tensor.strides()),
               "argument '{}' of shape {} and strides {} has several elements in one memory location: clone() it first",
               argument, tensor.sizes(), tensor.strides());
}

void check_writable(std::string_view argument, ArrayRef<TensorBase> tensors) {
  for (const TensorBase& tensor : tensors) check_writable(argument, tensor);
}

void check_inplace(const TensorBase& self, const OutputMeta& meta, ScalarType dtype) {
  KEYWAY_CHECK(self.sizes() == IntArrayRef(meta.sizes),
               "argument 'self' has shape {}, but the result has {}: an in-place call cannot change the shape",
               self.sizes(), IntArrayRef(meta.sizes));
  KEYWAY_CHECK_AS(Type, can_store(dtype, self.dtype()),
                  "the result is {}, which cannot be stored in argument 'self' of {}", dtype, self.dtype());
  check_writable("self", self);
}

void check_out(const TensorBase& out, std::string_view name, const OutputMeta& meta, ScalarType dtype, Device device,
               OutDtype which) {
  KEYWAY_CHECK(out.device() == device, "argument '{}' is on {}, but the result is on {}", name, out.device(), device);
  check_out_dtype(out, name, dtype, which);
  if (fits(out, meta)) return check_writable(name, out);
  check_not_frozen(name, out);
  const DimVector strides = meta.strides.empty() ? contiguous_strides(meta.sizes) : DimVector(meta.strides);
  const std::size_t bytes = checked_nbytes(meta.sizes, strides, out.storage_offset(), out.itemsize());
  const StorageImpl& storage = *out.storage().impl();
  KEYWAY_CHECK(storage.resizable() || bytes <= storage.nbytes(),
               "argument '{}' would have to grow to {} bytes, but its storage of {} belongs to somebody else", name,
               bytes, storage.nbytes());
}

void check_apart(const char* const* names, ArrayRef<TensorBase*> outs) {
  for (std::size_t i = 0; i < outs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      KEYWAY_CHECK(overlap(*outs[i], *outs[j]) == Overlap::None,
                   "arguments '{}' and '{}' share memory: each result needs memory of its own", names[j], names[i]);
    }
  }
}

void ResizedOut::resize(TensorBase& out, const OutputMeta& meta) {
  sizes_ = DimVector(out.sizes());
  strides_ = DimVector(out.strides());
  offset_ = out.storage_offset();
  resize_tensor(out, meta.sizes, meta.strides);
  out_ = &out;
}

void ResizedOut::restore() noexcept { out_->impl()->set_geometry(sizes_, strides_, offset_, checked_numel(sizes_)); }

TensorBase cast_to(const TensorBase& tensor, ScalarType dtype, Device device) {
  const OutputMeta meta = meta_like(tensor);
  TensorBase result = allocate_output(meta, dtype, device);
  copy_into(result, tensor);
  return result;
}

void copy_into(TensorBase& to, const TensorBase& from) {
  const DispatchKeySet keys = (to.key_set() | from.key_set()) & kAfterADInplaceOrView;
  Caller<ops::copy__sig>::redispatch(ops::copy_, keys, to, from, false);
}

namespace detail {

void copy_recorded(TensorBase& to, const TensorBase& from) {
  Caller<ops::copy__sig>::call(ops::copy_, to, from, false);
}

TensorBase before_change(const TensorBase& self) {
  // Of a dual tensor, what has a history are its parts.
  const bool may_have_history = self.requires_grad() || self.key_set().has(Functionality::ForwardAD);
  if (!may_have_history || !grad_enabled()) return self;
  return Caller<ops::clone_sig>::call(ops::clone, self, std::nullopt);
}

void check_no_grad_for_out(bool needs_grad) {
  KEYWAY_CHECK_AS(Autograd, !needs_grad,
                  "out= does not support automatic differentiation, but an argument requires a gradient");
}

void fail_to_write_from_meta() {
  KEYWAY_FAIL(NotImplemented, "a tensor with data cannot be written from one on meta, which has none");
}

void fail_on_meta() { KEYWAY_FAIL(NotImplemented, "the result depends on data, which tensors on meta have not"); }

}  // namespace detail

}  // namespace keyway::inline v1
