"""Python's modules, optimizers and schedules beside those of C++: names, options, state dicts, first values, results,
gradients, and ten steps of training, all of the same bits, since both call the same operators in the same order.

Run by CTest as nn/languages; by hand with the program tests_nn_languages as KEYWAY_LANGUAGES and Keyway's package in
PYTHONPATH: python3 -m unittest test_languages
"""

from __future__ import annotations

import inspect
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import warnings
import zlib
from typing import Any

import cases
import keyway
from keyway import Tensor, nn, optim

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ["KEYWAY_LANGUAGES"]


def bits(tensor: Tensor) -> tuple[Any, ...]:
    """What is equal for tensors of one shape, dtype and content, NaN and -0 included."""
    real = keyway.view_as_real(tensor.detach()) if tensor.is_complex() else tensor.detach()
    return tuple(tensor.shape), tensor.dtype, repr(real.contiguous().tolist())


def is_differentiable(tensor: Tensor) -> bool:
    return tensor.is_floating_point()


# ---- modules ------------------------------------------------------------------------------------------------------------


def inputs_of_module(case: cases.Case) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The tensors of a case, and the first state of its module."""
    keyway.manual_seed(zlib.crc32(case.name.encode()))
    tensors = {f"input.{i}": make() for i, make in enumerate(case.inputs)}
    tensors |= {f"option.{name}": make() for name, make in case.tensors.items()}
    tensors |= {f"call.{name}": make() for name, make in case.call_tensors.items()}
    keyway.manual_seed(1)
    options = {**case.options, **{name: tensors[f"option.{name}"] for name in case.tensors}}
    module = getattr(nn, case.cls)(**options)
    initial = {name: value.clone() for name, value in module.state_dict().items()}
    keyway.manual_seed(3)
    for name, value in initial.items():
        moved = value.add(keyway.rand(*value.shape).mul(0.1)) if value.is_floating_point() else value
        tensors[f"state.{name}"] = moved
    return tensors, initial


def python_module(case: cases.Case, tensors: dict[str, Tensor], initial: dict[str, Tensor]) -> dict[str, Tensor]:
    options = {**case.options, **{name: tensors[f"option.{name}"] for name in case.tensors}}
    module = getattr(nn, case.cls)(**options)
    module.load_state_dict({name: tensors[f"state.{name}"] for name in initial})
    module.train(case.training)
    inputs = [tensors[f"input.{i}"].clone() for i in range(len(case.inputs))]
    for tensor in inputs:
        tensor.requires_grad_(is_differentiable(tensor))
    keyway.manual_seed(2)
    given = [tensor.mul(1) if tensor.requires_grad else tensor for tensor in inputs]
    call = {**case.call, **{name: tensors[f"call.{name}"] for name in case.call_tensors}}
    if case.cls.startswith("LSTM") and len(given) == 3:
        given = [given[0], (given[1], given[2])]
    if case.cls == "EmbeddingBag" and len(given) == 3:
        call["per_sample_weights"] = given.pop()
    outputs = flat(module(*given, **call))
    loss = sum((output.mul(output).sum() for output in outputs if output.requires_grad), start=keyway.zeros([]))
    if loss.requires_grad:
        loss.backward()
    results = {f"output.{i}": output for i, output in enumerate(outputs)}
    results |= {f"grad.input.{i}": tensor.grad for i, tensor in enumerate(inputs) if tensor.grad is not None}
    results |= {f"grad.{name}": p.grad for name, p in module.named_parameters() if p.grad is not None}
    results |= {f"state.{name}": value for name, value in module.state_dict().items()}
    return results | {f"initial.{name}": value for name, value in initial.items()}


def flat(result: Any) -> list[Tensor]:
    if isinstance(result, Tensor):
        return [result]
    return [] if result is None else [tensor for part in result for tensor in flat(part)]


# ---- optimizers ---------------------------------------------------------------------------------------------------------


def inputs_of_training(name: str, more: dict[str, Any]) -> dict[str, Tensor]:
    keyway.manual_seed(zlib.crc32(name.encode()))
    dtype = getattr(keyway, more.get("dtype", "float32"))
    if dtype.is_complex:
        return {"parameter.0": keyway.randn(4, 3, dtype=dtype), "x": keyway.randn(4, 3, 2), "y": keyway.randn(4, 3, 2)}
    tensors = {"parameter.0": keyway.randn(4, 3, dtype=dtype), "parameter.1": keyway.randn(3, dtype=dtype),
               "x": keyway.randn(6, 4, dtype=dtype), "y": keyway.randn(6, 3, dtype=dtype)}
    if not more.get("bias", True):
        del tensors["parameter.1"]
    return tensors


def inverse(step: int) -> float:
    return 1 / (1 + step)


def make_schedule(optimizer: optim.Optimizer, of: dict[str, Any]) -> Any:
    cls = optim.swa_utils.SWALR if of["class"] == "SWALR" else getattr(optim.lr_scheduler, of["class"])
    if "schedulers" in of:
        parts = [make_schedule(optimizer, part) for part in of["schedulers"]]
        return cls(optimizer, parts, of["milestones"]) if "milestones" in of else cls(parts)
    options = of["options"]
    return cls(optimizer, inverse) if of["class"] in ("LambdaLR", "MultiplicativeLR") else cls(optimizer, **options)


def loss_of(parameters: list[Tensor], x: Tensor, y: Tensor) -> Tensor:
    if parameters[0].is_complex():
        return keyway.view_as_real(parameters[0]).mul(x).sub(y).square().mean()
    product = x.matmul(parameters[0])
    return (product.add(parameters[1]) if len(parameters) > 1 else product).tanh().sub(y).square().mean()


def python_training(case: dict[str, Any], tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    parameters = [nn.Parameter(tensors[name].clone()) for name in ("parameter.0", "parameter.1") if name in tensors]
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in case["options"].items()}
    groups: list[Any] = [{"params": parameters}]
    if "second_lr" in case:
        groups = [{"params": [parameters[0]]}, {"params": [parameters[1]], "lr": case["second_lr"]}]
    optimizer = getattr(optim, case["class"])(groups, **options)
    schedule = make_schedule(optimizer, case["schedule"]) if "schedule" in case else None
    rates, momenta, losses = [], [], []

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = loss_of(parameters, tensors["x"], tensors["y"])
        loss.backward()
        return loss

    for step in range(10):
        for group in optimizer.param_groups:
            rates.append(group["lr"])
            momenta.append(group["betas"][0] if "betas" in group else group.get("momentum", 0.0))
        losses.append(optimizer.step(closure).item())
        if isinstance(schedule, optim.lr_scheduler.ReduceLROnPlateau):
            schedule.step(cases.MEASURES[step])
        elif schedule is not None:
            schedule.step()
    lists = {"rates": rates, "momenta": momenta, "losses": losses}
    results = {name: keyway.tensor(numbers, dtype=keyway.float64) for name, numbers in lists.items()}
    results |= {f"parameter.{i}": parameter.detach() for i, parameter in enumerate(parameters)}
    return results | flat_state(optimizer)


# Pairs and triples, which are numbers of their own in C++.
_PARTS = {"betas": "beta{}", "etas": "eta{}", "step_sizes": "step_size{}", "ns_coefficients": "ns_coefficients{}",
          "eps": "eps{}"}


def flat_state(optimizer: optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's state dict under the names that C++ has for it: numbers as float64."""
    state = optimizer.state_dict()
    results = {}
    for i, group in enumerate(state["param_groups"]):
        for name, value in group.items():
            parts = {name: value}
            if isinstance(value, tuple):
                parts = {_PARTS[name].format(k): part for k, part in enumerate(value, start=1)}
            for key, part in parts.items():
                is_absent = part is None and key == "eps1"  # which C++ writes as a number that eps cannot be
                if is_absent or isinstance(part, (bool, int, float)):
                    number = -1.0 if is_absent else float(part)
                    results[f"param_groups.{i}.{key}"] = keyway.tensor(number, dtype=keyway.float64)
    for i, values in state["state"].items():
        for name, value in values.items():
            if isinstance(value, list):
                if value:
                    results[f"state.{i}.{name}"] = keyway.stack(value)
            else:
                is_number = not isinstance(value, Tensor) or name in optimizer._NUMBERS
                results[f"state.{i}.{name}"] = keyway.tensor(float(value), dtype=keyway.float64) if is_number else value
    return results


