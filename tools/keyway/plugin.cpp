// keyway plugin: what there is to know of plug-ins.
#include <keyway/core/base/error.h>
#include <keyway/dispatch/plugin/fallback_report.h>
#include <keyway/dispatch/plugin/manifest.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tools/keyway/command.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace keyway::inline v1::tools {

namespace {

using Json = nlohmann::ordered_json;

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

// ---- describe ----

struct DescribeOptions {
  std::string path, version;
  std::vector<std::string> needs;  // files
};

ExitStatus describe(const DescribeOptions& options) {
  PluginManifest manifest;
  {
    std::vector<LoadedPlugin> needed;  // the last one goes first
    for (const std::string& path : options.needs) needed.push_back(load_plugin(path));
    remove_plugin_manifest(options.path);
    LoadedPlugin plugin = load_plugin(options.path);
    manifest = manifest_of(plugin);
    for (const LoadedPlugin& each : needed) manifest.needs.plugins.insert(each.name());
    plugin.unload();
    while (!needed.empty()) needed.pop_back();
  }
  manifest.version = options.version;
  manifest.keyway = KEYWAY_VERSION;
  write_plugin_manifest(options.path, manifest);
  return ExitStatus::Ok;
}

void add_describe(CLI::App& plugin, ExitStatus& status) {
  CLI::App* command = plugin.add_subcommand("describe", "Load a plug-in, and write what it registers into its file");
  auto options = std::make_shared<DescribeOptions>();
  command->add_option("file", options->path, "The plug-in")->required();
  command->add_option("--plugin-version", options->version, "Its version");
  command->add_option("--needs", options->needs, "The file of a plug-in that has to be loaded before");
  command->footer(
      "What the file said before is taken away first. keyway_add_plugin does this after it has linked a plug-in, "
      "unless\n"
      "it is told NO_MANIFEST. Exit status: 0, or 1 if the plug-in cannot be loaded or the file cannot be written.");
  command->callback(
      [options, &status] { status = guarded("plugin describe", ExitStatus::Failed, describe, *options); });
}

// ---- inspect ----

std::string joined(const std::set<std::string>& texts) { return fmt::format("{}", fmt::join(texts, ", ")); }

std::size_t count_kernels(const PluginContents& contents) {
  std::size_t count = 0;
  for (const auto& [op, keys] : contents.kernels) count += keys.size();
  return count;
}

void print_row(const char* what, const std::string& text) {
  if (!text.empty()) fmt::print("  {:<16}{}\n", what, text);
}

void print_manifest(const std::string& path, const PluginManifest& manifest) {
  const PluginContents& registers = manifest.registers;
  fmt::print("{}\n", path);
  print_row("name", manifest.name);
  print_row("version", manifest.version);
  print_row("built against", fmt::format("Keyway {}, headers {}", manifest.keyway, manifest.abi));
  print_row("device types", joined(registers.device_types));
  print_row("fallbacks", joined(registers.fallbacks));
  print_row("needs plug-ins", joined(manifest.needs.plugins));
  print_row("needs devices", joined(manifest.needs.device_types));
  print_row("operators", std::to_string(registers.operators.size()));
  for (const std::string& schema : registers.operators) fmt::print("    {}\n", schema);
  print_row("kernels", std::to_string(count_kernels(registers)));
  for (const auto& [op, keys] : registers.kernels) {
    fmt::print("    {}  {}{}\n", op, joined(keys),
               manifest.needs.operators.contains(op) ? "  (of another library)" : "");
  }
}

struct FilesOptions {
  std::vector<std::string> files;
  bool json = false, load = false;
};

ExitStatus inspect(const FilesOptions& options) {
  auto status = ExitStatus::Ok;
  for (const std::string& path : options.files) {
    const std::optional<PluginManifest> manifest = read_plugin_manifest(path);
    if (!manifest) {
      fmt::print(stderr, "keyway plugin inspect: plug-in {}: it has no manifest\n", path);
      status = ExitStatus::Failed;
    } else if (options.json) {
      std::fputs(to_json(*manifest).c_str(), stdout);
    } else {
      print_manifest(path, *manifest);
    }
  }
  return status;
}

void add_inspect(CLI::App& plugin, ExitStatus& status) {
  CLI::App* command = plugin.add_subcommand("inspect", "Print what plug-ins say of themselves, without running them");
  auto options = std::make_shared<FilesOptions>();
  command->add_option("file", options->files, "Plug-ins, also those for other machines")->required();
  command->add_flag("--json", options->json, "As it stands in the file");
  command->footer("Exit status: 0, 1 if one has no manifest, or 2 if one is no shared library or damaged.");
  command->callback([options, &status] { status = guarded("plugin inspect", ExitStatus::Usage, inspect, *options); });
}

// ---- check ----

// What becomes of a process that loads the plug-in and unloads it; empty if it does well. What it prints is printed.
std::string try_to_load(const std::string& path) {
  std::fflush(stdout);
  const pid_t child = fork();
  KEYWAY_CHECK(child >= 0, "cannot fork: {}", std::strerror(errno));
  if (child == 0) {
    try {
      load_plugin(path).unload();
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      _exit(static_cast<int>(ExitStatus::Failed));
    }
    _exit(static_cast<int>(ExitStatus::Ok));
  }
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(ended)) return fmt::format("a process that loads it ends by signal {}", strsignal(WTERMSIG(ended)));
  return WEXITSTATUS(ended) == 0 ? "" : fmt::format("a process that loads it ends with status {}", WEXITSTATUS(ended));
}

