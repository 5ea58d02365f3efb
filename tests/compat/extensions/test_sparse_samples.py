"""torch_sparse: walks and samples of the graphs that sparse matrices are. What is random is held to what any such result
satisfies."""

import numpy as np
import pytest
import scipy.sparse
import torch
import torch_sparse
from sparse_values import GRAPH, graph, grid, matrix, values
from values import array, assert_close, normal, whole

# ---- Walks and samples of neighbours

def neighbours(node):
    return [column for row, column in GRAPH if row == node]


def test_walks_go_along_edges():
    torch.manual_seed(1)
    start = whole(75, 0, 6, 200)
    walks = graph().random_walk(start, 10)
    assert walks.shape == (200, 11) and walks.dtype == torch.int64
    assert_close(walks[:, 0], array(start))
    assert {step for walk in walks.tolist() for step in zip(walk, walk[1:])} == set(GRAPH)


def test_a_walk_on_a_circle_goes_round():
    circle = matrix(None, list(range(7)), [(node + 1) % 7 for node in range(7)], (7, 7))
    walks = circle.random_walk(torch.arange(7), 20)
    assert_close(walks, (np.arange(7)[:, None] + np.arange(21)) % 7)


def test_a_walk_takes_each_edge_as_often():
    torch.manual_seed(2)
    walks = graph().random_walk(torch.full((8000,), 5), 1)
    counts = np.bincount(array(walks[:, 1]), minlength=6)
    assert np.flatnonzero(counts).tolist() == neighbours(5)
    assert np.abs(counts[counts > 0] - 2000).max() < 250  # of a standard deviation of 39


def test_sample_gives_neighbours_of_each_node():
    torch.manual_seed(3)
    result = graph().sample(50)
    assert result.shape == (6, 50)
    assert [sorted(set(line)) for line in result.tolist()] == [neighbours(node) for node in range(6)]


def test_sample_of_some_nodes():
    torch.manual_seed(4)
    result = graph().sample(50, torch.tensor([5, 2]))
    assert [sorted(set(line)) for line in result.tolist()] == [neighbours(5), neighbours(2)]


@pytest.mark.parametrize("count", [-1, 4, 100])
def test_sample_adj_of_many_neighbours_takes_all(count):
    value = normal(76, len(GRAPH))
    rows, columns = zip(*GRAPH)
    result, nodes = graph(value).sample_adj(torch.tensor([5, 2]), count)
    assert nodes.tolist()[:2] == [5, 2] and sorted(nodes.tolist()) == [0, 1, 2, 3, 4, 5]
    assert_close(result.to_dense(), grid(value, rows, columns, (6, 6))[[5, 2]][:, array(nodes)])


@pytest.mark.parametrize("replace", [False, True])
def test_sample_adj_takes_as_many_neighbours_as_it_is_told(replace):
    torch.manual_seed(5)
    rows, columns = zip(*GRAPH)
    for _ in range(20):
        edge = torch.arange(len(GRAPH))
        result, nodes = graph(edge).sample_adj(torch.tensor([0, 5, 4]), 2, replace)
        taken = [GRAPH[one] for one in result.storage.value().tolist()]
        found = [([0, 5, 4][row], nodes[column].item()) for row, column in zip(*(one.tolist() for one in result.coo()[:2]))]
        assert found == taken
        assert result.storage.rowcount().tolist() == ([2, 2, 2] if replace else [2, 2, 1])
        assert replace or len(set(taken)) == 5
        assert nodes.tolist()[:3] == [0, 5, 4] and len(set(nodes.tolist())) == nodes.numel()


@pytest.mark.parametrize("act", [
    lambda: graph().random_walk(torch.arange(6), 30), lambda: graph().sample(20),
    lambda: graph().sample_adj(torch.arange(6), 2)[0].storage.col(),
    lambda: torch.ops.torch_sparse.neighbor_sample(*in_edges(GRAPH, 6), torch.tensor([0, 1, 5]), [2, 2], True, True)[3]])
