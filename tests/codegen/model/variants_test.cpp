#include <keyway/codegen/model/variants.h>
#include <keyway/core/schema/parser.h>
#include <keyway/tests/codegen/test_files.h>

using namespace keyway;
using keyway::testing::build_op;

namespace {

// The overloads of an entry with this schema, one a line.
std::string overloads(const std::string& func, const std::string& keys, const std::string& example) {
  const Op op =
      build_op(R"({ "func": ")" + func + R"(", )" + keys + R"(, "doc": "Does.", "example": ")" + example + R"(" })");
  std::string out;
  for (const Overload& overload : expand_variants(op)) out += std::string(overload.schema->text()) + "\n";
  return out;
}

}  // namespace

TEST_CASE("a pointwise op has the functional, in-place and out= overloads") {
  CHECK(overloads("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                  R"("pointwise": "Add", "out": "out", "derivatives": {})", "add(1, 2) == 3") ==
        "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
        "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)\n"
        "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)\n");
}

TEST_CASE("the out= overload is named after the overload, or as the entry says") {
  CHECK(overloads("pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
                  R"("pointwise": "Pow", "derivatives": {})", "pow(2, 3) == 8") ==
        "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor\n"
        "pow_.Tensor_Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)\n"
        "pow.Tensor_Tensor_out(Tensor self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)\n");
  CHECK(overloads("mm(Tensor self, Tensor mat2) -> Tensor", R"("kernels": ["CPU"], "derivatives": {})",
                  "mm([[2]], [[3]]) == [[6]]") ==
        "mm(Tensor self, Tensor mat2) -> Tensor\n"
        "mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)\n");
  CHECK(overloads("sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
                  "-> Tensor",
                  R"~("reduction": "Sum", "out": "IntList_out",
                     "requires": ["dim == None || are_dims(dim, self.dim())"], "derivatives": {})~",
                  "sum([1, 2], [0]) == 3") ==
        "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor\n"
        "sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) "
        "out) -> "
        "Tensor(a!)\n");
  CHECK(overloads("sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
                  R"~("kernels": ["CPU"], "out": "values(values, indices)", "derivatives": {})~",
                  "sort([2, 1]) == ([1, 2], [1, 0])") ==
        "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)\n"
        "sort.values(Tensor self, int dim=-1, bool descending=False, *, Tensor(a!) values, Tensor(b!) "
        "indices) -> "
        "(Tensor(a!) values, Tensor(b!) indices)\n");
}

TEST_CASE("a factory's out= overload drops what the caller's tensor has") {
  CHECK(overloads("arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? "
                  "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                  R"("kernels": ["CPU"], "out": "start_out", "derivatives": {})", "arange(0, 1) == [0]")
            .find("arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> "
                  "Tensor(a!)\n") != std::string::npos);
  CHECK(overloads("empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
                  "device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
                  R"("kernels": ["CPU"], "out": "out", "derivatives": {})", "empty([0]) == []")
            .find("empty.out(SymInt[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> "
                  "Tensor(a!)\n") != std::string::npos);
}

TEST_CASE("several results are written to out0, out1, and sets of the arguments are not used again") {
  CHECK(overloads("norm(Tensor input, Tensor(a!) mean, Tensor(b!) var) -> (Tensor, Tensor)",
                  R"("kernels": ["CPU"], "derivatives": {})", "norm(1, 1, 1) == (1, 1)") ==
        "norm(Tensor input, Tensor(a!) mean, Tensor(b!) var) -> (Tensor, Tensor)\n"
        "norm.out(Tensor input, Tensor(a!) mean, Tensor(b!) var, *, Tensor(c!) out0, Tensor(d!) out1) -> "
        "(Tensor(c!), Tensor(d!))\n");
  CHECK(overloads("unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", R"("kernels": ["CPU"], "derivatives": {})",
                  "unbind_copy([1, 2]) == [1, 2]") ==
        "unbind_copy.int(Tensor self, int dim=0) -> Tensor[]\n"
        "unbind_copy.int_out(Tensor self, int dim=0, *, Tensor(a!)[] out) -> ()\n");
}

TEST_CASE("the in-place overload writes to self, whatever the argument was called") {
  CHECK(overloads("dropout(Tensor input, float p, bool train) -> Tensor",
                  R"("composite": "dropout", "variants": ["function", "inplace"])", "dropout(1, 0.5, False) == 1") ==
        "dropout(Tensor input, float p, bool train) -> Tensor\n"
        "dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)\n");
  CHECK(overloads("__and__.Tensor(Tensor self, Tensor other) -> Tensor",
                  R"("composite": "and_", "variants": ["inplace"])", "__and__(1, 1) == 1")
            .find("__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)\n") != std::string::npos);
  CHECK(overloads("my::op(Tensor(a) self, *, int k) -> Tensor(a)",
                  R"("view": "op", "variants": ["function", "inplace"], "derivatives": {})", "op(1, k=1) == 1")
            .find("my::op_(Tensor(a!) self, *, int k) -> Tensor(a!)\n") != std::string::npos);
}

TEST_CASE("variants that make no sense are not generated by default") {
  const auto variants = [](const std::string& func, const std::string& keys, const std::string& example) {
    const Op op =
        build_op(R"({ "func": ")" + func + R"(", )" + keys + R"(, "doc": "Does.", "example": ")" + example + R"(" })");
    std::string out;
    if (op.variants.function) out += "function ";
    if (op.variants.method) out += "method ";
    if (op.variants.inplace) out += "inplace ";
    if (op.variants.out) out += "out ";
    return out;
  };
  CHECK(variants("pow.Scalar(Scalar self, Tensor exponent) -> Tensor", R"("pointwise": "Pow", "derivatives": {})",
                 "pow(2, 3) == 8") == "function out ");
  CHECK(variants("copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)", R"("kernels": ["CPU"], "derivatives": {})",
                 "copy_(1, 2) == 2") == "method ");
  CHECK(variants("t(Tensor(a) self) -> Tensor(a)", R"("view": "t", "derivatives": {})", "t(1) == 1") ==
        "function method ");
  CHECK(variants("pool(Tensor self) -> Tensor", R"("kernels": ["CPU"], "namespace": "nn", "derivatives": {})",
                 "pool(1) == 1") == "function out ");
  CHECK(variants("_local_scalar_dense(Tensor self) -> Scalar", R"("kernels": ["CPU"], "derivatives": {})",
                 "_local_scalar_dense(1) == 1") == "function method ");
}
