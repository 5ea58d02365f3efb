#!/usr/bin/env python3
"""Formats schema files as checks/style wants them: format_entries.py FILE...

One key a line, lists and objects on one line where they fit, 120 columns: longer texts are lists of strings, which the
generator joins with blanks. In "for" and "macros", where a list is one of items, such a text is a list in a list.
"""

import json
import re
import sys
from pathlib import Path

COLUMNS = 120
TEXT_LISTS = ("requires", "values", "domain", "samples", "variants", "aliases", "kernels", "tags")


def unique(pairs):
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"the key {key!r} stands twice in an object")
    return dict(pairs)


def quoted(value):
    return json.dumps(value, ensure_ascii=False)


def is_strings(value):
    return isinstance(value, list) and value != [] and all(isinstance(item, str) for item in value)


def joined(value):
    """A text that may be a list of strings."""
    return " ".join(value) if is_strings(value) else value


def whole(value):
    """A value with its texts in one piece; of `value` itself only what is nested in it."""
    if isinstance(value, list):
        return [joined(whole(item)) for item in value]
    if isinstance(value, dict):
        return {key: joined(whole(item)) for key, item in value.items()}
    return value


def whole_word(value):
    """The same of what a macro or a word of an entry template stands for."""
    return " ".join(value[0]) if isinstance(value, list) and len(value) == 1 and is_strings(value[0]) else whole(value)


def inline(value):
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{quoted(key)}: {inline(item)}" for key, item in value.items()) + " }" if value else "{}"
    return quoted(value)


def parts(text, width):
    """The text in pieces of a width at most, broken at blanks: of a call rather behind a comma, or before its result."""
    for sign in (" == ", " raises "):
        call, found, result = text.partition(sign)
        pieces = [call, f"{sign.strip()} {result}"]
        if text.startswith("(") and found and max(map(len, map(quoted, pieces))) <= width:
            return pieces
    is_call = re.match(r"[\w:.{}]*\(", text) is not None
    pieces = []
    while len(quoted(text)) > width:
        end = text.rfind(" ", 1, width - 1 - (len(quoted(text)) - len(text) - 2))
        comma = text.rfind(", ", 1, end + 1) + 1
        end = comma if is_call and comma > end - 30 else end
        if end < 1:
            break
        pieces.append(text[:end])
        text = text[end + 1:]
    return pieces + [text]


def laid_out(value, column, behind, is_word=False):
    """The value from a column on, with room for what stands behind it."""
    text = inline(value)
    if column + len(text) + behind <= COLUMNS or value in ([], {}):
        return text
    if isinstance(value, list):
        items = [laid_out(item, column + 1, max(behind + 1, 1)) for item in value]
        return "[" + (",\n" + " " * (column + 1)).join(items) + "]"
    if isinstance(value, dict):
        items = [f"{quoted(key)}: {laid_out(item, column + len(quoted(key)) + 4, behind + 2)}"
                 for key, item in value.items()]
        return "{ " + (",\n" + " " * (column + 2)).join(items) + " }"
    if not isinstance(value, str):
        return text
    depth = 2 if is_word else 1
    pieces = parts(value, COLUMNS - column - behind - 2 * depth)
    if len(pieces) == 1:
        return text
    return "[" * depth + (",\n" + " " * (column + depth)).join(map(quoted, pieces)) + "]" * depth


def words_laid_out(words, column, behind):
    """The object of a "for": a list of values for each word."""
    lines = []
    for key, values in words.items():
        begin = column + len(quoted(key)) + 4
        text = inline(values)
        if begin + len(text) + behind + 2 > COLUMNS:
            items = [laid_out(item, begin + 1, behind + 3, is_word=True) for item in values]
            text = "[" + (",\n" + " " * (begin + 1)).join(items) + "]"
        lines.append(f"{quoted(key)}: {text}")
    return "{ " + (",\n" + " " * (column + 2)).join(lines) + " }"


def entry_laid_out(entry):
    lines = []
    for key, value in entry.items():
        begin = 2 + len(quoted(key)) + 2
        if key == "for" and isinstance(value, dict) and all(isinstance(items, list) for items in value.values()):
            words = {word: [whole_word(item) for item in items] for word, items in value.items()}
            text = words_laid_out(words, begin, 3)
        else:
            value = whole(value)
            text = laid_out(value if key in TEXT_LISTS else joined(value), begin, 3)
        lines.append(f"{quoted(key)}: {text}")
    return "{ " + ",\n  ".join(lines) + " }"


def macros_laid_out(macros):
    lines = []
    for key, value in macros.items():
        lines.append(f"{quoted(key)}: " + laid_out(whole_word(value), 4 + len(quoted(key)) + 2, 1, is_word=True))
    return "{\n    " + ",\n    ".join(lines) + "\n  }"


def formatted(text):
    """The text of a schema file as it is to be. Throws ValueError."""
    file = json.loads(text, object_pairs_hook=unique)
    if not isinstance(file, dict) or not isinstance(file.get("macros", {}), dict):
        raise ValueError("a schema file holds an object, and its macros are one")
    if "$defs" in file:  # op.schema.json, which says what schema files are
        return text
    blocks = []
    for key, value in file.items():
        if key in ("helpers", "ops"):
            if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
                raise ValueError(f"{key!r} is no list of objects")
            begin = "[\n\n" if key == "ops" else "[\n"
            block = begin + ",\n\n".join(map(entry_laid_out, value)) + "\n  ]"
        elif key == "macros":
            block = macros_laid_out(value)
        else:
            block = laid_out(joined(value), 4 + len(key) + 2, 1)
        blocks.append(f"{quoted(key)}: {block}")
    return "{ " + ",\n  ".join(blocks) + "\n}\n"


def main():
    for name in sys.argv[1:]:
        path = Path(name)
        text = path.read_text(encoding="utf-8")
        try:
            wanted = formatted(text)
        except ValueError as error:
            sys.exit(f"{name}: {error}")
        if wanted != text:
            path.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