def test_a_seed_repeats_what_is_drawn(act):
    torch.manual_seed(6)
    first, second = act(), act()
    torch.manual_seed(6)
    assert torch.equal(act(), first)
    assert not torch.equal(first, second)


def test_relabel_numbers_nodes_in_the_order_they_are_met():
    columns, nodes = torch.ops.torch_sparse.relabel(torch.tensor([7, 3, 9, 3, 8, 7]), torch.tensor([3, 5]))
    assert nodes.tolist() == [3, 5, 7, 9, 8]
    assert columns.tolist() == [2, 0, 3, 0, 4, 2]


@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float64, torch.int32, torch.int64])
@pytest.mark.parametrize("bipartite", [False, True])
def test_relabel_one_hop_has_the_rows_of_the_nodes(bipartite, dtype):
    value = None if dtype is None else normal(77, len(GRAPH), dtype=dtype)
    rowptr, col, _ = graph().csr()
    rowptr, columns, taken, nodes = torch.ops.torch_sparse.relabel_one_hop(rowptr, col, value, torch.tensor([4, 2]), bipartite)
    assert nodes.tolist() == [4, 2, 1, 5]
    assert columns.tolist() == [2, 1, 3]
    assert rowptr.tolist() == [0, 1, 3] + ([] if bipartite else [3, 3])
    if dtype is None:
        assert taken is None
    else:
        assert_close(taken, array(value)[[9, 5, 6]])


# ---- Samples of several hops

def in_edges(edges, count):
    """Column pointers and rows of (row, column) pairs."""
    result = scipy.sparse.csc_matrix((np.ones(len(edges)), tuple(zip(*edges))), (max(6, count), count))
    return torch.from_numpy(result.indptr).long(), torch.from_numpy(result.indices).long()


def in_order(edges):
    """The pairs in the order of their numbers in `in_edges`."""
    return sorted(edges, key=lambda edge: edge[::-1])


def around(roots, hops):
    """The nodes from which `roots` are reached within `hops` edges, in the order they are found, and the edges passed."""
    nodes, passed, last = list(roots), set(), list(roots)
    for _ in range(hops):
        found = []
        for target in last:
            for edge in in_order(GRAPH):
                if edge[1] == target:
                    passed.add(edge)
                    if edge[0] not in nodes:
                        nodes.append(edge[0])
                        found.append(edge[0])
        last = found
    return nodes, passed


def assert_edges(nodes, rows, columns, edges, expected):
    """The sampled edges, given by numbers of sampled nodes, are `expected`, and their numbers are those of the graph."""
    found = [(nodes[row].item(), nodes[column].item()) for row, column in zip(rows.tolist(), columns.tolist())]
    assert found == [in_order(GRAPH)[edge] for edge in edges.tolist()]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_neighbor_sample_of_all_neighbours(hops):
    result = torch.ops.torch_sparse.neighbor_sample(*in_edges(GRAPH, 6), torch.tensor([2, 4]), [-1] * hops, False, True)
    nodes, passed = around([2, 4], hops)
    assert result[0].tolist() == nodes
    assert_edges(*result, passed)


def test_neighbor_sample_without_direction_has_all_edges_among_its_nodes():
    result = torch.ops.torch_sparse.neighbor_sample(*in_edges(GRAPH, 6), torch.tensor([2]), [-1], False, False)
    nodes, _ = around([2], 1)
    assert result[0].tolist() == nodes
    assert_edges(*result, [edge for edge in GRAPH if edge[0] in nodes and edge[1] in nodes])


def test_neighbor_sample_without_replacement_takes_different_edges():
    torch.manual_seed(7)
    seen = set()
    for _ in range(30):
        nodes, rows, columns, edges = torch.ops.torch_sparse.neighbor_sample(*in_edges(GRAPH, 6), torch.tensor([0, 1]), [2],
                                                                             False, True)
        assert len(set(edges.tolist())) == 4 and columns.tolist() == [0, 0, 1, 1]
        seen |= {in_order(GRAPH)[edge] for edge in edges.tolist()}
        assert_edges(nodes, rows, columns, edges, [in_order(GRAPH)[edge] for edge in edges.tolist()])
    assert seen == {edge for edge in GRAPH if edge[1] in (0, 1)}


