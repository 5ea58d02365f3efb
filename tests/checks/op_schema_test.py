#!/usr/bin/env python3
"""ops/schemas/op.schema.json against the schema files and the generator: op_schema_test.py <keyway-codegen>.

Every schema file is valid, and what the JSON Schema refuses, the generator refuses too: editors tell nothing that the
build does not say.
"""

import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).resolve().parents[2] / "ops/schemas"
CODEGEN = ""  # the generator, from the command line

ENTRY = {
    "func": "f(Tensor self, int dim) -> Tensor",
    "kernels": ["CPU"],
    "rule": "f",
    "namespace": "nn",
    "dtypes": {"self": "floating", "result": "self"},
    "variants": ["function", "out"],
    "out": "out",
    "aliases": ["g"],
    "requires": ["dim > 0"],
    "values": ["self > 0"],
    "derivatives": {"self": "grad"},
    "domain": ["self > 0"],
    "samples": ["([2.0], 1)", "f([2.0], 0) raises dim"],
    "tags": ["core"],
    "doc": "Does.",
    "example": "f([1.0], 1) == [1.0]",
}
RECIPES = {"pointwise": "F", "reduction": "F", "view": "f", "composite": "f", "kernels": ["CPU"]}


def family(*entries):
    return {"doc": "Tests.", "ops": list(entries)}


def changed(**keys):
    """The entry with these keys, in the order in which the generator wants them; None leaves one out."""
    order = ["func", "pointwise", "reduction", "view", "composite", *list(ENTRY)[1:]]
    entry = copy.deepcopy(ENTRY) | keys
    known = [name for name in order if name in entry]
    return {name: entry[name] for name in known + [name for name in entry if name not in order]
            if entry[name] is not None}


def with_recipe(**keys):
    return changed(**{"kernels": None, "rule": None, "dtypes": None, "values": None} | keys)


