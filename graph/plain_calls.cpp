#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/plain_calls.h>

#include <string>

namespace keyway::inline v1::graph {

namespace {

// Whether calls of tensors on the CPU end at the library's own kernel, which is written with other operators.
bool is_composite(const OperatorEntry& op) {
  const Table& table = op.table();
  const std::size_t kernel = table.find(DispatchKeySet(DeviceType::CPU) | DispatchKeySet(Functionality::Dense)).kernel;
  const KernelInfo& info = table.info[kernel];
  return table.kernel(kernel).flags == 0 && info.in_flight == nullptr && info.key != DispatchKey::CPU;
}

}  // namespace

std::optional<PlainCall> plain_call(const Node& node) {
  if (!node.op->info().name.starts_with("keyway::") || !is_composite(*node.op)) return std::nullopt;
  const std::string name = node.op->full_name();
  const auto entry = [](std::string_view op) { return &Dispatcher::singleton().op(op).entry(); };
  const auto filled = [&](IValue value) {
    return PlainCall{entry("fill_.Scalar"), {node.results[0], std::move(value)}};
  };
  if (name == "keyway::clone" || name == "keyway::_to_copy")
    return PlainCall{entry("copy_"), {node.results[0], node.arguments[0], IValue(false)}};
  if (name == "keyway::zeros") return filled(IValue(Scalar(0)));
  if (name == "keyway::ones") return filled(IValue(Scalar(1)));
  if (name == "keyway::full") return filled(node.arguments[1]);
  if (name == "keyway::empty.memory_format" || name == "keyway::empty_like" || name == "keyway::empty_strided")
    return PlainCall{};
  return std::nullopt;
}

}  // namespace keyway::inline v1::graph
