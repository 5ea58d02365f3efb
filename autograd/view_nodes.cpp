#include <keyway/autograd/anomaly_mode.h>
#include <keyway/autograd/engine.h>
#include <keyway/autograd/node_origin.h>
#include <keyway/autograd/variable.h>
#include <keyway/autograd/view_nodes.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace keyway::inline v1::autograd {

TensorGeometry geometry_of(const TensorBase& tensor) {
  return {tensor.sizes(), tensor.strides(), tensor.storage_offset(), is_complex(tensor.dtype())};
}

bool can_follow(ScalarType base, ScalarType view) {
  if (base == view) return true;
  return is_complex(base) != is_complex(view) && to_real(base) == to_real(view);
}

namespace {

// The same elements as real numbers, two for a complex one.
TensorGeometry as_real(TensorGeometry of) {
  if (!of.complex) return of;
  for (std::int64_t& stride : of.strides) stride *= 2;
  of.sizes.push_back(2);
  of.strides.push_back(1);
  return {std::move(of.sizes), std::move(of.strides), of.offset * 2, false};
}

// A gradient of the tensor that `of` describes, as one of what as_real(of) does; and back.
Tensor as_real(const Tensor& grad, const TensorGeometry& of) { return of.complex ? keyway::view_as_real(grad) : grad; }
Tensor as_it_was(const Tensor& grad, const TensorGeometry& of) {
  return of.complex ? keyway::view_as_complex(grad.contiguous()) : grad;
}

// How many elements of memory lie between the first element and the last, with both.
std::int64_t extent(IntArrayRef sizes, IntArrayRef strides) {
  if (checked_numel(sizes) == 0) return 0;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
  return last + 1;
}

// The memory that a base and a view of it lie in, in which a gradient of the base is made. Locations that the base has
// no element at have a gradient of zero. Within vmap it is that of all examples.
struct Memory {
  std::int64_t first;  // the offset of its beginning
  Tensor storage;

  // `base_is_written`: the caller sets every element of the base, so zeros are for what lies between these only.
  Memory(const TensorGeometry& base, const TensorGeometry& view, const Tensor& grad, bool base_is_written = false)
      : first(std::min(base.offset, view.offset)) {
    const std::int64_t base_end = base.offset + extent(base.sizes, base.strides);
    const std::int64_t end = std::max(base_end, view.offset + extent(view.sizes, view.strides));
    const bool has_gaps = end - first != checked_numel(base.sizes) || overlaps_itself(base.sizes, base.strides);
    storage = base_is_written && !has_gaps ? grad.new_empty({end - first}) : grad.new_zeros({end - first});
  }
  // A part of it. When nothing is recorded, no view is either, so that what becomes of the gradient is free. It is a
  // call where somebody answers calls or sees them.
  Tensor part(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) const {
    constexpr DispatchKeySet kSeen = DispatchKeySet(Functionality::Batched) | DispatchKeySet(Functionality::Python);
    if (grad_enabled() || (storage.key_set() | included_keys()).has_any(kSeen))
      return storage.as_strided(sizes, strides, offset - first);
    return Tensor(make_view(storage, sizes, strides, offset - first));
  }
};

// The offsets of the elements, in row-major order.
Tensor offsets_of(IntArrayRef sizes, IntArrayRef strides, std::int64_t offset, Device device) {
  const TensorOptions options = TensorOptions().dtype(ScalarType::Long).device(device);
  Tensor offsets = keyway::full({}, offset, options);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    offsets = offsets.unsqueeze(-1) + keyway::arange(sizes[d], options) * strides[d];
  }
  return offsets.reshape({-1});
}

}  // namespace

