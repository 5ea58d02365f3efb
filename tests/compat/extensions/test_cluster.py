"""torch_cluster: neighbours, samples and clusters of points and graphs. Oracles are all distances in NumPy, and for random
results what any of them must satisfy."""

import numpy as np
import pytest
import torch
from torch_cluster import (fps, graclus_cluster, grid_cluster, knn, knn_graph, nearest, neighbor_sampler, radius,
                           radius_graph, random_walk)
from values import array, normal, whole

BATCH_X = torch.tensor([0] * 12 + [1] * 8 + [3] * 20)  # batch 2 is empty
BATCH_Y = torch.tensor([0] * 5 + [1] * 5 + [3] * 5)
FLOATING = [torch.float32, torch.float64]


def points(seed, count, dims=3, dtype=torch.float64):
    return normal(seed, count, dims, dtype=dtype)


def distances(x, y):
    """From each row of y to each row of x."""
    return np.linalg.norm(array(y)[:, None] - array(x)[None], axis=2)


def apart(found, batch_x=BATCH_X, batch_y=BATCH_Y):
    """`found`, distances, infinite between points of different batches."""
    return np.where(batch_y.numpy()[:, None] == batch_x.numpy()[None], found, np.inf)


def pairs(edges):
    return sorted(zip(*edges.tolist()))


def nearest_pairs(found, k):
    """(row of y, row of x) of the k smallest distances of each row of y."""
    return sorted((row, int(column)) for row, line in enumerate(found)
                  for column in np.argsort(line)[:k] if np.isfinite(line[column]))


def pairs_within(found, r):
    return sorted((int(row), int(column)) for row, column in zip(*np.nonzero(found < r)))


# ---- k nearest neighbours ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("k", [1, 4])
def test_knn_finds_the_nearest(k, dtype):
    x, y = points(1, 40, dtype=dtype), points(2, 15, dtype=dtype)
    assert pairs(knn(x, y, k)) == nearest_pairs(distances(x, y), k)


def test_knn_of_whole_numbers_in_half_precision():
    x, y = whole(3, 0, 2, 1, 3).half() + torch.arange(9).view(9, 1).half() * 4, torch.zeros(1, 3).half()
    assert pairs(knn(x, y, 2)) == nearest_pairs(distances(x, y), 2)


def test_knn_gives_neighbours_in_order_of_distance():
    x, y = points(4, 40), points(5, 15)
    _, columns = knn(x, y, 6)
    order = np.take_along_axis(distances(x, y), columns.view(15, 6).numpy(), 1)
    assert (np.diff(order) > 0).all()


def test_knn_stays_within_batches():
    x, y = points(6, 40), points(7, 15)
    assert pairs(knn(x, y, 3, BATCH_X, BATCH_Y)) == nearest_pairs(apart(distances(x, y)), 3)


def test_knn_finds_fewer_where_there_are_fewer():
    x, y = points(8, 3), points(9, 4)
    assert pairs(knn(x, y, 5)) == nearest_pairs(distances(x, y), 5)


def test_knn_takes_points_on_a_line():
    x, y = normal(10, 20), normal(11, 5)
    assert pairs(knn(x, y, 2)) == nearest_pairs(distances(x.view(-1, 1), y.view(-1, 1)), 2)


def test_knn_of_no_points_is_empty():
    assert knn(points(12, 0), points(12, 3), 2).shape == (2, 0)


def test_knn_by_cosine_is_only_on_cuda():
    with pytest.raises(RuntimeError):
        knn(points(13, 5), points(13, 5), 2, cosine=True)


@pytest.mark.parametrize("flow", ["source_to_target", "target_to_source"])
def test_knn_graph_has_no_loops(flow):
    x = points(14, 30)
    found = distances(x, x) + np.diag(np.full(30, np.inf))
    edges = knn_graph(x, 4, flow=flow)
    assert pairs(edges.flip(0) if flow == "source_to_target" else edges) == nearest_pairs(found, 4)


