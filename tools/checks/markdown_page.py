"""A page of the documents: its code blocks, links and anchors, with their lines."""

import re
from collections import Counter

from tree import is_golden

FENCE = re.compile(r"^```(.*)$")
COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
HEADING = re.compile(r"^#+ +(.*?)\s*$", re.MULTILINE)


class Block:
    """Code of one language. `line` is that of its first line; `needs` what a comment `with: ...` above it says."""

    def __init__(self, language, line, lines, needs):
        self.language, self.line, self.lines, self.needs = language, line, lines, needs
        self.text = "".join(f"{line}\n" for line in lines)


class Page:
    def __init__(self, path, text):
        self.path = path
        self.blocks = []
        self.indented = []  # lines where a block begins that is no fence
        self.prose = self._read_blocks(text.splitlines())

    def _read_blocks(self, lines):
        """Collects the blocks; returns the text without them, in which lines keep their numbers."""
        prose, number = [], 0
        while number < len(lines):
            fence = FENCE.match(lines[number])
            if not fence:
                if lines[number].startswith("    ") and not (number and lines[number - 1].strip()):
                    self.indented.append(number + 1)
                prose.append(lines[number])
                number += 1
                continue
            end = next((i for i in range(number + 1, len(lines)) if lines[i] == "```"), len(lines))
            self.blocks.append(Block(fence[1].strip(), number + 2, lines[number + 1:end], self._needs("\n".join(prose))))
            prose += [""] * (end + 1 - number)
            number = end + 1
        return "\n".join(prose)

    @staticmethod
    def _needs(above):
        comments = list(COMMENT.finditer(above))
        if not comments or comments[-1].end() != len(above) or not comments[-1][1].lstrip().startswith("with:"):
            return ""
        return comments[-1][1].lstrip().removeprefix("with:").strip()

    def links(self):
        """Pairs of line and target."""
        def blank(match):
            return re.sub(r"[^\n]", " ", match.group())
        text = CODE_SPAN.sub(blank, COMMENT.sub(blank, self.prose))
        return [(text.count("\n", 0, link.start()) + 1, link[1]) for link in LINK.finditer(text)]

    def anchors(self):
        """Those of its headings, as GitHub and the site make them."""
        seen = Counter()
        found = set()
        for heading in HEADING.finditer(self.prose):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            found.add(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
        return found


def pages_of(root, files):
    """The documents among the files, by their paths."""
    return {path: Page(path, (root / path).read_text()) for path in files
            if path.suffix == ".md" and not is_golden(path) and not path.is_relative_to("tests/codegen/data")}