def test_neighbor_sample_with_replacement_takes_each_edge_as_often():
    torch.manual_seed(8)
    nodes, rows, columns, edges = torch.ops.torch_sparse.neighbor_sample(*in_edges(GRAPH, 6), torch.tensor([0]), [3000], True,
                                                                         True)
    assert sorted(nodes.tolist()) == [0, 1, 3, 5]
    assert columns.tolist() == [0] * 3000
    counts = np.bincount(array(nodes)[array(rows)], minlength=6)
    assert counts[0] == 0 and np.abs(counts[[1, 3, 5]] - 1000).max() < 150  # of a standard deviation of 26
    assert_edges(nodes, rows, columns, edges, [in_order(GRAPH)[edge] for edge in edges.tolist()])


@pytest.mark.parametrize("depth", [1, 2])
def test_ego_samples_of_all_neighbours_are_balls(depth):
    rowptr, col, _ = graph().csr()
    roots = [2, 4, 2]
    out_rowptr, out_col, nodes, edges, ptr, root_at = torch.ops.torch_sparse.ego_k_hop_sample_adj(
        rowptr, col, torch.tensor(roots), depth, 10, False)
    balls = []
    for root in roots:
        ball = {root}
        for _ in range(depth):
            ball |= {column for node in ball for column in neighbours(node)}
        balls.append(sorted(ball))
    assert nodes.tolist() == [node for ball in balls for node in ball]
    assert ptr.tolist() == np.cumsum([0, *map(len, balls)]).tolist()
    assert [nodes[at].item() for at in root_at] == roots
    inside = [(row, column) for ball in balls for row in ball for column in neighbours(row) if column in ball]
    assert [GRAPH[edge] for edge in edges.tolist()] == inside
    assert nodes[out_col].tolist() == [column for _, column in inside]
    counts = [len([1 for column in neighbours(node) if column in ball]) for ball in balls for node in ball]
    assert out_rowptr.tolist() == np.cumsum([0, *counts]).tolist()


@pytest.mark.parametrize("replace", [False, True])
def test_ego_samples_of_some_neighbours_stay_within_the_ball(replace):
    torch.manual_seed(9)
    rowptr, col, _ = graph().csr()
    _, _, nodes, _, ptr, _ = torch.ops.torch_sparse.ego_k_hop_sample_adj(rowptr, col, torch.tensor([5] * 30), 1, 2, replace)
    samples = [set(nodes[begin:end].tolist()) for begin, end in zip(ptr.tolist(), ptr.tolist()[1:])]
    assert all(5 in sample and sample - {5} <= set(neighbours(5)) for sample in samples)
    assert {len(sample) for sample in samples} == ({2, 3} if replace else {3})


# ---- Samples of graphs with several kinds of nodes and edges

KINDS = {"author": 4, "paper": 6, "venue": 2}
# For each kind of edges (source, target) pairs.
RELATIONS = {
    ("paper", "cites", "paper"): [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (0, 3), (2, 4)],
    ("author", "writes", "paper"): [(0, 0), (1, 0), (2, 0), (1, 1), (3, 2), (0, 5)],
    ("paper", "written_by", "author"): [(0, 0), (5, 0), (0, 1), (1, 1), (0, 2), (2, 3)],
    ("venue", "prints", "paper"): [(0, 0), (1, 1), (0, 2), (1, 5)],
}


def name(relation):
    return "__".join(relation)


def pointers():
    """Dictionaries of column pointers and of rows for all kinds of edges."""
    both = {}
    for relation, edges in RELATIONS.items():
        targets = np.asarray([target for _, target in in_order(edges)])
        both[name(relation)] = (torch.from_numpy(np.searchsorted(targets, np.arange(KINDS[relation[2]] + 1))),
                                torch.tensor([source for source, _ in in_order(edges)]))
    return {key: one for key, (one, _) in both.items()}, {key: one for key, (_, one) in both.items()}