def test_knn_graph_with_loops_counts_a_point_itself():
    x = points(15, 30)
    assert pairs(knn_graph(x, 4, loop=True, flow="target_to_source")) == nearest_pairs(distances(x, x), 4)


def test_knn_graph_stays_within_batches():
    x = points(16, 40)
    found = apart(distances(x, x), BATCH_X, BATCH_X) + np.diag(np.full(40, np.inf))
    assert pairs(knn_graph(x, 3, BATCH_X, flow="target_to_source")) == nearest_pairs(found, 3)


# ---- all within a distance -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("r", [0.3, 1.5])
def test_radius_finds_all_that_are_closer(r, dtype):
    x, y = points(17, 40, dtype=dtype), points(18, 15, dtype=dtype)
    assert pairs(radius(x, y, r, max_num_neighbors=40)) == pairs_within(distances(x, y), r)


def test_radius_stays_within_batches():
    x, y = points(19, 40), points(20, 15)
    assert pairs(radius(x, y, 1.2, BATCH_X, BATCH_Y, 40)) == pairs_within(apart(distances(x, y)), 1.2)


def test_radius_gives_no_more_than_asked_for():
    x, y = points(21, 40), points(22, 15)
    within = pairs_within(distances(x, y), 2.0)
    found = pairs(radius(x, y, 2.0, max_num_neighbors=3))
    assert set(found) <= set(within)
    for row in range(15):
        assert sum(one == row for one, _ in found) == min(3, sum(one == row for one, _ in within))


@pytest.mark.parametrize("flow", ["source_to_target", "target_to_source"])
def test_radius_graph_has_no_loops(flow):
    x = points(23, 30)
    edges = radius_graph(x, 1.2, max_num_neighbors=30, flow=flow)
    found = distances(x, x) + np.diag(np.full(30, np.inf))
    assert pairs(edges.flip(0) if flow == "source_to_target" else edges) == pairs_within(found, 1.2)


def test_radius_graph_with_loops_has_every_point():
    x = points(24, 30)
    edges = radius_graph(x, 1.2, loop=True, max_num_neighbors=30)
    assert pairs(edges) == pairs_within(distances(x, x), 1.2)  # distances are the same in both directions


def test_radius_graph_stays_within_batches():
    x = points(25, 40)
    found = apart(distances(x, x), BATCH_X, BATCH_X) + np.diag(np.full(40, np.inf))
    assert pairs(radius_graph(x, 1.2, BATCH_X, max_num_neighbors=40)) == pairs_within(found, 1.2)


# ---- the nearest centre --------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", FLOATING)
def test_nearest_gives_the_closest_row(dtype):
    x, y = points(26, 40, dtype=dtype), points(27, 15, dtype=dtype)
    assert nearest(x, y).tolist() == distances(x, y).argmin(0).tolist()


def test_nearest_stays_within_batches():
    x, y = points(28, 40), points(29, 15)
    assert nearest(x, y, BATCH_X, BATCH_Y).tolist() == apart(distances(x, y)).argmin(0).tolist()


def test_nearest_refuses_a_batch_without_centres():
    with pytest.raises(ValueError):
        nearest(points(30, 40), points(31, 15), BATCH_X, torch.zeros(15, dtype=torch.long))


# ---- farthest points -----------------------------------------------------------------------------------------------

def farthest(x, count):
    """From the first point on, each time the one that is farthest from those that are chosen."""
    found, chosen = distances(x, x), [0]
    while len(chosen) < count:
        chosen.append(int(found[chosen].min(0).argmax()))
    return chosen


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0])
def test_fps_takes_the_farthest_each_time(ratio, dtype):
    x = points(32, 30, dtype=dtype)
    assert fps(x, ratio=ratio, random_start=False).tolist() == farthest(x, int(np.ceil(30 * ratio)))


def expected_fps(x, bounds, ratios):
    return [a + one for a, b, ratio in zip(bounds, bounds[1:], ratios)
            for one in farthest(x[a:b], int(np.ceil(np.float32((b - a) * ratio))))]


