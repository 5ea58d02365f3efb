"""Profiles of memory: what lived, who made it, and the page. The oracle is the sizes that the program asks for."""

import gc
import json

import keyway
import numpy
import pytest


def profiled(program, **options):
    gc.collect()
    with keyway.profiler.profile(profile_memory=True, **options) as profile:
        kept = program()
    return profile, kept


def test_a_block_is_what_a_call_gave_with_its_line_and_times():
    def program():
        first = keyway.ones(1000)
        second = first + 1  # the line
        del first
        return second.exp()

    profile, kept = profiled(program)
    ones, added, exponential = [block for block in profile.memory_blocks() if block.bytes == 4000]
    assert (added.tensor, added.device, added.op.split(".")[0]) == ("float32[1000]", "cpu", "add")
    line = program.__code__.co_firstlineno + 2
    assert added.site == f"test_memory_profile.py:{line}"
    assert exponential.op == "exp" and exponential.freed is None
    assert ones.made < added.made < exponential.made
    assert ones.freed > added.made and added.freed >= exponential.made
    del kept


def test_views_and_changes_in_place_make_no_block():
    x = keyway.ones(50, 50)
    profile, _ = profiled(lambda: x.t()[3].add_(1).view(5, 10))
    blocks = profile.memory_blocks()
    assert [(block.op, block.bytes) for block in blocks] == [("", 10000)]


def test_memory_of_another_size_is_another_block():
    x = keyway.ones(10)
    profile, _ = profiled(lambda: x.resize_(1000))
    before, after = profile.memory_blocks()
    assert (before.bytes, before.freed is None) == (40, False)
    assert (after.bytes, after.op) == (4000, "resize_")


def test_the_peak_is_the_greatest_sum_of_what_lives():
    def program():
        for size in (1000, 3000, 2000):
            a = keyway.ones(size)
            b = a * 2
            del a, b

    profile, _ = profiled(program)
    assert "at most 0.024 MB" in profile.memory_table()  # both of 3000 float32
    blocks = profile.memory_blocks()
    times = sorted({block.made for block in blocks})
    living = [sum(block.bytes for block in blocks if block.made <= time and (block.freed is None or block.freed > time))
              for time in times]
    assert max(living) == 24000


def test_a_backward_of_all_threads_is_seen():
    weight = keyway.ones(100, 100, requires_grad=True)
    profile, _ = profiled(lambda: (keyway.ones(7, 100) @ weight).sum().backward(), all_threads=True)
    assert any(block.tensor == "float32[100, 100]" and block.op != "" and block.freed is None
               for block in profile.memory_blocks())
    assert weight.grad.shape == (100, 100)


def test_the_page_and_the_json_have_all_blocks(tmp_path):
    profile, kept = profiled(lambda: keyway.ones(1000) + 1)
    page, data = tmp_path / "memory.html", tmp_path / "memory.json"
    profile.export_memory_timeline(str(page))
    profile.export_memory_timeline(str(data), device="cpu")
    blocks = json.loads(data.read_text())
    assert [block["op"] for block in blocks] == [block.op for block in profile.memory_blocks()]
    text = page.read_text()
    begin = text.index('id="blocks">') + len('id="blocks">')
    assert json.loads(text[begin:text.index("</script>", begin)]) == blocks
    profile.export_memory_timeline(str(data), device="meta")
    assert json.loads(data.read_text()) == []
    with pytest.raises(keyway.ValueError, match="must end with .html or .json"):
        profile.export_memory_timeline(str(tmp_path / "memory.gz"))
    del kept


def test_without_profile_memory_it_is_an_error():
    with keyway.profiler.profile() as profile:
        keyway.ones(3)
    for ask in (profile.memory_blocks, profile.memory_table):
        with pytest.raises(keyway.ValueError, match="profile_memory=True"):
            ask()


def test_arrays_that_become_tensors_are_there_before_a_call():
    array = numpy.ones(1000, dtype=numpy.float32)
    profile, _ = profiled(lambda: keyway.from_numpy(array).sum())
    assert ("", 4000) in [(block.op, block.bytes) for block in profile.memory_blocks()]
