// Golden error texts: what a person reads who has made this mistake.
#include <keyway/codegen/emit/cpp_contract.h>
#include <keyway/tests/codegen/test_files.h>

using namespace keyway;

namespace {

// An entry that begins in line 2 of its file; `keys` are line 3.
std::string op(const std::string& keys) {
  return R"({ "func": "f(Tensor self, Tensor? other, int dim, Scalar alpha=1) -> Tensor",)"
         "\n" +
         keys + R"(, "doc": "Does.", "example": "f(1, None, 0) == 1" })";
}
std::string kernels(const std::string& keys) { return op(R"("kernels": ["CPU"], )" + keys); }

std::string errors_of(const std::string& entries) { return testing::build(testing::file_of(entries)).errors; }

}  // namespace

TEST_CASE("mistakes in keys") {
  CHECK(errors_of(kernels(R"~("derivatives": {})~")).empty());
  CHECK(errors_of(kernels(R"~("derivative": {})~")) ==
        "test.json:3:21: error: f: unknown key 'derivative'; did you mean 'derivatives'?\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "inverse": "x")~")) ==
        "test.json:3:40: error: f: the key 'inverse' is reserved for a later version\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "autocast": "lower")~")).empty());
  CHECK(errors_of(kernels(R"~("derivatives": {}, "autocast": "half")~")) ==
        "test.json:3:52: error: f: 'autocast' is 'half'; it is 'float32', 'lower' or 'promote'\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "variants": ["function"])~")) ==
        "test.json:3:40: error: f: 'variants' stands before 'derivatives'\n");
  CHECK(errors_of(kernels(R"~("requires": "x", "derivatives": [])~")) ==
        "test.json:3:33: error: f: 'requires' is a string, not an array\n"
        "test.json:3:53: error: f: 'derivatives' is an array, not an object\n");
  CHECK(
      errors_of(kernels(R"~("requires": [{ "shape": "dim > 0" }], "derivatives": {})~")).find("unknown key 'shape'") !=
      std::string::npos);
  CHECK(errors_of(kernels(R"~("requires": ["dim > 0", 1], "derivatives": {})~")) ==
        "test.json:3:45: error: f: an item of 'requires' is a number, not a string\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "derivatives": {})~")) ==
        "test.json:3:40: error: duplicate key 'derivatives'; it stands already at 3:21\n");
  CHECK(errors_of(R"({ "func": "f(Tensor self) -> Tensor", "pointwise": "F", "derivatives": {}, "doc": "Does." })") ==
        "test.json:2:1: error: f: the key 'example' is missing\n");
  CHECK(errors_of(R"~({ "pointwise": "F" })~") ==
        "test.json:2:1: error: the key 'doc' is missing\n"
        "test.json:2:1: error: the key 'example' is missing\n"
        "test.json:2:1: error: the key 'func' is missing\n");
  CHECK(errors_of("1") == "test.json:2:1: error: an item of 'ops' is a number, not an object\n");
}

TEST_CASE("a reduction whose dimension no contract names") {
  CHECK(errors_of(op(R"~("reduction": "F", "requires": ["is_dim(dim, self.dim())"], "derivatives": {})~")).empty());
  CHECK(errors_of(op(R"~("reduction": "F", "requires": ["dim >= 0"], "derivatives": {})~")) ==
        "test.json:2:46: error: f: no contract says that 'dim' is a dimension, which the reduction has to know: write "
        "is_dim or are_dims of it\n");
}

