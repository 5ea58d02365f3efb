// What every subcommand of `keyway` shares. One file a subcommand: keyway/<name>.cpp defines
//   void add_<name>_command(CLI::App& keyway, ExitStatus& status);
// which adds it to the command line, with a callback that does the work and sets the status.
#pragma once

#include <CLI/CLI.hpp>

namespace keyway::inline v1::tools {

enum class ExitStatus {
  Ok = 0,
  Failed = 1,  // what was asked about is wrong
  Usage = 2,   // the command line is wrong, or input cannot be read or output written
};

using AddCommand = void(CLI::App& keyway, ExitStatus& status);

#define KEYWAY_COMMAND(name) AddCommand add_##name##_command;
#include <keyway/tools/keyway/commands.inc>
#undef KEYWAY_COMMAND

}  // namespace keyway::inline v1::tools
