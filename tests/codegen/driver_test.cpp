#include <keyway/codegen/driver.h>
#include <keyway/tests/codegen/test_files.h>

#include <clocale>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

using namespace keyway;
using keyway::testing::data_file;
namespace fs = std::filesystem;

namespace {

// An empty folder, gone at the end of the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("keyway_driver_test_" + std::to_string(std::random_device()()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string at(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
    return at(name);
  }
  // The texts of all files below.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path_))
      if (entry.is_regular_file()) files[fs::relative(entry.path(), path_).string()] = read_file(entry.path());
    return files;
  }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("the generator writes what it lists, and a second run writes nothing") {
  const Folder out;
  const std::string list_file = out.at("outputs.txt");
  REQUIRE(run_codegen({"--list-to", list_file, "--out", out.at("gen"), data_file("difficult.json")}).exit_code == 0);
  const std::string listed = read_file(list_file);
  fs::remove(list_file);
  CHECK(out.files().empty());

  REQUIRE(run_codegen({"--out", out.at("gen"), data_file("difficult.json")}).exit_code == 0);
  const auto first = out.files();
  std::string list;
  for (const auto& [name, text] : first) list += out.at(name) + "\n";
  CHECK(listed == list);

  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& [name, text] : first) fs::last_write_time(out.at(name), long_ago);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // may not exist here; nothing may depend on it
  CHECK(run_codegen({"--out", out.at("gen"), data_file("difficult.json")}).exit_code == 0);
  std::setlocale(LC_ALL, "C");
  CHECK(out.files() == first);
  for (const auto& [name, text] : first) CHECK(fs::last_write_time(out.at(name)) == long_ago);
}

TEST_CASE("the list goes to a file that is not touched while it stays the same, and can be insisted on") {
  const Folder out;
  const std::string list = out.at("outputs.txt");
  const std::vector<std::string> arguments = {"--list-to", list, "--out", out.at("gen"), data_file("difficult.json")};
  REQUIRE(run_codegen(arguments).exit_code == 0);
  CHECK(out.files().size() == 1);
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(list, long_ago);
  REQUIRE(run_codegen(arguments).exit_code == 0);
  CHECK(fs::last_write_time(list) == long_ago);

  const std::vector<std::string> insist = {"--expect", list, "--out", out.at("gen"), data_file("difficult.json")};
  out.write("outputs.txt", "another.h\n");
  const auto refused = run_codegen(insist);
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("configure the build again") != std::string::npos);
  CHECK(out.files().size() == 1);
  REQUIRE(run_codegen(arguments).exit_code == 0);
  CHECK(run_codegen(insist).exit_code == 0);
  CHECK(out.files().size() > 1);
}

TEST_CASE("the reference of a family is the golden one") {
  const Folder out;
  REQUIRE(run_codegen({"--out", out.at(""), data_file("difficult.json")}).exit_code == 0);
  CHECK(read_file(out.at("docs/ops/difficult.md")) == read_file(data_file("difficult.md")));
}

TEST_CASE("a mistake in one file keeps all from being written") {
  const Folder folder;
  const std::string bad = folder.write("bad.json", "{ \"doc\": \"d\", \"ops\": [1] }");
  const auto result = run_codegen({"--out", folder.at("gen"), data_file("difficult.json"), bad});
  CHECK(result.exit_code == 1);
  CHECK(result.err == bad + ":1:23: error: an item of 'ops' is a number, not an object\n");
  CHECK_FALSE(fs::exists(folder.at("gen")));
}

TEST_CASE("wrong usage and unreadable files are told apart from wrong schemas") {
  const Folder folder;
  CHECK(run_codegen({}).exit_code == 2);
  CHECK(run_codegen({"--out"}).err.find("keyway-codegen: --out needs a value\nusage:") == 0);
  CHECK(run_codegen({"--list-too", "--out", "x", "y"}).err.find("did you mean '--list-to'?") != std::string::npos);
  CHECK(run_codegen({"--help"}).out.find("usage: keyway-codegen") == 0);
  CHECK(run_codegen({"--out", folder.at("gen"), folder.at("absent.json")}).err ==
        "keyway-codegen: cannot read " + folder.at("absent.json") + "\n");
  const std::string file = folder.write("file", "");
  const auto blocked = run_codegen({"--out", file, data_file("difficult.json")});
  CHECK(blocked.exit_code == 2);
  CHECK(blocked.err.find("keyway-codegen: cannot make the folder of ") == 0);
}

TEST_CASE("of a selection the list of operators is written, and the names of the others") {
  const Folder out;
  const auto select = [&](const std::string& text) {
    return run_codegen({"--select", out.write("ops.txt", text), "--out", out.at("gen"), data_file("difficult.json")});
  };
  REQUIRE(select("where.self  # a comment\n\nkeyway::copy_\n").exit_code == 0);
  const auto files = out.files();
  CHECK(files.at("gen/op_list.cpp").find("    &ops::copy_,\n    &ops::where_self,\n};") != std::string::npos);
  const std::string& others = files.at("gen/left_out.map");
  CHECK(others.find("    _ZN6keyway2v13ops4sortE;\n") != std::string::npos);
  CHECK(others.find("ops10where_selfE") == std::string::npos);
  // What a run called, those of other namespaces aside.
  REQUIRE(select(R"({"format": 1, "decisions": [{"op": "my::op"}, {"op": "keyway::copy_"}]})").exit_code == 0);
  CHECK(out.files().at("gen/op_list.cpp").find("{\n    &ops::copy_,\n};") != std::string::npos);

  // Operators of graph/, which have no entry.
  const std::string without = "\nconstinit const ControlFlow kControlFlow{};\n";
  CHECK(out.files().at("gen/op_list.cpp").find(without) != std::string::npos);
  REQUIRE(select("copy_\nkeyway::while_loop\n").exit_code == 0);
  CHECK(out.files().at("gen/op_list.cpp").find("{\n    &ops::copy_,\n};") != std::string::npos);
  CHECK(out.files().at("gen/op_list.cpp").find("kControlFlow") == std::string::npos);

  CHECK(select("where.sel\n").err ==
        out.at("ops.txt") + ":1:1: error: there is no operator 'where.sel'; did you mean 'where.self'?\n");
  CHECK(select("{\"format\": 1}").err ==
        out.at("ops.txt") + ":1:1: error: this is no recording: it has no list of decisions\n");
}

TEST_CASE("the entries of an operator are shown, and nothing is written") {
  const auto shown = run_codegen({"--show", "where", data_file("difficult.json")});
  CHECK(shown.exit_code == 0);
  CHECK(shown.out.starts_with("{ \"func\": \"where.self(Tensor condition, Tensor self, Tensor other) -> Tensor\",\n"));
  CHECK(run_codegen({"--show", "where.self", data_file("difficult.json")}).out == shown.out);
  const Folder folder;  // of schema files, and a JSON Schema
  folder.write("difficult.json", read_file(data_file("difficult.json")));
  folder.write("op.schema.json", "{}");
  CHECK(run_codegen({"--show", "where", folder.at("")}).out == shown.out);
  const auto unknown = run_codegen({"--show", "where.sel", data_file("difficult.json")});
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.err == "keyway-codegen: there is no operator 'where.sel'; did you mean 'where.self'?\n");
}
