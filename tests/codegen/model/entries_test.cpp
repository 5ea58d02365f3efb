// From entries as they are written to entries as they are meant: texts of several strings, macros, entry templates.
// Whatever is wrong is found where it is written.
#include <keyway/codegen/show.h>
#include <keyway/tests/campaign.h>
#include <keyway/tests/codegen/test_files.h>

#include <random>

using namespace keyway;
using keyway::testing::build;
using keyway::testing::data_file;
using keyway::testing::file_of;

namespace {

// A file with macros in line 1 and entries that begin in line 2.
std::string with_macros(const std::string& macros, const std::string& entries) {
  return R"~({ "doc": "Tests.", "macros": { )~" + macros + " }, \"ops\": [\n" + entries + "\n]}\n";
}

// A composite f with more keys before its doc, all in line 2.
std::string entry(const std::string& keys) {
  return R"~({ "func": "f(Tensor self, int dim=0) -> Tensor", )~" + keys +
         R"~(, "doc": "Does.", "example": "(1) == 1" })~";
}

// An entry template with "for" in line 2 and its other keys in line 3.
std::string entry_template(const std::string& words,
                           const std::string& keys = R"~("func": "f{N}(Tensor self) -> Tensor")~") {
  return R"~({ "for": { )~" + words + " },\n" + keys + R"~(, "doc": "Does.", "example": "(1) == 1" })~";
}

std::string errors_in(const std::string& file) { return build(file).errors; }

std::vector<Op> ops_of(const std::string& file) {
  auto result = build(file);
  INFO(result.errors);
  REQUIRE(result.families.has_value());
  return result.families->front().ops;
}

std::vector<std::string> texts(const std::vector<Formula>& formulas) {
  std::vector<std::string> texts;
  for (const Formula& formula : formulas) texts.push_back(formula.text.text);
  return texts;
}

}  // namespace

TEST_CASE("a text may be a list of strings, and keeps the place of each of its bytes") {
  const Op op = testing::build_op(R"~({ "func": ["f(Tensor self,", "int dim=0) -> Tensor"],
    "requires": ["dim > 0", ["dim", "< 5"]], "doc": ["Does", "it."], "example": ["(1)", "== 1"] })~");
  CHECK(op.func.text == "f(Tensor self, int dim=0) -> Tensor");
  CHECK(texts(op.contracts) == std::vector<std::string>{"dim > 0", "dim < 5"});
  CHECK(op.doc == "Does it.");
  CHECK(op.example.text.text == "f(1) == 1");
  CHECK(errors_in(file_of(entry("\"requires\": [[\"dim > 0 &&\",\n  \"dmi < 5\"]]"))) ==
        "test.json:3:4: error: f: no name 'dmi' here; did you mean 'dim'?\n");
  CHECK(errors_in(
            file_of("{ \"func\": [\"f(Tensor self,\",\n  \"itn dim) -> Tensor\"], \"doc\": \"d\", \"example\": \"(1)"
                    " == 1\" }")) == "test.json:3:4: error: 'itn' is not a type\n");
  CHECK(errors_in(file_of(entry(R"~("rule": ["f", 1])~"))) ==
        "test.json:2:58: error: f: 'rule' is an array, not a string\n");
  CHECK(errors_in(file_of(entry(R"~("requires": [["dim > 0", 1]])~"))) ==
        "test.json:2:63: error: f: an item of 'requires' is an array, not a string\n");
}

TEST_CASE("an entry without a recipe is a composite of its operator's name, and a call without a name is of it") {
  const Op op = testing::build_op(entry(R"~("samples": ["(2) == 2", "(3, 1) raises dim is 1", "f(4)"])~"));
  CHECK(op.recipe.kind == RecipeKind::Composite);
  CHECK(op.recipe.function == "f");
  REQUIRE(op.samples.size() == 3);
  CHECK(op.samples[0].text.text == "f(2) == 2");
  CHECK(op.samples[1].text.text == "f(3, 1)");
  CHECK(op.samples[1].error == "dim is 1");
  CHECK(op.samples[2].text.text == "f(4)");
  CHECK(errors_in(file_of(entry(R"~("samples": ["(2, []) raises dim"])~"))) ==
        "test.json:2:67: error: f: argument 'dim' is int, and this is no literal of it\n");
}

