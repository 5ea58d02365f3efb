#include <keyway/core/base/error.h>
#include <keyway/core/device/device.h>
#include <keyway/core/tensor/tensor_arg.h>

#include <algorithm>
#include <string>

namespace keyway::inline v1 {
namespace {

std::string text_of(const TensorArg& arg) { return "argument #" + std::to_string(arg.pos) + " '" + arg.name + "'"; }

// Each with the first.
template <typename Check>
void check_all_same(CheckedFrom from, ArrayRef<TensorArg> args, Check check) {
  for (std::size_t i = 1; i < args.size(); ++i) check(from, args.front(), args[i]);
}

}  // namespace

void checkDefined(CheckedFrom from, const TensorArg& arg) {
  KEYWAY_CHECK(arg->defined(), "{}: {} is undefined", from, text_of(arg));
}
void checkAllDefined(CheckedFrom from, ArrayRef<TensorArg> args) {
  for (const TensorArg& arg : args) checkDefined(from, arg);
}
void checkContiguous(CheckedFrom from, const TensorArg& arg) {
  checkDefined(from, arg);
  KEYWAY_CHECK(arg->is_contiguous(), "{}: {} is to be contiguous, but has the strides {}", from, text_of(arg),
               arg->strides());
}
void checkAllContiguous(CheckedFrom from, ArrayRef<TensorArg> args) {
  for (const TensorArg& arg : args) {
    if (arg->defined()) checkContiguous(from, arg);
  }
}

void checkDim(CheckedFrom from, const TensorArg& arg, std::int64_t dim) {
  checkDefined(from, arg);
  KEYWAY_CHECK(arg->dim() == dim, "{}: {} is to have {} dimensions, but has the sizes {}", from, text_of(arg), dim,
               arg->sizes());
}
void checkDimRange(CheckedFrom from, const TensorArg& arg, std::int64_t first, std::int64_t end) {
  checkDefined(from, arg);
  KEYWAY_CHECK(arg->dim() >= first && arg->dim() < end, "{}: {} is to have {} to {} dimensions, but has the sizes {}",
               from, text_of(arg), first, end - 1, arg->sizes());
}
void checkSameDim(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
  checkAllDefined(from, {a, b});
  KEYWAY_CHECK(a->dim() == b->dim(), "{}: {} and {} are to have as many dimensions, but have the sizes {} and {}", from,
               text_of(a), text_of(b), a->sizes(), b->sizes());
}
void checkSize(CheckedFrom from, const TensorArg& arg, IntArrayRef sizes) {
  checkDefined(from, arg);
  KEYWAY_CHECK(arg->sizes() == sizes, "{}: {} is to have the sizes {}, but has {}", from, text_of(arg), sizes,
               arg->sizes());
}
void checkSize(CheckedFrom from, const TensorArg& arg, std::int64_t dim, std::int64_t size) {
  checkDefined(from, arg);
  KEYWAY_CHECK(arg->size(dim) == size, "{}: {} is to have size {} in dimension {}, but has the sizes {}", from,
               text_of(arg), size, dim, arg->sizes());
}
void checkSameSize(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
  checkAllDefined(from, {a, b});
  KEYWAY_CHECK(a->sizes() == b->sizes(), "{}: {} and {} are to have the same sizes, but have {} and {}", from,
               text_of(a), text_of(b), a->sizes(), b->sizes());
}
void checkAllSameSize(CheckedFrom from, ArrayRef<TensorArg> args) { check_all_same(from, args, checkSameSize); }
void checkNumel(CheckedFrom from, const TensorArg& arg, std::int64_t numel) {
  checkDefined(from, arg);
  KEYWAY_CHECK(arg->numel() == numel, "{}: {} is to have {} elements, but has {}", from, text_of(arg), numel,
               arg->numel());
}
void checkSameNumel(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
  checkAllDefined(from, {a, b});
  KEYWAY_CHECK(a->numel() == b->numel(), "{}: {} and {} are to have as many elements, but have {} and {}", from,
               text_of(a), text_of(b), a->numel(), b->numel());
}
void checkAllSameNumel(CheckedFrom from, ArrayRef<TensorArg> args) { check_all_same(from, args, checkSameNumel); }

void checkScalarType(CheckedFrom from, const TensorArg& arg, ScalarType dtype) {
  checkDefined(from, arg);
  KEYWAY_CHECK_AS(Dtype, arg->dtype() == dtype, "{}: {} is to be of {}, but is of {}", from, text_of(arg), dtype,
                  arg->dtype());
}
void checkScalarTypes(CheckedFrom from, const TensorArg& arg, ArrayRef<ScalarType> dtypes) {
  checkDefined(from, arg);
  if (std::ranges::find(dtypes, arg->dtype()) != dtypes.end()) return;
  std::string names;
  for (const ScalarType dtype : dtypes) names += (names.empty() ? "" : ", ") + std::string(to_string(dtype));
  KEYWAY_FAIL(Dtype, "{}: {} is to be of one of {}, but is of {}", from, text_of(arg), names, arg->dtype());
}
void checkSameType(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
  checkAllDefined(from, {a, b});
  KEYWAY_CHECK_AS(Dtype, a->dtype() == b->dtype() && a->device().type() == b->device().type(),
                  "{}: {} and {} are to be of the same type, but are of {} on {} and {} on {}", from, text_of(a),
                  text_of(b), a->dtype(), a->device().type(), b->dtype(), b->device().type());
}
void checkAllSameType(CheckedFrom from, ArrayRef<TensorArg> args) { check_all_same(from, args, checkSameType); }
void checkSameGPU(CheckedFrom from, const TensorArg& a, const TensorArg& b) {
  checkAllDefined(from, {a, b});
  KEYWAY_CHECK_AS(Value, a->is_cuda() && a->device() == b->device(),
                  "{}: {} and {} are to be on the same CUDA device, but are on {} and {}", from, text_of(a), text_of(b),
                  a->device(), b->device());
}
void checkAllSameGPU(CheckedFrom from, ArrayRef<TensorArg> args) { check_all_same(from, args, checkSameGPU); }

}  // namespace keyway::inline v1
