"""Graphs of what imports what, {node: nodes}: what is reached, circles, and pictures."""


def reached(graph, start):
    found, waiting = set(), [start]
    while waiting:
        for node in graph.get(waiting.pop(), ()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found


def circles(graph):
    """A shortest circle through each node that lies on one, each circle once: [node, ..., node]."""
    found = set()
    for start in sorted(graph):
        circle = _circle(graph, start)
        if circle and frozenset(circle) not in found:
            found.add(frozenset(circle))
            yield circle


def _circle(graph, start):
    paths, seen = [[start]], set()
    for path in paths:
        for node in sorted(graph.get(path[-1], ())):
            if node == start:
                return [*path, start]
            if node not in seen:
                seen.add(node)
                paths.append([*path, node])
    return None


def picture(edges):
    """In Mermaid's language, without arrows to what is reached through another arrow. Those of a circle stay."""
    graph = {}
    for user, used in sorted(edges):
        graph.setdefault(user, []).append(used)
    below = {node: reached(graph, node) for edge in edges for node in edge}

    def is_direct(user, used):
        return not any(used in below[by] and user not in below[by] and by not in below[used] for by in graph[user])

    lines = [f"  {user} --> " + " & ".join(used for used in nodes if is_direct(user, used)) for user, nodes in graph.items()]
    return "\n".join(["```mermaid", "graph TD", *lines, "```"])
