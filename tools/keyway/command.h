// What every subcommand of `keyway` shares. One file a subcommand: keyway/<name>.cpp defines
//   void add_<name>_command(CLI::App& keyway, ExitStatus& status);
// which adds it to the command line, with a callback that does the work and sets the status.
#pragma once

#include <keyway/core/base/error.h>

#include <CLI/CLI.hpp>
#include <cstdio>

namespace keyway::inline v1::tools {

enum class ExitStatus {
  Ok = 0,
  Failed = 1,  // what was asked about is wrong
  Usage = 2,   // the command line is wrong, or input cannot be read or output written
};

// What f(arguments...) returns. An Error is printed as one of the command, and comes to the given status.
template <typename F, typename... Args>
ExitStatus guarded(const char* command, ExitStatus status, F f, const Args&... arguments) {
  try {
    return f(arguments...);
  } catch (const Error& error) {
    std::fprintf(stderr, "keyway %s: %s\n", command, error.what());
    return status;
  }
}

using AddCommand = void(CLI::App& keyway, ExitStatus& status);

#define KEYWAY_COMMAND(name) AddCommand add_##name##_command;
#include <keyway/tools/keyway/commands.inc>
#undef KEYWAY_COMMAND

}  // namespace keyway::inline v1::tools
