#include <keyway/nn/serialize/safetensors.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/serialize/folder.h>
#include <keyway/tests/nn/values.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::Folder;
using keyway::testing::some_tensor;
using keyway::testing::tensor_of;
using keyway::testing::values_of;
namespace fs = std::filesystem;

namespace {

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Bytes of a row-major tensor.
std::string bytes_of(const Tensor& tensor) { return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()}; }

}  // namespace

TEST_CASE("tensors of every dtype come back bit by bit, in order, mapped or read") {
  const Folder folder;
  nn::StateDict saved;
  const ScalarType dtypes[] = {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kBFloat16, kFloat, kDouble};
  for (const ScalarType dtype : dtypes) {
    saved.insert(std::string(to_string(dtype)), tensor_of({0, 1, 1, 0, 1, 1}, {2, 3}, dtype));
  }
  saved.insert("scalar", tensor_of({2.5}, {}));
  saved.insert("empty", keyway::empty({2, 0}));
  saved.insert("a \"name\" \u4e2d\n", some_tensor({7}, 3, kFloat));
  nn::save_safetensors(saved, folder.file(), {{"key", "value"}});
  for (const bool map : {false, true}) {
    const nn::SafetensorsFile loaded = nn::read_safetensors(folder.file(), {.map = map});
    CHECK(loaded.metadata == nn::Metadata{{"key", "value"}});
    REQUIRE(loaded.tensors.keys() == saved.keys());
    for (const auto& [name, tensor] : saved) {
      const Tensor& other = loaded.tensors[name];
      INFO(name);
      CHECK(other.scalar_type() == tensor.scalar_type());
      CHECK(other.sizes() == tensor.sizes());
      CHECK(bytes_of(other) == bytes_of(tensor));
    }
  }
}

TEST_CASE("the bytes of a file are the format's") {
  const Folder folder;
  nn::StateDict state;
  state.insert("b", tensor_of({1}, {1}, kByte));
  state.insert("w", tensor_of({1, -2}, {2}, kFloat));
  nn::save_safetensors(state, folder.file());
  const std::string json =
      R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[8,9]},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  std::string expected = json;
  expected.resize((json.size() + 7) / 8 * 8, ' ');
  expected = std::string(1, static_cast<char>(expected.size())) + std::string(7, '\0') + expected;
  CHECK(read_bytes(folder.file()) == expected + std::string("\0\0\x80\x3f\0\0\0\xc0\x01", 9));
}

TEST_CASE("a file in memory is the file on disk, and is refused where that is") {
  const Folder folder;
  nn::StateDict state;
  state.insert("w", some_tensor({4, 6}).transpose(0, 1));
  state.insert("empty", keyway::empty({2, 0}));
  nn::save_safetensors(state, folder.file(), {{"key", "value"}});
  const std::string bytes = nn::serialize_safetensors(state, {{"key", "value"}});
  CHECK(bytes == read_bytes(folder.file()));
  const nn::SafetensorsFile parsed = nn::deserialize_safetensors(bytes);
  CHECK(parsed.metadata == nn::Metadata{{"key", "value"}});
  REQUIRE(parsed.tensors.keys() == state.keys());
  CHECK(values_of(parsed.tensors["w"]) == values_of(state["w"]));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(nn::deserialize_safetensors(std::string_view(bytes).substr(0, size)), Error);
}

TEST_CASE("views are saved as their elements, and parameters without their history") {
  const Folder folder;
  const Tensor x = some_tensor({4, 6}).requires_grad_();
  nn::StateDict state;
  state.insert("transposed", x.transpose(0, 1));
  state.insert("column", x.select(1, 2));
  state.insert("computed", x * 2);
  nn::save_safetensors(state, folder.file());
  const nn::StateDict loaded = nn::load_safetensors(folder.file());
  for (const auto& [name, tensor] : state) {
    CHECK(values_of(loaded[name]) == values_of(tensor));
    CHECK(loaded[name].is_contiguous());
    CHECK(!loaded[name].requires_grad());
  }
}

