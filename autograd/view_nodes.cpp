#include <keyway/autograd/engine.h>
#include <keyway/autograd/variable.h>
#include <keyway/autograd/view_nodes.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace keyway::inline v1::autograd {

namespace {
// Whether strides interleave, so that different indices may meet. Dimensions of size 1 do not count.
bool leads_twice_to_one_place(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, size
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return false;
    if (sizes[d] > 1) dims.emplace_back(strides[d], sizes[d]);
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}
}  // namespace

Geometry geometry_of(const TensorBase& tensor) { return {tensor.sizes(), tensor.strides(), tensor.storage_offset()}; }

Tensor as_strided_backward(const Tensor& grad, IntArrayRef base_sizes, IntArrayRef base_strides,
                           std::int64_t base_offset, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset) {
  // Dimensions of stride 0 lead to one place: their gradients add up.
  std::vector<std::int64_t> repeated;
  DimVector view_sizes(sizes);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] != 0 || sizes[d] == 1) continue;
    repeated.push_back(static_cast<std::int64_t>(d));
    view_sizes[d] = 1;
  }
  const Tensor summed = repeated.empty() ? grad : keyway::sum(grad, IntArrayRef(repeated), true);
  KEYWAY_CHECK_AS(NotImplemented, !leads_twice_to_one_place(view_sizes, strides),
                  "as_strided: the gradient of overlapping windows (sizes {}, strides {}) is not there yet", sizes,
                  strides);
  Tensor result = keyway::empty_strided(base_sizes, base_strides, grad.options());
  result.zero_();
  result.as_strided(view_sizes, strides, offset - base_offset).copy_(summed);
  return result;
}

AsStridedBackward::AsStridedBackward(Edge base_edge, const TensorBase& base, const TensorBase& view)
    : base_(geometry_of(base)), view_(geometry_of(view)) {
  add_next_edge(std::move(base_edge));
  add_output(view);
}

variable_list AsStridedBackward::apply(variable_list&& grads) {
  if (!grads[0].defined()) return {Tensor()};
  return {as_strided_backward(grads[0], base_.sizes, base_.strides, base_.offset, view_.sizes, view_.strides,
                              view_.offset)};
}

CopySlices::CopySlices(Edge base_edge, const TensorBase& base, const TensorBase& view, intrusive_ptr<Node> change)
    : base_(geometry_of(base)), view_(geometry_of(view)), change_(std::move(change)) {
  add_next_edge(std::move(base_edge));
  const ArrayRef<Edge> edges = change_->next_edges();
  // The change's first input is the view itself, whose gradient goes into the base's.
  for (std::size_t i = 1; i < edges.size(); ++i) add_next_edge(edges[i]);
  add_output(base);
}

variable_list CopySlices::apply(variable_list&& grads) {
  if (!grads[0].defined()) return variable_list(next_edges().size());
  KEYWAY_CHECK_AS(Autograd, change_,
                  "CopySlices: backward through this graph a second time, but what it saved is freed: pass "
                  "retain_graph=true to the first backward");
  // A fresh tensor laid out as the base, in which the view's place can be found by the view's own strides.
  Tensor result = keyway::empty_strided(base_.sizes, base_.strides, grads[0].options());
  result.copy_(grads[0]);
  const Tensor slice = result.as_strided(view_.sizes, view_.strides, view_.offset - base_.offset);
  variable_list through = change_->apply({slice.clone()});
  variable_list out(next_edges().size());
  for (std::size_t i = 0; i < through.size(); ++i) {
    if (i > 0) {
      out[i] = through[i];
    } else if (through[0].defined()) {
      slice.copy_(through[0].expand(view_.sizes));
    } else {
      slice.zero_();
    }
  }
  out[0] = result;
  return out;
}

void CopySlices::release_variables() { change_.reset(); }

}  // namespace keyway::inline v1::autograd