TEST_CASE("predicates and methods take their arguments by position, operators in contracts all of theirs") {
  const auto required = [](const std::string& contract) {
    return errors_of(kernels(R"~("requires": [")~" + contract + R"~("], "derivatives": {})~"));
  };
  CHECK(required("is_dim(dim, self.dim())").empty());
  CHECK(required("is_dim(rank=self.dim(), dim=dim)") ==
        "test.json:3:52: error: f: a predicate takes its arguments by position\n");
  CHECK(required("self.size(dim=0) > 0") == "test.json:3:49: error: f: a method takes its arguments by position\n");
  CHECK(required("f(self, other, dim, 1).dim() == 2").empty());
  CHECK(required("f(self, other, dim).dim() == 2") ==
        "test.json:3:35: error: f: an operator in a contract takes all its arguments: 'f' has 4\n");
  CHECK(required("f(self, other, dim, alpha=1).dim() == 2") ==
        "test.json:3:61: error: f: an operator in a contract takes its arguments by position\n");
  CHECK(
      required("f(self, other, dim, 1).strides() == self.strides()") ==
      "test.json:3:35: error: f: of an operator's result a contract knows dim, dtype, size and sizes, not 'strides'\n");
}

TEST_CASE("a contract asks an operator for what is planned, and has no other use for its results") {
  const auto required = [](const std::string& contract, const std::string& recipe = R"~("kernels": ["CPU"])~") {
    return errors_of(R"~({ "func": "f(Tensor self) -> Tensor", "kernels": ["CPU"], "requires": [")~" + contract +
                     R"~("], "derivatives": {}, "doc": "Does.", "example": "f([1]) == [1]" },
{ "func": "g(Tensor self) -> (Tensor, Tensor)", )~" +
                     recipe + R"~(, "derivatives": {}, "doc": "Does.", "example": "g([1]) == ([1], [1])" })~");
  };
  CHECK(required("g(self)[1].dim() == f(self).size(0)").empty());
  for (const char* contract :
       {"let a = f(self)", "len([f(self)]) == 1", "f(f(self)).dim() == 1", "same_sizes([self, g(self)[0]])"}) {
    INFO(contract);
    CHECK(required(contract).find("error: f: a contract asks an operator's result for dim, dtype, size or sizes, and "
                                  "does nothing else with it") != std::string::npos);
  }
  CHECK(required("g(self)[0].dim() == 1", R"~("composite": "g")~") ==
        "test.json:2:73: error: f: a contract asks for results that are planned before the kernel runs, and 'g' has "
        "none\n");
}

TEST_CASE("a rule of dtypes calls no operator, and a promotion is of operands") {
  const auto dtypes = [](const std::string& rules) {
    return errors_of(R"~({ "func": "f(Tensor self, Tensor(a!) stats) -> Tensor", "kernels": ["CPU"],
"dtypes": { )~" + rules +
                     R"~( }, "derivatives": {}, "doc": "Does.", "example": "f([1], [1]) == [1]" })~");
  };
  CHECK(dtypes(R"~("self, stats": "promote")~").empty());
  CHECK(dtypes(R"~("stats": "promote(floating)")~") ==
        "test.json:3:22: error: f: 'promote' is of operands, but these are written beside the results\n");
  CHECK(dtypes(R"~("result": "f(self, stats).dtype()")~") == "test.json:3:24: error: f: no predicate 'f'\n");
}

TEST_CASE("names of arguments are not those of generated parameters of lambdas") {
  const auto built = testing::build(testing::file_of(
      R"~({ "func": "f(Tensor self, int[] dims, int x) -> Tensor", "kernels": ["CPU"],
            "requires": ["all(dims in {x, 0})"], "derivatives": {}, "doc": "Does.", "example": "f([1], [0], 0) == 1" })~"));
  REQUIRE(built.errors.empty());
  const std::string text = contract_statements(built.families->front().ops.front(), 2);
  CHECK(text.find("return contract::in(x_, {x, 0})") != std::string::npos);
}

TEST_CASE("deeply nested calls are laid out in no time") {
  std::string contract = "self.dim()";
  for (int i = 0; i < 24; ++i) contract = "max(1, " + contract + ")";
  const auto built = testing::build(
      testing::file_of(R"~({ "func": "f(Tensor self) -> Tensor", "kernels": ["CPU"], "requires": [")~" + contract +
                       R"~( > 0"], "derivatives": {}, "doc": "Does.", "example": "f([1]) == 1" })~"));
  REQUIRE(built.errors.empty());
  CHECK(contract_statements(built.families->front().ops.front(), 2).find("max(1, self.dim())") != std::string::npos);
}

