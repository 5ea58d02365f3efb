#include <keyway/autograd/alias.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/schema/transform_rules.h>
#include <keyway/core/tensor/tensor_impl.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/forward/in_place.h>
#include <keyway/forward/views.h>
#include <keyway/ops/all.h>
#include <keyway/ops/autograd_entries.h>
#include <keyway/ops/copy_entries.h>
#include <keyway/ops/creation_entries.h>
#include <keyway/ops/inplace_view_entries.h>
#include <keyway/ops/view_entries.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace keyway::inline v1::forward {

namespace {

void put_value(const TensorBase& tensor, TensorBase primal, TensorBase tangent, const LevelPtr& level) {
  TensorImpl& impl = *tensor.impl();
  impl.set_extra(std::make_unique<DualValue>(std::move(primal), std::move(tangent), level));
  impl.set_autograd_meta(nullptr);
  impl.set_key_set(impl.key_set().remove(Functionality::Autograd) | DispatchKeySet(Functionality::ForwardAD));
}

// What a tensor is now, as another one: with its history, and its tangents at outer levels.
TensorBase moved_out(const TensorBase& tensor) {
  if (const DualValue* dual = dual_value(tensor))
    return make_dual_tensor(dual->primal(), dual->tangent(), dual->level());
  TensorBase other = autograd::alias_of(tensor);
  if (tensor.requires_grad()) autograd::set_gradient_edge(other, autograd::gradient_edge(tensor));
  return other;
}

// A tensor that is no view gets a tangent of zeros.
void begin_dual(const TensorBase& tensor, const LevelPtr& level) {
  const TensorBase innermost = innermost_primal(tensor);
  KEYWAY_CHECK_AS(
      Autograd, !(innermost.requires_grad() && innermost.is_leaf()),
      "forward mode: a leaf that requires grad, or a view of one, is changed in place to what has a tangent, "
      "which it cannot keep: change a copy");
  TensorBase primal = moved_out(tensor);
  const TensorOptions options = TensorOptions().dtype(tensor.dtype()).device(tensor.device());
  Tensor tangent = keyway::empty_strided(tensor.sizes(), tensor.strides(), options);
  put_value(tensor, std::move(primal), tangent.zero_(), level);
}

// Part or tangent of a base as `view`, which is one of the base, is of the base: the same elements. Both may be of
// another dtype than the view: complex numbers, of which it has parts, or parts of what it has.
Tensor viewed_as(const TensorBase& view, const TensorBase& base, const TensorBase& of) {
  const auto strided = [&](const Tensor& from, std::int64_t base_offset) {
    const std::int64_t offset = view.storage_offset() - base_offset + from.storage_offset();
    return from.as_strided(view.sizes(), view.strides(), offset);
  };
  const Tensor whole(of);
  if (view.dtype() == base.dtype()) return strided(whole, base.storage_offset());
  const bool is_part = is_complex(base.dtype()) && view.itemsize() * 2 == base.itemsize();
  const bool has_parts = is_complex(view.dtype()) && base.itemsize() * 2 == view.itemsize();
  KEYWAY_CHECK_AS(NotImplemented, is_part || has_parts,
                  "forward mode: a view of {} of a tensor of {} is changed in place to what has a tangent: change a "
                  "copy",
                  view.dtype(), base.dtype());
  if (is_part) return strided(keyway::view_as_real(whole), 2 * base.storage_offset());
  // Pairs from the view's first element to its last.
  std::int64_t last = 0;
  for (std::int64_t d = 0; d < view.dim(); ++d)
    last += (view.size(d) - 1) * view.strides()[static_cast<std::size_t>(d)];
  const std::int64_t first = 2 * view.storage_offset() - base.storage_offset() + of.storage_offset();
  const Tensor pairs = keyway::view_as_complex(whole.as_strided({last + 1, 2}, {2, 1}, first));
  return pairs.as_strided(view.sizes(), view.strides(), pairs.storage_offset());
}

// A plain tensor becomes a dual one, with zeros as its tangent, and with it what it is a view of and what are views of
// that: their tangents then are views of one tangent.
void become_dual(const TensorBase& tensor, const LevelPtr& level) {
  const TensorBase innermost = innermost_primal(tensor);
  const bool is_view = autograd::is_view(innermost);
  const TensorBase base = is_view ? TensorBase(autograd::view_base(innermost)) : tensor;
  std::vector<TensorBase> views = tracked_views(base);
  if (is_view && std::ranges::none_of(views, [&](const TensorBase& view) { return view.is_same(tensor); }))
    views.push_back(tensor);
  if (!is_view || dual_value(base) == nullptr) {
    // The base and these are all that hold the memory, or else somebody has a view that would not know of its tangent.
    KEYWAY_CHECK_AS(
        NotImplemented, !is_view || base.storage().use_count() <= views.size() + 1,
        "forward mode: a view is changed in place to what has a tangent, and there are other tensors of its "
        "memory, made before the level began or detached: make the views again, or change a copy");
    begin_dual(base, level);
  }
  const DualValue& whole = *dual_value(base);
  KEYWAY_CHECK_AS(
      NotImplemented,
      whole.has_tangent() && whole.level()->id() == level->id() && (!is_view || dual_value(tensor) == nullptr),
      "forward mode: a view is changed in place to what has a tangent, but its base cannot get one, as one "
      "of them has a tangent at another level: make the view again, or change a copy");
  for (const TensorBase& view : views)
    put_value(view, viewed_as(view, base, whole.primal()), viewed_as(view, base, whole.tangent()), level);
}

Tensor tangent_of(const Results& results) {
  return results.tangents.empty() || !results.tangents[0].is_tensor() ? Tensor()
                                                                      : Tensor(results.tangents[0].to_tensor());
}

bool has_tangent(const JvpCall& call, std::size_t i) {
  return call.tangents[i].is_tensor() && call.tangents[i].to_tensor().defined();
}

// What the tangent of the first argument is after the call; undefined: zeros. Not for operators that are linear.
Tensor tangent_after(const JvpCall& call, JvpRule rule) {
  if (rule == primal_only || call.op.has_tag("nondeterministic_seeded")) return {};
  return rule == multilinear ? sum_over_tangents(call) : tangent_of(rule(call));
}

void check_written(const OperatorEntry& op) {
  const ArgumentList arguments = op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    KEYWAY_CHECK_AS(Autograd, !arguments[i].is_write() || (i == 0 && arguments[i].type().is(TypeKind::Tensor)),
                    "forward mode: argument '{}' is changed in place, and one of the arguments has a tangent, which "
                    "would be lost",
                    arguments[i].name());
}

void call_of_primals(const JvpCall& call, const TensorBase& self, Stack& values) {
  Stack primals = call.primals;
  call_boxed(call.op, primals);
  values = std::move(primals);
  if (!values.empty()) values[0] = self;
}

}  // namespace

