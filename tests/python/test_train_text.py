"""The demonstration, in a short run: it learns, and writes its plot and its model."""

import math
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

import keyway

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


def test_the_demonstration_learns_and_plots_its_loss(tmp_path):
    text, plot, model = tmp_path / "text.txt", tmp_path / "loss.svg", tmp_path / "model.safetensors"
    text.write_text("the quick brown fox jumps over the lazy dog; pack my box with five dozen liquor jugs.\n" * 60)
    run = subprocess.run(
        [sys.executable, EXAMPLES / "train_text.py", "--file", text, "--svg", plot, "--save", model, "--steps", "80",
         "--context", "32", "--width", "32", "--layers", "2", "--heads", "2", "--batch", "8"],
        capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    held_out = [float(value) for value in re.findall(r"held-out ([\d.]+)", run.stdout)]
    assert len(held_out) == 10 and held_out[-1] < 0.8 * math.log(30) and held_out[-1] < held_out[0]
    curves = xml.parse(plot).getroot().findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(curve.get("points").split()) for curve in curves] == [80, 11]
    state = keyway.load(model)
    assert tuple(state["characters.weight"].shape) == (30, 32) and "blocks.1.thought.3.bias" in state