TEST_CASE("mistakes in examples and names") {
  const auto example = [](const std::string& text) {
    return errors_of(R"({ "func": "f(Tensor self) -> Tensor", "kernels": ["CPU"], "derivatives": {}, "doc": "Does.",)"
                     "\n"
                     R"("example": ")" +
                     text + R"(" })");
  };
  CHECK(example("f([1]).sizes() == [1]").empty());
  CHECK(example("f([1]).dim() == 1") ==
        "test.json:3:20: error: f: an example asks a result for sizes or strides, not 'dim'\n");
  CHECK(errors_of(kernels(R"~("requires": ["dim != 'a\nb'"], "derivatives": {})~"))
            .find("a string has no control characters here") != std::string::npos);
}

TEST_CASE("names that generated code has for itself") {
  CHECK(errors_of(R"({ "func": "run(Tensor self) -> Tensor", "kernels": ["CPU"], "derivatives": {}, "doc": "Does.",)"
                  R"( "example": "run(1) == 1" })") ==
        "test.json:2:12: error: run: the operator name 'run' has a meaning within generated wrappers\n");
  CHECK(errors_of(kernels(R"~("requires": ["let long = self.dim()"], "derivatives": {})~"))
            .find("the name 'long' is a C++ keyword") != std::string::npos);
  CHECK(errors_of(kernels(R"~("aliases": ["lambda"], "derivatives": {})~"))
            .find("the alias 'lambda' is a Python keyword") != std::string::npos);
}

TEST_CASE("only an operator whose first tensor is self has an in-place overload by default") {
  const auto overloads_of = [](const std::string& arguments) {
    const auto built = testing::build(testing::file_of(R"({ "func": "f()" + arguments +
                                                       R"() -> Tensor", "pointwise": "F", "derivatives": {},)"
                                                       R"( "doc": "Does.", "example": "f(1, 1) == 1" })"));
    REQUIRE(built.errors.empty());
    return built.families->front().ops.front().variants.inplace;
  };
  CHECK(overloads_of("Tensor self, Tensor mask"));
  CHECK(overloads_of("Tensor x, Tensor mask"));
  CHECK_FALSE(overloads_of("Tensor mask, Tensor self"));
}

TEST_CASE("mistakes in rules of vmap and forward mode") {
  CHECK(errors_of(kernels(R"~("derivatives": {}, "vmap": "dims")~")).empty());
  CHECK(errors_of(kernels(R"~("derivatives": {}, "vmap": "dim")~")) ==
        "test.json:3:48: error: f: there is no rule 'dim' of vmap; did you mean 'dims'?\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "vmap": "along_dim")~")) ==
        "test.json:3:48: error: f: the rule 'along_dim' reads an argument 'index', which the operator has not\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "vmap": "squeeze")~")) ==
        "test.json:3:48: error: f: the rule 'squeeze' calls the operator that 'counterpart' names, but the entry names "
        "none\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "vmap": "squeeze", "counterpart": "f")~")).empty());
  CHECK(errors_of(kernels(R"~("derivatives": {}, "vmap": "squeeze", "counterpart": "f.dim")~")) ==
        "test.json:3:74: error: f: there is no operator 'f.dim'\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "counterpart": "f")~")) ==
        "test.json:3:55: error: f: 'counterpart' names what the rule of 'vmap' calls, but this one calls none\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "vmap": "whole_reduction", "counterpart": "f")~")) ==
        "test.json:3:82: error: f: the counterpart of a whole reduction takes 'self', 'dim' and 'keepdim' first\n");
  CHECK(errors_of(kernels(R"~("derivatives": { "self": "grad" }, "jvp": "sum")~")).empty());
  CHECK(
      errors_of(kernels(R"~("derivatives": {}, "jvp": "linear")~")) ==
      "test.json:3:47: error: f: 'jvp' says how the operator depends on the arguments that 'derivatives' names, but it "
      "names none\n");
}