def sampled(roots, counts, replace=False, directed=True):
    """A call with lists of strings and of their triples, and dictionaries of tensors and of lists."""
    hops = len(counts)
    return torch.ops.torch_sparse.hetero_neighbor_sample(
        list(KINDS), list(RELATIONS), *pointers(), {kind: torch.tensor(ids) for kind, ids in roots.items()},
        {name(relation): counts for relation in RELATIONS}, hops, replace, directed)


def reached(roots, hops):
    """For each kind the nodes from which the roots are reached, in the order they are found; for each kind of edges those
    that were passed."""
    nodes = {kind: list(roots.get(kind, [])) for kind in KINDS}
    passed = {relation: set() for relation in RELATIONS}
    last = {kind: list(ids) for kind, ids in nodes.items()}
    for _ in range(hops):
        found = {kind: [] for kind in KINDS}
        for relation in sorted(RELATIONS, key=name):
            source_kind, _, target_kind = relation
            for target in last[target_kind]:
                for source, _ in [edge for edge in in_order(RELATIONS[relation]) if edge[1] == target]:
                    passed[relation].add((source, target))
                    if source not in nodes[source_kind]:
                        nodes[source_kind].append(source)
                        found[source_kind].append(source)
        last = found
    return nodes, passed


def edges_of(result):
    """For each kind the sampled edges as pairs of the graph's nodes; their numbers are checked."""
    nodes, rows, columns, numbers = result
    assert set(rows) == set(columns) == set(numbers) == {name(relation) for relation in RELATIONS}
    found = {}
    for relation, edges in RELATIONS.items():
        sources, targets = nodes[relation[0]], nodes[relation[2]]
        found[relation] = [(sources[row].item(), targets[column].item())
                           for row, column in zip(rows[name(relation)].tolist(), columns[name(relation)].tolist())]
        assert found[relation] == [in_order(edges)[number] for number in numbers[name(relation)].tolist()]
    return found


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("roots", [{"paper": [0]}, {"paper": [4, 1], "author": [3]}, {"author": [0, 1, 2, 3]}])
def test_hetero_neighbor_sample_of_all_neighbours(roots, hops):
    result = sampled(roots, [-1] * hops)
    nodes, passed = reached(roots, hops)
    assert {kind: ids.tolist() for kind, ids in result[0].items()} == nodes
    assert {relation: sorted(edges) for relation, edges in edges_of(result).items()} == {
        relation: sorted(edges) for relation, edges in passed.items()}


def test_hetero_neighbor_sample_gives_dictionaries_of_integers():
    for dictionary in sampled({"paper": [0]}, [-1]):
        assert isinstance(dictionary, dict)
        assert all(isinstance(key, str) and one.dtype == torch.int64 and one.dim() == 1 for key, one in dictionary.items())


def test_hetero_neighbor_sample_has_kinds_of_which_nothing_was_found():
    nodes, rows, _, _ = sampled({"venue": [1]}, [-1])
    assert {kind: ids.tolist() for kind, ids in nodes.items()} == {"author": [], "paper": [], "venue": [1]}
    assert all(one.numel() == 0 for one in rows.values())


def test_hetero_neighbor_sample_without_direction_has_all_edges_among_its_nodes():
    result = sampled({"paper": [0]}, [-1], directed=False)
    nodes, _ = reached({"paper": [0]}, 1)
    assert {kind: ids.tolist() for kind, ids in result[0].items()} == nodes
    for relation, found in edges_of(result).items():
        assert sorted(found) == sorted((source, target) for source, target in RELATIONS[relation]
                                       if source in nodes[relation[0]] and target in nodes[relation[2]])


