#include <keyway/backends/cuda/graph/run_time_compiler.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/shared_library.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace keyway::inline v1::cuda {

namespace {

struct Header {
  const char* name;
  const char* text;
};
#include <keyway/backends/cuda/graph/device_headers.inc>

// The functions of NVRTC that are used, by the types of its ABI: a program is an opaque pointer, a status an integer.
struct Nvrtc {
  using Program = void*;
  int (*CreateProgram)(Program*, const char* text, const char* name, int headers, const char* const* texts,
                       const char* const* names) = nullptr;
  int (*DestroyProgram)(Program*) = nullptr;
  int (*CompileProgram)(Program, int count, const char* const* options) = nullptr;
  int (*GetProgramLogSize)(Program, std::size_t*) = nullptr;
  int (*GetProgramLog)(Program, char*) = nullptr;
  int (*GetPTXSize)(Program, std::size_t*) = nullptr;
  int (*GetPTX)(Program, char*) = nullptr;
  int (*GetCUBINSize)(Program, std::size_t*) = nullptr;
  int (*GetCUBIN)(Program, char*) = nullptr;
  const char* (*GetErrorString)(int) = nullptr;
  std::string problem;

  explicit Nvrtc(const char* file) {
    LibraryFunctions<> library(file);
    library.find("nvrtcCreateProgram", CreateProgram);
    library.find("nvrtcDestroyProgram", DestroyProgram);
    library.find("nvrtcCompileProgram", CompileProgram);
    library.find("nvrtcGetProgramLogSize", GetProgramLogSize);
    library.find("nvrtcGetProgramLog", GetProgramLog);
    library.find("nvrtcGetPTXSize", GetPTXSize);
    library.find("nvrtcGetPTX", GetPTX);
    library.find("nvrtcGetCUBINSize", GetCUBINSize);
    library.find("nvrtcGetCUBIN", GetCUBIN);
    library.find("nvrtcGetErrorString", GetErrorString);
    problem = library.problem();
  }
};

const Nvrtc& nvrtc() {
  static const Nvrtc& found = *[] {
    auto* const newest = new Nvrtc("libnvrtc.so.13");
    if (newest->problem.empty()) return newest;
    auto* const older = new Nvrtc("libnvrtc.so.12");
    if (older->problem.empty()) return older;
    newest->problem += ": install NVRTC, which CUDA's toolkit and the package nvidia-cuda-nvrtc have";
    return newest;
  }();
  return found;
}

// What NVRTC made, of a size that one function says and another one writes.
template <typename Size, typename Get>
std::string output_of(Nvrtc::Program program, Size size_of, Get get, bool is_text = true) {
  std::size_t size = 0;
  if (size_of(program, &size) != 0) return {};
  std::string text(size, '\0');
  if (get(program, text.data()) != 0) return {};
  if (is_text && !text.empty()) text.pop_back();  // its terminator
  return text;
}

}  // namespace

const std::string& run_time_compiler_problem() { return nvrtc().problem; }

std::string compiled(const std::string& text, const std::string& architecture) {
  const Nvrtc& library = nvrtc();
  std::vector<const char*> names, texts;
  for (const Header& header : kHeaders) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  Nvrtc::Program program = nullptr;
  const int created = library.CreateProgram(&program, text.c_str(), "keyway_fused.cu", static_cast<int>(names.size()),
                                            texts.data(), names.data());
  KEYWAY_CHECK_AS(Internal, created == 0, "nvrtcCreateProgram failed: {}", library.GetErrorString(created));
  const std::unique_ptr<Nvrtc::Program, decltype(library.DestroyProgram)> held(&program, library.DestroyProgram);
  const std::string target = "--gpu-architecture=" + architecture;
  const char* const options[] = {target.c_str(), "--std=c++20", "--fmad=false", "--device-as-default-execution-space",
                                 "--disable-warnings"};
  const int status = library.CompileProgram(program, static_cast<int>(std::size(options)), options);
  KEYWAY_CHECK_AS(Internal, status == 0, "NVRTC does not compile a kernel ({}):\n{}\n{}",
                  library.GetErrorString(status), output_of(program, library.GetProgramLogSize, library.GetProgramLog),
                  text);
  return architecture.starts_with("sm_") ? output_of(program, library.GetCUBINSize, library.GetCUBIN, false)
                                         : output_of(program, library.GetPTXSize, library.GetPTX);
}

}  // namespace keyway::inline v1::cuda
