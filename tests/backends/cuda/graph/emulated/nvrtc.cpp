// libnvrtc.so.13 and libnvrtc.so.12 of emulated devices: the C++ compiler makes a library of a kernel's text, for the
// host. It reads the headers of the tree, not those that it is given. What it gives for machine code is the path of the
// library.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

struct Program {
  std::string text, log, image;
};

constexpr int kSuccess = 0, kInvalidOption = 5, kCompilation = 6;

// KEYWAY_EMULATED_NVRTC: "broken" makes nothing; "old" knows no device that is as new as the emulated ones.
bool is_wanted(const char* kind) {
  const char* const wish = std::getenv("KEYWAY_EMULATED_NVRTC");
  return wish != nullptr && std::strcmp(wish, kind) == 0;
}

std::vector<int> known_architectures() {
  return is_wanted("old") ? std::vector<int>{75, 80} : std::vector<int>{75, 80, 90};
}

bool is_known(const std::string& option) {
  for (const int each : known_architectures()) {
    for (const char* const kind : {"sm_", "compute_"}) {
      if (option == "--gpu-architecture=" + (kind + std::to_string(each))) return true;
    }
  }
  return false;
}

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(known_architectures().size());
  return kSuccess;
}
int nvrtcGetSupportedArchs(int* all) {
  for (const int each : known_architectures()) *all++ = each;
  return kSuccess;
}

int nvrtcCreateProgram(Program** program, const char* text, const char*, int, const char* const*, const char* const*) {
  if (is_wanted("broken")) return kCompilation;
  *program = new Program{text, {}, {}};
  return kSuccess;
}
int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return kSuccess;
}

// The first option is the architecture.
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  if (count < 1 || !is_known(options[0])) return kInvalidOption;
  // The driver removes it when it has loaded the library.
  std::string folder = (std::filesystem::temp_directory_path() / "keyway_fused_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return kCompilation;
  const std::string source = folder + "/kernel.cpp", library = folder + "/kernel." KEYWAY_NVRTC_VERSION,
                    log = folder + "/log";
  std::ofstream(source) << program->text;
  const std::string command =
      std::string(KEYWAY_HOST_COMPILER) + " " + source + " -o " + library + " > " + log + " 2>&1";
  const int status = std::system(command.c_str());
  program->log = read(log);
  program->image = library;
  return status == 0 ? kSuccess : kCompilation;
}

int nvrtcGetProgramLogSize(Program* program, std::size_t* size) {
  *size = program->log.size() + 1;
  return kSuccess;
}
int nvrtcGetProgramLog(Program* program, char* log) {
  std::strcpy(log, program->log.c_str());
  return kSuccess;
}
int nvrtcGetCUBINSize(Program* program, std::size_t* size) {
  *size = program->image.size() + 1;
  return kSuccess;
}
int nvrtcGetCUBIN(Program* program, char* image) {
  std::strcpy(image, program->image.c_str());
  return kSuccess;
}
int nvrtcGetPTXSize(Program* program, std::size_t* size) { return nvrtcGetCUBINSize(program, size); }
int nvrtcGetPTX(Program* program, char* image) { return nvrtcGetCUBIN(program, image); }
const char* nvrtcGetErrorString(int status) {
  return status == kSuccess         ? "NVRTC_SUCCESS"
         : status == kInvalidOption ? "NVRTC_ERROR_INVALID_OPTION"
                                    : "NVRTC_ERROR_COMPILATION";
}

}  // extern "C"
#pragma GCC visibility pop