TEST_CASE("mistakes in the file") {
  CHECK(testing::build("[]").errors == "test.json:1:1: error: a schema file holds an object, not an array\n");
  CHECK(testing::build(R"~({ "ops": [] })~").errors == "test.json:1:1: error: the key 'doc' is missing\n");
  CHECK(testing::build(R"~({ "doc": "a\nb", "ops": [] })~").errors ==
        "test.json:1:10: error: the doc has a line break or another control character; it is one sentence on "
        "one line\n");
  CHECK(testing::build(R"~({ "doc": "d", "ops": [})~")
            .errors.find("test.json:1:23: error: syntax error in value - unexpected '}'") == 0);
}

TEST_CASE("mistakes in the schema string") {
  const auto entry = [](const std::string& func) {
    return R"({ "func": ")" + func +
           R"(", "pointwise": "F", "derivatives": {}, "doc": "Does.", "example": "f(1) == 1" })";
  };
  CHECK(errors_of(entry("f(tensor self) -> Tensor")) ==
        "test.json:2:14: error: 'tensor' is not a type; did you mean 'Tensor'?\n");
  CHECK(errors_of(entry("f(Tensor self")) ==
        "test.json:2:25: error: expected ',' or ')' after an argument, but the text ends here\n");
  CHECK(errors_of(entry("f(Tensor self, int self) -> Tensor")).find("there are two arguments named 'self'") !=
        std::string::npos);
  CHECK(errors_of(entry("f(Tensor self, int register=0) -> Tensor")) ==
        "test.json:2:31: error: f: the argument name 'register' is a C++ keyword\n");
  CHECK(errors_of(entry("and(Tensor self) -> Tensor")).find("error: and: the operator name 'and' is a C++ keyword\n") !=
        std::string::npos);
  // What generated functions call their own: an underscore ends it; and what they call.
  CHECK(
      errors_of(entry("f(Tensor self, int plan_=0) -> Tensor")) ==
      "test.json:2:31: error: f: the argument name 'plan_' ends in an underscore, as the names of generated code do\n");
  CHECK(errors_of(entry("f(Tensor self, int wrap_dim=0) -> Tensor")) ==
        "test.json:2:31: error: f: the argument name 'wrap_dim' is a function that generated code calls\n");
  for (const char* name : {"plan", "kernel", "why", "text", "keys", "node", "result", "out", "is", "lambda"}) {
    INFO(name);
    CHECK(errors_of(entry("f(Tensor self, int " + std::string(name) + "=0) -> Tensor")).find("argument name") ==
          std::string::npos);
  }
  CHECK(errors_of(entry("is(Tensor self) -> Tensor")).find("error: is: the operator name 'is' is a Python keyword\n") !=
        std::string::npos);
  const std::string bomb = errors_of(entry(std::string(60000, 'f') + "(Tensor self) -> Tensor"));
  CHECK(bomb.find("...: the operator name '") != std::string::npos);
  CHECK(bomb.find("' has 60000 characters, but a name has 128 at most\n") != std::string::npos);
  CHECK(bomb.size() < 1000);
  // What would end a string, a comment or a line of generated code is no name in the schema language either.
  for (const char* bad : {"f\\\"(Tensor self) -> Tensor", "f*/(Tensor self) -> Tensor",
                          "f\\u000a(Tensor self) -> Tensor", "f(Tensor s\\u00e9) -> Tensor", "f(Tensor 'x') -> Tensor"})
    CHECK(errors_of(entry(bad)).find("test.json:2:") == 0);
  CHECK(errors_of(entry("f(Tensor  self)\\n-> Tensor")) ==
        "test.json:2:21: error: f: the schema is spelled otherwise from here on: 'self) -> Tensor'\n");
}