void check_no_out(const OperatorEntry& op) {
  for (const Argument argument : op.schema().arguments())
    KEYWAY_CHECK_AS(Autograd, !argument.is_out(),
                    "functions with out=... arguments do not support forward mode, but one of the arguments has a "
                    "tangent: call the function without out=");
}

void call_in_place(const OperatorEntry& op, const LevelPtr& level, Stack& values) {
  check_written(op);
  const TensorBase self = values[0].to_tensor();
  if (!autograd::is_differentiable(self.dtype())) {
    call_boxed(op, values);
    values[0] = self;
    return;
  }
  JvpCall call = taken_apart(op, level, values);
  const JvpRule rule = rule_of(op);
  const bool is_linear = rule == linear;
  const Tensor after = is_linear ? Tensor() : tangent_after(call, rule);
  if (!has_tangent(call, 0)) {
    if (!is_linear && !after.defined()) return call_of_primals(call, self, values);
    autograd::check_inplace("self", innermost_primal(self), requires_grad(self) || has_history(call));
    become_dual(self, level);
    JvpCall now = taken_apart(op, level, values);
    call.primals = std::move(now.primals);
    call.tangents = std::move(now.tangents);
  }
  Tensor tangent(call.tangents[0].to_tensor());
  Stack of_tangents = is_linear ? linear_arguments(call) : Stack();
  call_of_primals(call, self, values);
  if (is_linear) {
    call_boxed(op, of_tangents);
  } else if (after.defined()) {
    tangent.copy_(after.expand(tangent.sizes()));
  } else {
    tangent.zero_();
  }
}

bool call_metadata_op(const OperatorEntry& op, const LevelPtr& level, Stack& values) {
  constexpr std::uint8_t kPrimal = jvp_rule("primal");
  const bool changes_geometry = op.has_tag("inplace_view");
  const bool of_history = &op == &ops::detach_ || &op == &ops::requires_grad_;
  KEYWAY_CHECK_AS(NotImplemented, &op != &ops::set_data,
                  "forward mode: a dual tensor cannot be given other memory, and its memory to no other tensor");
  if (!changes_geometry && !of_history && op.info().jvp != kPrimal) return false;
  const TensorBase self = values[0].to_tensor();
  const UnpackedDual parts = parts_at(self, *level);
  if (!parts.tangent.defined()) return false;
  Stack tangents = values;
  values[0] = parts.primal;
  call_boxed(op, values);
  if (!changes_geometry && !of_history) return true;
  if (changes_geometry) {
    tangents[0] = parts.tangent;
    if (const auto offset = op.schema().arguments().find("storage_offset"); offset && !tangents[*offset].is_none())
      tangents[*offset] = tangents[*offset].to_int() - self.storage_offset() + parts.tangent.storage_offset();
    call_boxed(op, tangents);
    const TensorBase& primal = parts.primal;
    self.impl()->set_storage(primal.storage());
    self.impl()->set_geometry(primal.sizes(), primal.strides(), primal.storage_offset(), primal.numel());
  } else if (&op == &ops::detach_) {
    self.impl()->set_extra(std::make_unique<DualValue>(parts.primal, TensorBase(), level));
  }
  values = {self};
  return true;
}

}  // namespace keyway::inline v1::forward