# What Python's groups have for PyTorch's sake, and C++'s have in every state.
_GROUP_ONLY = re.compile(r"param_groups\.\d+\.(foreach|capturable|differentiable|fused|decoupled_weight_decay|"
                         r"initial_lr|max_lr|min_lr|base_momentum|max_momentum|swa_lr)$")
_STEP = re.compile(r"state\.\d+\.step$")


def all_trainings() -> list[dict[str, Any]]:
    trainings = [{"class": cls, "name": f"optimizer-{name}", "options": options, **more}
                 for name, (cls, options, more) in cases.OPTIMIZERS.items()]
    for name, schedule in cases.SCHEDULES.items():
        trainings.append({"class": "SGD", "name": f"schedule-{name}", "second_lr": 0.3, "schedule": schedule,
                          "options": {"lr": 0.1, "momentum": 0.9}})
    adam = {"class": "AdamW", "second_lr": 0.01, "options": {"lr": 0.1}}
    trainings.append({**adam, "name": "schedule-betas", "schedule": cases.SCHEDULES["one-cycle"]})
    return trainings


class Languages(unittest.TestCase):
    maxDiff = None
    folder: tempfile.TemporaryDirectory[str]
    expected: dict[str, dict[str, Tensor]] = {}

    @classmethod
    def setUpClass(cls) -> None:
        warnings.simplefilter("ignore")
        cls.folder = tempfile.TemporaryDirectory()
        written = []
        for case in cases.MODULES:
            tensors, initial = inputs_of_module(case)
            keyway.save(tensors, cls.path(case.name, "in.safetensors"))
            cls.expected[case.name] = python_module(case, tensors, initial)
            written.append({"name": case.name, "kind": "module", "class": case.cls, "options": case.options,
                            "call": case.call, "training": case.training})
        for training in all_trainings():
            tensors = inputs_of_training(training["name"], training)
            keyway.save(tensors, cls.path(training["name"], "in.safetensors"))
            cls.expected[training["name"]] = python_training(training, tensors)
            written.append({"kind": "optimizer", "measures": cases.MEASURES, **training})
        for i, (name, shape, options) in enumerate(cases.INITS):
            written.append({"kind": "init", "name": f"init-{i}", "class": name, "options": options})
            keyway.save({"tensor": keyway.zeros(shape)}, cls.path(f"init-{i}", "in.safetensors"))
            keyway.manual_seed(1)
            cls.expected[f"init-{i}"] = {"filled": getattr(nn.init, name)(keyway.zeros(shape), **options)}
        pathlib.Path(cls.folder.name, "cases.json").write_text(json.dumps(written))
        subprocess.run([PROGRAM, "run", cls.folder.name], check=True)
        cls.known = json.loads(subprocess.run([PROGRAM, "list"], check=True, capture_output=True, text=True).stdout)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    @classmethod
    def path(cls, name: str, suffix: str) -> str:
        return str(pathlib.Path(cls.folder.name, f"{name}.{suffix}"))

    def results_of(self, name: str) -> dict[str, Tensor]:
        error = pathlib.Path(self.path(name, "error"))
        if error.exists():
            self.fail(f"C++: {error.read_text()}")
        return keyway.load(self.path(name, "out.safetensors"))

    def known_of(self, name: str) -> dict[str, Any]:
        """The options of a case's module in C++, and the names of its state, in order."""
        file = pathlib.Path(self.path(name, "known.json"))
        return json.loads(file.read_text()) if file.exists() else {"options": [], "state": []}

    def check_same(self, expected: dict[str, Tensor], found: dict[str, Tensor]) -> None:
        self.assertEqual(sorted(expected), sorted(found))
        different = {name: (bits(value), bits(found[name])) for name, value in expected.items()
                     if bits(value) != bits(found[name])}
        self.assertEqual(different, {}, "name: (in Python, in C++)")

    def test_modules_have_the_same_states_results_and_gradients(self) -> None:
        for case in cases.MODULES:
            with self.subTest(case.name):
                self.check_same(self.expected[case.name], self.results_of(case.name))
                state = [name[6:] for name in self.expected[case.name] if name.startswith("state.")]
                self.assertEqual(state, self.known_of(case.name)["state"])

    def test_ten_steps_of_optimizers_and_schedules_are_the_same(self) -> None:
        for training in all_trainings():
            with self.subTest(training["name"]):
                expected = {n: v for n, v in self.expected[training["name"]].items() if not _GROUP_ONLY.match(n)}
                found = {n: v for n, v in self.results_of(training["name"]).items()
                         if not _GROUP_ONLY.match(n) and (n in expected or not _STEP.match(n))}
                self.check_same(expected, found)

    def test_initial_values_are_the_same(self) -> None:
        for i, (name, shape, _) in enumerate(cases.INITS):
            with self.subTest(f"{name} of {shape}"):
                self.check_same(self.expected[f"init-{i}"], self.results_of(f"init-{i}"))
        fillers = {name for name, value in vars(nn.init).items() if name.endswith("_") and callable(value)}
        self.assertEqual(fillers, set(self.known["inits"]))

    def test_constructors_have_the_same_options(self) -> None:
        for name in sorted({case.cls for case in cases.MODULES}):
            asked: set[str] = set()
            for case in cases.MODULES:
                if case.cls == name:
                    asked |= set(self.known_of(case.name)["options"])
            given = set(inspect.signature(getattr(nn, name).__init__).parameters) - {"self"}
            with self.subTest(name):
                self.assertEqual(given - set(cases.OPTIONS_IN_PYTHON_ALONE), asked - set(cases.OPTIONS_IN_PYTHON_ALONE))

    def test_every_module_is_in_both_languages_and_is_run(self) -> None:
        python = {name for name, value in vars(nn).items() if isinstance(value, type)}
        cpp = holders()
        run = {case.cls for case in cases.MODULES}
        alone, not_run = set(cases.PYTHON_ALONE), set(cases.NOT_RUN)
        self.assertEqual(python - cpp - alone - not_run, set(), "in Python alone")
        self.assertEqual(cpp - python - not_run, set(), "in C++ alone")
        self.assertEqual((python | cpp) - run - alone - not_run, set(), "not run")
        self.assertEqual(set(self.known["modules"]), run)
        self.assertEqual((alone & cpp) | (not_run & run), set(), "stands in a list of exceptions, but is none")

    def test_every_optimizer_and_schedule_is_in_both_languages_and_is_run(self) -> None:
        python = {name for name, value in vars(optim).items() if isinstance(value, type)} - {"Optimizer"}
        self.assertEqual(python, set(self.known["optimizers"]))
        self.assertEqual(python, {training["class"] for training in all_trainings()})
        schedulers = {name for name, value in vars(optim.lr_scheduler).items() if isinstance(value, type)
                      and issubclass(value, optim.lr_scheduler.LRScheduler) and not name.startswith("_")}
        schedulers = schedulers - {"LRScheduler"} | {"SWALR"}
        self.assertEqual(schedulers, set(self.known["schedules"]))
        self.assertEqual(schedulers, {schedule["class"] for schedule in cases.SCHEDULES.values()})


    def test_every_function_is_in_both_languages(self) -> None:
        headers = [ROOT / "nn/functional.h", *(ROOT / "nn/functional").glob("*.h")]
        text = "".join(path.read_text() for path in headers if path.name != "opmath.h")
        cpp = set(re.findall(r"^using keyway::(\w+);", text, re.MULTILINE))
        cpp |= set(re.findall(r"^(?:inline |KEYWAY_API )[\w:<>, ]+ (\w+)\(", text, re.MULTILINE))
        functions = {name: getattr(nn.functional, name) for name in dir(nn.functional) if not name.startswith("_")}
        written = {name for name, value in functions.items() if inspect.isfunction(value)}
        self.assertEqual(written - cpp, set(cases.FUNCTIONS_IN_PYTHON_ALONE), "in Python alone")
        self.assertEqual(cpp - set(functions), cases.FUNCTIONS_IN_CPP_ALONE, "in C++ alone")


    def test_every_helper_is_in_both_languages(self) -> None:
        headers = [*(ROOT / "nn/utils").glob("*.h"), ROOT / "nn/modules/averaged_model.h", ROOT / "nn/optim/swa_lr.h"]
        text = "".join(path.read_text() for path in headers)
        cpp = set(re.findall(r"^KEYWAY_API [\w:<>, ]+ (\w+)\(", text, re.MULTILINE))
        cpp |= set(re.findall(r"^class KEYWAY_API (\w+?)(?:Impl)? ", text, re.MULTILINE))
        utils = {name for name, value in vars(nn.utils).items() if inspect.isfunction(value)}
        rnn = {name for name, value in vars(nn.utils.rnn).items()
               if getattr(value, "__module__", "") == nn.utils.rnn.__name__ and not name.startswith("_")}
        python = utils | rnn | set(optim.swa_utils.__all__)
        self.assertEqual(python - cpp, set(cases.HELPERS_IN_PYTHON_ALONE), "in Python alone")
        self.assertEqual(cpp - python, set(), "in C++ alone")


def holders() -> set[str]:
    """The modules that C++'s headers have."""
    text = "".join(path.read_text() for path in sorted((ROOT / "nn").rglob("*.h")))
    return set(re.findall(r"^(?:using |KEYWAY_MODULE\()(\w+)(?: = ModuleHolder<\w+>;|,)", text, re.MULTILINE))


if __name__ == "__main__":
    unittest.main()
