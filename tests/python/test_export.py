"""Programs for all sizes and their files. The oracle is the function that was exported, run eagerly."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest

import keyway as kw
from keyway import export, nn
from keyway.nn import functional as F


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    assert np.array_equal(a.detach().numpy(), b.detach().numpy())


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Linear(8, 4)

    def forward(self, x):
        return self.last(self.norm(self.first(x)).relu()).view(x.shape[0] * 2, 2)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))

    def forward(self, image):
        batch, _, height, width = image.shape
        y = self.body(image)
        return y.reshape(batch, 4, ((height + 1) // 2) // 2, -1).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, 2, 4).transpose(1, 2) for part in self.inner(x).split(width, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.outer(y.transpose(1, 2).reshape(batch * length, width)).view(batch, length, width)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(11, 6), nn.LSTM(6, 5, batch_first=True)

    def forward(self, words):
        y, (h, c) = self.lstm(self.words(words))
        return y, h


MODELS = {
    "mlp": (Mlp, {"x": ("batch", None)}, lambda b: kw.randn(b, 3)),
    "convolutions": (Convolutions, {"image": {0: "batch", 2: "height", 3: "width"}},
                     lambda b: kw.randn(b, 1, 8 + b, 20 - b)),
    "attention": (Attention, {"x": {0: "batch", 1: "length"}}, lambda b: kw.randn(b, b + 3, 8)),
    "recurrent": (Recurrent, {"words": {0: "batch"}}, lambda b: kw.randint(11, (b, 4))),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_program_gives_what_the_module_gives_for_any_size(name, tmp_path):
    kw.manual_seed(0)
    make, shapes, example = MODELS[name]
    model = make().eval()
    exported = export.export(model, (example(3),), dynamic_shapes=shapes)
    assert exported.state_dict.keys() <= model.state_dict().keys()
    export.save(exported, tmp_path / "model.safetensors")
    loaded = export.load(tmp_path / "model.safetensors")
    assert str(loaded) == str(exported)
    for size in (1, 2, 5, 1, 2, 5, 1):
        x = example(size)
        with kw.no_grad():
            expected = model(x)
            for program in (exported, loaded):
                given = program(x)
                assert type(given) is type(expected)
                for a, b in zip(*([given], [expected]) if isinstance(given, kw.Tensor) else (given, expected)):
                    same(a, b)


def test_a_loaded_program_can_be_trained():
    model = Mlp()
    loaded = export.load(_saved(export.export(model, (kw.randn(4, 3),), dynamic_shapes={"x": {0: "batch"}})))
    x = kw.randn(5, 3)
    model(x).square().sum().backward()
    loaded(x).square().sum().backward()
    for name, parameter in model.named_parameters():
        same(loaded.state_dict[name].grad, parameter.grad)
    same(loaded.state_dict["norm.running_mean"], model.norm.running_mean)
    assert len(list(loaded.parameters())) == len(list(model.parameters()))


def _saved(program, **options):
    file = io.BytesIO()
    export.save(program, file, **options)
    return file.getvalue()


def test_export_leaves_buffers_arguments_and_the_generator_as_they_were():
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout())
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    x = kw.randn(4, 3, requires_grad=True)
    state, elements = kw.get_rng_state(), x.detach().clone()
    export.export(model, (x,), dynamic_shapes={"input": {0: "batch"}})
    for name, tensor in model.state_dict().items():
        same(tensor, before[name])
    same(kw.get_rng_state(), state)
    same(x, elements)


def test_random_programs_draw_what_the_function_draws():
    program = export.export(lambda x: F.dropout(x), (kw.ones(8),), dynamic_shapes={"x": ("n",)})
    for _ in range(3):
        kw.manual_seed(7)
        expected = F.dropout(kw.ones(9))
        kw.manual_seed(7)
        same(program(kw.ones(9)), expected)


def test_arguments_and_results_are_nested_as_the_function_has_them():
    def function(x, options, *, scale, mode="sum"):
        y = x * scale + options["row"]
        return {"y": y, "pair": (y.sum(), 2.0), "none": None, "text": mode}

    program = export.load(_saved(export.export(function, (kw.ones(2, 3), {"row": kw.ones(3)}), {"scale": 2.0},
                                               dynamic_shapes={"x": {0: "rows"}})))
    given = program(kw.ones(5, 3), {"row": kw.ones(3)}, scale=2.0)
    same(given["y"], kw.full((5, 3), 3.0))
    assert given["pair"][1] == 2.0 and given["none"] is None and given["text"] == "sum"
    with pytest.raises(kw.ValueError, match="an argument is 3.0, and was 2.0 when the program was captured"):
        program(kw.ones(5, 3), {"row": kw.ones(3)}, scale=3.0)
    with pytest.raises(kw.ValueError, match="another structure"):
        program(kw.ones(5, 3), [kw.ones(3)], scale=2.0)
    with pytest.raises(kw.TypeError, match="an argument is a float, and the program takes a Tensor"):
        program(1.0, {"row": kw.ones(3)}, scale=2.0)
    with pytest.raises(kw.ValueError, match=r"size 0 of argument 'options' is 4, and the program takes float32\[3\]"):
        program(kw.ones(5, 3), {"row": kw.ones(4)}, scale=2.0)


def test_dimensions_may_be_formulas_of_names():
    def function(x, y):
        return x.view(-1, 4, x.shape[0] // 4).sum(1) + y[1:].sum()

    program = export.export(function, (kw.randn(8), kw.randn(3)), dynamic_shapes={"x": {0: "4 * n"}, "y": {0: "n + 1"}})
    assert program.dimensions == ["n"]
    for n in (1, 2, 7):
        x, y = kw.randn(4 * n), kw.randn(n + 1)
        same(program(x, y), function(x, y))
    with pytest.raises(kw.ValueError, match=r"size 0 of argument 'x' is 9, and the program takes float32\[n \* 4\]"):
        program(kw.randn(9), kw.randn(3))


@pytest.mark.parametrize("divisor", [2, 3, 7, 16])
def test_quotients_of_sizes_are_found_for_all_remainders(divisor):
    def function(x):
        padding = -x.shape[0] % divisor
        return F.pad(x, (0, padding)).view(x.shape[0] // divisor + (padding > 0), divisor).sum(0)

    program = export.export(function, (kw.ones(5),), dynamic_shapes={"x": {0: "n"}})
    for n in range(1, 3 * divisor):
        same(program(kw.ones(n)), function(kw.ones(n)))


def test_sizes_up_to_a_limit_are_captured_below_it():
    table = kw.randn(32, 4)

    def function(x):
        assert x.shape[0] <= 32
        return x + table[: x.shape[0]]

    program = export.export(function, (kw.ones(32, 4),), dynamic_shapes={"x": {0: "length"}})
    for n in (1, 17, 32):
        same(program(kw.ones(n, 4)), function(kw.ones(n, 4)))


def test_what_depends_on_sizes_in_another_way_is_refused():
    shapes = {"x": {0: "n"}}
    with pytest.raises(kw.ValueError, match="makes other calls for other sizes"):
        export.export(lambda x: x.relu() if x.shape[0] % 2 else x.sigmoid(), (kw.ones(4),), dynamic_shapes=shapes)
    with pytest.raises(kw.ValueError, match=r"(?s)'%1 = keyway::narrow.*has the integers .* and no formula gives these for n = "):
        export.export(lambda x: x.narrow(0, 0, x.shape[0].bit_count()), (kw.ones(4),), dynamic_shapes=shapes)
    with pytest.raises(kw.ValueError, match="computed from sizes: compute them with tensors"):
        export.export(lambda x: x * (1 / x.shape[0]), (kw.ones(4),), dynamic_shapes=shapes)
    with pytest.raises(kw.ValueError, match="follow from sizes"):
        export.export(lambda x: x + kw.tensor([float(x.shape[0])]), (kw.ones(4),), dynamic_shapes=shapes)
    with pytest.raises(kw.ValueError, match="a result beside tensors follows from sizes"):
        export.export(lambda x: (x + 1, x.shape[0]), (kw.ones(4),), dynamic_shapes=shapes)
    with pytest.raises(kw.ValueError, match="item"):
        export.export(lambda x: x * x.sum().item(), (kw.ones(4),))


def test_dynamic_shapes_that_fit_no_argument_are_errors():
    def export_with(shapes):
        return export.export(lambda x, y: x + y, (kw.ones(4, 2), kw.ones(4, 1)), dynamic_shapes=shapes)

    export_with(({0: "n"}, {0: "n"}))
    with pytest.raises(kw.ValueError, match="dynamic_shapes has 'z', and the arguments are x, y"):
        export_with({"z": {0: "n"}})
    with pytest.raises(kw.ValueError, match="dynamic_shapes has 1 items, and there are 2 arguments"):
        export_with(({0: "n"},))
    with pytest.raises(kw.ValueError, match="has dimension 2 of x, which has 2"):
        export_with({"x": {2: "n"}})
    with pytest.raises(kw.TypeError, match="dimension 0 of x has no name but 4"):
        export_with({"x": {0: 4}})
    with pytest.raises(kw.ValueError, match="size 0 of y is 4, which is not 'n \\+ 1' with n = 4"):
        export_with({"x": {0: "n"}, "y": {0: "n + 1"}})


def test_state_that_the_program_writes_to_is_written_to():
    count = kw.zeros(2)

    def step(x):
        count.add_(1)
        return x + count

    program = export.export(step, (kw.ones(2),))
    count.zero_()
    assert [program(kw.zeros(2))[0].item() for _ in range(4)] == [1, 2, 3, 4]
    loaded = export.load(_saved(program))
    assert [loaded(kw.zeros(2))[0].item() for _ in range(3)] == [5, 6, 7]
    assert count[0].item() == 4


class Halver(nn.Module):
    """Rows are centred or scaled by what depends on their number, and halved until their sum is small."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(kw.tensor([1.0, 2.0, 3.0]))

    def forward(self, x):
        rows = x.shape[0]

        def scaled(x):
            return (x * self.scale).view(rows * 3).view(rows, 3)

        def centred(x):
            return kw.cond(x[0, 0] > -5, lambda x: x - x.sum() / rows, lambda x: kw.zeros(rows, 3), (x,))

        y = kw.cond(x.sum() > 0, scaled, centred, (x,))
        return kw.while_loop(lambda y: y.abs().sum() > rows, lambda y: (y / 2,), (y,))[0]


