"""The graph of imports of the Python package, without those for type checkers alone. Imports within functions count:
what is imported late is needed all the same.
"""

import ast


class ImportGraph:
    """Modules of a package below a folder, by their names, and what each imports: {name: {name: line}}."""

    def __init__(self, root, folder, files):
        self.paths = {}
        for path in files:
            if path.suffix == ".py" and path.is_relative_to(folder):
                parts = path.relative_to(folder).with_suffix("").parts
                self.paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        self.imports = {name: {} for name in self.paths}
        for name, path in self.paths.items():
            self._visit(name, ast.parse((root / path).read_text()))

    def _visit(self, name, node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                for other in child.orelse:
                    self._visit(name, ast.Module([other], []))
                continue
            if isinstance(child, ast.Import):
                for alias in child.names:
                    self._add(name, alias.name, child.lineno)
            elif isinstance(child, ast.ImportFrom) and not child.level:
                for alias in child.names:
                    part = f"{child.module}.{alias.name}"
                    self._add(name, part if part in self.paths else child.module, child.lineno)
            self._visit(name, child)

    def _add(self, user, used, line):
        # What stands in the package itself is the extension's, or a module of its own name.
        if used in self.paths and used != user and "." in used:
            self.imports[user].setdefault(used, line)

    def folders(self):
        """Pairs of a package's folders, of which the first one's modules import some of the second one's."""
        folder = {name: path.parts[2] if len(path.parts) > 3 else None for name, path in self.paths.items()}
        pairs = {(folder[user], folder[name]) for user, names in self.imports.items() for name in names}
        return {(user, used) for user, used in pairs if user and used and user != used}