def test_fps_takes_its_part_of_each_batch():
    x = points(33, 30)
    batch = torch.tensor([0] * 10 + [1] * 20)
    assert fps(x, batch, 0.25, random_start=False).tolist() == expected_fps(x, [0, 10, 30], [0.25, 0.25])


def test_fps_has_a_ratio_for_each_batch():
    x = points(34, 30)
    batch = torch.tensor([0] * 10 + [1] * 20)
    chosen = fps(x, batch, torch.tensor([0.5, 0.25]), random_start=False)
    assert chosen.tolist() == expected_fps(x, [0, 10, 30], [0.5, 0.25])


@pytest.mark.parametrize("make", [list, torch.tensor])
def test_fps_takes_bounds_of_batches(make):
    x = points(35, 30)
    chosen = fps(x, ratio=0.5, random_start=False, ptr=make([0, 8, 30]))
    assert chosen.tolist() == expected_fps(x, [0, 8, 30], [0.5, 0.5])


def test_fps_from_a_random_start_chooses_as_many_different_points():
    chosen = fps(points(36, 100), ratio=0.25).tolist()
    assert len(chosen) == len(set(chosen)) == 25 and 0 <= min(chosen) and max(chosen) < 100


# ---- voxels --------------------------------------------------------------------------------------------------------

def voxels(pos, size, start, end):
    cells = np.floor((array(pos) - start) / size).astype(int)
    counts = np.floor((np.asarray(end) - start) / size).astype(int) + 1
    return (cells * np.cumprod([1, *counts[:-1]])).sum(1).tolist()


@pytest.mark.parametrize("dtype", FLOATING)
def test_grid_cluster_numbers_the_voxels_from_the_least_corner(dtype):
    pos = points(37, 50, 3, dtype)
    size = torch.tensor([0.5, 1.0, 0.7], dtype=dtype)
    expected = voxels(pos, array(size), array(pos).min(0), array(pos).max(0))
    assert grid_cluster(pos, size).tolist() == expected


def test_grid_cluster_takes_the_corners_of_the_grid():
    pos, size = points(38, 50, 2), torch.tensor([0.5, 0.8], dtype=torch.float64)
    start, end = torch.tensor([-5.0, -6.0], dtype=torch.float64), torch.tensor([5.0, 7.0], dtype=torch.float64)
    expected = voxels(pos, array(size), array(start), array(end))
    assert grid_cluster(pos, size, start, end).tolist() == expected


def test_grid_cluster_of_whole_numbers():
    pos = whole(39, 0, 20, 30, 2)
    assert grid_cluster(pos, torch.tensor([3, 4])).tolist() == voxels(pos, [3, 4], array(pos).min(0), array(pos).max(0))


# ---- graphs --------------------------------------------------------------------------------------------------------

def random_graph(seed, nodes=20, edges=60):
    """Both directions of random edges, without loops and each once, in order of rows."""
    draw = np.random.default_rng(seed).integers(0, nodes, (edges, 2))
    both = {(int(a), int(b)) for a, b in [*draw, *draw[:, ::-1]] if a != b}
    return torch.tensor(sorted(both)).t().contiguous()


def assert_is_matching(cluster, row, col):
    edges = set(zip(row.tolist(), col.tolist()))
    groups = {}
    for node, one in enumerate(cluster.tolist()):
        groups.setdefault(one, []).append(node)
    for name, members in groups.items():
        assert name == min(members) and len(members) <= 2
        assert len(members) == 1 or tuple(members) in edges
    single = {members[0] for members in groups.values() if len(members) == 1}
    assert not any(a in single and b in single for a, b in edges)  # two that are left over are no neighbours


@pytest.mark.parametrize("seed", range(3))
def test_graclus_pairs_neighbours_until_none_are_left(seed):
    row, col = random_graph(seed)
    assert_is_matching(graclus_cluster(row, col, num_nodes=20), row, col)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
