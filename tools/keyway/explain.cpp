// keyway explain: why a call goes where it goes.
#include <keyway/core/base/error.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/tools/keyway/command.h>

#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

namespace keyway::inline v1::tools {

namespace {

struct ExplainOptions {
  std::string op;
  std::vector<std::string> keys, include, exclude;
  std::string what_if;
  bool json = false;
};

// Throws keyway::Error for a name that is none.
DispatchKey key_named(const std::string& name) {
  const auto key = parse_dispatch_key(name);
  KEYWAY_CHECK(key, "there is no dispatch key '{}'", name);
  return *key;
}

DispatchKeySet keys_named(const std::vector<std::string>& names) {
  DispatchKeySet keys;
  for (const std::string& name : names) keys = keys.add(key_named(name));
  return keys;
}

void print_changes(const std::vector<SlotChange>& changes) {
  for (const SlotChange& change : changes) {
    fmt::print("{:<26} {}\n{:<26} {}\n", to_string(change.key), to_string(change.before), "  then",
               to_string(change.after));
  }
  if (changes.empty()) fmt::print("nothing changes\n");
}

ExitStatus run_explain(const ExplainOptions& options) {
  const OperatorHandle op = Dispatcher::singleton().op(options.op);
  if (!options.what_if.empty()) {
    print_changes(what_if(op, key_named(options.what_if)));
    return ExitStatus::Ok;
  }
  const IncludeDispatchKeyGuard include(keys_named(options.include));
  const ExcludeDispatchKeyGuard exclude(keys_named(options.exclude));
  const Explanation explanation = explain(op, keys_named(options.keys));
  fmt::print("{}", options.json ? to_json(explanation) : to_string(explanation));
  return ExitStatus::Ok;
}

}  // namespace

void add_explain_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("explain", "Explain which kernel a call reaches, and why");
  auto options = std::make_shared<ExplainOptions>();
  command->add_option("operator", options->op, "Its name: add.Tensor, or my::op of another namespace")->required();
  command->add_option("--keys", options->keys, "Keys of the arguments: CPU,AutogradCPU")->delimiter(',');
  command->add_option("--include", options->include, "Keys that the thread adds")->delimiter(',');
  command->add_option("--exclude", options->exclude, "Keys that the thread takes away")->delimiter(',');
  command->add_option("--what-if", options->what_if, "What a kernel registered to this key would change, instead");
  command->add_flag("--json", options->json, "As a JSON object");
  command->footer("Exit status: 0, or 1 if there is no such operator or key.");
  command->callback([options, &status] { status = guarded("explain", ExitStatus::Failed, run_explain, *options); });
}

}  // namespace keyway::inline v1::tools