def test_conditions_and_loops_are_exported_for_all_sizes(tmp_path):
    model = Halver()
    exported = export.export(model, (kw.ones(4, 3),), dynamic_shapes={"x": {0: "rows"}})
    path = tmp_path / "halver.safetensors"
    export.save(exported, path)
    loaded = export.load(path)
    assert str(loaded) == str(exported) and "rows" in str(loaded).split("graph program", 2)[2]
    for rows in (1, 2, 3, 7):
        for low in (-1.0, 1.0, -9.0):
            x = kw.full((rows, 3), low) + kw.arange(3) / 8
            for _ in range(3):
                with kw.no_grad():
                    same(loaded(x), model(x))
            same(loaded(x), model(x))
    x = kw.full((2, 3), 1.0)
    loaded(x).sum().backward()
    (scale,) = loaded.parameters()
    model(x).sum().backward()
    same(scale.grad, model.scale.grad)
    with pytest.raises(kw.ValueError):
        loaded(kw.ones(2, 4))


def test_operators_of_conditions_count_among_those_of_a_file():
    saved = _saved(export.export(Halver(), (kw.ones(4, 3),), dynamic_shapes={"x": {0: "rows"}}))
    length = int.from_bytes(saved[:8], "little")
    schemas = json.loads(saved[8 : 8 + length])["__metadata__"]["keyway.program.schemas"].splitlines()
    names = {schema.split("(")[0].removeprefix("keyway::") for schema in schemas}
    assert {"cond", "while_loop", "zeros", "abs", "view"} <= names
    script = "import sys, keyway as kw; print(kw.export.load(sys.stdin.buffer.read())(kw.full((1, 3), -1.0)).sum().item())"
    done = subprocess.run([sys.executable, "-c", script], input=saved, capture_output=True, check=False)
    assert (done.stdout.decode().strip(), done.stderr.decode()) == ("0.75", "")

    def change(metadata):
        lines = metadata["keyway.program.schemas"].splitlines(keepends=True)
        metadata["keyway.program.schemas"] = "".join(line for line in lines if "zeros(" not in line)

    with pytest.raises(kw.ParseError, match="calls keyway::zeros, whose schema the file does not have"):
        export.load(_with_metadata(saved, change))


