// Operators that are not "guard, rule, outputs, kernel".
#include <keyway/tests/assembly/values.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

using Values = std::vector<double>;

TEST_CASE("copy_ broadcasts, converts and returns what it wrote to") {
  Tensor a = tensor_of({0, 0, 0, 0}, {2, 2}, kLong);
  Tensor& result = a.copy_(vector_of({1.75, -1.75}));
  CHECK(&result == &a);
  CHECK(values_of(a) == Values{1, -1, 1, -1});
}

TEST_CASE("a tensor that overlaps what is written is read as it was") {
  Tensor a = vector_of({1, 2, 3, 4});
  a.slice(0, 1, 4).copy_(a.slice(0, 0, 3));
  CHECK(values_of(a) == Values{1, 1, 2, 3});
}

TEST_CASE("a tensor with several elements in one memory location cannot be written") {
  const Tensor expanded = vector_of({1}).expand({3});
  CHECK(error_alone([&] {
          expanded.copy_(vector_of({1, 2, 3}));
        }) ==
        "copy_: argument 'self' of shape [3] and strides [0] has several elements in one memory location: clone() it "
        "first");
  CHECK(error_alone([&] { expanded.add_(1); }) ==
        "add_.Scalar: argument 'self' of shape [3] and strides [0] has several elements in one memory location: "
        "clone() it first");
}

TEST_CASE("results of one call are not written over each other") {
  const Tensor a = tensor_of({3, 1, 2, 5}, {2, 2});
  Tensor both = vector_of({7, 7, 7});
  Tensor first = both.slice(0, 0, 2), second = both.slice(0, 1, 3);
  const std::string why = "share memory: each result needs memory of its own";
  CHECK(error_of([&] { aminmax_out(first, second, a, 0); }).find("arguments 'min' and 'max' " + why) !=
        std::string::npos);
  Tensor indices = vector_of({7, 7}, kLong);
  CHECK(error_of([&] { cummax_out(indices, indices, vector_of({1, 2}, kLong), 0); }).find(why) != std::string::npos);
  CHECK(values_of(both) == Values{7, 7, 7});
  Tensor apart = both.slice(0, 2, 3), other = both.slice(0, 0, 1);
  aminmax_out(apart, other, vector_of({4, 9}));
  CHECK(values_of(both) == Values{9, 7, 4});
}

TEST_CASE("a kernel may return results whose sizes only it knows") {
  const Tensor indices = nonzero(tensor_of({0, 3, 5, 0}, {2, 2}));
  CHECK(indices.sizes() == IntArrayRef({2, 2}));
  CHECK(values_of(indices) == Values{0, 1, 1, 0});
  Tensor out = vector_of({}, kLong);
  nonzero_out(out, vector_of({0, 7}));
  CHECK(values_of(out) == Values{1});
  const Tensor meta(make_tensor({2}, kFloat, DeviceType::Meta));
  CHECK(error_of([&] { nonzero(meta); }) ==
        "nonzero: the result depends on data, which tensors on meta have not; given self = float32[2] on meta");
  CHECK(error_of([&] { meta.slice(0, 0, 1).item(); }).starts_with("_local_scalar_dense: the result depends on data"));
}

TEST_CASE("a view shares memory and version with its base") {
  const Tensor a = tensor_of({1, 2, 3, 4}, {2, 2});
  const Tensor t = transpose(a, 0, -1);
  CHECK(t.is_alias_of(a));
  CHECK(values_of(t) == Values{1, 3, 2, 4});
  t.add_(1);
  CHECK(values_of(a) == Values{2, 3, 4, 5});
  CHECK(a._version() == 1);
}

TEST_CASE("one call may give several views") {
  const Tensor a = vector_of({1, 2, 3});
  const std::vector<Tensor> parts = split_with_sizes(a, {1, 2});
  REQUIRE(parts.size() == 2);
  CHECK(values_of(parts[1]) == Values{2, 3});
  CHECK(parts[1].is_alias_of(a));
}

TEST_CASE("a factory takes its device from the argument, and its dtype from the rule") {
  CHECK(arange(0, 5, 2).dtype() == kLong);
  CHECK(values_of(arange(0, 5, 2)) == Values{0, 2, 4});
  CHECK(arange(0, 5, 2, TensorOptions().dtype(kHalf)).dtype() == kHalf);
  const Tensor meta = empty({2, 3}, TensorOptions().device(DeviceType::Meta));
  CHECK(meta.is_meta());
  CHECK(meta.sizes() == IntArrayRef({2, 3}));
}

TEST_CASE("out= of a factory has the dtype of the caller's tensor") {
  Tensor out = vector_of({}, kDouble);
  arange_out(out, 0, 3, 1);
  CHECK(out.dtype() == kDouble);
  CHECK(values_of(out) == Values{0, 1, 2});
}

TEST_CASE("a composite checks its contracts before it calls anything") {
  const Tensor input = tensor_of({1, 2}, {1, 2}), weight = tensor_of({3, 4}, {1, 2});
  CHECK(values_of(linear(input, weight, vector_of({5}))) == Values{16});
  CHECK(error_alone([&] {
          linear(input, tensor_of({1, 2, 3}, {1, 3}));
        }) == "linear: requires input.size(-1) == weight.size(-1), but input.size(-1) is 2 and weight.size(-1) is 3");
}

TEST_CASE("out= of a composite refuses what needs a gradient") {
  const Tensor weight = vector_of({1, 2}).requires_grad_();
  Tensor out = vector_of({0, 0});
  CHECK_FALSE(error_of([&] { stack_out(out, {weight, weight}); }).empty());
}