class OpSchema(unittest.TestCase):
    def setUp(self):
        with open(SCHEMAS / "op.schema.json", encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        self.validator = jsonschema.Draft202012Validator(schema)

    def generate(self, content):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "test.json"
            path.write_text(json.dumps(content), encoding="utf-8")
            return subprocess.run([CODEGEN, "--out", str(Path(folder) / "out"), str(path)], capture_output=True,
                                  text=True, check=False, timeout=60)

    def expect_refused(self, title, content):
        with self.subTest(title):
            self.assertFalse(self.validator.is_valid(content), "the JSON Schema accepts it")
            run = self.generate(content)
            self.assertEqual(run.returncode, 1, "the generator accepts it\n" + run.stderr)
            self.assertIn("test.json:1:", run.stderr)

    def test_every_schema_file_is_valid(self):
        files = sorted(path for path in SCHEMAS.glob("*.json") if path.name != "op.schema.json")
        self.assertGreater(len(files), 20)
        for path in files:
            content = json.loads(path.read_text(encoding="utf-8"))
            problems = [f"{path.name}: /{'/'.join(map(str, e.absolute_path))}: {e.message}"
                        for e in self.validator.iter_errors(content)]
            self.assertEqual(problems, [])
            self.assertEqual(content.get("$schema"), "op.schema.json", path.name)

    def test_the_entry_that_mistakes_are_made_in_is_right(self):
        self.validator.validate(family(ENTRY))
        run = self.generate(family(ENTRY))
        self.assertEqual(run.returncode, 0, run.stderr)
        view = {"func": "f(Tensor(a) self, int dim) -> Tensor(a)", "variants": None, "out": None}
        for entry in [with_recipe(), with_recipe(pointwise="F"), with_recipe(reduction="F", requires=["is_dim(dim, self.dim())"]), with_recipe(composite="f"),
                      with_recipe(view="f", **view), with_recipe(kernels=["CPU"]),
                      with_recipe(composite="f", kernels=["CPU"], rule="f")]:
            self.validator.validate(family(entry))
            run = self.generate(family(entry))
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_helper_has_a_schema_and_a_doc_and_nothing_else(self):
        def helped(helper):
            return {"doc": "Tests.", "helpers": [helper], "ops": [changed(derivatives={"self": "g(grad)"})]}

        right = {"func": "g(Tensor grad) -> Tensor", "doc": "Gives."}
        self.validator.validate(helped(right))
        run = self.generate(helped(right))
        self.assertEqual(run.returncode, 0, run.stderr)
        for wrong in ["g", right | {"rule": "x"}, {"func": right["func"]}, {"doc": "Gives."}, right | {"func": 1}]:
            self.expect_refused(f"helper {wrong}", helped(wrong))

    def expect_right(self, content):
        self.validator.validate(content)
        run = self.generate(content)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_texts_macros_and_families_are_right(self):
        self.expect_right(family(changed(
            func=["f(Tensor self,", "int dim) -> Tensor"], requires=[["dim", "> 0"], {"index": ["dim", "< 9"]}],
            derivatives={"self": ["grad", "* 2"]}, doc=["Does", "it."], example=["([1.0], 1)", "== [1.0]"])))
        self.expect_right({"doc": "Tests.", "macros": {"above(x)": ["{x} > 0"], "samples": ["([2.0], 1)"]},
                           "ops": [changed(requires=["{above(dim)}"], samples="{samples}")]})
        words = {"N": [1, 2], "aliases": [["g"], None], "tag": ["core", None]}
        self.expect_right(family({"for": words} | with_recipe(
            func="f{N}(Tensor self, int dim) -> Tensor", composite="f{N}d", aliases="{aliases}", tags=["{tag}"],
            samples=None, example="([1.0], {N + 1}) == [1.0]")))

    def test_bad_macros_and_families_are_refused(self):
        def of(words):
            return family({"for": words} | with_recipe(func="f{N}(Tensor self, int dim) -> Tensor"))

        for words in [{}, {"N": 1}, {"N": []}, {"a b": [1]}, [1], "N"]:
            self.expect_refused(f"for: {words}", of(words))
        for macros in [[], "x", {"1": "dim > 0"}, {"x()": "dim > 0"}]:
            self.expect_refused(f"macros: {macros}", family(ENTRY) | {"macros": macros})

    def test_a_key_of_the_wrong_type_is_refused(self):
        for key, value in (ENTRY | RECIPES).items():
            for wrong in [1, True, [] if isinstance(value, str) else "x", [[]] if isinstance(value, list) else {"x": 1}]:
                entry = changed(**{key: wrong}) if key in ENTRY else with_recipe(**{key: wrong})
                self.expect_refused(f"{key}: {wrong}", family(entry))
        self.expect_refused("an entry is a string", family("f"))
        self.expect_refused("an operator's file is an array", [ENTRY])
        self.expect_refused("ops is an object", {"doc": "Tests.", "ops": ENTRY})
        self.expect_refused("the family's doc is a number", family(ENTRY) | {"doc": 1})

    def test_an_unknown_key_is_refused(self):
        self.expect_refused("in an entry", family(changed(derivative={})))
        self.expect_refused("one of a later version", family(changed(forward="x")))
        self.expect_refused("in a file", family(ENTRY) | {"op": []})
        self.expect_refused("in a contract", family(changed(requires=[{"index": "dim > 0", "x": "y"}])))

    def test_a_missing_key_is_refused(self):
        for key in ["func", "doc", "example"]:
            self.expect_refused(key, family(changed(**{key: None})))
        self.expect_refused("ops", {"doc": "Tests."})
        self.expect_refused("doc of the family", {"ops": [ENTRY]})
        self.expect_refused("formula of a contract", family(changed(requires=[{}])))

    def test_a_bad_recipe_is_refused(self):
        for recipe in ["pointwise", "reduction", "view", "composite"]:
            for name in ["F;", "", "1f", "f g"]:
                self.expect_refused(f"{recipe}: {name}", family(with_recipe(**{recipe: name})))
            if recipe != "composite":
                self.expect_refused(f"{recipe} and kernels", family(changed(rule=None, **{recipe: "f"})))
        self.expect_refused("view and composite", family(with_recipe(view="f", composite="f")))
        self.expect_refused("no backend", family(changed(kernels=[])))
        self.expect_refused("a backend twice", family(changed(kernels=["CPU", "CPU"])))
        self.expect_refused("no name of a backend", family(changed(kernels=["C PU"])))
        self.expect_refused("a rule without kernels", family(with_recipe(composite="f") | {"rule": "f"}))

    def test_a_bad_value_is_refused(self):
        self.expect_refused("a preset of dtypes", family(changed(dtypes="promot")))
        self.expect_refused("a variant", family(changed(variants=["function", "inplce"])))
        self.expect_refused("no alias", family(changed(aliases=[])))
        self.expect_refused("an alias twice", family(changed(aliases=["g", "g"])))
        self.expect_refused("no name as alias", family(changed(aliases=["g h"])))
        self.expect_refused("a variant twice", family(changed(variants=["function", "function"])))
        self.expect_refused("a tag", family(changed(tags=["pointwize"])))
        self.expect_refused("a tag twice", family(changed(tags=["core", "core"])))
        self.expect_refused("an empty doc", family(changed(doc="")))
        self.expect_refused("a doc of two lines", family(changed(doc="a\nb")))


if __name__ == "__main__":
    CODEGEN = sys.argv.pop(1)
    unittest.main()