def test_a_file_is_a_safetensors_file_with_the_state():
    model = Mlp()
    saved = _saved(export.export(model.eval(), (kw.ones(2, 3),)), metadata={"author": "nobody"})
    assert kw.load(saved).keys() <= model.state_dict().keys()
    same(kw.load(saved)["first.weight"], model.first.weight)
    assert export.load(saved).metadata == {"author": "nobody"}


def _with_metadata(saved, change):
    length = int.from_bytes(saved[:8], "little")
    header = json.loads(saved[8 : 8 + length])
    change(header["__metadata__"])
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + saved[8 + length :]


@pytest.mark.parametrize("note", ["", "[]", "[1,2]", '[["tensor",0],["tensor",true]]', '[["list",3],["value",1]]',
                                  "[" * 100000, '[["value",{}],["value",1]]', '[["dict",[["a"]]],["value",1]]'])
def test_what_a_file_says_of_nesting_is_not_trusted(note):
    saved = _saved(export.export(lambda x: x + 1, (kw.ones(2),)))

    def change(metadata):
        metadata["keyway.program.python"] = note

    with pytest.raises(kw.ParseError):
        export.load(_with_metadata(saved, change))


@pytest.mark.parametrize("note", ["", "[]", "{}", '{"n":1.5}', '{"n":true}', '{"n":-1}', '{"n":4,"m":4}', "[" * 100000])
def test_what_a_file_says_of_sizes_is_not_trusted(note):
    program = export.export(lambda x: x + 1, (kw.ones(7),), dynamic_shapes={"x": {0: "n"}})
    assert program.metadata == export.load(_saved(program)).metadata == {}

    def change(metadata):
        assert metadata["keyway.program.sizes"] == '{"n":7}'
        metadata["keyway.program.sizes"] = note

    with pytest.raises(kw.ParseError):
        export.load(_with_metadata(_saved(program), change))


