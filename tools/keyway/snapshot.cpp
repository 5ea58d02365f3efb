// keyway snapshot: what is registered, as a file.
#include <keyway/dispatch/inspect/snapshot.h>
#include <keyway/tools/keyway/command.h>

#include <fmt/format.h>
#include <memory>
#include <string>

namespace keyway::inline v1::tools {

void add_snapshot_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("snapshot", "Print all that is registered, as canonical JSON");
  auto pattern = std::make_shared<std::string>();
  command->add_option("--op", *pattern, "Only operators whose full name has this in it");
  command->footer(
      "It depends on what is registered, not on the order in which it was: kept in a repository, it shows in review "
      "what\n"
      "a change registers. keyway diff compares two. Exit status: 0.");
  command->callback([pattern, &status] {
    fmt::print("{}", registry_snapshot(*pattern));
    status = ExitStatus::Ok;
  });
}

}  // namespace keyway::inline v1::tools
