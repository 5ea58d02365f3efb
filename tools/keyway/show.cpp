// keyway show: all that the registry knows of an operator.
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/tools/keyway/backends.h>
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/terminal/terminal.h>

#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::tools {

namespace {

// Every overload of the same operator: add_.Tensor and add.out for add.Tensor.
std::vector<std::string> variants_of(const OperatorEntry& op) {
  std::string base(op.info().name);
  if (base.ends_with('_') && !base.ends_with("__")) base.pop_back();
  std::vector<std::string> names;
  for (const OperatorHandle& other : Dispatcher::singleton().ops()) {
    const std::string_view name = other.entry().info().name;
    if ((name == base || name == base + "_") && &other.entry() != &op) names.push_back(other.entry().short_name());
  }
  return names;
}

void print_kernels(const OperatorEntry& op, const Colours& colours) {
  fmt::print("{}\n", colours(Colour::Bold, "kernels"));
  const Table& table = op.table();
  for (std::size_t i = 1; i < table.kernel_count; ++i) {
    const KernelInfo& info = table.info[i];
    const std::string place = std::string_view(info.file).empty() ? "" : fmt::format("{}:{}", info.file, info.line);
    fmt::print("  {:<26} {:<44} {}\n", to_string(info.key), info.name, place);
  }
}

// Who serves a tensor of each key that is in use, and by which rule.
void print_slots(const OperatorEntry& op, const Colours& colours) {
  fmt::print("{}\n", colours(Colour::Bold, "served"));
  std::vector<DispatchKey> keys;
  for (const Functionality functionality : {Functionality::Dense, Functionality::Autograd}) {
    for (const DeviceType backend : known_backends()) keys.push_back(runtime_key(functionality, backend));
  }
  keys.insert(keys.end(), {DispatchKey::ADInplaceOrView, DispatchKey::Undefined});
  for (DispatchKey key : keys) {
    const SlotContent slot = explain_slot(OperatorHandle(op), key);
    std::string kernel = slot.kernel ? slot.kernel->name : "-";
    if (kernel.empty()) kernel = slot.kernel->site.str();  // nobody named it
    fmt::print("  {:<26} {:<44} {}\n", to_string(key), kernel, to_string(slot.rule));
  }
}

ExitStatus show_operator(const std::string& name) {
  const Colours colours(stdout);
  const OperatorEntry& op = Dispatcher::singleton().op(name).entry();
  const OpInfo& info = op.info();
  fmt::print("{}  {}:{}\n", colours(Colour::Bold, info.schema), info.file, info.line);
  if (!info.doc.empty()) fmt::print("  {}\n", info.doc);
  if (!info.example.empty()) fmt::print("  {}\n", info.example);
  if (!info.tags.empty()) fmt::print("  tags: {}\n", info.tags);
  fmt::print("  autograd saves: {}\n", info.saved.empty() ? "nothing" : std::string(info.saved));
  const std::vector<std::string> variants = variants_of(op);
  if (!variants.empty()) fmt::print("  variants: {}\n", fmt::join(variants, ", "));
  print_kernels(op, colours);
  print_slots(op, colours);
  return ExitStatus::Ok;
}

}  // namespace

void add_show_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("show", "Show an operator: schema, kernels, who serves each key");
  auto name = std::make_shared<std::string>();
  command->add_option("operator", *name, "Its name: add.Tensor, or my::op of another namespace")->required();
  command->footer("Exit status: 0, or 1 if there is no such operator.");
  command->callback([name, &status] { status = guarded("show", ExitStatus::Failed, show_operator, *name); });
}

}  // namespace keyway::inline v1::tools
