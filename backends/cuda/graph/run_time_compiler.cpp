#include <keyway/backends/cuda/graph/driver_module.h>
#include <keyway/backends/cuda/graph/run_time_compiler.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/shared_library.h>

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <memory>
#include <string_view>
#include <utility>
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

  LibraryFunctions<> library;
  int (*const GetNumSupportedArchs)(int*) = library.find("nvrtcGetNumSupportedArchs");
  int (*const GetSupportedArchs)(int*) = library.find("nvrtcGetSupportedArchs");
  int (*const CreateProgram)(Program*, const char* text, const char* name, int headers, const char* const* texts,
                             const char* const* names) = library.find("nvrtcCreateProgram");
  int (*const DestroyProgram)(Program*) = library.find("nvrtcDestroyProgram");
  int (*const CompileProgram)(Program, int count, const char* const* options) = library.find("nvrtcCompileProgram");
  int (*const GetProgramLogSize)(Program, std::size_t*) = library.find("nvrtcGetProgramLogSize");
  int (*const GetProgramLog)(Program, char*) = library.find("nvrtcGetProgramLog");
  int (*const GetPTXSize)(Program, std::size_t*) = library.find("nvrtcGetPTXSize");
  int (*const GetPTX)(Program, char*) = library.find("nvrtcGetPTX");
  int (*const GetCUBINSize)(Program, std::size_t*) = library.find("nvrtcGetCUBINSize");
  int (*const GetCUBIN)(Program, char*) = library.find("nvrtcGetCUBIN");
  const char* (*const GetErrorString)(int) = library.find("nvrtcGetErrorString");

  explicit Nvrtc(int version) : library(fmt::format("libnvrtc.so.{}", version)) {}

  void check(int status, const char* call) const {
    KEYWAY_CHECK_AS(Internal, status == 0, "{} failed: {}", call, GetErrorString(status));
  }
};

struct Choice {
  std::unique_ptr<const Nvrtc> library;
  std::string problem;  // if there is none
};

Choice choose() {
  const int driver = driver_version();  // a machine without one has code made for others
  std::string problem;
  for (const int version : {13, 12}) {
    if (driver != 0 && version > driver) continue;
    auto library = std::make_unique<const Nvrtc>(version);
    if (library->library.problem().empty()) return {std::move(library), {}};
    if (!problem.empty()) continue;
    problem = fmt::format("{}: install NVRTC {}, which CUDA's toolkit and the package nvidia-cuda-nvrtc have",
                          library->library.problem(), version);
  }
  if (problem.empty()) problem = fmt::format("the driver is of CUDA {}, which loads no code of NVRTC 12 or 13", driver);
  return {nullptr, std::move(problem)};
}

const Choice& choice() {
  static const Choice& made = *new Choice(choose());
  return made;
}

const Nvrtc& nvrtc() { return *choice().library; }

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

const std::string& run_time_compiler_problem() { return choice().problem; }

std::string best_architecture(ArrayRef<int> known, int capability) {
  if (std::ranges::find(known, capability) != known.end()) return fmt::format("sm_{}", capability);
  int newest = 0;
  for (const int each : known) {
    if (each < capability) newest = std::max(newest, each);
  }
  KEYWAY_CHECK_AS(NotImplemented, newest > 0, "NVRTC makes no code for devices of compute capability {}.{}",
                  capability / 10, capability % 10);
  return fmt::format("compute_{}", newest);
}

std::string architecture_for(int capability) {
  int count = 0;
  nvrtc().check(nvrtc().GetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> known(static_cast<std::size_t>(count));
  nvrtc().check(nvrtc().GetSupportedArchs(known.data()), "nvrtcGetSupportedArchs");
  return best_architecture(known, capability);
}

std::string compiled(const std::string& text, const std::string& architecture) {
  const Nvrtc& library = nvrtc();
  std::vector<const char*> names, texts;
  for (const Header& header : kHeaders) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  Nvrtc::Program program = nullptr;
  library.check(library.CreateProgram(&program, text.c_str(), "keyway_fused.cu", static_cast<int>(names.size()),
                                      texts.data(), names.data()),
                "nvrtcCreateProgram");
  const std::unique_ptr<Nvrtc::Program, int (*)(Nvrtc::Program*)> held(&program, library.DestroyProgram);
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