@pytest.mark.parametrize("replace", [False, True])
def test_hetero_neighbor_sample_takes_as_many_edges_as_it_is_told(replace):
    torch.manual_seed(10)
    seen = set()
    for _ in range(30):
        found = edges_of(sampled({"paper": [0]}, [2], replace))
        writes, cites = found["author", "writes", "paper"], found["paper", "cites", "paper"]
        assert len(writes) == 2 and len(cites) == 2 and len(found["venue", "prints", "paper"]) == (2 if replace else 1)
        assert replace or (len(set(writes)) == 2 and sorted(cites) == [(1, 0), (2, 0)])
        seen |= set(writes)
    assert seen == {(0, 0), (1, 0), (2, 0)}


def test_hetero_neighbor_sample_counts_by_kind_of_edges_and_hop():
    counts = {name(relation): [0, 0] for relation in RELATIONS}
    counts["author__writes__paper"] = [-1, 0]
    counts["paper__written_by__author"] = [0, -1]
    result = torch.ops.torch_sparse.hetero_neighbor_sample(list(KINDS), list(RELATIONS), *pointers(),
                                                           {"paper": torch.tensor([1])}, counts, 2, False, True)
    found = edges_of(result)
    assert found.pop(("author", "writes", "paper")) == [(1, 1)]
    assert sorted(found.pop(("paper", "written_by", "author"))) == [(0, 1), (1, 1)]
    assert all(edges == [] for edges in found.values())


def test_hetero_neighbor_sample_uses_the_kinds_of_edges_that_have_counts():
    result = torch.ops.torch_sparse.hetero_neighbor_sample(list(KINDS), list(RELATIONS), *pointers(),
                                                           {"paper": torch.tensor([0])}, {"venue__prints__paper": [-1]}, 1,
                                                           False, True)
    assert {relation: edges for relation, edges in edges_of(result).items() if edges} == {
        ("venue", "prints", "paper"): [(0, 0)]}


@pytest.mark.parametrize("relations", [[("paper", "cites")], [("paper", "cites", "paper", "again")], [("paper", 1, "paper")],
                                       ["paper__cites__paper"]])
def test_hetero_neighbor_sample_refuses_what_are_no_triples_of_strings(relations):
    with pytest.raises((RuntimeError, TypeError)):
        torch.ops.torch_sparse.hetero_neighbor_sample(list(KINDS), relations, *pointers(), {"paper": torch.tensor([0])},
                                                      {"paper__cites__paper": [-1]}, 1, False, True)


@pytest.mark.parametrize("at, wrong", [(0, "paper"), (2, [torch.tensor([0])]), (4, {"paper": 3}), (4, {3: torch.tensor([3])}),
                                       (5, {"paper__cites__paper": 1.5})])
def test_hetero_neighbor_sample_refuses_arguments_of_other_types(at, wrong):
    arguments = [list(KINDS), list(RELATIONS), *pointers(), {"paper": torch.tensor([0])}, {"paper__cites__paper": [-1]}, 1,
                 False, True]
    arguments[at] = wrong
    with pytest.raises((RuntimeError, TypeError)):
        torch.ops.torch_sparse.hetero_neighbor_sample(*arguments)


# Papers 1 and 2 are cited by 0, and the authors 0, 1 and 2 have written it.
TIMES = {"paper": [5, 6, 4, 1, 7, 2], "author": [5, 1, 9, 3], "venue": [0, 0]}


def temporal(roots, counts, times, replace=False, directed=True):
    return torch.ops.torch_sparse.hetero_temporal_neighbor_sample(
        list(KINDS), list(RELATIONS), *pointers(), {"paper": torch.tensor(roots)},
        {name(relation): counts for relation in RELATIONS}, {kind: torch.tensor(ids) for kind, ids in times.items()},
        len(counts), replace, directed)


def test_temporal_samples_have_no_nodes_later_than_the_root():
    result = temporal([0], [-1], TIMES)
    assert {kind: ids.tolist() for kind, ids in result[0].items()} == {"author": [0, 1], "paper": [0, 2], "venue": [0]}
    assert edges_of(result)["author", "writes", "paper"] == [(0, 0), (1, 0)]
    assert edges_of(result)["paper", "cites", "paper"] == [(2, 0)]