TEST_CASE("types that generated operators cannot have") {
  const auto errors = [](const std::string& func) {
    return errors_of(R"({ "func": ")" + func + R"(", "composite": "f", "doc": "Does.", "example": "f(1) == 1" })");
  };
  for (const char* type : {"str[]", "ScalarType[]?", "int?[]", "SymInt[2][]", "Tensor[][]", "Device[]", "Stream",
                           "Dict(str, Tensor)", "Dict(int, str[])?"}) {
    INFO(type);
    const std::string cannot = "'" + std::string(type) +
                               "', which generated operators cannot have; define the operator in C++, with "
                               "KEYWAY_LIBRARY\n";
    const std::string column = std::to_string(28 + std::string(type).size());
    CHECK(errors("f(Tensor self, " + std::string(type) + " x) -> Tensor")
              .starts_with("test.json:2:" + column + ": error: f: the argument 'x' is " + cannot));
    CHECK(errors("f(Tensor self) -> " + std::string(type)).find(" error: f: the result is " + cannot) !=
          std::string::npos);
  }
}

TEST_CASE("mistakes in recipes") {
  CHECK(errors_of(op(R"~("pointwise": "F", "kernels": ["CPU"], "derivatives": {})~")) ==
        "test.json:3:30: error: f: 'kernels' is a second recipe; an op has one (or composite and kernels)\n");
  CHECK(errors_of(op(R"~("composite": "f", "kernels": ["CPU"])~")).empty());
  CHECK(errors_of(op(R"~("pointwise": "F;", "derivatives": {})~")) ==
        "test.json:3:14: error: f: pointwise: 'F;' is not an identifier (letters, digits and underscores, no "
        "digit "
        "first)\n");
  CHECK(errors_of(op(R"~("view": "f", "derivatives": {})~")) ==
        "test.json:2:11: error: f: a view's result aliases its input; write Tensor(a) for both\n");
  CHECK(errors_of(op(R"~("kernels": ["CPU", "CPU"], "derivatives": {})~")) ==
        "test.json:3:20: error: f: the backend 'CPU' stands here twice\n");
  CHECK(errors_of(op(R"~("kernels": ["cpu"], "derivatives": {})~")) ==
        "test.json:3:13: error: f: no kernels are generated for a backend 'cpu': the backends are CPU and CUDA\n");
  CHECK(
      errors_of(op(R"~("kernels": ["CPU", "CPUU"], "derivatives": {})~")) ==
      "test.json:3:20: error: f: no kernels are generated for a backend 'CPUU': the backends are CPU and CUDA; did you "
      "mean 'CPU'?\n");
  CHECK(errors_of(op(R"~("pointwise": "F", "rule": "f", "derivatives": {})~")) ==
        "test.json:3:27: error: f: 'rule' goes with 'kernels'; the other recipes imply theirs\n");
  CHECK(errors_of(op(R"~("pointwise": "F")~")) ==
        "test.json:2:1: error: f: 'derivatives' is missing; write {} if there are none\n");
}

