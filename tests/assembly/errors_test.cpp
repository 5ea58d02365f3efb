// What people read when a call is refused: the operator, the rule, the values.
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/tests/assembly/values.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

const Tensor kUndefined;

Tensor zeros_of(IntArrayRef sizes, ScalarType dtype = kFloat) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return tensor_of(std::vector<double>(static_cast<std::size_t>(count)), sizes, dtype);
}

Tensor on_meta(IntArrayRef sizes) { return Tensor(make_tensor(sizes, kFloat, DeviceType::Meta)); }

}  // namespace

TEST_CASE("a broken contract is quoted with the values that break it") {
  CHECK(error_alone([] {
          mm(zeros_of({2, 3}), zeros_of({4, 5}));
        }) == "mm: requires self.size(1) == mat2.size(0), but self.size(1) is 3 and mat2.size(0) is 4");
  CHECK(error_alone([] {
          mm(zeros_of({3}), zeros_of({3, 5}));
        }) == "mm: requires self.dim() == 2, but self.dim() is 1");
  CHECK(error_alone([] { embedding(zeros_of({2}), zeros_of({1}, kLong)); }) ==
        "embedding: requires weight.dim() == 2, but weight.dim() is 1");
  CHECK(error_alone([] {
          embedding(zeros_of({2, 2}), zeros_of({1}, kLong), -1, false, true);
        }) == "embedding: requires !sparse, but sparse is True");
}

TEST_CASE("a predicate says why it does not hold") {
  CHECK(error_alone([] {
          sum(zeros_of({2, 3}), IntArrayRef({1, -1}));
        }) ==
        "sum.dim_IntList: requires dim == None || are_dims(dim, self.dim()), but dimension -1 stands twice in [1, -1]");
  CHECK(error_alone([] { sort(zeros_of({2}), 3); }) ==
        "sort: requires is_dim(dim, self.dim()), but dimension 3 is not from -1 to 0");
  CHECK(error_alone([] {
          cat({zeros_of({2, 3}), zeros_of({3, 3})}, 1);
        }) ==
        "cat: requires concatenable(tensors, dim), but tensor 1 has shape [3, 3], and the first one [2, 3]: they may "
        "differ in dimension 1 only");
}

TEST_CASE("shapes, dtypes and devices that do not fit name the arguments") {
  CHECK(
      error_of([] {
        add(zeros_of({2, 3}), zeros_of({4}));
      }) ==
      "add.Tensor: shapes [2, 3] and [4] do not broadcast: dimension 1 is 3 and 4; given self = float32[2, 3] on cpu, "
      "other = float32[4] on cpu, alpha = 1");
  CHECK(error_alone([] {
          mm(zeros_of({2, 2}), zeros_of({2, 2}, kDouble));
        }) == "mm: argument 'mat2' is float64, but argument 'self' is float32: they must have one dtype");
  CHECK(error_alone([] {
          embedding(zeros_of({2, 2}), zeros_of({1}));
        }) == "embedding: argument 'indices' is float32, but must be int32 or int64");
  CHECK(error_alone([] { add(zeros_of({2}), on_meta({2})); }) ==
        "add.Tensor: argument 'self' is on cpu, but argument 'other' is on meta: move one of them with to()");
  CHECK(error_alone([] { add(zeros_of({2}), kUndefined); }) ==
        "add.Tensor: argument 'other' is an undefined tensor, but must be defined");
}

TEST_CASE("an in-place call cannot change shape or category") {
  CHECK(error_alone([] {
          zeros_of({2}).add_(zeros_of({3, 2}));
        }) ==
        "add_.Tensor: argument 'self' has shape [2], but the result has [3, 2]: an in-place call cannot change the "
        "shape");
  CHECK(error_alone([] { zeros_of({2}, kInt).add_(zeros_of({2})); }) ==
        "add_.Tensor: the result is float32, which cannot be stored in argument 'self' of int32");
}

TEST_CASE("a tensor for the result must be there and be able to hold it") {
  CHECK(error_alone([] {
          Tensor out;
          add_out(out, zeros_of({2}), zeros_of({2}));
        }) == "add.out: argument 'out' is an undefined tensor, but must be defined");
  CHECK(error_alone([] {
          Tensor out = zeros_of({2}, kInt);
          add_out(out, zeros_of({2}), zeros_of({2}));
        }) == "add.out: the result is float32, which cannot be stored in argument 'out' of int32");
  CHECK(error_of([] {
          Tensor out = on_meta({2});
          add_out(out, zeros_of({2}), zeros_of({2}));
        }).find("add.out: argument 'out' is on meta") == 0);
}

TEST_CASE("a boxed call says which argument has a value of another type") {
  const OperatorHandle add = Dispatcher::singleton().op("add.Tensor");
  Stack stack = {IValue(zeros_of({2})), IValue(zeros_of({2})), IValue("two")};
  CHECK(error_alone([&] { add.call_boxed(stack); }) == "add.Tensor: argument 'alpha' takes Scalar, but got str");
  Stack factory = {IValue(std::vector<std::int64_t>{2}), {}, {}, IValue("cpu"), {}, {}};
  CHECK(error_alone([&] { Dispatcher::singleton().op("empty.memory_format").call_boxed(factory); }) ==
        "empty.memory_format: argument 'device' takes Device?, but got str");
}

