#include <keyway/core/base/error.h>
#include <keyway/stable/abi.h>
#include <keyway/stable/abi/names.h>

#include <algorithm>
#include <iterator>

namespace keyway::inline v1::abi {

namespace {

// Operators of PyTorch that are other names of operators here.
struct OtherName {
  std::string_view torch, own;
};
constexpr OtherName kOtherNames[] = {{"subtract.Tensor", "sub.Tensor"},
                                     {"subtract.Scalar", "sub.Scalar"},
                                     {"subtract_.Tensor", "sub_.Tensor"},
                                     {"subtract_.Scalar", "sub_.Scalar"},
                                     {"subtract.out", "sub.out"}};

// Operators of one name whose arguments or results are others: parts of compositions, which both have for themselves.
constexpr std::string_view kOtherSlots[] = {"_linalg_eigh", "_linalg_solve_ex", "_linalg_svd"};

// What keys of devices begin and end with.
constexpr std::string_view kFunctionalities[] = {"",       "Autograd",  "Autocast",    "Quantized",
                                                 "Sparse", "SparseCsr", "NestedTensor"};
constexpr std::string_view kOtherDevices[] = {"HIP",  "XLA",  "MPS",    "IPU",         "XPU",         "HPU",
                                              "VE",   "Lazy", "MTIA",   "PrivateUse1", "PrivateUse2", "PrivateUse3",
                                              "MAIA", "FPGA", "Vulkan", "Metal"};

}  // namespace

std::string own_namespace(std::string_view ns) { return std::string(ns == "aten" ? "keyway" : ns); }

std::string own_operator(std::string_view name, std::string_view overload) {
  const std::size_t colons = name.find("::");
  KEYWAY_CHECK(colons != std::string_view::npos, "'{}' has no namespace, as the name of an operator must", name);
  const std::string_view ns = name.substr(0, colons);
  std::string own(name.substr(colons + 2));
  if (!overload.empty()) own += "." + std::string(overload);
  if (ns == "aten") {
    KEYWAY_CHECK_AS(NotImplemented, std::ranges::find(kOtherSlots, own) == std::end(kOtherSlots),
                    "{} has other arguments or results in Keyway than in PyTorch", name);
    const auto* const other = std::ranges::find(kOtherNames, own, &OtherName::torch);
    if (other != std::end(kOtherNames)) own = other->own;
  }
  return own_namespace(ns) + "::" + own;
}

bool is_of_other_device(std::string_view key) {
  return std::ranges::any_of(kFunctionalities, [&](std::string_view functionality) {
    return key.starts_with(functionality) &&
           std::ranges::find(kOtherDevices, key.substr(functionality.size())) != std::end(kOtherDevices);
  });
}

void check_version(std::uint64_t built_version) {
  constexpr unsigned kMajorShift = 56;
  KEYWAY_CHECK_AS(Registration, built_version >> kMajorShift == KEYWAY_ABI_VERSION >> kMajorShift,
                  "it is built for version {} of the stable C ABI, and this is version {}; rebuild it",
                  built_version >> kMajorShift, KEYWAY_ABI_VERSION >> kMajorShift);
}

}  // namespace keyway::inline v1::abi
