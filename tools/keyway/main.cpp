// The `keyway` command.
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/keyway/loaded_libraries.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

namespace {

using keyway::tools::ExitStatus;

// What is wrong with the command line, said as errors of the commands are.
std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  const auto chosen = app->get_subcommands();
  const auto unknown = app->remaining();
  const std::string name = chosen.empty() ? "keyway" : "keyway " + chosen.front()->get_name();
  std::string text = error.what();
  if (chosen.empty() && !unknown.empty()) {
    text =
        (unknown.front().starts_with('-') ? "there is no option '" : "there is no command '") + unknown.front() + "'";
  }
  return name + ": " + text + "\nSee " + name + " --help.\n";
}

ExitStatus run(int argc, char** argv) {
  CLI::App app("Looks into Keyway's operators and schemas.", "keyway");
  app.set_version_flag("--version", "keyway " KEYWAY_VERSION);
  app.require_subcommand(1);
  app.add_option_function<std::string>("--plugin", keyway::tools::load_for_good,
                                       "Load this plug-in, or library of operators, first; may stand several times")
      ->trigger_on_parse();
  app.failure_message(usage_error);
  app.footer(
      "Exit status: 0 if all is well, 1 if what was asked about is wrong, 2 if the command line is wrong\n"
      "or its input cannot be read or its output written. Colours are shown on terminals only, and never if NO_COLOR "
      "is set.");

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
    const ExitStatus status = run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(status);
    std::cerr << "keyway: cannot write standard output\n";
    return static_cast<int>(ExitStatus::Usage);
  } catch (const std::exception& error) {
    std::cerr << "keyway: " << error.what() << '\n';
    return static_cast<int>(ExitStatus::Failed);
  }
}
