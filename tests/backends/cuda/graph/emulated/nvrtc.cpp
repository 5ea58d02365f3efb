// libnvrtc.so.13 of emulated devices: the C++ compiler makes a library of a kernel's text, for the host. It reads the
// headers of the tree, not those that it is given. What it gives for machine code is the path of the library.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

struct Program {
  std::string text, log, image;
};

constexpr int kSuccess = 0, kCompilation = 6;

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// KEYWAY_EMULATED_NVRTC=broken: it makes nothing.
int nvrtcCreateProgram(Program** program, const char* text, const char*, int, const char* const*, const char* const*) {
  const char* const wish = std::getenv("KEYWAY_EMULATED_NVRTC");
  if (wish != nullptr && std::strcmp(wish, "broken") == 0) return kCompilation;
  *program = new Program{text, {}, {}};
  return kSuccess;
}
int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return kSuccess;
}

int nvrtcCompileProgram(Program* program, int, const char* const*) {
  // The driver removes it when it has loaded the library.
  std::string folder = (std::filesystem::temp_directory_path() / "keyway_fused_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return kCompilation;
  const std::string source = folder + "/kernel.cpp", library = folder + "/kernel.so", log = folder + "/log";
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
const char* nvrtcGetErrorString(int status) { return status == kSuccess ? "NVRTC_SUCCESS" : "NVRTC_ERROR_COMPILATION"; }

}  // extern "C"
#pragma GCC visibility pop