Tensor as_strided_backward(const Tensor& grad, IntArrayRef base_sizes, IntArrayRef base_strides,
                           std::int64_t base_offset, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
  // Dimensions of stride 0 lead to one location: their gradients add up.
  std::vector<std::int64_t> repeated;
  DimVector view_sizes(sizes);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] != 0 || sizes[d] <= 1) continue;
    repeated.push_back(static_cast<std::int64_t>(d));
    view_sizes[d] = 1;
  }
  const Tensor summed = repeated.empty() ? grad : keyway::sum(grad, IntArrayRef(repeated), true);
  const TensorGeometry base{base_sizes, base_strides, base_offset, false};
  Memory memory(base, {view_sizes, strides, offset, false}, grad);
  if (overlaps_itself(view_sizes, strides)) {
    const Tensor index = offsets_of(view_sizes, strides, offset - memory.first, grad.device());
    memory.storage = memory.storage.index_add(0, index, summed.reshape({-1}));
  } else {
    memory.part(view_sizes, strides, offset).copy_(summed);
  }
  return memory.part(base_sizes, base_strides, base_offset);
}

AsStridedBackward::AsStridedBackward(Edge base_edge, const TensorGeometry& base, const TensorBase& view,
                                     NodeOrigin&& origin)
    : Node(take_sequence_nr()), base_(base), view_(geometry_of(view)) {
  set_origin(std::move(origin));
  add_next_edge(std::move(base_edge));
  add_input_metadata(view);
}

variable_list AsStridedBackward::apply(variable_list&& grads) {
  if (!grads[0].defined()) return {Tensor()};
  const auto put_in_place = [](const Tensor& grad, const TensorGeometry& base, const TensorGeometry& view) {
    return as_strided_backward(grad, base.sizes, base.strides, base.offset, view.sizes, view.strides, view.offset);
  };
  if (base_.complex == view_.complex) return {put_in_place(grads[0], base_, view_)};
  return {as_it_was(put_in_place(as_real(grads[0], view_), as_real(base_), as_real(view_)), base_)};
}

CopySlices::CopySlices(Edge base_edge, const TensorBase& base, const TensorBase& view, intrusive_ptr<Node> change,
                       std::size_t view_input)
    : base_(geometry_of(base)), view_(geometry_of(view)), change_(std::move(change)), view_input_(view_input) {
  // The gradient of the view goes into the base's: the change needs it if the base does.
  change_->set_next_edge(view_input, std::move(base_edge));
  for (const Edge& edge : change_->next_edges()) add_next_edge(edge);
  add_input_metadata(base);
}

constinit thread_local CopySlices::Running* CopySlices::Running::last = nullptr;

Edge CopySlices::edge_of_result(const Node& change, const TensorBase& result) {
  for (const Running* running = Running::last; running != nullptr; running = running->before) {
    CopySlices& slices = running->slices;
    if (slices.change_.get() != &change) continue;
    const auto itself = intrusive_ptr<Node>::retain(&slices);
    NodeOrigin origin = AnomalyMode::is_enabled() ? NodeOrigin::here() : NodeOrigin();
    return {make_intrusive<AsStridedBackward>(Edge{itself, 0}, slices.base_, result, std::move(origin)), 0};
  }
  return {};
}

variable_list CopySlices::apply(variable_list&& grads) {
  if (!grads[0].defined()) return variable_list(next_edges().size());
  KEYWAY_CHECK_AS(Autograd, change_,
                  "CopySlices: backward through this graph a second time, but what it saved is freed: pass "
                  "retain_graph=true to the first backward");
  const bool mixed = base_.complex != view_.complex;
  const TensorGeometry base = mixed ? as_real(base_) : base_, view = mixed ? as_real(view_) : view_;
  const Tensor grad = mixed ? as_real(grads[0], base_) : grads[0];
  const Memory memory(base, view, grad, /*base_is_written=*/true);
  const Tensor result = memory.part(base.sizes, base.strides, base.offset);
  result.copy_(grad);
  const Tensor slice = memory.part(view.sizes, view.strides, view.offset);
  const Tensor of_view = mixed ? as_it_was(slice.clone(), view_) : slice.clone();
  variable_list out;
  {
    const Running running(*this);
    out = change_->apply({of_view});
  }
  out.resize(next_edges().size());
  if (const Tensor& through = out[view_input_]; through.defined()) {
    const Tensor before = through.expand(view_.sizes);
    slice.copy_(mixed ? as_real(before, view_) : before);
  } else {
    slice.zero_();
  }
  out[view_input_] = mixed ? as_it_was(result, base_) : result;
  return out;
}

void CopySlices::release_variables() { change_.reset(); }

}  // namespace keyway::inline v1::autograd