def test_results_that_a_file_names_and_the_program_does_not_give_are_refused():
    saved = _saved(export.export(lambda x: x + 1, (kw.ones(2),)))

    def change(metadata):
        note = metadata["keyway.program.python"]
        assert note.endswith('["tensor",0]]')
        metadata["keyway.program.python"] = note.removesuffix('["tensor",0]]') + '["tensor",9]]'

    with pytest.raises(kw.ParseError):
        export.load(_with_metadata(saved, change))


def test_results_with_names_keep_them():
    def function(x):
        return {"top": x.topk(2), "sorted": x.sort()}

    loaded, x = export.load(_saved(export.export(function, (kw.ones(4),)))), kw.tensor([3.0, 1.0, 2.0, 5.0])
    results = loaded(x)
    assert type(results["top"]) is kw.return_types.topk and type(results["sorted"]) is kw.return_types.sort
    assert results["top"].values.tolist() == [5.0, 3.0] and results["sorted"].indices.tolist() == [1, 2, 0, 3]


@pytest.mark.parametrize("note", ['["named",["sort",[["tensor",0]]]]', '["named",["annotations",[["tensor",0]]]]',
                                  '["named",["__loader__",[["tensor",0]]]]', '["named",[[],[]]]', '["named",3]'])
def test_results_of_classes_that_are_none_of_keyways_are_refused(note):
    saved = _saved(export.export(lambda x: x + 1, (kw.ones(2),)))

    def change(metadata):
        whole = metadata["keyway.program.python"]
        assert whole.endswith('["tensor",0]]')
        metadata["keyway.program.python"] = whole.removesuffix('["tensor",0]]') + note + "]"

    with pytest.raises(kw.ParseError):
        export.load(_with_metadata(saved, change))


def test_files_that_hold_no_program_are_refused():
    with pytest.raises(kw.ParseError, match="the file holds no program"):
        export.load(_tensors())
    with pytest.raises(OSError):
        export.load("/none/there.safetensors")
    with pytest.raises(kw.ParseError):
        export.load(b"")


def _tensors():
    file = io.BytesIO()
    kw.save({"a": kw.ones(1)}, file)
    return file.getvalue()


def test_a_program_may_have_tensors_come_to_require_grad():
    def function(x):
        return (x * 2).requires_grad_() * 3

    loaded = export.load(_saved(export.export(function, (kw.ones(3),))))
    assert loaded(kw.ones(3)).requires_grad
    with kw.no_grad():
        assert not loaded(kw.ones(3)).requires_grad
