#!/usr/bin/env python3
"""Prints the code blocks of one language of a Markdown file, one after the other.

Usage: extract_code.py cpp|python FILE.md
"""
import re
import sys

language, path = sys.argv[1:]
with open(path) as file:
    blocks = re.findall(rf"^```{language}\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
if not blocks:
    raise SystemExit(f"{path}: no block of {language}")
print("\n".join(blocks))
