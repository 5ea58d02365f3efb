// What x[...] is in Python, in C++; the values are those that NumPy gives for the same items.
#include <keyway/tests/catch.h>

#include <ATen/DLConvertor.h>
#include <ATen/TensorIndexing.h>
#include <initializer_list>
#include <torch/all.h>
#include <vector>

using keyway::testing::error_of;
using namespace torch::indexing;  // NOLINT(google-build-using-namespace): as sources have it

namespace {

// 0 to 23.
at::Tensor cube() { return torch::arange(24, torch::kFloat).view({2, 3, 4}); }

bool is(const at::Tensor& x, at::IntArrayRef sizes, std::initializer_list<float> values) {
  return x.sizes() == sizes && torch::equal(x.reshape({-1}), torch::tensor(std::vector<float>(values)));
}

}  // namespace

TEST_CASE("items pick a view") {
  const at::Tensor x = cube();
  CHECK(is(x.index({1, 2, -1}), {}, {23}));
  CHECK(is(x.index({0, Slice(1, None)}), {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11}));
  CHECK(is(x.index({Ellipsis, 0}), {2, 3}, {0, 4, 8, 12, 16, 20}));
  CHECK(is(x.index({"...", Slice(None, None, 3), None}), {2, 3, 2, 1}, {0, 3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23}));
  CHECK(is(x.index({Slice(-1), Slice(-2, -1), Slice(1, 100)}), {1, 1, 3}, {17, 18, 19}));
  CHECK(x.index({1}).data_ptr<float>() == x.data_ptr<float>() + 12);
}

TEST_CASE("index tensors, masks and bools pick elements") {
  const at::Tensor x = cube(), rows = torch::tensor({2, 0});
  CHECK(is(x.index({0, rows, 1}), {2}, {9, 1}));
  CHECK(is(x.index({Slice(), rows, 0}), {2, 2}, {8, 0, 20, 12}));
  CHECK(is(x.index({rows.to(torch::kInt).eq(0), 1, 1}), {1}, {17}));
  CHECK(is(x.index({x > 21}), {2}, {22, 23}));
  CHECK(is(x.index({0, 0, false}), {0, 4}, {}));
  CHECK(is(x[torch::tensor(1)][2], {4}, {20, 21, 22, 23}));
}

TEST_CASE("what is picked is written to") {
  at::Tensor x = torch::zeros({2, 3});
  x.index_put_({1, Slice(None, 2)}, 5);
  CHECK(is(x, {2, 3}, {0, 0, 0, 5, 5, 0}));
  x.index_put_({Slice(), torch::tensor({2, 0})}, torch::tensor({1.0F, 2.0F}));
  CHECK(is(x, {2, 3}, {2, 0, 1, 2, 5, 1}));
  x.index_put_({x == 2}, -1);
  CHECK(is(x, {2, 3}, {-1, 0, 1, -1, 5, 1}));
  x.index_put_({Ellipsis, 1}, torch::ones({1, 1, 2}, torch::kInt));
  CHECK(is(x, {2, 3}, {-1, 1, 1, -1, 1, 1}));
}

TEST_CASE("assigning to an expression writes elements, to a variable it does not") {
  const at::Tensor x = torch::zeros({2, 2});
  x[0] = 3;
  x[1][1] = x[0][0] * 2;
  CHECK(is(x, {2, 2}, {3, 3, 0, 6}));
  x.index({Slice(), 0}) = torch::tensor({7.0F, 8.0F});
  CHECK(is(x, {2, 2}, {7, 3, 8, 6}));
  at::Tensor row = x[0];
  row = torch::ones({2});
  CHECK(is(x, {2, 2}, {7, 3, 8, 6}));
  at::Tensor w = torch::ones({2}, torch::requires_grad());
  const at::Tensor y = torch::zeros({2});
  y[0] = w[1] * 3;
  y.sum().backward();
  CHECK(is(w.grad(), {2}, {0, 3}));
}

TEST_CASE("items that pick nothing are refused") {
  const at::Tensor x = cube();
  CHECK(error_of([&] { x.index({2}); }).find("index 2 is out of range for dimension 0 of size 2") != std::string::npos);
  CHECK(error_of([&] {
          x.index({0, 0, 0, 0});
        }).find("too many indices for a tensor of 3 dimensions: 4") != std::string::npos);
  CHECK(error_of([&] { x.index({Slice(0, 1, 0)}); }).find("greater than zero") != std::string::npos);
  CHECK(error_of([&] { x.index({".."}); }).find("'..'") != std::string::npos);
  CHECK(error_of([&] { x.index({at::Tensor()}); }).find("undefined") != std::string::npos);
  CHECK(error_of([&] { x.index({torch::ones({2})}); }).find("float32") != std::string::npos);
  CHECK(error_of([&] { at::Tensor().index({0}); }).find("undefined") != std::string::npos);
  CHECK(error_of([&] { x.index_put_({0}, at::Tensor()); }).find("undefined") != std::string::npos);
  CHECK_FALSE(error_of([&] { x[0] = at::Tensor(); }).empty());
  CHECK_FALSE(error_of([&] { x.index_put_({0}, torch::ones({5})); }).empty());
}

TEST_CASE("a tensor goes by DLPack and comes back") {
  const at::Tensor x = cube().transpose(0, 2);
  DLManagedTensor* const out = at::toDLPack(x);
  CHECK((out->dl_tensor.ndim == 3 && out->dl_tensor.shape[0] == 4 && out->dl_tensor.strides[0] == 1));
  CHECK((out->dl_tensor.dtype.code == kDLFloat && out->dl_tensor.dtype.bits == 32));
  const at::Tensor y = at::fromDLPack(out);
  CHECK((y.data_ptr<float>() == x.data_ptr<float>() && y.strides() == x.strides() && torch::equal(x, y)));
  const at::Tensor z = at::fromDLPackVersioned(at::toDLPackVersioned(x));
  CHECK((z.data_ptr() == x.data_ptr() && at::toScalarType(at::getDLDataType(z)) == at::kFloat));
}

TEST_CASE("a DLPack tensor that is refused is still its owner's") {
  static int deleted;
  deleted = 0;
  std::int64_t size = 1;
  float number = 1;
  DLManagedTensor managed{};
  managed.deleter = [](DLManagedTensor*) { ++deleted; };
  managed.dl_tensor = {&number, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &size, nullptr, 0};
  managed.dl_tensor.byte_offset = 1;  // no multiple of an element's size
  CHECK_FALSE(error_of([&] { (void)at::fromDLPack(&managed); }).empty());
  managed.dl_tensor.byte_offset = 0;
  managed.dl_tensor.device.device_type = kDLExtDev;
  CHECK(error_of([&] { (void)at::fromDLPack(&managed); }).find("12:0") != std::string::npos);
  managed.dl_tensor.device.device_type = kDLCPU;
  CHECK(deleted == 0);
  CHECK(at::fromDLPack(&managed).item<float>() == 1.0F);
  CHECK(deleted == 1);
  CHECK_FALSE(error_of([&] { (void)at::toDLPack(at::Tensor()); }).empty());
  CHECK_FALSE(error_of([&] { (void)at::toDLPack(torch::ones({1}, at::Device("meta"))); }).empty());
}
