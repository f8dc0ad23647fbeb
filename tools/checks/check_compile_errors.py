#!/usr/bin/env python3
"""Compares the compiler's errors with those that a source file expects.

A line with the comment `// error: TEXT` expects exactly one error that contains TEXT. The error is
in this line, or in a template that this line instantiates.

Usage: check_compile_errors.py SOURCE LOG      LOG: what gcc or clang printed for SOURCE
"""

import re
import sys

EXPECTED = re.compile(r"// error: (.+)")


def expected_errors(source):
    """Returns {line number: text}."""
    with open(source, encoding="utf-8") as f:
        matches = [(number, EXPECTED.search(line)) for number, line in enumerate(f, 1)]
    return {number: match.group(1).strip() for number, match in matches if match}


def actual_errors(source, log):
    """Returns [(set of the source's lines that belong to the error, message)]."""
    errors, before = [], set()
    with open(log, encoding="utf-8") as f:
        for line in f:
            place = re.match(re.escape(source) + r":(\d+):", line)
            if place:
                before.add(int(place.group(1)))
            message = re.search(r": (?:fatal )?error: (.*)", line)
            if message:
                # gcc names the line that instantiates a template before the error, clang after it.
                errors.append((before, message.group(1)))
                before = set()
    return errors


def main():
    source, log = sys.argv[1:]
    expected, problems = expected_errors(source), []
    if not expected:
        problems.append("no line has a comment `// error: TEXT`")
    for lines, message in actual_errors(source, log):
        number = next((n for n in sorted(lines) if n in expected and expected[n] in message), None)
        if number is None:
            problems.append(f"not expected, at {sorted(lines)}: {message}")
        else:
            del expected[number]
    problems += [f"no error at {source}:{number}: {text}" for number, text in expected.items()]
    if problems:
        with open(log, encoding="utf-8") as f:
            print(f.read())
        print("\n".join(problems))
        sys.exit(1)


if __name__ == "__main__":
    main()
