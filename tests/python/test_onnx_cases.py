"""ONNX's own tests of its operators: each is a model with inputs and the outputs that it must have."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx_files import DATA, value

import keyway

RTOL, ATOL = 1e-3, 1e-7  # of ONNX's own runner

KINDS = ["node", "pytorch-converted", "pytorch-operator", "simple"]
LISTED = Path(__file__).with_name("onnx_cases_that_fail.txt")


def as_input(array: Any, type_text: str) -> Any:
    if isinstance(array, list):
        return [as_input(element, type_text) for element in array]
    if array is None:
        return None
    if array.dtype == object:
        return array.tolist()
    made = keyway.tensor(np.array(array))
    return made.to(keyway.bfloat16) if "bfloat16" in type_text else made


def compare(found: Any, expected: Any) -> None:
    if expected is None or found is None:
        assert found is None and expected is None
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            compare(one, other)
    elif expected.dtype == object:
        assert found == expected.tolist()
    else:
        if found.dtype == keyway.bfloat16:
            found = found.to(keyway.float32)
        array = found.numpy()
        assert array.dtype == expected.dtype, f"the dtype is {array.dtype}, not {expected.dtype}"
        assert array.shape == expected.shape, f"the shape is {array.shape}, not {expected.shape}"
        np.testing.assert_allclose(array, expected, rtol=RTOL, atol=ATOL)


def run_case(folder: Path) -> None:
    model = keyway.onnx.load(folder / "model.onnx")
    inputs, outputs = model.inputs | model.optional_inputs, model.outputs
    order = list(inputs)
    sets = sorted(folder.glob("test_data_set_*"))
    assert sets
    for data in sets:
        given = {}
        for at, name in enumerate(order):
            file = data / f"input_{at}.pb"
            if file.exists():
                given[name] = as_input(value(file.read_bytes(), inputs[name]), inputs[name])
        for at, (found, kind) in enumerate(zip(model.run(given).values(), outputs.values())):
            compare(found, value((data / f"output_{at}.pb").read_bytes(), kind))


def outcome(folder: Path) -> str | None:
    """Why a case fails; None if it passes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_case(folder)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def listed() -> dict[str, str]:
    """The cases that are known to fail, with the reason."""
    pairs = (line.split(None, 1) for line in LISTED.read_text().splitlines() if line and not line.startswith("#"))
    return {name: reason for name, reason in pairs}


@pytest.mark.skipif(not DATA.exists(), reason="there are no ONNX test data: tools/setup.sh installs libonnx-testdata")
def test_cases_of_onnx_give_what_they_must_but_for_those_that_are_listed():
    known = listed()
    wrong = []
    count = passed = 0
    for kind in KINDS:
        for folder in sorted((DATA / kind).iterdir()):
            if not (folder / "model.onnx").exists():
                continue
            name = f"{kind}/{folder.name}"
            count += 1
            why = outcome(folder)
            passed += why is None
            if why is not None and name not in known:
                wrong.append(f"{name}: {' '.join(why.split())[:300]}")
            elif why is None and name in known:
                wrong.append(f"{name} passes: take it off the list in {LISTED.name}")
    print(f"{passed} of {count} cases pass")
    assert not wrong, "\n".join(wrong)