TEST_CASE("what is written to a mapped tensor does not reach the file, and it outlives the others") {
  const Folder folder;
  nn::StateDict state;
  state.insert("a", some_tensor({1000}));
  state.insert("b", some_tensor({1000}, 2));
  nn::save_safetensors(state, folder.file());
  const std::string before = read_bytes(folder.file());
  Tensor a = nn::load_safetensors(folder.file(), {.map = true})["a"];
  a.mul_(3);
  CHECK(values_of(a) == values_of(state["a"] * 3));
  CHECK(read_bytes(folder.file()) == before);
}

TEST_CASE("a hostile file is refused with its name, and elements of BOOL are 0 or 1") {
  const Folder folder;
  write_bytes(folder.file(), "1234567");
  CHECK(error_of([&] { nn::load_safetensors(folder.file()); }) ==
        folder.file() + ": the file has 7 bytes, but begins with 8 bytes of length");
  const std::string json = R"({"t":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}})";
  write_bytes(folder.file(), std::string(1, static_cast<char>(json.size())) + std::string(7, '\0') + json + "\x01\x02");
  for (const bool map : {false, true}) {
    CHECK(error_of([&] { nn::load_safetensors(folder.file(), {.map = map}); }) ==
          folder.file() + ": tensor 't': an element of BOOL is neither 0 nor 1");
  }
}

TEST_CASE("what cannot be opened, read or written is an error that names it") {
  const Folder folder;
  CHECK(error_of([&] { nn::load_safetensors(folder.file("none")); }) ==
        "cannot open " + folder.file("none") + ": No such file or directory");
  CHECK(error_of([&] { nn::load_safetensors(folder.path.string()); }) ==
        "cannot read " + folder.path.string() + ": it is no regular file");
  REQUIRE(mkfifo(folder.file("pipe").c_str(), 0600) == 0);  // which nobody writes to: nobody waits for that
  CHECK(error_of([&] { nn::load_safetensors(folder.file("pipe")); }) ==
        "cannot read " + folder.file("pipe") + ": it is no regular file");
  CHECK(error_of([&] {
          nn::save_safetensors({}, folder.file("no/folder"));
        }).find("cannot create " + folder.file("no/folder")) == 0);
}

TEST_CASE("a failed save leaves the old file and nothing else") {
  const Folder folder;
  nn::StateDict good, bad;
  good.insert("t", some_tensor({3}));
  bad.insert("t", Tensor());
  nn::save_safetensors(good, folder.file());
  CHECK(error_of([&] { nn::save_safetensors(bad, folder.file()); }) == "tensor 't' is undefined and cannot be saved");
  CHECK(values_of(nn::load_safetensors(folder.file())["t"]) == values_of(good["t"]));
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a new version of a file keeps its permissions") {
  const Folder folder;
  nn::save_safetensors({}, folder.file());
  fs::permissions(folder.file(), fs::perms::owner_read | fs::perms::owner_write);
  nn::save_safetensors({}, folder.file());
  CHECK(fs::status(folder.file()).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("whoever kills a save at any moment leaves the old file or the whole new one") {
  const Folder folder;
  constexpr std::int64_t kSize = 1 << 18;
  const int rounds = testing::campaign(20, 25);
  nn::StateDict states[2];
  for (int i = 0; i < 2; ++i) states[i].insert("t", keyway::full({kSize}, i, kFloat));
  nn::save_safetensors(states[0], folder.file());
  unsigned seed = 1;
  for (int round = 0; round < rounds; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 1;; i = 1 - i) nn::save_safetensors(states[i], folder.file());
    }
    REQUIRE(child > 0);
    seed = seed * 1664525 + 1013904223;
    usleep(seed >> 18);  // up to 16 ms
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const Tensor found = nn::load_safetensors(folder.file())["t"];
    const auto* first = found.data_ptr<float>();
    REQUIRE(found.numel() == kSize);
    REQUIRE((*first == 0 || *first == 1));
    REQUIRE(std::memcmp(first, first + 1, (kSize - 1) * sizeof(float)) == 0);
  }
}