TEST_CASE("mistakes in derivatives") {
  CHECK(errors_of(kernels(R"~("derivatives": { "othr": "grad" })~")) ==
        "test.json:3:39: error: f: no argument 'othr' to differentiate; did you mean 'other'?\n");
  CHECK(errors_of(kernels(R"~("derivatives": { "alpha": "grad" })~")) ==
        "test.json:3:39: error: f: argument 'alpha' is Scalar; only tensors are differentiated\n");
  CHECK(errors_of(kernels(R"~("derivatives": { "self, other": "(grad, None)", "self": "grad"
})~")) == "test.json:3:70: error: f: 'self' has a derivative already\n");
  CHECK(errors_of(kernels(R"~("derivatives": { "self, other": "(grad,)"
  })~")) == "test.json:3:53: error: f: a joint formula gives 2 gradients, but this is (Tensor)\n");
  CHECK(errors_of(kernels(R"~("derivatives": { "self": "self.sizes()"
  })~")) == "test.json:3:46: error: f: the gradient of Tensor is a Tensor, but this is int[]\n");
  CHECK(errors_of(kernels(R"~("derivatives": { "self": "grad * slef" })~")) ==
        "test.json:3:54: error: f: no name 'slef' here; did you mean 'self'?\n");
  CHECK(errors_of(kernels(R"~("derivatives": { "self": "grad * needs[0]" })~")) ==
        "test.json:3:54: error: f: no name 'needs' here\n");
  CHECK(errors_of(kernels(R"~("derivatives": { "self": "grad *" })~")) ==
        "test.json:3:53: error: f: expected a value, but the text ends here\n");
}

TEST_CASE("mistakes in contracts") {
  CHECK(errors_of(kernels(R"~("requires": ["dim + 1", "self > 0"], "derivatives": {})~")) ==
        "test.json:3:34: error: f: a contract is a bool, but this is int\n"
        "test.json:3:51: error: f: '>' would read the data of a Tensor, but only metadata can be used "
        "here\n");
  CHECK(errors_of(kernels(R"~("requires": ["other.dim() > 0"], "derivatives": {})~")) ==
        "test.json:3:47: error: f: the left of '>' may be None here; test it first\n");
  CHECK(errors_of(kernels(R"~("requires": ["other != None", "other.dim() > 0"], "derivatives": {})~")).empty());
  CHECK(errors_of(kernels(R"~("requires": ["let n = dim", "n > 0", "m > 0"], "derivatives": {})~")) ==
        "test.json:3:59: error: f: no name 'm' here\n");
  CHECK(errors_of(kernels(R"~("values": ["0 <= self < dim"], "derivatives": {}, "domain": ["0 < self"])~")).empty());
}

TEST_CASE("the error that a sample raises is in plain characters") {
  const auto errors = [](const std::string& error) {
    return errors_of(kernels(R"~("derivatives": {}, "samples": ["f(1, None, 0) raises )~" + error + R"~("])~"));
  };
  CHECK(errors("f: no").find("control characters") == std::string::npos);
  CHECK(errors("f:\\u0001no").find("error: f: the text of an error has no control characters here\n") !=
        std::string::npos);
}

TEST_CASE("rules of promotion are of arguments, and rules of results in order") {
  const auto errors = [](const std::string& rules) {
    return errors_of(R"~({ "func": "g(Tensor self, Tensor b, bool flag=False) -> (Tensor x, Tensor y)",)~"
                     "\n"
                     R"~("kernels": ["CPU"], "dtypes": { )~" +
                     rules + R"~( }, "derivatives": {}, "doc": "Does.", "example": "g(1, 1) == (1, 1)" })~");
  };
  CHECK(errors(R"~("self, b": "promote(floating)", "x": "self", "y": "x")~").empty());
  constexpr const char* kOfResult = "error: g: 'promote' is of arguments, but 'x' is a result\n";
  CHECK(errors(R"~("x": "promote")~").find(kOfResult) != std::string::npos);
  CHECK(errors(R"~("x, self": "promote")~").find(kOfResult) != std::string::npos);
  CHECK(errors(R"~("self": "floating|promote")~").find("error: g: 'promote' is a whole rule\n") != std::string::npos);
  constexpr const char* kUnknown =
      "is not known here: a rule of a result names results before it, and one of an argument none\n";
  CHECK(errors(R"~("x": "y")~").find(kUnknown) != std::string::npos);
  CHECK(errors(R"~("x, y": "x")~").find(kUnknown) != std::string::npos);
  CHECK(errors(R"~("self": "x")~").find(kUnknown) != std::string::npos);
}

TEST_CASE("mistakes in dtypes, variants, tags and words") {
  CHECK(errors_of(kernels(R"~("dtypes": "promot", "derivatives": {})~")) ==
        "test.json:3:31: error: f: unknown dtype preset 'promot'; did you mean 'promote'?\n");
  CHECK(errors_of(kernels(R"~("dtypes": { "slf": "any", "dim": "any" }, "derivatives": {})~")) ==
        "test.json:3:34: error: f: no tensor argument or result 'slf'; did you mean 'self'?\n"
        "test.json:3:48: error: f: no tensor argument or result 'dim'\n");
  CHECK(errors_of(kernels(R"~("dtypes": { "self": "floatng" }, "derivatives": {})~")) ==
        "test.json:3:42: error: f: no name 'floatng' here; did you mean 'floating'?\n");
  CHECK(errors_of(kernels(R"~("variants": ["inplce", "out", "out"], "derivatives": {})~")) ==
        "test.json:3:34: error: f: unknown variant 'inplce'; did you mean 'inplace'?\n"
        "test.json:3:51: error: f: the variant 'out' stands here twice\n");
  CHECK(errors_of(kernels(R"~("out": "values(a, b)", "derivatives": {})~")) ==
        "test.json:3:28: error: f: 'out' names 2 arguments, but there are 1 results\n");
  CHECK(errors_of(kernels(R"~("out": "out(self)", "derivatives": {})~")) ==
        "test.json:3:28: error: f: the out= overload cannot be: there are two arguments named 'self'\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "tags": ["pointwize"])~")) ==
        "test.json:3:49: error: f: unknown tag 'pointwize'; did you mean 'pointwise'?\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "tags": ["out_of_cast_dtype", "out_of_same_dtype"])~")) ==
        "test.json:3:48: error: f: the tags that begin with 'out_of_' exclude each other\n");
  CHECK(errors_of(kernels(R"~("namespace": "n-n", "derivatives": {})~")) ==
        "test.json:3:34: error: f: the namespace 'n-n' is not an identifier (letters, digits and "
        "underscores, no "
        "digit first)\n");
  const auto with_doc = [](const std::string& doc) {
    return R"({ "func": "f(Tensor self) -> Tensor", "composite": "f", "doc": ")" + doc +
           R"(", "example": "f(1) == 1" })";
  };
  CHECK(errors_of(with_doc("")) == "test.json:2:64: error: f: the doc is empty\n");
  CHECK(errors_of(with_doc("a */ b")) == "test.json:2:64: error: f: the doc has '*/', which would end a comment\n");
  CHECK(errors_of(with_doc("a \\\\")) ==
        "test.json:2:64: error: f: the doc ends in '\\', which would continue a comment\n");
}