TEST_CASE("recipe and schema imply tags") {
  const auto tags_of = [](const std::string& func, const std::string& keys) {
    return testing::build_op(R"~({ "func": ")~" + func + R"~(", )~" + keys + R"~("doc": "d", "example": "(1) == 1" })~")
        .tags;
  };
  using Tags = std::vector<std::string>;
  CHECK(tags_of("f(int n) -> Tensor", "") == Tags{"factory"});
  CHECK(tags_of("f(int n) -> int", "").empty());
  CHECK(tags_of("f(int n, *, Generator? generator=None) -> Tensor", R"~("tags": ["factory", "core"], )~") ==
        Tags{"core", "factory", "nondeterministic_seeded"});
  CHECK(tags_of("f(Tensor self) -> Tensor", R"~("pointwise": "F", "derivatives": {}, )~") == Tags{"pointwise"});
}

TEST_CASE("a macro stands for a text, a list or an object") {
  const auto ops = ops_of(with_macros(
      R"~("options": "int dim=0, int end=1", "below(a, b)": ["{a} >= 0", "{a} < {b}"], "types": { "self": "real" })~",
      R"~({ "func": "f(Tensor self, {options}) -> Tensor", "dtypes": "{types}",
           "requires": ["end > 0", "{below(dim, max(end, 9))}", "self.dim() in {3, 4}"],
           "doc": "Does {options}.", "example": "(1) == 1" })~"));
  REQUIRE(ops.size() == 1);
  CHECK(ops[0].func.text == "f(Tensor self, int dim=0, int end=1) -> Tensor");
  CHECK(texts(ops[0].contracts) ==
        std::vector<std::string>{"end > 0", "dim >= 0", "dim < max(end, 9)", "self.dim() in {3, 4}"});
  CHECK(ops[0].dtypes.rules.at(0).set.text.text == "real");
  CHECK(ops[0].doc == "Does int dim=0, int end=1.");
}

