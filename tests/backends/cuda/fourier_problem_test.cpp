// What a library is asked for a Fourier transform, and how its operands are turned for it.
#include <keyway/backends/cuda/fourier_problem.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::cuda;

namespace {

TensorBase tensor(IntArrayRef sizes, ScalarType dtype = kComplexFloat) {
  return make_tensor(sizes, dtype, Device(DeviceType::Meta));
}

}  // namespace

TEST_CASE("a problem is the sizes of the last dimensions, and how often they are there") {
  const FourierProblem problem = fourier_problem(tensor({2, 3, 4, 5}, kComplexDouble), 2);
  CHECK(problem == FourierProblem{kComplexDouble, 2, {4, 5, 0}, 6});
  CHECK(fourier_problem(tensor({2, 3, 4}), 3) == FourierProblem{kComplexFloat, 3, {2, 3, 4}, 1});
  CHECK(fourier_problem(tensor({7}), 1) == FourierProblem{kComplexFloat, 1, {7, 0, 0}, 1});
}

TEST_CASE("problems that differ are told apart, also by their hashes") {
  const FourierProblem one{kComplexFloat, 2, {4, 5, 0}, 6};
  CHECK(one.hash() == FourierProblem(one).hash());
  for (const FourierProblem& other :
       {FourierProblem{kComplexDouble, 2, {4, 5, 0}, 6}, FourierProblem{kComplexFloat, 1, {4, 5, 0}, 6},
        FourierProblem{kComplexFloat, 2, {5, 4, 0}, 6}, FourierProblem{kComplexFloat, 2, {4, 5, 0}, 7}}) {
    CHECK(other != one);
    CHECK(other.hash() != one.hash());
  }
}

TEST_CASE("dimensions of one element are not transformed, and the others are in order") {
  CHECK(transformed_dims(tensor({2, 1, 4, 5}), {-1, 1, 0}) == DimVector{0, 3});
  CHECK(transformed_dims(tensor({}), {0}).empty());
  CHECK(transformed_dims(tensor({1, 1}), {0, 1}).empty());
}

TEST_CASE("dimensions are put behind the others and back") {
  const TensorBase given = tensor({2, 3, 4, 5});
  const TensorBase turned = with_last(given, {0, 2});
  CHECK(turned.sizes() == IntArrayRef({3, 5, 2, 4}));
  CHECK(turned.strides() == IntArrayRef({20, 1, 60, 5}));
  const TensorBase back = without_last(turned, {0, 2});
  CHECK(back.sizes() == given.sizes());
  CHECK(back.strides() == given.strides());
  CHECK(with_last(given, {2, 3}).is_contiguous());
}
