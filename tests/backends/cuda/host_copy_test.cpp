// Elements between layouts in the host's memory. The oracle goes over indices.
#include <keyway/backends/cuda/host_copy.h>
#include <keyway/tests/catch.h>

#include <cstring>
#include <vector>

using namespace keyway;
using namespace keyway::cuda;

namespace {

float& at(const TensorBase& tensor, std::int64_t i, std::int64_t j) {
  return tensor.data_ptr<float>()[i * tensor.strides()[0] + j * tensor.strides()[1]];
}

}  // namespace

TEST_CASE("elements keep their index, whatever the strides, and what lies between them is left alone") {
  const std::vector<DimVector> layouts{{5, 1}, {1, 3}, {10, 2}, {1, 4}, {7, 1}};
  for (const DimVector& from_strides : layouts) {
    for (const DimVector& to_strides : layouts) {
      const TensorBase from = make_tensor_strided({3, 5}, from_strides, kFloat, kCPU);
      const TensorBase to = make_tensor_strided({3, 5}, to_strides, kFloat, kCPU);
      const std::size_t bytes = to.storage().nbytes();
      std::memset(to.data_ptr(), 0, bytes);
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 5; ++j) at(from, i, j) = static_cast<float>(10 * i + j + 1);
      }
      copy_on_host(to, from);
      double sum = 0;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 5; ++j) {
          CHECK(at(to, i, j) == static_cast<float>(10 * i + j + 1));
          sum += at(to, i, j);
        }
      }
      double all = 0;
      for (std::size_t k = 0; k < bytes / sizeof(float); ++k) all += to.data_ptr<float>()[k];
      CHECK(all == sum);
    }
  }
}

TEST_CASE("a single element and none are copied too") {
  const TensorBase from = make_tensor({}, kDouble, kCPU), to = make_tensor({}, kDouble, kCPU);
  *from.data_ptr<double>() = 2.5;
  copy_on_host(to, from);
  CHECK(*to.data_ptr<double>() == 2.5);
  copy_on_host(make_tensor({0, 3}, kFloat, kCPU), make_tensor({0, 3}, kFloat, kCPU));
}