TEST_CASE("brackets and commas in quotes are no part of a macro's use, and an apostrophe begins no quotes") {
  const auto ops = ops_of(
      with_macros(R"~("is(A, B)": "{A} == {B}")~",
                  R"~({ "func": "f(Tensor self) -> Tensor", "requires": ["{is('),{', \"'\")} || {is('[', ',')}"],)~"
                  R"~( "doc": "It's {is(one's, others')}.", "example": "(1) == 1" })~"));
  CHECK(texts(ops[0].contracts) == std::vector<std::string>{R"~('),{' == "'" || '[' == ',')~"});
  CHECK(ops[0].doc == "It's one's == others'.");
  CHECK(
      errors_in(file_of(R"~({ "func": "f(Tensor self) -> Tensor", "doc": "Is {is(1}.", "example": "(1) == 1" })~")) ==
      "test.json:2:50: error: f: the doc has '{', but what follows is no use of a macro: '{name}' or '{name(x, y)}'\n");
}

TEST_CASE("a template becomes an entry for each value of its words, sorted with the others") {
  const auto ops = ops_of(
      file_of(entry_template(
                  R"~("N": [1, 3], "what": ["line", "space"], "tag": ["core", null], "more": [null, ["(2)", "(3)"]])~",
                  R"~("func": "f{N}(Tensor self, int[{N}] size=0) -> Tensor", "composite": "f", "namespace": "{what}",
                 "requires": ["self.dim() in {{N + 1}, {N - 1}, 7}"], "samples": ["(5)", "{more}"], "tags": ["{tag}"])~") +
              R"~(, { "func": "f2(Tensor self) -> Tensor", "doc": "Does.", "example": "(1) == 1" })~"));
  REQUIRE(ops.size() == 3);
  CHECK(ops[0].func.text == "f1(Tensor self, int[1] size=0) -> Tensor");
  CHECK(ops[1].func.text == "f2(Tensor self) -> Tensor");
  CHECK(ops[2].func.text == "f3(Tensor self, int[3] size=0) -> Tensor");
  CHECK(texts(ops[2].contracts) == std::vector<std::string>{"self.dim() in {4, 2, 7}"});
  CHECK(ops[0].samples.size() == 1);
  CHECK(ops[2].samples.size() == 3);
  CHECK(ops[2].samples[1].text.text == "f3(2)");
  CHECK(ops[0].tags == std::vector<std::string>{"core"});
  CHECK(ops[2].tags.empty());
  CHECK(ops[2].python_namespace == "space");
  CHECK(ops[0].example.text.text == "f1(1) == 1");
}

TEST_CASE("a mistake in a template is reported of its first wrong entry, where it is written") {
  const auto wrong = [](const std::string& keys) {
    return errors_in(file_of(entry_template(R"~("N": [1, 2], "x": ["self", "slef"])~",
                                            R"~("func": "f{N}(Tensor self) -> Tensor", )~" + keys)));
  };
  CHECK(wrong(R"~("requires": ["{x}.dim() > {N}"])~") ==
        "test.json:2:40: error: f2: no name 'slef' here; did you mean 'self'? (for N = 2)\n");
  CHECK(wrong(R"~("requires": ["{x}.dim() == dmi"], "values": ["{x} > 0"])~") ==
        "test.json:3:67: error: f1: no name 'dmi' here (for N = 1)\n");
  CHECK(wrong(R"~("requires": ["{x}.dim() > {M}"])~") == "test.json:3:66: error: there is no macro 'M' (for N = 1)\n");
  CHECK(wrong(R"~("requires": ["{x + 1}.dim() > 0"])~") ==
        "test.json:3:54: error: 'x' is added to, but is no number (for N = 1)\n");
  CHECK(wrong(R"~("requires": ["{x(1)}.dim() > 0"])~") == "test.json:3:54: error: 'x' has no parameters (for N = 1)\n");
  CHECK(errors_in(file_of(entry_template(R"~("N": [1, 2])~", R"~("func": "f{N}(Tesnor self) -> Tensor")~"))) ==
        "test.json:3:15: error: 'Tesnor' is not a type; did you mean 'Tensor'? (for N = 1)\n");
  CHECK(errors_in(file_of(entry_template(R"~("N": [1, 2])~", R"~("func": "f(Tensor self, int a={N}) -> Tensor")~"))) ==
        "test.json:3:9: error: f: stands already at test.json:3:9 (for N = 2)\n");
}

TEST_CASE("mistakes in the words of a template") {
  const auto wrong = [](const std::string& words) { return errors_in(file_of(entry_template(words))); };
  CHECK(wrong(R"~("N": [1, 2])~").empty());
  CHECK(wrong("") == "test.json:2:10: error: 'for' names nothing\n");
  CHECK(wrong(R"~("N": 2)~") ==
        "test.json:2:17: error: 'N' has a list of values, one for each entry of the template\n");
  CHECK(wrong(R"~("N": [1, 2], "x": [1])~") == "test.json:2:30: error: 'x' has 1 values, but 'N' has 2\n");
  CHECK(wrong(R"~("N": [1, 2], "x y": [1, 2])~") == "test.json:2:25: error: 'x y' is no name\n");
  CHECK(wrong(R"~("N": [1, 2], "x": [1, 2])~") == "test.json:2:25: error: nothing uses 'x'\n");
  CHECK(errors_in(file_of(entry(R"~("for": { "N": [1] })~"))) ==
        "test.json:2:50: error: f: 'for' stands before 'func' (for N = 1)\n"
        "test.json:2:59: error: nothing uses 'N'\n");
  CHECK(errors_in(
            file_of(R"~({ "for": [1], "func": "f(Tensor self) -> Tensor", "doc": "d", "example": "(1) == 1" })~")) ==
        "test.json:2:10: error: f: 'for' is an array, not an object\n");
  const std::string name = R"~({ "func": "f(Tensor self, int a={n}) -> Tensor", "doc": "d", "example": "(1) == 1" })~";
  CHECK(errors_in(with_macros(R"~("n": "1")~", name + ",\n" + entry_template(R"~("n": [1])~"))) ==
        "test.json:3:12: error: there is a macro 'n' already, at 1:32\n");
}

TEST_CASE("mistakes in macros") {
  const auto wrong = [](const std::string& macros, const std::string& contract) {
    return errors_in(with_macros(macros, entry(R"~("requires": [")~" + contract + R"~("])~")));
  };
  CHECK(wrong(R"~("above(a)": "{a} > 0")~", "{above(dim)}").empty());
  CHECK(wrong(R"~("above(a)": "{a} > 0 && dmi")~", "{above(dim)}") ==
        "test.json:1:56: error: f: no name 'dmi' here; did you mean 'dim'?\n");
  CHECK(wrong(R"~("above(a)": "{a} > 0")~", "{above(dmi)}") ==
        "test.json:2:71: error: f: no name 'dmi' here; did you mean 'dim'?\n");
  CHECK(wrong(R"~("above(a)": "{a} > 0")~", "{above(dim, 1)} && {above}") ==
        "test.json:2:64: error: the macro 'above' has 1 parameters, but 2 arguments are given\n"
        "test.json:2:83: error: the macro 'above' has 1 parameters, but 0 arguments are given\n");
  CHECK(wrong(R"~("above(a)": "{a} > 0")~", "{abov(dim)} && {above(1)}") ==
        "test.json:2:64: error: there is no macro 'abov'; did you mean 'above'?\n");
  CHECK(wrong(R"~("above": "{below}", "below": "dim > 0")~", "{above}") ==
        "test.json:1:42: error: a macro may use those before it, and 'below' is none of them\n");
  CHECK(wrong(R"~("above": "{above}")~", "{above}") ==
        "test.json:1:42: error: a macro may use those before it, and 'above' is none of them\n");
  CHECK(wrong(R"~("list": ["dim > 0", "dim < 1"])~", "{list}").empty());
  CHECK(wrong(R"~("types": { "self": "any" })~", "dim > {types}") ==
        "test.json:2:70: error: the value of 'types' is an object, which no text can have in it\n");
  CHECK(wrong(R"~("1st": "dim")~", "dim > 0") ==
        "test.json:1:32: error: a macro is named like 'name' or 'name(x, y)', not '1st'\n");
  CHECK(wrong(R"~("x()": "dim")~", "dim > 0") ==
        "test.json:1:32: error: a macro is named like 'name' or 'name(x, y)', not 'x()'\n");
  CHECK(wrong(R"~("x(a, a)": "{a}")~", "dim > 0") == "test.json:1:32: error: the macro 'x' has two parameters 'a'\n");
  CHECK(wrong(R"~("n": "-1")~", "dim > {n + 1} && dim > {n}").empty());
  CHECK(wrong(R"~("x": "dim", "x(a)": "{a}")~", "{x} > 0") ==
        "test.json:1:44: error: there is a macro 'x' already, at 1:32\n");
  CHECK(wrong(R"~("x": "dim")~", "dim > 0") == "test.json:1:32: error: nothing uses the macro 'x'\n");
  CHECK(errors_in(R"~({ "doc": "Tests.", "macros": [], "ops": [] })~") ==
        "test.json:1:30: error: 'macros' is an array, not an object\n");
}

TEST_CASE("macros of macros cannot exhaust a machine") {
  std::string macros = R"~("m0": ["dim > 0", "dim > 0", "dim > 0"])~";
  for (int i = 1; i < 40; ++i) {
    const std::string use = "\"{m" + std::to_string(i - 1) + "}\"";
    macros += ", \"m" + std::to_string(i) + "\": [" + use + ", " + use + ", " + use + ", " + use + "]";
  }
  const auto errors = [&](const std::string& last) {
    return errors_in(with_macros(macros, entry(R"~("requires": ["{)~" + last + R"~(}"])~")));
  };
  CHECK(errors("m12").find("macros make more than 16777216 bytes of this file\n") != std::string::npos);
  CHECK(errors("m39").find("macros stand in each other more than 16 deep\n") != std::string::npos);
}

TEST_CASE("no damage to macros and templates makes the generator throw") {
  const std::string whole = with_macros(
      R"~("two(a, b)": ["{a} > {b}", "{b} >= 0"], "types": { "self": "real" }, "dims": [["dim", "> 0"]])~",
      entry_template(R"~("N": [1, 2], "more": [["(2)"], null], "what": ["line", [["pl", "ane"]]])~",
                     R"~("func": ["f{N}(Tensor self,", "int dim=0) -> Tensor"], "composite": "f", "dtypes": "{types}",
                 "aliases": ["x{N}"], "requires": ["{two(dim, max({N + 1}, 3))}", "{dims}"],
                 "values": ["self > {N - 1}"], "domain": ["self > {N}"], "samples": ["(5, 9) raises {what}", "{more}"],
                 "tags": ["core"])~"));
  CHECK(ops_of(whole).size() == 2);
  std::mt19937 random(7);
  constexpr std::string_view kBytes = "{}()[]\",:+-1aN null";
  for (int round = 0; round < testing::campaign(1000); ++round) {
    std::string text = whole;
    for (std::uint32_t edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = kBytes[random() % kBytes.size()]; break;
        case 1: text.insert(at, 1, kBytes[random() % kBytes.size()]); break;
        default: text.erase(at, 1 + random() % 4); break;
      }
    }
    INFO("round " << round << ": " << text);
    const auto [families, errors] = build(text);
    CHECK(families.has_value() == errors.empty());
  }
}

TEST_CASE("an entry as it is shown means the same") {
  const auto shown = [](const std::vector<Op>& ops) {
    std::string entries;
    for (const Op& op : ops) entries += (entries.empty() ? "" : ",\n") + show_entry(op);
    return entries;
  };
  const std::string file = read_file(data_file("difficult.json"));
  const std::string entries = shown(ops_of(file));
  const std::string before = file.substr(0, file.find("\"ops\": ["));
  CHECK(shown(ops_of(before + "\"ops\": [\n" + entries + "] }")) == entries);
}

TEST_CASE("an entry is shown with all that it comes to") {
  const auto result = build(with_macros(
      R"~("below": [{ "index": "dim < 9" }, "dim != 3 && 'a\"' != 'b'"])~",
      entry_template(R"~("N": [1, 2])~",
                     R"~("func": "f{N}(Tensor self, int dim=0) -> Tensor", "kernels": ["CPU"], "requires": ["{below}"],
                 "derivatives": {}, "samples": ["(2, 9) raises dim < 9"])~")));
  INFO(result.errors);
  REQUIRE(result.families.has_value());
  CHECK(show_entries(*result.families, "f2") == R"~({ "func": "f2(Tensor self, int dim=0) -> Tensor",
  "kernels": ["CPU"],
  "rule": "f2",
  "variants": ["function", "method", "out"],
  "out": "out(out)",
  "requires": [{ "index": "dim < 9" }, "dim != 3 && 'a\"' != 'b'"],
  "derivatives": {},
  "vmap": "each",
  "jvp": "general",
  "samples": ["f2(2, 9) raises dim < 9"],
  "doc": "Does.",
  "example": "f2(1) == 1" }
)~");
  CHECK(show_entries(*result.families, "f").empty());
}
