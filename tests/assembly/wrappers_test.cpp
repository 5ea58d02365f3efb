// Functional, in-place and out= overloads around one kernel. The oracle is arithmetic on the values, written here.
#include <keyway/tests/assembly/values.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

using Values = std::vector<double>;

TEST_CASE("a functional call gives a new tensor and leaves its arguments alone") {
  const Tensor a = vector_of({1, 2}), b = vector_of({10, 20});
  const Tensor sum = add(a, b, 2);
  CHECK(values_of(sum) == Values{21, 42});
  CHECK(values_of(a) == Values{1, 2});
  CHECK_FALSE(sum.is_alias_of(a));
  CHECK(a._version() == 0);
}

TEST_CASE("an in-place call writes over self, and says so in its version") {
  Tensor a = vector_of({1, 2});
  const void* const memory = a.data_ptr();
  Tensor& result = a.add_(vector_of({10, 20}));
  CHECK(&result == &a);
  CHECK(a.data_ptr() == memory);
  CHECK(values_of(a) == Values{11, 22});
  CHECK(a._version() == 1);
}

TEST_CASE("an in-place call computes in the common dtype and stores in self's") {
  Tensor a = vector_of({1, 2}, kFloat);
  a.add_(vector_of({0.5, 0.25}, kDouble));
  CHECK(a.dtype() == kFloat);
  CHECK(values_of(a) == Values{1.5, 2.25});
}

TEST_CASE("operands may overlap exactly, and other overlap does not show") {
  Tensor a = vector_of({1, 2, 3, 4});
  a.add_(a);
  CHECK(values_of(a) == Values{2, 4, 6, 8});
  Tensor shifted = a.slice(0, 1, 4);
  shifted.add_(a.slice(0, 0, 3));
  CHECK(values_of(a) == Values{2, 6, 10, 14});
}

TEST_CASE("out= writes into the caller's tensor, whatever its strides") {
  Tensor storage = vector_of({0, 0, 0, 0});
  Tensor every_second = storage.slice(0, 0, 4, 2);
  Tensor& result = add_out(every_second, vector_of({1, 2}), vector_of({10, 20}));
  CHECK(&result == &every_second);
  CHECK(values_of(storage) == Values{11, 0, 22, 0});
}

TEST_CASE("out= resizes a tensor of other sizes") {
  Tensor out = vector_of({});
  add_out(out, vector_of({1, 2}), vector_of({10, 20}));
  CHECK(values_of(out) == Values{11, 22});
}

TEST_CASE("out= may be one of the arguments") {
  Tensor a = tensor_of({1, 2, 3, 4}, {2, 2});
  const Tensor b = tensor_of({0, 1, 1, 0}, {2, 2});
  mm_out(a, a, b);
  CHECK(values_of(a) == Values{2, 1, 4, 3});
  Tensor shifted = vector_of({1, 2, 3});
  Tensor out = shifted.slice(0, 1, 3);
  add_out(out, shifted.slice(0, 0, 2), vector_of({10, 10}));
  CHECK(values_of(shifted) == Values{1, 11, 12});
}

TEST_CASE("out= may be an argument that the result does not fit") {
  Tensor a = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3});
  mm_out(a, a, tensor_of({1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1}, {3, 4}));
  CHECK(a.sizes() == IntArrayRef({2, 4}));
  CHECK(values_of(a) == Values{1, 2, 3, 6, 4, 5, 6, 15});
  Tensor b = vector_of({1, 2, 3});
  add_out(b, b, tensor_of({10, 20}, {2, 1}));
  CHECK(values_of(b) == Values{11, 12, 13, 21, 22, 23});
}

TEST_CASE("a kernel that refuses its data leaves the tensor of an out= call as it was") {
  Tensor out = vector_of({1, 2, 3});
  CHECK_THROWS_AS(embedding_out(out, tensor_of({1, 2}, {1, 2}), vector_of({9}, kLong)), Error);
  CHECK(out.sizes() == IntArrayRef({3}));
  CHECK(values_of(out) == Values{1, 2, 3});
}

TEST_CASE("out= converts to the dtype of the caller's tensor") {
  Tensor out = vector_of({0, 0}, kDouble);
  add_out(out, vector_of({1, 2}), vector_of({0.5, 0.5}));
  CHECK(values_of(out) == Values{1.5, 2.5});
}

TEST_CASE("several results of an out= call may not share memory, and then do not mix") {
  Tensor values = vector_of({0, 0, 0});
  Tensor indices = vector_of({0, 0, 0}, kLong);
  sort_out(values, indices, vector_of({3, 1, 2}), -1);
  CHECK(values_of(values) == Values{1, 2, 3});
  CHECK(values_of(indices) == Values{1, 2, 0});
}

TEST_CASE("Meta knows sizes, strides and dtype of every result") {
  const Tensor a = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3}), b = tensor_of({1, 2, 3}, {3}, kDouble);
  const auto on_meta = [](const Tensor& tensor) {
    return Tensor(make_tensor_strided(tensor.sizes(), tensor.strides(), tensor.dtype(), DeviceType::Meta));
  };
  const auto check = [](const Tensor& meta, const Tensor& real) {
    CHECK(meta.is_meta());
    CHECK(meta.sizes() == real.sizes());
    CHECK(meta.strides() == real.strides());
    CHECK(meta.dtype() == real.dtype());
  };
  check(add(on_meta(a), on_meta(b)), add(a, b));
  check(add(on_meta(a.t()), on_meta(a.t())), add(a.t(), a.t()));
  check(mm(on_meta(a), on_meta(a.t())), mm(a, a.t()));
  check(sum(on_meta(a), IntArrayRef({1}), true), sum(a, IntArrayRef({1}), true));
  Tensor self = on_meta(a);
  check(self.add_(on_meta(b)), a.clone().add_(b));
}

TEST_CASE("a number among tensors does not change their dtype, but its category may") {
  CHECK(add(vector_of({1}, kInt), 2).dtype() == kInt);
  CHECK(add(vector_of({1}, kInt), 2.5).dtype() == kFloat);
  CHECK(add(vector_of({1}, kHalf), 2.5).dtype() == kHalf);
  CHECK(add(vector_of({1}, kBool), true).dtype() == kBool);
  CHECK(add(vector_of({1}, kBool), 1).dtype() == kLong);
  CHECK(add(vector_of({1}, kFloat), tensor_of({1}, {}, kDouble)).dtype() == kFloat);
  const Scalar wide = std::uint64_t{1} << 63;  // an integer like others
  CHECK(add(vector_of({1}, kHalf), wide).dtype() == kHalf);
  CHECK(hardtanh_backward(vector_of({1}, kFloat), vector_of({1}, kFloat), -1, wide).dtype() == kFloat);
}

TEST_CASE("a scaling factor takes no part in promotion") {
  CHECK(add(vector_of({1}, kBool), vector_of({1}, kBool)).dtype() == kBool);
  CHECK_THROWS_AS(add(vector_of({1}, kInt), vector_of({1}, kInt), 1.5), Error);
}

TEST_CASE("dtype= is what a reduction computes in") {
  const Tensor a = vector_of({1, 2, 4}, kInt);
  CHECK(sum(a).dtype() == kLong);
  CHECK(values_of(sum(a)) == Values{7});
  CHECK(sum(a, kDouble).dtype() == kDouble);
  CHECK(values_of(sum(a, kInt)) == Values{7});
  CHECK(sum(a, kInt).dtype() == kInt);
  CHECK(mean(a, kFloat).dtype() == kFloat);
  CHECK(values_of(mean(vector_of({1, 2, 3, 6}, kInt), kDouble)) == Values{3});
}