def test_graclus_pairs_across_the_heaviest_edge(dtype):
    row = torch.tensor([0, 1, 1, 2, 2, 3])  # a line of 4 nodes, whose middle edge weighs least
    col = torch.tensor([1, 0, 2, 1, 3, 2])
    weight = torch.tensor([5, 5, 1, 1, 7, 7]).to(dtype)
    assert graclus_cluster(row, col, weight).tolist() == [0, 0, 2, 2]


def test_graclus_leaves_out_loops():
    assert graclus_cluster(torch.tensor([0, 1]), torch.tensor([0, 1])).tolist() == [0, 1]


def assert_walks(walks, start, row, col):
    edges = set(zip(row.tolist(), col.tolist()))
    for line, first in zip(walks.tolist(), start.tolist()):
        assert line[0] == first
        assert all(step in edges for step in zip(line, line[1:]))


def test_a_random_walk_goes_along_edges():
    row, col = random_graph(4, 10, 60)
    start = whole(40, 0, 10, 500)
    walks = random_walk(row, col, start, 12)
    assert walks.shape == (500, 13)
    assert_walks(walks, start, row, col)


@pytest.mark.parametrize("p, q", [(0.25, 1.0), (1.0, 4.0), (8.0, 0.5)])
def test_a_walk_with_likelihoods_goes_along_edges(p, q):
    row, col = random_graph(5, 10, 60)
    start = whole(41, 0, 10, 100)
    assert_walks(random_walk(row, col, start, 8, p, q), start, row, col)


def test_a_random_walk_has_one_way_along_a_ring():
    row, col = torch.arange(7), (torch.arange(7) + 1) % 7
    walks = random_walk(row, col, torch.arange(7), 9)
    assert walks.tolist() == ((np.arange(7)[:, None] + np.arange(10)) % 7).tolist()


def test_a_random_walk_takes_all_neighbours_equally_often():
    row, col = torch.zeros(4, dtype=torch.long), torch.arange(1, 5)
    counts = np.bincount(random_walk(row, col, torch.zeros(40_000, dtype=torch.long), 1)[:, 1].numpy(), minlength=5)
    assert counts[0] == 0
    assert abs(counts[1:] - 10_000).max() < 600  # 7 standard deviations


def test_a_random_walk_stays_where_no_edge_leaves():
    walks, edges = random_walk(torch.tensor([0]), torch.tensor([1]), torch.tensor([0, 1]), 3, return_edge_indices=True)
    assert walks.tolist() == [[0, 1, 1, 1], [1, 1, 1, 1]]
    assert edges.tolist() == [[0, -1, -1], [-1, -1, -1]]


def test_a_random_walk_names_the_edges_it_took():
    row, col = random_graph(6, 10, 60)
    walks, edges = random_walk(row, col, whole(42, 0, 10, 50), 8, return_edge_indices=True)
    assert torch.equal(row[edges], walks[:, :-1])
    assert torch.equal(col[edges], walks[:, 1:])


def test_a_seed_repeats_a_random_walk():
    row, col = random_graph(7, 10, 60)
    start = whole(43, 0, 10, 50)
    torch.manual_seed(5)
    first = random_walk(row, col, start, 8)
    torch.manual_seed(5)
    assert torch.equal(first, random_walk(row, col, start, 8))


@pytest.mark.parametrize("size, counts", [(2, [2, 2, 1]), (1.0, [3, 4, 1]), (0.5, [2, 2, 1])])
def test_neighbor_sampler_takes_different_edges_of_each_node(size, counts):
    pointers = torch.tensor([0, 3, 7, 8])
    edges = neighbor_sampler(torch.tensor([0, 1, 2]), pointers, size).tolist()
    assert len(set(edges)) == len(edges)
    assert [sum(a <= one < b for one in edges) for a, b in [(0, 3), (3, 7), (7, 8)]] == counts


def test_a_library_without_cuda_says_so():
    assert torch.ops.torch_cluster.cuda_version() == -1
