#include <keyway/graph/same_graph.h>
#include <keyway/graph/subgraph.h>

#include <algorithm>
#include <bit>

namespace keyway::inline v1::graph {
namespace {

class Hash {
 public:
  void add(std::uint64_t number) {
    state_ = (state_ ^ number) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 29;
  }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(std::string_view text) { add(static_cast<std::uint64_t>(std::hash<std::string_view>()(text))); }
  template <typename T>
  void add_all(const T& numbers) {
    add(static_cast<std::uint64_t>(numbers.size()));
    for (const auto number : numbers) add(static_cast<std::uint64_t>(number));
  }
  void add(const IValue& value);
  void add_all(const Stack& values) {
    for (const IValue& value : values) add(value);
  }
  std::uint64_t get() const { return state_; }

 private:
  std::uint64_t state_ = 0x2545F4914F6CDD1Du;
};

void Hash::add(const IValue& value) {
  add(static_cast<std::uint64_t>(value.tag()));
  switch (value.tag()) {
    case ValueTag::None: return;
    case ValueTag::Int: return add(static_cast<std::uint64_t>(value.to_int()));
    case ValueTag::Double: return add(value.to_double());
    case ValueTag::Bool: return add(static_cast<std::uint64_t>(value.to_bool()));
    case ValueTag::ScalarType: return add(static_cast<std::uint64_t>(value.to_scalar_type()));
    case ValueTag::MemoryFormat: return add(static_cast<std::uint64_t>(value.to_memory_format()));
    case ValueTag::String: return add(std::string_view(value.to_string_ref()));
    case ValueTag::IntList: return add_all(value.to_int_list());
    case ValueTag::Device:
      add(static_cast<std::uint64_t>(value.to_device().type()));
      return add(static_cast<std::uint64_t>(value.to_device().index()));
    default: return;  // the tag alone
  }
}

bool is_same_double(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

bool are_same_graphs(const Subgraph* a, const Subgraph* b) {
  return a != nullptr && b != nullptr && is_same(a->graph(), b->graph());
}

bool is_same_value(const IValue& a, const IValue& b) {
  if (a.tag() != b.tag()) return false;
  switch (a.tag()) {
    case ValueTag::None: return true;
    case ValueTag::Int: return a.to_int() == b.to_int();
    case ValueTag::Double: return is_same_double(a.to_double(), b.to_double());
    case ValueTag::Bool: return a.to_bool() == b.to_bool();
    case ValueTag::ScalarType: return a.to_scalar_type() == b.to_scalar_type();
    case ValueTag::MemoryFormat: return a.to_memory_format() == b.to_memory_format();
    case ValueTag::Device: return a.to_device() == b.to_device();
    case ValueTag::String: return a.to_string_ref() == b.to_string_ref();
    case ValueTag::IntList: return a.to_int_list() == b.to_int_list();
    case ValueTag::DoubleList:
      return std::ranges::equal(a.to_list_of<double>(), b.to_list_of<double>(), is_same_double);
    case ValueTag::Generator: return a.to_generator() == b.to_generator();
    case ValueTag::Complex:
      return is_same_double(a.to_complex().real(), b.to_complex().real()) &&
             is_same_double(a.to_complex().imag(), b.to_complex().imag());
    case ValueTag::Object: return are_same_graphs(subgraph_of(a), subgraph_of(b));  // others may have changed
    case ValueTag::Dict: return false;                                              // as it may have
    default: return to_string(a) == to_string(b);
  }
}

bool are_same_values(const Stack& a, const Stack& b) { return std::ranges::equal(a, b, is_same_value); }

}  // namespace

std::uint64_t hash_of(const Node& call) {
  Hash hash;
  hash.add(reinterpret_cast<std::uint64_t>(call.op));
  hash.add_all(call.arguments);
  return hash.get();
}

bool is_same_call(const Node& a, const Node& b) {
  return a.op == b.op && a.no_grad == b.no_grad && are_same_values(a.arguments, b.arguments);
}

std::uint64_t hash_of(const Graph& graph) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(graph.surroundings.default_dtype));
  for (const Value& value : graph.values) {
    hash.add(static_cast<std::uint64_t>(value.memory));
    hash.add(static_cast<std::uint64_t>(value.info.dtype));
    hash.add(static_cast<std::uint64_t>(value.info.offset));
    hash.add_all(value.info.sizes);
    hash.add_all(value.info.strides);
  }
  for (const Node& node : graph.nodes) hash.add(hash_of(node));
  for (const Input& input : graph.inputs) hash.add(static_cast<std::uint64_t>(input.value));
  hash.add_all(graph.outputs);
  return hash.get();
}

bool is_same(const Graph& a, const Graph& b) {
  const auto same_value = [](const Value& x, const Value& y) { return x.memory == y.memory && x.info == y.info; };
  const auto same_node = [](const Node& x, const Node& y) {
    return is_same_call(x, y) && are_same_values(x.results, y.results);
  };
  const auto same_input = [](const Input& x, const Input& y) {
    return x.value == y.value && x.grad_of == y.grad_of && x.has_grad == y.has_grad;
  };
  const auto same_grad = [](const LeafGrad& x, const LeafGrad& y) { return x.leaf == y.leaf && x.grad == y.grad; };
  return a.level == b.level && a.surroundings == b.surroundings && a.outputs == b.outputs &&
         std::ranges::equal(a.values, b.values, same_value) && std::ranges::equal(a.inputs, b.inputs, same_input) &&
         std::ranges::equal(a.nodes, b.nodes, same_node) && std::ranges::equal(a.grads, b.grads, same_grad);
}

}  // namespace keyway::inline v1::graph
