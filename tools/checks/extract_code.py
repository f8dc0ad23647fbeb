#!/usr/bin/env python3
"""Prints the code blocks of one language of a Markdown file, one after the other.

Usage: extract_code.py cpp|python FILE.md [SOURCE]

With SOURCE, prints only the blocks whose first line is the comment `// SOURCE`: a page can show
several files.
"""
import re
import sys

language, path, *source = sys.argv[1:]
with open(path) as file:
    blocks = re.findall(rf"^```{language}\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
if source:
    blocks = [block for block in blocks if block.startswith(f"// {source[0]}\n")]
if not blocks:
    raise SystemExit(f"{path}: no block of {' '.join([language, *source])}")
print("\n".join(blocks))
