#include <keyway/core/base/hash.h>
#include <keyway/core/schema/schema.h>
#include <keyway/tools/keyway/fuzz/boundary_values.h>
#include <keyway/tools/keyway/fuzz/call_plan.h>
#include <keyway/tools/keyway/fuzz/tensor_mutations.h>

#include <utility>

namespace keyway::inline v1::tools {

namespace {

constexpr std::size_t kRenamed = 8;    // bases with sizes of the example replaced
constexpr std::size_t kSameShape = 4;  // bases with one shape for all tensors

bool holds_tensors(SchemaType type) {
  if (type.is(TypeKind::Tensor)) return true;
  return (type.is(TypeKind::Optional) || type.is(TypeKind::List)) && holds_tensors(type.element());
}
// What an argument with tensors in it is made as.
Value::Kind kind_of(SchemaType type) {
  if (type.is(TypeKind::Optional)) return kind_of(type.element());
  if (!type.is(TypeKind::List)) return Value::Kind::Tensor;
  return type.element().is(TypeKind::List) ? Value::Kind::TensorLists : Value::Kind::Tensors;
}

// The seed of an argument that may be left out, as a value of its kind.
Value seed_of(SchemaType type, const Value& value) {
  Value seed = value;
  if (value.kind == Value::Kind::Plain) seed.kind = kind_of(type);
  return seed;
}

}  // namespace

CallPlan::CallPlan(const OperatorHandle& op, std::uint64_t seed, const std::vector<Value>& example)
    : op_(op), seed_(seed ^ fnv1a(op.name())) {
  bases_.push_back(base_of(example));
  for (std::size_t i = 0; i < bases_[0].changes.size(); ++i) {
    for (std::size_t j = 0; j < bases_[0].changes[i].size(); ++j) singles_.push_back({i, j});
  }
  Random random(seed_);
  for (std::size_t i = singles_.size(); i > 1; --i) std::swap(singles_[i - 1], singles_[random.below(i)]);
  for (std::size_t i = 0; i < kRenamed + kSameShape; ++i) {
    std::vector<Value> values = example;
    if (i < kRenamed) {
      rename_sizes(values, random);
    } else {
      same_shape(values, random);
    }
    bases_.push_back(base_of(std::move(values)));
  }
}

CallPlan::Base CallPlan::base_of(std::vector<Value> values) const {
  Base base;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const SchemaType type = op_.schema().arguments()[i].type();
    base.changes.push_back(holds_tensors(type) ? tensor_values(seed_of(type, values[i]))
                                               : boundary_values(type, values[i]));
  }
  base.values = std::move(values);
  return base;
}

void CallPlan::change(const Base& base, std::size_t argument, std::uint64_t random, std::vector<Value>& values) const {
  const std::vector<Value>& changes = base.changes[argument];
  values[argument] = changes[random % changes.size()];
}

std::vector<Value> CallPlan::call(std::size_t index) const {
  if (index < singles_.size()) {
    const Change& single = singles_[index];
    std::vector<Value> values = bases_[0].values;
    values[single.argument] = bases_[0].changes[single.argument][single.value];
    return values;
  }
  Random random(seed_ + 0x9e3779b97f4a7c15u * (index + 1));
  // Half of the calls keep the example's sizes: there the other arguments fit best.
  const Base& base = bases_[random.percent(50) ? 0 : random.below(bases_.size())];
  std::vector<Value> values = base.values;
  if (values.empty()) return values;
  const std::size_t dice = random.below(100);
  const std::size_t changes = &base != &bases_[0] && dice < 50 ? dice % 2 : dice < 85 ? 2 : 3;
  for (std::size_t i = 0; i < changes; ++i) change(base, random.below(values.size()), random.next(), values);
  return values;
}

std::string CallPlan::text(std::size_t index) const {
  return to_text(op_.entry().short_name(), argument_names(op_), call(index));
}

}  // namespace keyway::inline v1::tools
