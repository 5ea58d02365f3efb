#include <keyway/codegen/base/diagnostics.h>
#include <keyway/codegen/base/names.h>
#include <keyway/codegen/driver.h>
#include <keyway/codegen/emit/emitter.h>
#include <keyway/codegen/model/build_model.h>
#include <keyway/codegen/selection.h>
#include <keyway/codegen/show.h>
#include <keyway/codegen/writer.h>
#include <keyway/core/base/error.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

constexpr std::string_view kUsage =
    "usage: keyway-codegen [--list-to FILE] [--expect FILE] [--base FILE]... --out DIR FILE...\n"
    "       keyway-codegen --select FILE --out DIR FILE...\n"
    "       keyway-codegen --show OP [--base FILE]... FILE...\n"
    "\n"
    "Generates the sources of the operators in the schema files; FILE is one, or a folder of them.\n"
    "  --out DIR        the folder to write to; files whose text stays the same are not touched\n"
    "  --list-to FILE   write into FILE, one a line, which files would be written, and write none; a FILE that says "
    "so\n"
    "                   already is not touched\n"
    "  --expect FILE    fail, and write nothing, unless the files to write are those of such a list\n"
    "  --base FILE      a schema file of Keyway: the others are those of a library out of tree, in folders and "
    "namespaces\n"
    "                   named after the namespace of its operators; its formulas may call those of FILE\n"
    "  --select FILE    write what a build with some of the operators only needs: FILE has their names, one a line, "
    "or\n"
    "                   is a recording of a run\n"
    "  --show OP        print what the entries of OP come to, and write nothing: with all that macros, families and\n"
    "                   defaults put in\n";

struct Options {
  bool help = false;
  std::string out;
  std::string list_to;
  std::string expect;
  std::string show;
  std::vector<std::string> base_files;
  std::vector<std::string> selections;
  std::vector<std::string> files;
};

// Throws keyway::Error.
Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto value = [&]() -> const std::string& {
      KEYWAY_CHECK(i + 1 < arguments.size(), "{} needs a value", argument);
      return arguments[++i];
    };
    if (argument == "--help") {
      options.help = true;
    } else if (argument == "--out") {
      options.out = value();
    } else if (argument == "--list-to") {
      options.list_to = value();
    } else if (argument == "--expect") {
      options.expect = value();
    } else if (argument == "--show") {
      options.show = value();
    } else if (argument == "--base") {
      options.base_files.push_back(value());
    } else if (argument == "--select") {
      options.selections.push_back(value());
    } else {
      KEYWAY_CHECK(
          !argument.starts_with("-"), "unknown option {}{}", in_quotes(argument),
          did_you_mean(argument, {"--list-to", "--expect", "--base", "--select", "--show", "--out", "--help"}));
      options.files.push_back(argument);
    }
  }
  KEYWAY_CHECK(options.help || !options.show.empty() || !options.out.empty(), "--out is missing");
  KEYWAY_CHECK(options.help || !options.files.empty(), "no schema file is given");
  return options;
}

std::vector<SourceFile> read_files(const std::vector<std::string>& paths) {
  std::vector<SourceFile> files;
  for (const std::string& path : paths) files.push_back({path, read_file(path)});
  return files;
}

// Schema files, and those of folders in the order of their names, but for a JSON Schema that describes them.
std::vector<SourceFile> read_schemas(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      const std::string file = entry.path().string();
      if (file.ends_with(".json") && !file.ends_with(".schema.json")) files.push_back(file);
    }
    std::sort(files.begin() + first, files.end());
  }
  return read_files(files);
}

// The paths of the files, one a line.
std::string list_of(const std::vector<OutputFile>& outputs, const std::filesystem::path& folder) {
  std::string list;
  for (const OutputFile& file : outputs) list += (folder / file.path).string() + "\n";
  return list;
}

void write_all(const std::vector<OutputFile>& outputs, const std::filesystem::path& folder) {
  for (const OutputFile& file : outputs) write_if_changed(folder / file.path, file.text);
}

DriverResult select(const Options& options, const std::vector<Family>& families) {
  Diagnostics diagnostics;
  std::set<std::string> wanted;
  for (const SourceFile& file : read_files(options.selections))
    wanted.merge(read_selection(file, families, diagnostics));
  if (!diagnostics.empty()) return {1, {}, diagnostics.str()};
  write_all(emit_selected_ops(families, wanted), options.out);
  return {0};
}

DriverResult show(const Options& options, const std::vector<Family>& families) {
  const std::string entries = show_entries(families, options.show);
  if (!entries.empty()) return {0, entries};
  std::vector<std::string> names;
  for (const Family& family : families)
    for (const Op& op : family.ops) names.emplace_back(op.name());
  return {.exit_code = 1,
          .err = fmt::format("keyway-codegen: there is no operator {}{}\n", in_quotes(options.show),
                             did_you_mean(options.show, names))};
}

DriverResult generate(const Options& options) {
  Diagnostics diagnostics;
  const auto families = build_model(read_schemas(options.files), diagnostics, read_schemas(options.base_files));
  if (!families) return {1, {}, diagnostics.str()};
  if (!options.show.empty()) return show(options, *families);
  if (!options.selections.empty()) return select(options, *families);
  const std::vector<OutputFile> outputs = emit_all(*families);
  const std::string list = list_of(outputs, options.out);
  if (!options.list_to.empty()) {
    write_if_changed(options.list_to, list);
    return {0};
  }
  KEYWAY_CHECK(options.expect.empty() || read_file(options.expect) == list,
               "the files to generate are not those in {}: configure the build again", options.expect);
  write_all(outputs, options.out);
  return {0};
}

}  // namespace

DriverResult run_codegen(const std::vector<std::string>& arguments) {
  Options options;
  try {
    options = parse_options(arguments);
    if (options.help) return {0, std::string(kUsage)};
  } catch (const std::exception& error) {
    return {2, {}, fmt::format("keyway-codegen: {}\n{}", error.what(), kUsage)};
  }
  try {
    return generate(options);
  } catch (const std::exception& error) {
    return {2, {}, fmt::format("keyway-codegen: {}\n", error.what())};
  }
}

}  // namespace keyway::inline v1
