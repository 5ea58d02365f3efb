// SummaryWriter in C++. The bytes are those that TensorBoard 2.21 writes for the same values; what a reader finds in
// more files is tested in tests/python/test_tensorboard.py.
#include <keyway/keyway.h>
#include <keyway/nn/serialize/file_error.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/serialize/folder.h>
#include <keyway/tests/nn/values.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::testing;
namespace fs = std::filesystem;

namespace {

constexpr double kTime = 1700000000.5;

// The only file of a folder.
fs::path file_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  REQUIRE(files.size() == 1);
  return files[0];
}

// The bytes behind the first record, which tells the version, in hexadecimal digits.
std::string after_version(const fs::path& folder) {
  constexpr std::size_t kVersionRecord = 40;
  std::ifstream file(file_in(folder), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(bytes.size() >= kVersionRecord);
  std::string digits;
  for (const char byte : bytes.substr(kVersionRecord)) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    digits += kDigits[static_cast<unsigned char>(byte) >> 4];
    digits += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return digits;
}

constexpr std::string_view kScalar =
    "200000000000000029eda9500900002040fc54d94110072a130a110a0a6c6f73732f747261696e15cdcccc3d0dd9184f";
constexpr std::string_view kHistogram =
    "c900000000000000353dc6ce0900002040fc54d94110ac022aba010ab7010a01772ab1010900000000000004c01100000000"
    "00001040190000000000001c40210000000000001040290000000000304040324000000000000010c000000000000000c000"
    "0000000000f0bf0000000000000000000000000000f03f0000000000000040000000000000104000000000000020403a4000"
    "00000000000000000000000000f03f0000000000000000000000000000f03f00000000000008400000000000000000000000"
    "000000f03f000000000000f03f3727f94a";
constexpr std::string_view kText =
    "440000000000000043592e9a0900002040fc54d94110022a370a350a116e6f74652f746578745f73756d6d61727942160807"
    "120412020801420c2a2a6772c3b6c39f65722a2a4a080a060a04746578744bc5f888";
constexpr std::string_view kGraph =
    "010100000000000007454e690900002040fc54d94122f5010a2a0a01781205696e7075742a1e0a0e5f6f75747075745f7368"
    "61706573120c0a0a3a0812020802120208030a2b0a066e65742f6d6d12026d6d1a01781a056e65742f7722036370752a0e0a"
    "05616c7068611205250000003f0a240a056e65742f771209706172616d657465722a100a0573697a657312070a051a030390"
    "030a270a086e65742f72656c75120472656c751a066e65742f6d6d2a0d0a07696e706c616365120228000a290a017912066f"
    "75747075741a086e65742f72656c752a120a057768657265120912076d61696e2e70790a1c0a016e1205636f756e742a100a"
    "016e120b18ffffffffffffffffff012202081625cb9d5b";

}  // namespace

TEST_CASE("events are the bytes that TensorBoard writes") {
  const Folder folder;
  {
    nn::SummaryWriter writer(folder.path.string());
    writer.add_scalar("loss/train", 0.1, 7, kTime);
    const std::vector<double> bins = {-4, -2, -1, 0, 1, 2, 4, 8};
    const Tensor values = tensor_of({-2.5, -1.0, 0.0, 0.25, 0.25, 3.0, 4.0}, {7}, kFloat).requires_grad_();
    writer.add_histogram("w", values, 300, bins, kTime);
    writer.add_text("note",
                    "**gr\xc3\xb6\xc3\x9f"
                    "er**",
                    2, kTime);
    writer.add_graph({{"x", "input", {}, {}, {{2, 3}}},
                      {"net/mm", "mm", {"x", "net/w"}, {{"alpha", 0.5}}, {}, "cpu"},
                      {"net/w", "parameter", {}, {{"sizes", std::vector<std::int64_t>{3, 400}}}},
                      {"net/relu", "relu", {"net/mm"}, {{"inplace", false}}},
                      {"y", "output", {"net/relu"}, {{"where", "main.py"}}},
                      {"n", "count", {}, {{"n", std::int64_t{-1}}}}},
                     kTime);
  }
  CHECK(after_version(folder.path) ==
        std::string(kScalar) + std::string(kHistogram) + std::string(kText) + std::string(kGraph));
}

TEST_CASE("scalars of one chart lie in folders of their own, as the tag of the chart") {
  const Folder folder;
  nn::SummaryWriter writer(folder.path.string(), {.filename_suffix = ".mine"});
  writer.add_scalars("loss/train", {{"a", 0.1}, {"b", 0.1}}, 7, kTime);
  writer.close();
  for (const char* name : {"loss_train_a", "loss_train_b"}) CHECK(after_version(folder.path / name) == kScalar);
  CHECK(after_version(folder.path).empty());
  CHECK(file_in(folder.path).extension() == ".mine");
}

TEST_CASE("TensorFlow's bins are 0 and powers of 1.1 of both signs") {
  const std::vector<double>& edges = nn::SummaryWriter::tensorflow_bins();
  const std::size_t half = edges.size() / 2;
  REQUIRE(edges.size() == 2 * half + 1);
  CHECK(edges[half] == 0);
  double expected = 1e-12;
  for (std::size_t i = half + 1; i < edges.size(); ++i, expected *= 1.1) {
    CHECK(edges[i] == expected);
    CHECK(edges[edges.size() - 1 - i] == -expected);
  }
  CHECK((edges.back() < 1e20 && edges.back() * 1.1 >= 1e20));
}

TEST_CASE("what cannot be shown or written is refused") {
  const Folder folder;
  nn::SummaryWriter writer(folder.path.string());
  CHECK(error_of([&] { writer.add_histogram("h", empty({0})); }).find("no values for 'h'") != std::string::npos);
  CHECK(error_of([&] {
          writer.add_histogram("h", ones({2}), 0, std::vector<double>{1, 0});
        }).find("1 comes before 0") != std::string::npos);
  CHECK(error_of([&] { writer.add_graph({{"a", "x"}, {"a", "y"}}); }).find("two nodes") != std::string::npos);
  writer.flush();
  CHECK(after_version(folder.path).empty());
  std::ofstream(folder.path / "file").close();
  CHECK_THROWS_AS(nn::SummaryWriter((folder.path / "file" / "run").string()), nn::FileError);
}