// Why this build does not load a plug-in; empty if it does.
std::string problem_of(const std::string& path, bool load, std::optional<PluginManifest>& manifest) {
  try {
    manifest = check_plugin(path);
  } catch (const Error& error) {
    return error.what();
  }
  const std::string ended = load ? try_to_load(path) : std::string();
  return ended.empty() ? ended : "plug-in " + path + ": " + ended;
}

Json json_of(const std::string& path, const std::string& problem, const std::optional<PluginManifest>& manifest) {
  return {{"file", path}, {"problem", problem}, {"manifest", manifest ? Json::parse(to_json(*manifest)) : Json()}};
}

ExitStatus check(const FilesOptions& options) {
  auto status = ExitStatus::Ok;
  Json all = Json::array();
  for (const std::string& path : options.files) {
    std::optional<PluginManifest> manifest;
    const std::string problem = problem_of(path, options.load, manifest);
    if (!problem.empty()) status = ExitStatus::Failed;
    if (options.json) {
      all.push_back(json_of(path, problem, manifest));
    } else if (!problem.empty()) {
      fmt::print("{}\n", problem);
    } else {
      fmt::print("plug-in {}: it can be loaded{}\n", path,
                 manifest || options.load ? "" : ", as far as its tables tell: it has no manifest");
    }
  }
  if (options.json) fmt::print("{}\n", all.dump(1));
  return status;
}

void add_check(CLI::App& plugin, ExitStatus& status) {
  CLI::App* command = plugin.add_subcommand("check", "Say whether this Keyway can load plug-ins, without running them");
  auto options = std::make_shared<FilesOptions>();
  command->add_option("file", options->files, "Plug-ins")->required();
  command->add_flag("--load", options->load, "Also load each and unload it, in a process of its own");
  command->add_flag("--json", options->json, "As a JSON list");
  command->footer(
      "Of one that it cannot load it says why, and where they differ: headers, schemas of operators, damage. Exit\n"
      "status: 0, or 1 if one cannot be loaded.");
  command->callback([options, &status] { status = guarded("plugin check", ExitStatus::Failed, check, *options); });
}

// ---- list ----

std::vector<std::string> libraries_in(const std::vector<std::string>& folders) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(folder, failure)) {
      if (entry.path().extension() == ".so") files.push_back(entry.path().string());
    }
    KEYWAY_CHECK(!failure, "cannot read the folder {}: {}", folder, failure.message());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The folders of KEYWAY_PLUGIN_PATH.
std::vector<std::string> plugin_folders() {
  const char* const path = std::getenv("KEYWAY_PLUGIN_PATH");
  std::istringstream all(path == nullptr ? "" : path);
  std::vector<std::string> folders;
  for (std::string folder; std::getline(all, folder, ':');) {
    if (!folder.empty()) folders.push_back(folder);
  }
  KEYWAY_CHECK(!folders.empty(), "no folder is given, and KEYWAY_PLUGIN_PATH names none");
  return folders;
}

std::string summary(const PluginManifest& manifest) {
  const PluginContents& registers = manifest.registers;
  std::string text = manifest.name + (manifest.version.empty() ? "" : " " + manifest.version);
  if (!registers.device_types.empty()) text += ", device type " + joined(registers.device_types);
  return text + fmt::format(", operators {}, kernels {}", registers.operators.size(), count_kernels(registers));
}

ExitStatus list(const FilesOptions& options) {
  Json all = Json::array();
  for (const std::string& path : libraries_in(options.files.empty() ? plugin_folders() : options.files)) {
    std::optional<PluginManifest> manifest;
    const std::string problem = problem_of(path, false, manifest);
    if (options.json) {
      all.push_back(json_of(path, problem, manifest));
    } else if (!problem.empty()) {
      fmt::print("{}\n", problem);
    } else {
      fmt::print("{}: {}\n", path, manifest ? summary(*manifest) : "it has no manifest");
    }
  }
  if (options.json) fmt::print("{}\n", all.dump(1));
  return ExitStatus::Ok;
}

void add_list(CLI::App& plugin, ExitStatus& status) {
  CLI::App* command = plugin.add_subcommand("list", "List the plug-ins of folders, without running them");
  auto options = std::make_shared<FilesOptions>();
  command->add_option("folder", options->files, "Folders (default: those of KEYWAY_PLUGIN_PATH)");
  command->add_flag("--json", options->json, "As a JSON list");
  command->footer(
      "Each library there has a line: what it says of itself, or why it cannot be loaded. Exit status: 0, or 2 if a\n"
      "folder cannot be read.");
  command->callback([options, &status] { status = guarded("plugin list", ExitStatus::Usage, list, *options); });
}

}  // namespace

void add_plugin_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("plugin", "Tell what there is to know of plug-ins");
  command->require_subcommand(1);
  add_inspect(*command, status);
  add_check(*command, status);
  add_list(*command, status);
  add_describe(*command, status);
  add_report(*command, status);
}

}  // namespace keyway::inline v1::tools