TEST_CASE("mistakes in examples") {
  const auto with_example = [](const std::string& example) {
    return R"({ "func": "f(Tensor self, int[2] k=0, *, float p=1, ScalarType? dtype=None) -> Tensor", "composite": "f",
"doc": "Does.", "example": ")" +
           example + R"(" })";
  };
  CHECK(errors_of(with_example("f([[1, -2.5]], 3, p=inf, dtype=int64) == 1")).empty());
  CHECK(errors_of(with_example("f([1]).sizes() == [1]")).empty());
  CHECK(errors_of(with_example("g(1) == 1")) == "test.json:3:29: error: f: an example is a call of 'f'\n");
  CHECK(errors_of(with_example("f(1)")) == "test.json:3:29: error: f: an example has the form 'f(...) == value'\n");
  CHECK(errors_of(with_example("f() == 1")) == "test.json:3:29: error: f: f: argument 'self' is missing\n");
  CHECK(errors_of(with_example("f(1, q=1) == 1")) == "test.json:3:36: error: f: f: has no argument 'q'\n");
  CHECK(errors_of(with_example("f(1, 2, 3) == 1")) == "test.json:3:37: error: f: f: takes 2 positional arguments\n");
  CHECK(errors_of(with_example("f([[1, 2], [3]]) == 1")) ==
        "test.json:3:40: error: f: this row of the tensor has another shape than the first\n");
  CHECK(errors_of(with_example("f(1, 'a') == 1")) ==
        "test.json:3:34: error: f: argument 'k' is int[], and this is no literal of it\n");
  CHECK(errors_of(with_example("f(None) == 1")) ==
        "test.json:3:31: error: f: a tensor is written in numbers, bools and lists of them\n");
  CHECK(errors_of(with_example("f(1) == 'a'")) ==
        "test.json:3:37: error: f: a tensor is written in numbers, bools and lists of them\n");
  CHECK(errors_of(R"~({ "func": "g(Tensor self) -> (Tensor, Tensor)", "composite": "g",
"doc": "Does.", "example": "g(1) == [1, 1]"
  })~") == "test.json:3:37: error: g: there are 2 results; write a tuple of them\n");
}

