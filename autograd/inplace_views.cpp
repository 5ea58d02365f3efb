// The operators of the family inplace_view: geometry that changes in place, and the history that follows it.
#include <keyway/autograd/alias.h>
#include <keyway/autograd/generated_kernels.h>
#include <keyway/ops/all.h>
#include <keyway/ops/inplace_view_composites.h>

namespace keyway::inline v1::composite {

namespace {

// Python may answer the call of a view with any tensor.
[[noreturn]] KEYWAY_COLD void refuse_view(const Tensor& view, const Tensor& self) {
  KEYWAY_FAIL(Type, "what answered the call of the view, {}, is no view of the tensor, {}", describe(view),
              describe(self));
}

// Gives `self` the geometry of a view of it. What is changed is no value, so that the history goes on under no_grad as
// well; that of a tensor that is a view itself is made anew from its base when it is asked for.
Tensor& take_geometry(Tensor& self, const auto& make_view) {
  autograd::check_inplace("self", self, /*records=*/false);
  const AutoGradMode guard;
  const Tensor view = make_view();
  if (!view.is_alias_of(self) || view.dtype() != self.dtype()) [[unlikely]]
    refuse_view(view, self);
  const bool has_history = self.requires_grad() && !self.is_leaf() && !autograd::is_view(self);
  autograd::Edge edge = has_history ? autograd::gradient_edge(view) : autograd::Edge();
  if (self.is_leaf()) autograd::forget_accumulator(self);
  autograd::take_attributes(self, view);
  self.impl()->set_geometry(view.sizes(), view.strides(), view.storage_offset(), view.numel());
  autograd::bump_version(self);
  if (edge) autograd::set_gradient_edge(self, std::move(edge));  // a view that is made below Autograd has none
  return self;
}

}  // namespace

Tensor& as_strided_(Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<std::int64_t> storage_offset) {
  return take_geometry(self, [&] { return self.as_strided(size, stride, storage_offset); });
}

Tensor& squeeze_(Tensor& self) {
  return take_geometry(self, [&] { return self.squeeze(); });
}

Tensor& squeeze_dim_(Tensor& self, std::int64_t dim) {
  return take_geometry(self, [&] { return self.squeeze(dim); });
}

Tensor& squeeze_dims_(Tensor& self, IntArrayRef dim) {
  return take_geometry(self, [&] { return self.squeeze(dim); });
}

Tensor& t_(Tensor& self) {
  return take_geometry(self, [&] { return self.dim() < 2 ? self : self.transpose(0, 1); });
}

Tensor& transpose_(Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  return take_geometry(self, [&] { return self.transpose(dim0, dim1); });
}

Tensor& unsqueeze_(Tensor& self, std::int64_t dim) {
  return take_geometry(self, [&] { return self.unsqueeze(dim); });
}

}  // namespace keyway::inline v1::composite
