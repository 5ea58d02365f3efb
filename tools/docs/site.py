#!/usr/bin/env python3
"""Lays out the pages of the documentation's site in build/docs, for mkdocs and Doxygen; tools/docs.sh runs it.

Pages keep their places in the tree, so their links hold. What README.md links to under "Where to go next" comes first,
in that order, then the folders' READMEs, then the references. Needs what the generator writes, in build/docs/generated.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/checks"))
from check_layers import NEVER_INSTALLED, cmake_modules  # noqa: E402
from markdown_page import pages_of  # noqa: E402
from tree import tracked_files  # noqa: E402

OUT = ROOT / "build/docs"
PAGES, GENERATED, PACKAGE = OUT / "pages", OUT / "generated/keyway", OUT / "python/keyway"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


# --- Documents


def copy_documents(files):
    """Copies the pages, and the files that they link to; returns the pages by their paths."""
    pages = pages_of(ROOT, files)
    for path, page in pages.items():
        write(PAGES / path, with_pictures((ROOT / path).read_text(), PAGES / path))
        for linked in linked_files(page):
            if linked not in pages:
                copy(ROOT / linked, PAGES / linked)
    return pages


def with_pictures(text, target):
    """The text of a page with its Mermaid graphs, of lines `a --> b & c` alone, as pictures that Graphviz draws beside it."""
    def drawn(block):
        edges = [line.split(" --> ") for line in block[1].splitlines()]
        graph = "".join(f'"{begin.strip()}" -> {{{" ".join(json.dumps(end) for end in ends.split(" & "))}}};' for begin, ends in edges)
        style = 'node [shape=box style=rounded]; bgcolor=transparent; ' + "".join(
            f'{kind} [color="#808080" fontcolor="#5c7cfa" fontname="sans-serif"]; ' for kind in ("node", "edge"))
        picture = target.with_name(f"{target.stem}-{len(list(target.parent.glob(f'{target.stem}-*.svg')))}.svg")
        picture.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["dot", "-Tsvg", "-o", picture], input=f"digraph {{ {style} {graph} }}", text=True, check=True)
        return f"![What imports what]({picture.name})"

    return re.sub(r"^```mermaid\ngraph TD\n(.*?)^```$", drawn, text, flags=re.MULTILINE | re.DOTALL)


def linked_files(page):
    """Paths in the order of the links, relative to the tree."""
    targets = [target.partition("#")[0] for _, target in page.links() if not re.match(r"\w+:|#", target)]
    paths = [(ROOT / page.path.parent / target).resolve().relative_to(ROOT) for target in targets]
    return [path for path in dict.fromkeys(paths) if (ROOT / path).is_file()]


def document_nav(pages):
    """README.md and what it links to; with a page the pages of its folder, or of the folder that has its name."""
    readme = pages[Path("README.md")]
    listed = [path for path in linked_files(readme) if path in pages]
    nav = [str(readme.path)]
    for path in listed:
        folder = path.parent if path.name == "README.md" else path.with_suffix("")
        below = [other for other in linked_files(pages[path]) if other.parent == folder and other in pages]
        nav.append({title(pages[path]): [str(path), *map(str, below)]} if below else str(path))
    return nav


def title(page):
    return re.search(r"^# (.*)$", page.prose, re.MULTILINE)[1]


def folder_nav(pages, listed):
    """The READMEs of folders, each with those of the folders in it."""
    readmes = [path for path in sorted(pages) if path.name == "README.md" and path != Path("README.md")
               and str(path) not in listed]

    def below(folder):
        nav = []
        for path in readmes:
            if parent_readme(path) == folder:
                inner = below(path.parent)
                nav.append({path.parent.name: [str(path), *inner]} if inner else {path.parent.name: str(path)})
        return nav

    def parent_readme(path):
        return next((parent for parent in path.parent.parents if parent / "README.md" in readmes), Path())

    return below(Path())


# --- Operators


def operator_nav():
    """The pages that the generator writes, and one that lists them."""
    rows, nav = [], []
    for source in sorted((GENERATED / "docs/ops").glob("*.md")):
        text = source.read_text()
        target = PAGES / "reference/operators" / source.name
        copy(source, target)
        summary = text.split("\n\n")[1].replace("\n", " ")
        operators = len(re.findall(r"^## ", text, re.MULTILINE))
        rows.append(f"| [{source.stem}]({source.name}) | {operators} | {summary} |\n")
        nav.append(str(target.relative_to(PAGES)))
    index = "reference/operators/index.md"
    write(PAGES / index, "# Operators\n\nEach page is one family, a file of `ops/schemas/`: signatures, dtypes, what is "
          "asked of arguments, gradients, examples.\n\n| family | operators | what they are |\n|---|---|---|\n" + "".join(rows))
    return [index, *nav]


# --- Python


def stage_package():
    """The package as a build folder has it, with the stubs that are generated, but without the extension. Examples in
    docstrings become blocks of Markdown."""
    shutil.copytree(ROOT / "python/keyway", PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    for stub in (GENERATED / "python").rglob("*.pyi"):
        copy(stub, PACKAGE / stub.relative_to(GENERATED / "python"))
    for path in PACKAGE.rglob("*.py*"):
        text = path.read_text()
        fenced = re.sub(r'^( *)(>>> .*\n(?:(?! *""") *\S.*\n)*)', r"\1```pycon\n\1\2\1```\n", text, flags=re.MULTILINE)
        if fenced != text:
            path.write_text(fenced)


