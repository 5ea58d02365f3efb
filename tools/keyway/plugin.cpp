// keyway plugin: what there is to know of plug-ins.
#include <keyway/core/base/error.h>
#include <keyway/dispatch/plugin/fallback_report.h>
#include <keyway/tools/keyway/command.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace keyway::inline v1::tools {

namespace {

ExitStatus print_report(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  KEYWAY_CHECK(file.good() && text.good(), "cannot read {}", path);
  std::fputs(to_string(parse_cpu_fallback_report(text.str())).c_str(), stdout);
  return ExitStatus::Ok;
}

void add_report(CLI::App& plugin, ExitStatus& status) {
  CLI::App* command =
      plugin.add_subcommand("report", "Print what went through the fallback to the CPU, by bytes moved");
  auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "What a process wrote that ran with KEYWAY_FALLBACK_REPORT=FILE")->required();
  command->footer(
      "The operators that a backend gains most by writing next come first. Exit status: 0, or 2 if the "
      "file cannot be read.");
  command->callback([path, &status] { status = guarded("plugin report", ExitStatus::Usage, print_report, *path); });
}

}  // namespace

void add_plugin_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("plugin", "Tell what there is to know of plug-ins");
  command->require_subcommand(1);
  add_report(*command, status);
}

}  // namespace keyway::inline v1::tools