def test_temporal_samples_of_several_hops_obey_the_time_of_the_root():
    result = temporal([0], [-1, -1], TIMES)
    for kind, ids in result[0].items():
        assert all(TIMES[kind][node] <= TIMES["paper"][0] for node in ids.tolist())
    assert edges_of(result)["paper", "cites", "paper"] == [(2, 0), (5, 2)]


def test_temporal_samples_have_nodes_of_each_root_apart():
    result = temporal([0, 0], [-1], TIMES)
    assert result[0]["paper"].tolist() == [0, 0, 2, 2]
    assert result[0]["author"].tolist() == [0, 1, 0, 1]
    assert result[2]["author__writes__paper"].tolist() == [0, 0, 1, 1]


def test_temporal_samples_do_not_limit_kinds_without_times():
    result = temporal([0], [-1], {"paper": TIMES["paper"]})
    assert {kind: ids.tolist() for kind, ids in result[0].items()} == {"author": [0, 1, 2], "paper": [0, 2], "venue": [0]}


def test_temporal_samples_with_replacement_take_as_many_as_they_are_told():
    torch.manual_seed(11)
    found = edges_of(temporal([0], [40], TIMES, replace=True))["author", "writes", "paper"]
    assert len(found) == 40 and set(found) == {(0, 0), (1, 0)}


def test_temporal_samples_have_directions():
    with pytest.raises(RuntimeError, match="directed"):
        temporal([0], [-1], TIMES, directed=False)


# ---- Samples as the heterogeneous graph transformer takes them

def hgt(roots, counts):
    return torch.ops.torch_sparse.hgt_sample(*pointers(), {kind: torch.tensor(ids) for kind, ids in roots.items()},
                                             {kind: counts for kind in KINDS}, len(counts))


def assert_induced(result):
    """All edges among the sampled nodes are there."""
    nodes, rows, columns, numbers = result
    nodes = {kind: nodes[kind] if kind in nodes else torch.tensor([], dtype=torch.long) for kind in KINDS}
    for relation, found in edges_of((nodes, rows, columns, numbers)).items():
        assert sorted(found) == sorted((source, target) for source, target in RELATIONS[relation]
                                       if source in nodes[relation[0]].tolist() and target in nodes[relation[2]].tolist())


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_hgt_sample_of_many_nodes_takes_all_that_are_reached(hops):
    result = hgt({"paper": [0]}, [50] * hops)
    nodes, _ = reached({"paper": [0]}, hops)
    assert result[0]["paper"].tolist()[0] == 0
    assert {kind: sorted(ids.tolist()) for kind, ids in result[0].items()} == {
        kind: sorted(ids) for kind, ids in nodes.items() if ids}
    assert_induced(result)


def test_hgt_sample_takes_as_many_nodes_of_each_kind_as_it_is_told():
    torch.manual_seed(12)
    seen = set()
    for _ in range(40):
        result = hgt({"paper": [0]}, [1])
        assert {kind: ids.numel() for kind, ids in result[0].items()} == {"paper": 2, "author": 1, "venue": 1}
        assert result[0]["paper"].tolist()[1] in (1, 2)
        assert_induced(result)
        seen |= set(result[0]["author"].tolist())
    assert seen == {0, 1, 2}


def test_hgt_sample_prefers_nodes_with_many_edges():
    """Of two papers author 1 wrote both and alone one of them; its weight, a square, is (1/3 + 1)**2 to (1/3)**2 twice."""
    torch.manual_seed(13)
    drawn = [hgt({"paper": [0, 1]}, [1])[0]["author"].item() for _ in range(600)]
    share = (4 / 3) ** 2 / ((4 / 3) ** 2 + 2 / 9)
    assert abs(drawn.count(1) / 600 - share) < 0.065  # of a standard deviation of 0.013


# ---- What is not built

def test_there_is_no_version_of_cuda():
    assert torch.ops.torch_sparse.cuda_version() == -1


def test_partition_says_that_it_needs_metis():
    with pytest.raises(RuntimeError, match="METIS"):
        graph().partition(2)