def public_names(module, path):
    """What a module has for its users, with the full name of each where it is defined: what __all__ lists, or what the
    module defines and what it imports under its own name; all that it imports from the package, if it computes __all__."""
    defined, imported, listed, computed = {}, {}, None, False
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            if names == ["__all__"] and isinstance(node.value, ast.List):
                listed = ast.literal_eval(node.value)
            computed = computed or names == ["__all__"] and listed is None
            defined.update((name, f"{module}.{name}") for name in names)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined[node.name] = f"{module}.{node.name}"
        elif isinstance(node, ast.ImportFrom) and node.module.startswith("keyway"):
            imported.update((alias.name, (alias.asname, f"{node.module}.{alias.name}")) for alias in node.names)
    if listed is not None:
        return {name: imported[name][1] if name in imported else f"{module}.{name}" for name in listed}
    found = defined | {name: full_name for name, (known_as, full_name) in imported.items()
                       if known_as == (None if computed else name)}
    return {name: full_name for name, full_name in found.items() if not name.startswith("_")}


def python_nav():
    """A page for each public module, without the names that a package above it has."""
    nav = []

    def visit(path, known):
        inner = path.parent if path.name == "__init__.py" else path.with_suffix("")
        module = ".".join(inner.relative_to(PACKAGE.parent).parts)
        shown = {name: full_name for name, full_name in public_names(module, path).items()
                 if full_name not in known and not (inner / name).is_dir() and not (inner / f"{name}.py").is_file()}
        if module == "keyway":  # which has all names of the extension, of which operators have pages of their own
            shown |= public_names("keyway._C", PACKAGE / "_C/__init__.pyi")
        if shown:
            page = f"reference/python/{module}.md"
            members = "".join(f"        - {name}\n" for name in shown)
            write(PAGES / page, f"# {module}\n\n::: {module}\n    options:\n      members:\n{members}")
            nav.append({module: page})
        for below in sorted([*inner.glob("*.py"), *inner.glob("*/__init__.py")]):
            if below != path and not below.relative_to(inner).parts[0].startswith("_"):
                visit(below, known.union(shown.values()))

    visit(PACKAGE / "__init__.py", set())
    return nav


# --- C++


def cpp_nav(files):
    """Writes build/docs/Doxyfile for the public headers: those of HEADERS lists, and what is generated beside them."""
    public = [ROOT / "keyway.h", GENERATED / "tensor.h", *sorted((GENERATED / "ops").glob("*.h"))]
    for _, _, folder, parts in cmake_modules(ROOT, files):
        if folder.split("/")[0] not in NEVER_INSTALLED:
            public += [ROOT / folder / header for header in parts.get("HEADERS", [])]
    lines = [f"@INCLUDE = {ROOT / 'docs/site/Doxyfile'}", f"OUTPUT_DIRECTORY = {PAGES / 'reference'}", "HTML_OUTPUT = doxygen",
             f"STRIP_FROM_PATH = {ROOT} {GENERATED}", *(f"INPUT += {header}" for header in public)]
    write(OUT / "Doxyfile", "\n".join(lines) + "\n")
    page = "reference/cpp.md"
    write(PAGES / page, "# C++\n\n[The reference of the public headers](doxygen/index.html) has each of their names, with a "
          "search of its own: [classes](doxygen/annotated.html), [files](doxygen/files.html).\n")
    return page


def main():
    for folder in (PAGES, PACKAGE):
        shutil.rmtree(folder, ignore_errors=True)
    files = tracked_files(ROOT)
    pages = copy_documents(files)
    documents = document_nav(pages)
    stage_package()
    copy(ROOT / "docs/site/wide.css", PAGES / "wide.css")
    nav = [*documents, {"A tour of the tree": folder_nav(pages, json.dumps(documents))},
           {"Operators": operator_nav()}, {"Python reference": python_nav()}, {"C++ reference": cpp_nav(files)}]
    write(OUT / "mkdocs.yml", json.dumps({"INHERIT": "../../docs/site/mkdocs.yml", "docs_dir": "pages", "site_dir": "site",
                                          "nav": nav}, indent=1))


if __name__ == "__main__":
    main()
