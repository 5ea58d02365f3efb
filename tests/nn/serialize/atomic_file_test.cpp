// AtomicFile where the name is a symbolic link, a pipe or a folder. The oracle is what the system reads back.
#include <keyway/nn/serialize/atomic_file.h>
#include <keyway/nn/serialize/file_error.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/serialize/folder.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

using namespace keyway;
using keyway::testing::Folder;
namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void save(const fs::path& path, std::string_view bytes) {
  nn::AtomicFile file(path.string());
  file.write(bytes);
  file.commit();
}

int number_of(const fs::path& path) {
  try {
    save(path, "new");
  } catch (const nn::FileError& error) {
    return error.number();
  }
  return 0;
}

}  // namespace

TEST_CASE("a file behind symbolic links is replaced, and the links stay") {
  const Folder folder;
  fs::create_directory(folder.path / "data");
  std::ofstream(folder.path / "data" / "target") << "old";
  fs::permissions(folder.path / "data" / "target", fs::perms(0640));
  fs::create_symlink("data/target", folder.path / "inner");  // relative to the link's folder, not to the program's
  fs::create_symlink(folder.path / "inner", folder.path / "outer");
  save(folder.path / "outer", "new");
  CHECK(fs::is_symlink(folder.path / "outer"));
  CHECK(fs::is_symlink(folder.path / "inner"));
  CHECK(content(folder.path / "data" / "target") == "new");
  CHECK(fs::status(folder.path / "data" / "target").permissions() == fs::perms(0640));
  CHECK(std::distance(fs::directory_iterator(folder.path / "data"), fs::directory_iterator()) == 1);
}

TEST_CASE("a link to nothing leads to where the file is made") {
  const Folder folder;
  fs::create_symlink("later", folder.path / "link");
  save(folder.path / "link", "new");
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(content(folder.path / "later") == "new");
}

TEST_CASE("links in a ring and folders are errors of the system") {
  const Folder folder;
  fs::create_symlink("b", folder.path / "a");
  fs::create_symlink("a", folder.path / "b");
  CHECK(number_of(folder.path / "a") == ELOOP);
  CHECK(number_of(folder.path) == EISDIR);
}

TEST_CASE("a pipe gets the bytes, and stays a pipe") {
  const Folder folder;
  const fs::path pipe = folder.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::future<std::string> read = std::async(std::launch::async, [&] { return content(pipe); });
  save(pipe, "new");
  CHECK(read.get() == "new");
  CHECK(fs::is_fifo(pipe));
}
