// Projects that `keyway new` writes: one that builds, tests and installs as it is, to go on from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::tools {

enum class ProjectKind {
  Backend,  // a device type
  Ops,      // operators of a schema file
  Plugin,   // what a KEYWAY_PLUGIN registers
};

struct ProjectFile {
  std::string path;  // below the project's folder
  std::string text;
};

// The files of a project. Its name becomes a device type, or a namespace of operators, and a module of Python. Throws
// keyway::Error(Value) for a name that cannot be all of this.
std::vector<ProjectFile> project_files(ProjectKind kind, std::string_view name);

// Writes them. Throws keyway::Error(Value) if the folder is there and not empty, and keyway::Error where a file cannot
// be written; then nothing is left.
void write_project(const std::vector<ProjectFile>& files, const std::string& folder);

}  // namespace keyway::inline v1::tools