TEST_CASE("a number that is no dtype makes no tensor") {
  const auto none = static_cast<ScalarType>(127);
  CHECK(error_alone([&] { empty({2}, none); }) == "empty.memory_format: dtype invalid is none that a tensor can have");
}

TEST_CASE("all tensors for results are checked before one is changed") {
  const Tensor self = tensor_of({3, 1, 2}, {3});
  Tensor values = zeros_of({0}), indices = zeros_of({0}, kBool);
  CHECK(error_of([&] { sort_out(values, indices, self); }).find("argument 'indices' of bool") != std::string::npos);
  CHECK(values.sizes() == IntArrayRef({0}));
  Tensor none;
  CHECK(error_alone([&] { nonzero_out(none, self); }) ==
        "nonzero.out: argument 'out' is an undefined tensor, but must be defined");
  Tensor bits(make_tensor({0}, ScalarType::Bits8, DeviceType::CPU));
  CHECK(error_alone([&] { add_out(bits, self, self); }) ==
        "add.out: the result is float32, which cannot be stored in argument 'out' of bits8");
  CHECK(bits.sizes() == IntArrayRef({0}));
}

TEST_CASE("a result that cannot grow is refused before another is changed") {
  const Tensor self = tensor_of({3, 1, 2}, {3});
  Tensor values = zeros_of({0});
  std::int64_t bytes[2] = {7, 8};
  const Storage lent(make_intrusive<StorageImpl>(DataPtr(bytes, DeviceType::CPU), sizeof bytes, false));
  Tensor indices(TensorBase(make_intrusive<TensorImpl>(lent, kLong, IntArrayRef({2}), IntArrayRef({1}), 2, false)));
  CHECK(
      error_alone([&] { sort_out(values, indices, self); }) ==
      "sort.values: argument 'indices' would have to grow to 24 bytes, but its storage of 16 belongs to somebody else");
  CHECK(values.sizes() == IntArrayRef({0}));
  CHECK(bytes[0] == 7);
}

TEST_CASE("what no memory could hold is an error of the operator") {
  for (const int bits : {40, 60}) {
    CHECK(error_of([&] { zeros_of({1}).expand({std::int64_t{1} << bits}).topk(1); }).find("topk: ") == 0);
  }
}

TEST_CASE("no elements are none, however large the other sizes are") {
  const std::int64_t huge = std::int64_t{1} << 40;
  const Tensor none = empty({huge, huge, 0}, kLong);
  CHECK(embedding(zeros_of({2, 3}), none).sizes() == IntArrayRef({huge, huge, 0, 3}));
  CHECK(index_select(empty({huge, huge, 0}), 2, empty({0}, kLong)).sizes() == none.sizes());
}

TEST_CASE("data() shares memory and version, and keeps what it shows alive") {
  Tensor x = tensor_of({1, 2, 3, 4}, {4});
  const Tensor data = x.data();
  CHECK(data.is_alias_of(x));
  const auto version = x._version();
  Tensor(data).add_(1);
  CHECK(x._version() == version + 1);
  x.narrow(0, 1, 3).copy_(data.narrow(0, 0, 3));
  CHECK(values_of(x) == std::vector<double>{2, 2, 3, 4});
  add_out(x, zeros_of({1000}), zeros_of({1000}));
  CHECK(data.numel() == 4);
  CHECK(values_of(data.sum()) == std::vector<double>{0});
}

TEST_CASE("a mask of another length than the results is refused") {
  const Tensor x = zeros_of({1, 2}), one = zeros_of({1, 1});
  CHECK(error_of([&] {
          native_layer_norm_backward(x, x, {2}, one, one, {}, {}, {});
        }).find("native_layer_norm_backward: requires len(output_mask) == 3") == 0);
}

TEST_CASE("an index without dimensions needs an element of src, as one of one element does") {
  const Tensor self = zeros_of({7}), index = tensor_of({2}, {}, kLong), none = zeros_of({0});
  CHECK(error_alone([&] { scatter_add(self, 0, index, none); }) ==
        "scatter_add: index has shape [], but src has size 0 in dimension 0");
  CHECK(error_alone([&] { scatter_add(tensor_of({1}, {}), 0, zeros_of({2}, kLong), tensor_of({1}, {})); }) ==
        "scatter_add: index has shape [2], but src has size 1 in dimension 0");
}

TEST_CASE("indices of too many dimensions are refused before the view is made") {
  const Tensor self = zeros_of({2, 2}), index = zeros_of(std::vector<std::int64_t>(64, 1), kLong);
  CHECK(error_of([&] { index_put(self, {index}, zeros_of({2})); }).find("at most 64 dimensions") != std::string::npos);
}

TEST_CASE("sizes beyond 64 bits are an error before any memory is asked for") {
  CHECK(error_of([] { empty({INT64_MAX, INT64_MAX}); }).find("empty.memory_format: ") == 0);
  CHECK_FALSE(error_of([] { empty({-1}); }).empty());
}

TEST_CASE("after an error the arguments are as before") {
  Tensor a = tensor_of({1, 2}, {2});
  CHECK_THROWS_AS(a.add_(zeros_of({3})), Error);
  CHECK(values_of(a) == std::vector<double>{1, 2});
  CHECK(a._version() == 0);
  Tensor out = tensor_of({1, 2}, {2});
  CHECK_THROWS_AS(add_out(out, zeros_of({2, 3}), zeros_of({4})), Error);
  CHECK(out.sizes() == IntArrayRef({2}));
  CHECK(values_of(out) == std::vector<double>{1, 2});
}
