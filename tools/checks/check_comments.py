#!/usr/bin/env python3
"""Finds samples, tables and grammars in comments that a formatter has reflowed.

A sample is what a comment indents by two spaces or more. It is laid out by hand, so a line of it
does not run on at the same indentation, and the columns of a table begin at one place:

    //   return OpBuilder("Sum", name).Input(x).Attr("keep_dims",
    //   false).Build();

Reported are: a sample's line with an open bracket whose next line is not indented further; and a
full line of a table whose next line has its second column elsewhere.

Usage: tools/checks/check_comments.py [ROOT]. Exit code 0 if there is none, else 1.
Run by //tools/checks:check_comments and tools/presubmit.sh.
"""

import os
import re
import sys

COMMENT = re.compile(r"^\s*//( *)(.*)$")
FULL = 88  # a reflowed line is nearly as long as the limit allows


def open_brackets(text):
    """The number of brackets that `text` opens and does not close; quoted text and comments do not
    count."""
    text = re.sub(r'"(\\.|[^"\\])*"', "", text.split("  //")[0])
    depth = 0
    for character in text:
        depth += (character in "({") - (character in ")}")
    return depth


def second_column(text):
    """Where the second column of a table's row begins, or None."""
    match = re.search(r"[^\s.]( {2,})\S", text)
    return match.end(1) if match else None


def scrambled(lines):
    """Yields the number of each line that is likely to be the first of a reflowed pair."""
    for number, (line, following) in enumerate(zip(lines, lines[1:]), 1):
        here, there = COMMENT.match(line), COMMENT.match(following)
        if not here or not there or len(here.group(1)) < 3 or not there.group(2):
            continue
        indent, next_indent = len(here.group(1)), len(there.group(1))
        code = re.search(r"[;={(]", here.group(2)) and re.search(r"[;)}]\s*$|[;)}]", there.group(2))
        if code and open_brackets(here.group(2)) > 0 and next_indent <= indent and not re.match(
                r"[)}]", there.group(2)) and re.search(r"[,=(]$",
                                                       here.group(2)) and here.group(2)[-1] != "{":
            yield number
        elif (len(line) >= FULL and next_indent == indent and re.match(r"[a-z]", there.group(2)) and
              second_column(there.group(2)) not in (None, second_column(here.group(2)))):
            yield number


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else os.path.dirname(
        os.path.dirname(here))
    findings = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "bazel-")))
        for file in sorted(files):
            if not file.endswith((".h", ".cc")):
                continue
            path = os.path.join(folder, file)
            with open(path, encoding="utf-8") as text:
                lines = text.read().split("\n")
            for number in scrambled(lines):
                findings += 1
                print(f"{os.path.relpath(path, root)}:{number}: a sample in a comment was "
                      f"reflowed: lay it out by hand")
                print("   ", lines[number - 1].strip())
                print("   ", lines[number].strip())
    print(f"{findings} reflowed samples")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
