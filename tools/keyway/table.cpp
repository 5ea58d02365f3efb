// keyway table: operators by key.
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/tools/keyway/backends.h>
#include <keyway/tools/keyway/command.h>

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

namespace {

// Keyway's backends, those of plug-ins, and what calls pass through before.
std::vector<DispatchKey> columns() {
  std::vector<DispatchKey> keys;
  for (const DeviceType backend : known_backends()) keys.push_back(runtime_key(Functionality::Dense, backend));
  for (const DispatchKey key : {DispatchKey::AutogradCPU, DispatchKey::AutocastCPU, DispatchKey::ADInplaceOrView})
    keys.push_back(key);
  return keys;
}

// One letter a rule, explained in the last line.
char letter(ResolutionRule rule) {
  switch (rule) {
    case ResolutionRule::Direct: return 'K';
    case ResolutionRule::CompositeExplicit: return 'E';
    case ResolutionRule::CompositeImplicit: return 'I';
    case ResolutionRule::Alias: return 'A';
    case ResolutionRule::Fallback: return 'F';
    case ResolutionRule::Fallthrough: return '.';
    case ResolutionRule::Missing: return '-';
  }
  return '?';
}

// In the column of a key.
template <typename T>
void print_cell(DispatchKey key, const T& text) {
  fmt::print(" {:>{}}", text, std::max<std::size_t>(15, to_string(key).size()));
}

void print_heading(const std::vector<DispatchKey>& keys) {
  fmt::print("{:<44}", "");
  for (DispatchKey key : keys) print_cell(key, to_string(key));
  fmt::print("\n");
}

ExitStatus print_table(const std::string& filter) {
  const std::vector<DispatchKey> keys = columns();
  bool found = false;
  for (const OperatorHandle& op : Dispatcher::singleton().ops()) {
    const std::string name = op.entry().short_name();
    if (name.find(filter) == std::string::npos) continue;
    if (!found) print_heading(keys);
    found = true;
    fmt::print("{:<44}", name);
    for (DispatchKey key : keys) print_cell(key, letter(explain_slot(op, key).rule));
    fmt::print("\n");
  }
  if (!found) {
    fmt::print(stderr, "keyway table: no operator fits\n");
    return ExitStatus::Failed;
  }
  fmt::print("K kernel  E composite explicit  I composite implicit  A alias  F fallback  . falls through  - none\n");
  return ExitStatus::Ok;
}

}  // namespace

void add_table_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("table", "Print which rule serves each key of each operator");
  auto filter = std::make_shared<std::string>();
  command->add_option("filter", *filter, "Only operators whose name has this in it");
  command->footer("Exit status: 0 if there are any, 1 if none fits.");
  command->callback([filter, &status] { status = print_table(*filter); });
}

}  // namespace keyway::inline v1::tools
