// Runs a fuzzer without libFuzzer, where there is no clang: mutates the files of folders, and keeps what the fuzzer
// does not reject (it returns 0, and not -1) to mutate it further.
//
//   graph_fuzz [-runs=1000000] [-seed=1] [-max_len=4096] [-timeout=10] [-max_total_time=0] [-artifact_prefix=./]
//     FOLDER... or FILE...
//
// Files alone are looked at once, as they are. An input that ends the process, or takes longer than `timeout` seconds,
// is kept as <artifact_prefix>crash-<number>.
#include <keyway/tests/fuzz/fuzzing.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data, std::size_t size,
                                                                       const std::uint8_t* other,
                                                                       std::size_t other_size, std::uint8_t* out,
                                                                       std::size_t most, unsigned seed);
#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace {

using keyway::fuzzing::Choices;

constexpr std::size_t kMostKept = 20000;

std::string artifact;
const std::string* running = nullptr;

// Where the process ends: only what a handler of signals may do.
void keep_running() {
  if (running == nullptr) return;
  const int file = open(artifact.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  const auto written [[maybe_unused]] = write(file, running->data(), running->size());
  close(file);
  running = nullptr;
}
void end_by(int signal_number) {
  keep_running();
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

int look_at(const std::string& input, unsigned timeout) {
  running = &input;
  alarm(timeout);
  const int result = LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  running = nullptr;
  return result;
}

std::string changed_bytes(std::string input, const std::string& other, Choices& choices) {
  for (std::size_t left = 1 + choices.below(4); left > 0; --left) {
    const std::size_t at = choices.below(input.size() + 1), count = std::min(1 + choices.below(8), input.size() - at);
    switch (choices.below(6)) {
      case 0: input.erase(at, count); break;
      case 1: input.insert(at, input.substr(choices.below(input.size() + 1), count)); break;
      case 2: input.insert(at, 1, static_cast<char>(choices.below(256))); break;
      case 3: input.insert(at, other.substr(choices.below(other.size() + 1), 1 + choices.below(64))); break;
      case 4:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << choices.below(8)));
        break;
      default:
        if (at < input.size())
          input[at] = static_cast<char>(choices.one_in(2) ? choices.below(256) : 255 * choices.below(2));
    }
  }
  return input;
}

std::string mutated(const std::string& input, const std::string& other, std::size_t most, Choices& choices) {
  if (&LLVMFuzzerCustomCrossOver == nullptr) return changed_bytes(input, other, choices).substr(0, most);
  const auto bytes = [](const std::string& text) { return reinterpret_cast<const std::uint8_t*>(text.data()); };
  std::string result(most, '\0');
  const auto seed = static_cast<unsigned>(choices.below(std::size_t{1} << 31));
  result.resize(LLVMFuzzerCustomCrossOver(bytes(input), input.size(), bytes(other), other.size(),
                                          reinterpret_cast<std::uint8_t*>(result.data()), most, seed));
  return result;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t option(std::map<std::string, std::string>& options, const char* name, std::size_t otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : std::strtoull(found->second.c_str(), nullptr, 10);
}

}  // namespace

// What libFuzzer gives to fuzzers that have a mutator of their own.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  static Choices choices(1);
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string result = changed_bytes(input, input, choices).substr(0, most);
  std::memcpy(data, result.data(), result.size());
  return result.size();
}

int main(int argc, char** argv) {
  std::map<std::string, std::string> options;
  std::vector<std::string> kept, alone;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with('-')) {
      const std::size_t equals = std::min(argument.find('='), argument.size() - 1);
      options[argument.substr(1, equals - 1)] = argument.substr(equals + 1);
    } else if (std::filesystem::is_directory(argument)) {
      std::vector<std::filesystem::path> files;  // in an order that does not depend on the file system
      for (const auto& entry : std::filesystem::directory_iterator(argument)) files.push_back(entry.path());
      std::ranges::sort(files);
      for (const auto& file : files) kept.push_back(contents(file));
    } else {
      alone.push_back(contents(argument));
    }
  }
  const std::size_t most = option(options, "max_len", 4096), seed = option(options, "seed", 1);
  const auto timeout = static_cast<unsigned>(option(options, "timeout", 10));
  artifact = options["artifact_prefix"] + "crash-" + std::to_string(seed);
  for (const int number : {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(number, end_by);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(keep_running);
#endif
  for (const std::string& input : alone) look_at(input, timeout);
  if (kept.empty()) return alone.empty() ? 2 : 0;
  for (const std::string& input : kept) look_at(input, timeout);

  const std::size_t runs = option(options, "runs", ~std::size_t{0}), seconds = option(options, "max_total_time", 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return static_cast<std::size_t>(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count());
  };
  Choices choices(seed);
  std::size_t accepted = 0, run = 0;
  for (; run < runs && (seconds == 0 || run % 64 != 0 || passed() < seconds); ++run) {
    std::string input = mutated(choices.of(kept), choices.of(kept), most, choices);
    if (look_at(input, timeout) != 0) continue;
    ++accepted;
    if (kept.size() < kMostKept)
      kept.push_back(std::move(input));
    else if (choices.one_in(4))
      kept[choices.below(kept.size())] = std::move(input);
    if (run % (1 << 18) == 0 && run > 0)
      std::printf("%zu inputs, %zu accepted, %zu s\n", run, accepted, passed()), std::fflush(stdout);
  }
  alarm(0);
  std::printf("%zu inputs, of which %zu were accepted, in %zu s\n", run, accepted, passed());
  return 0;
}