TEST_CASE("mistakes in samples") {
  CHECK(errors_of(kernels(R"~("derivatives": {}, "samples": ["f(2, None, 1)", "f(1, None, 3) raises no"])~")).empty());
  CHECK(
      errors_of(kernels(R"~("derivatives": {}, "samples": ["f(2)", "f(1, 2, '3') raises x", { "call": "f(2)" }])~")) ==
      "test.json:3:85: error: f: an item of 'samples' is an object, not a string\n");
  CHECK(errors_of(kernels(R"~("derivatives": {}, "samples": ["f(2)", "f(1, 2, '3') raises x"])~")) ==
        "test.json:3:53: error: f: f: argument 'other' is missing\n"
        "test.json:3:69: error: f: argument 'dim' is int, and this is no literal of it\n");
}

TEST_CASE("ops are sorted, and each stands once") {
  const auto entry = [](const std::string& name, const std::string& keys = "") {
    const std::string base = name.substr(0, name.find('.'));
    return R"({ "func": ")" + name + R"((Tensor self) -> Tensor", "pointwise": "F", )" + keys +
           R"("derivatives": {}, "doc": "Does.", "example": ")" + base + R"((1) == 1" })";
  };
  CHECK(errors_of(entry("a") + ",\n" + entry("a.x") + ",\n" + entry("a_b") + ",\n" + entry("b")).empty());
  CHECK(errors_of(entry("b") + ",\n" + entry("a")) ==
        "test.json:3:1: error: a: ops are sorted by name: this one stands before b\n");
  CHECK(errors_of(entry("a.x") + ",\n" + entry("a.x")) ==
        "test.json:3:11: error: a.x: stands already at test.json:2:11\n");
  CHECK(errors_of(entry("a.x", R"~("out": "out", )~") + ",\n" + entry("a.y", R"~("out": "out", )~")) ==
        "test.json:3:11: error: a.y: generates a.out, and so does a.x at test.json:2:11\n");
  const std::string function = R"~("variants": ["function"], )~";
  CHECK(errors_of(entry("a.b_c", function) + ",\n" + entry("a_b.c", function)) ==
        "test.json:3:11: error: a_b.c: generates a_b.c, which is a_b_c in C++, as is a.b_c of a.b_c at "
        "test.json:2:11\n");
}

TEST_CASE("an alias is a name, and has one meaning") {
  const auto entry = [](const std::string& name, const std::string& aliases) {
    const std::string base = name.substr(0, name.find('.'));
    return R"({ "func": ")" + name + R"((Tensor self) -> Tensor", "pointwise": "F", "aliases": [)" + aliases +
           R"(], "derivatives": {}, "doc": "Does.", "example": ")" + base + R"((1) == 1" })";
  };
  CHECK(errors_of(entry("a.x", R"("c", "d")") + ",\n" + entry("a.y", R"("c")") + ",\n" + entry("b", R"("e")")).empty());
  CHECK(errors_of(entry("a", "")) == "test.json:2:68: error: a: 'aliases' names none\n");
  CHECK(errors_of(entry("a", R"("if", "c", "c")")) ==
        "test.json:2:69: error: a: the alias 'if' is a C++ keyword\n"
        "test.json:2:80: error: a: the alias 'c' stands here twice\n");
  CHECK(errors_of(entry("a", R"("b")") + ",\n" + entry("b", R"("c")")) ==
        "test.json:2:11: error: a: the alias 'b' already means b\n");
  CHECK(errors_of(entry("a", R"("c")") + ",\n" + entry("b", R"("c")")) ==
        "test.json:3:11: error: b: the alias 'c' already means a\n");
}

TEST_CASE("all errors are reported in one run, in the order of the file") {
  CHECK(errors_of(kernels(R"~("dtypes": "x", "requires": ["y"], "derivatives": { "z": "w" }, "tags": ["v"])~")) ==
        "test.json:3:31: error: f: unknown dtype preset 'x'\n"
        "test.json:3:50: error: f: no name 'y' here\n"
        "test.json:3:73: error: f: no argument 'z' to differentiate\n"
        "test.json:3:78: error: f: no name 'w' here\n"
        "test.json:3:93: error: f: unknown tag 'v'\n");
}
