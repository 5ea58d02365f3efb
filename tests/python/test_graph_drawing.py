"""Pictures, times and differences of graphs. The page is read by Python's html.parser and json."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

import keyway as kw
from keyway import graph, nn

VOID = {"meta", "input", "link", "br", "img", "hr"}


class Page(HTMLParser):
    """The elements of a page, which have to nest, and the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.scripts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data

    def handle_decl(self, decl):
        assert decl == "doctype html"

    @property
    def data(self):
        return json.loads(self.scripts[0])


def step():
    """A training step that is captured, with what it is called with."""
    kw.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    optimizer = kw.optim.SGD(layer.parameters(), lr=0.01)

    def train(x):
        optimizer.zero_grad()
        loss = layer(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    x = kw.randn(2, 3, 8)
    train(x)
    return graph.capture(train, x), x


def test_the_page_has_every_call_and_value_of_the_text():
    captured, _ = step()
    page = Page(captured.to_html())
    data, text = page.data, str(captured)
    calls = [line.strip() for line in text.splitlines()[1:] if "::" in line]
    assert [call["op"] for call in data["calls"]] == [re.search(r"\w+::[\w.]+", line)[0] for line in calls]
    assert [call.get("site", "") for call in data["calls"]] == [(line.split("  # ") + [""])[1] for line in calls]
    made = dict(re.findall(r"%(\d+)(?: [\w']+)?: (\w+\[[\d, ]*\])", text))
    assert {str(i): re.match(r"\w+\[[\d, ]*\]", value["text"])[0] for i, value in enumerate(data["values"])} == made
    assert len(data["inputs"]) == len(re.findall(r" state| grad_of|%0 x:", text.splitlines()[0]))


def test_every_use_of_a_value_is_a_link_and_links_go_down():
    captured, _ = step()
    data = Page(captured.to_html()).data
    first_end = len(data["inputs"]) + len(data["calls"])
    items = len(data["inputs"]) + len(data["calls"]) + len(data["ends"])
    found = {(to, value) for _, to, value, by_memory in data["links"] if not by_memory}
    for number, call in enumerate(data["calls"]):
        for value in call["in"]:
            assert (len(data["inputs"]) + number, value) in found
    for number, end in enumerate(data["ends"]):
        assert end["value"] < 0 or (first_end + number, end["value"]) in found
    assert all(0 <= origin < to < items for origin, to, _, _ in data["links"])


def test_the_page_needs_nothing_else():
    captured, _ = step()
    page = Page(captured.to_html())
    for tag, attributes in page.seen:
        assert tag not in ("link", "img", "iframe")
        assert not {"src", "href", "onclick"} & attributes.keys()
    assert "innerHTML" not in page.scripts[1]


def test_names_are_no_markup():
    hostile = "</script><script>alert(1)</script><!--<b>\\u2028&amp;\"'"
    captured = graph.parse(f"graph executed(%0 {hostile!r}: float32[2]) {{\n"
                           f"  %1: float32[2] = keyway::relu(%0)  # {hostile}\n  return (%1)\n}}\n")
    page = Page(captured.to_html())
    assert len(page.scripts) == 2
    assert page.data["calls"][0]["site"] == hostile
    assert page.data["inputs"][0]["name"] == graph_name(captured)


def graph_name(captured):
    quoted = re.search(r"%0 ('(?:[^'\\]|\\.)*')", str(captured))[1]
    return quoted[1:-1].encode("latin-1").decode("unicode_escape")


def test_times_are_measured_and_shown():
    captured, x = step()
    timings = captured.measure(x, runs=2)
    assert len(timings.calls) == len(captured.nodes()) and all(time >= 0 for time in timings.calls)
    assert timings.plan > 0
    data = Page(captured.to_html(timings)).data
    assert [call["seconds"] for call in data["calls"]] == timings.calls
    assert data["plan"] == timings.plan
    with pytest.raises(kw.ValueError, match="does not hold"):
        captured.measure(x[:1])
    with pytest.raises(kw.ValueError, match="1 or more, not 0"):
        captured.measure(x, runs=0)
    with pytest.raises(kw.ValueError, match="times of"):
        graph.capture(lambda x: x * 2, x).to_html(timings)


def test_dot_has_a_box_for_each_item_and_an_edge_for_each_link():
    captured, _ = step()
    data, dot = Page(captured.to_html()).data, captured.to_dot()
    boxes = re.findall(r"^  n(\d+) \[", dot, re.MULTILINE)
    assert boxes == [str(i) for i in range(len(data["inputs"]) + len(data["calls"]) + len(data["ends"]))]
    edges = re.findall(r"^  n(\d+) -> n(\d+) \[label=\"%(\d+)", dot, re.MULTILINE)
    assert [tuple(map(int, edge)) for edge in edges] == [tuple(link[:3]) for link in data["links"]]


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_the_dot():
    captured, _ = step()
    subprocess.run(["dot", "-Tplain"], input=captured.to_dot(), text=True, capture_output=True, check=True, timeout=60)


def test_differences_are_lines():
    x = kw.randn(2, 3)
    one, two = graph.capture(lambda x: x.relu().sum(), x), graph.capture(lambda x: x.exp().sum(), x)
    assert one.difference(one) == ""
    assert [line[0] for line in one.difference(two).splitlines()] == ["-", "+", "~", " "]


def test_state_has_the_names_that_are_given():
    layer = nn.Linear(3, 2)

    def train(x):
        layer.zero_grad()
        layer(x).sum().backward()

    captured = graph.capture(train, kw.randn(4, 3))
    names = [item["name"] for item in Page(captured.to_html(names=layer.named_parameters())).data["inputs"]]
    assert names == ["x", "weight", "bias"] or names == ["x", "bias", "weight"]
    ends = [item["name"] for item in Page(captured.to_html(names=layer.named_parameters())).data["ends"]]
    assert sorted(ends) == ["grad of bias", "grad of weight"]
    assert 'label="weight\\n%' in captured.to_dot(layer.named_parameters())
    assert '"name":"weight"' not in captured.to_html()
