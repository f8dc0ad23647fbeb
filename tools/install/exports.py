#!/usr/bin/env python3
"""Writes the linker's version script of the shared library: what public headers mention.

usage: exports.py OUT NM LIBRARY.o MAIN.a HEADER...

A function or variable of LIBRARY.o is exported if the namespaces of its name are ours and a public
header has the name that follows. Inline functions of headers are compiled into programs, and what
they call stands in the header as well. MAIN.a is linked into programs, so what it needs is exported
too.
"""
import re
import subprocess
import sys

ESTIMATOR = "estimator"
WORD = re.compile(r"[A-Za-z_]\w*")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# _Z, then T and a letter for tables and type information, or GV/GR for static variables, then N for
# a name with namespaces, and qualifiers of a member function.
MANGLED = re.compile(r"_Z(?:T[VTIS]|GV|GR|Th\w*?_|Tv\w*?_)?N[rVK]*[RO]?(.*)")


def path_of(symbol):
    """The names in a mangled name: _ZN9estimator3tpu3FooC1Ev -> estimator, tpu, Foo."""
    match = MANGLED.match(symbol)
    if not match:
        return []
    rest, path = match.group(1), []
    while number := re.match(r"\d+", rest):
        start = number.end()
        end = start + int(number.group())
        path.append(rest[start:end])
        rest = rest[end:]
    return path


def words_of(headers):
    """All identifiers of the headers, and those of namespaces."""
    words, namespaces = set(), {ESTIMATOR}
    for header in headers:
        with open(header, encoding="utf-8") as file:
            text = COMMENT.sub("", file.read())
        words.update(WORD.findall(text))
        for names in re.findall(r"^\s*(?:inline )?namespace ([\w:]+)", text, re.MULTILINE):
            namespaces.update(names.split("::"))
    return words, namespaces


def is_public(symbol, words, namespaces):
    path = path_of(symbol)
    if not path or path[0] != ESTIMATOR:
        return False
    inner = 0
    while inner < len(path) and path[inner] in namespaces:
        inner += 1
    # An operator of a namespace has no name.
    return inner == len(path) or path[inner] in words


def symbols(nm, file, options):
    text = subprocess.run([nm, "--format=posix", *options, file], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return {line.split()[0] for line in text.splitlines() if len(line.split()) > 1}


def main(arguments):
    out, nm, library, main_archive, *headers = arguments
    words, namespaces = words_of(headers)
    defined = symbols(nm, library, ["--defined-only", "--extern-only"])
    needed = symbols(nm, main_archive, ["--undefined-only"])
    exported = sorted(symbol for symbol in defined
                      if symbol in needed or is_public(symbol, words, namespaces))
    with open(out, "w", encoding="utf-8") as file:
        file.write("{\n  global:\n")
        file.writelines(f"    {symbol};\n" for symbol in exported)
        file.write("  local:\n    *;\n};\n")


if __name__ == "__main__":
    main(sys.argv[1:])
