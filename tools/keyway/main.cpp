// The `keyway` command.
#include <keyway/tools/keyway/command.h>

#include <exception>
#include <iostream>

namespace {

using keyway::tools::ExitStatus;

ExitStatus run(int argc, char** argv) {
  CLI::App app("Looks into Keyway's operators and schemas.", "keyway");
  app.set_version_flag("--version", "keyway " KEYWAY_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 if all is well, 1 if what was asked about is wrong, 2 if the command line is wrong\n"
      "or its input cannot be read. Colours are shown on terminals only, and never if NO_COLOR is set.");

  auto status = ExitStatus::Ok;
#define KEYWAY_COMMAND(name) keyway::tools::add_##name##_command(app, status);
#include <keyway/tools/keyway/commands.inc>
#undef KEYWAY_COMMAND

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitStatus::Ok : ExitStatus::Usage;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "keyway: " << error.what() << '\n';
    return static_cast<int>(ExitStatus::Failed);
  }
}
