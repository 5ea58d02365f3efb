// keyway new: a project to go on from.
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/keyway/scaffold/scaffold.h>

#include <cstdio>
#include <memory>
#include <string>

namespace keyway::inline v1::tools {

namespace {

ExitStatus write_new(ProjectKind kind, const std::string& name, const std::string& given) {
  const auto files = project_files(kind, name);
  const std::string folder = given.empty() ? name : given;
  write_project(files, folder);
  for (const ProjectFile& file : files) std::printf("%s/%s\n", folder.c_str(), file.path.c_str());
  std::printf(
      "\nBuild and test it, with -DCMAKE_PREFIX_PATH=<Keyway> where CMake does not find that by itself:\n  cmake -S %s "
      "-B %s/build && cmake --build %s/build && ctest --test-dir %s/build\n",
      folder.c_str(), folder.c_str(), folder.c_str(), folder.c_str());
  return ExitStatus::Ok;
}

void add_kind(CLI::App& command, ExitStatus& status, const char* word, ProjectKind kind, const char* help) {
  CLI::App* sub = command.add_subcommand(word, help);
  auto name = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  sub->add_option("name", *name, "A name of small letters, digits and _")->required();
  sub->add_option("--folder", *folder, "Where the project goes: a folder that is not there, or is empty")
      ->default_str("a folder of that name");
  sub->callback(
      [kind, name, folder, &status] { status = guarded("new", ExitStatus::Usage, write_new, kind, *name, *folder); });
}

}  // namespace

void add_new_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("new", "Write a project that builds, tests and installs, to go on from");
  command->require_subcommand(1);
  add_kind(*command, status, "backend", ProjectKind::Backend, "A backend: a device type of one's own");
  add_kind(*command, status, "ops", ProjectKind::Ops, "A library of operators from a schema file");
  add_kind(*command, status, "plugin", ProjectKind::Plugin, "A plug-in, which can be unloaded");
  command->footer(
      "A project has C++ sources, CMake, tests, a Python package with a wheel, a workflow for CI and a README. Exit "
      "status: 0, or 2 if it cannot be written.");
}

}  // namespace keyway::inline v1::tools
