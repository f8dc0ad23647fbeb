#!/usr/bin/env python3
"""Compares our public names with TensorFlow's: docs/reference/api_names.md against
testdata/api/tensorflow_2_15_1.txt.

Every TensorFlow name must have one of these:
  the mechanical name here (`losses.huber_loss` is `losses::HuberLoss`),
  another name, in the document's table "Other names",
  a row in its table "Not here", with a reason.
For a name that is here, every optional argument, written `losses.huber_loss(weights)`, must be one
of these:
  a field of the struct in the table "Options",
  one of the parameters that this table lists,
  a row in one of the other tables.

The table "tf.contrib" has names that are not in TensorFlow 2's list. Ours beside them are checked
as well.

The generated C++ also finds stale rows of "Not here", whose name exists by now. A row that says
what "ours of that name" is, is not checked.

Usage: check_api_names.py test DOC LIST          prints all names that are in none of the tables,
                                                 and fails
       check_api_names.py generate DOC LIST      prints C++ that compiles only if all names exist,
                                                 except those of
                                                 "Not here", which must not exist
"""
import fnmatch
import re
import sys

# TensorFlow's module -> our namespace.
NAMESPACES = {
    "estimator": "estimator", "estimator.export": "estimator",
    "estimator.experimental": "estimator", "estimator.tpu": "estimator::tpu",
    "initializers": "estimator::initializers", "layers": "estimator::layers",
    "losses": "estimator::losses", "math": "estimator",
    "metrics": "estimator::metrics", "nn": "estimator", "tpu": "estimator::tpu",
    "train": "estimator::train", "data": "estimator", "data.experimental": "estimator",
    "bitwise": "estimator", "image": "estimator::image",
    "io": "estimator", "linalg": "estimator", "random": "estimator",
    "summary": "estimator::summary",
    "tf": "estimator",  # names that are only in tf
}


class Name:
    """One line of TensorFlow's list."""

    def __init__(self, line):
        match = re.fullmatch(r"([\w.]+)(?:\((.*)\))?", line.strip())
        if not match:
            raise SystemExit(f"not a line of the list: {line!r}")
        self.full = match.group(1)
        self.callable = match.group(2) is not None
        arguments = (match.group(2) or "").split(", ")
        self.optional = [a[:-1] for a in arguments if a.endswith("=")]


def read_list(path):
    with open(path) as file:
        return {name.full: name for name in (Name(line) for line in file if line.strip())}


def read_tables(path):
    """Returns {heading: [[cell, ...], ...]} of the document's tables. Removes code marks from the
    first two cells."""
    tables, heading = {}, ""
    with open(path) as file:
        for line in file:
            if line.startswith("## "):
                heading = line[3:].strip()
            elif line.startswith("| `"):
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                tables.setdefault(heading,
                                  []).append([cell.strip("`") for cell in cells[:2]] + cells[2:])
    return tables


def camel(name):
    """Returns Conv2DTranspose for conv2d_transpose."""
    words = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    return re.sub(r"(\d)d(?![a-z])", r"\1D", words)


class Document:
    def __init__(self, path):
        tables = read_tables(path)
        self.other = {row[0]: row[1] for row in tables.get("Other names", [])}
        self.options = {row[0]: row[1] for row in tables.get("Options", []) if row[1]}
        # TensorFlow's name, or a pattern -> the arguments that are parameters here.
        self.parameters = {row[0]: {word.strip("`") for word in row[2].split(", ")}
                           for row in tables.get("Options", []) if len(row) > 2 and row[2]}
        self.contrib = {row[0]: row[1] for row in tables.get("tf.contrib", []) if row[1]}
        self.absent = [row[0] for row in tables.get("Not here", [])]
        # The compiler finds these names, but they are different things.
        self.homonyms = {row[0] for row in tables.get("Not here", [])
                         if "ours of that name" in " ".join(row[1:])}
        self.used = set()
        for row in tables.get("Not here", []):
            if len(row) < 2 or not row[1]:
                raise SystemExit(f"{path}: {row[0]} is not here, but no reason is given")

    def is_absent(self, name):
        patterns = [p for p in self.absent if fnmatch.fnmatchcase(name, p)]
        self.used.update(patterns)
        return bool(patterns)

    def is_parameter(self, name, argument):
        """Whether an argument is a parameter. For a name with a struct of options, only its own row
        counts."""
        patterns = [p for p, words in self.parameters.items() if argument in words and
                    (p == name or name not in self.options and fnmatch.fnmatchcase(name, p))]
        self.used.update(patterns)
        return bool(patterns)

    def ours(self, name, names):
        """Returns (our class or namespace, our name), or None if the name is not here."""
        if name.full in self.other:
            self.used.add(name.full)
            return self.split(self.other[name.full])
        if self.is_absent(name.full):
            return None
        return self.mechanical(name, names)

    def mechanical(self, name, names):
        """As ours(), but without the table "Other names". None if the class is not here."""
        owner, last = name.full.rsplit(".", 1)
        if owner in names:  # a method or property
            place = self.ours(names[owner], names)
            if place is None:
                return None
            return "::".join(place), camel(last) if name.callable else last
        return NAMESPACES[owner], camel(last)

    @staticmethod
    def split(text):
        owner, _, last = text.rpartition("::")
        return ("estimator::" + owner if owner else "estimator"), last


def wanted(document, names):
    """Returns [(TensorFlow's name, our owner, our name)]. If the owner is a class, the name is a
    member."""
    for name in names.values():
        place = document.ours(name, names)
        if place is not None:
            yield name.full, *place
        for argument, struct in fields(document, name) if place is not None else ():
            if struct is not None:
                yield f"{name.full}({argument})", *struct


def fields(document, name):
    """Returns [(optional argument, (struct, field))] of a name that is here, with None if no table
    has the argument."""
    for argument in name.optional:
        full = f"{name.full}({argument})"
        if full in document.other:
            document.used.add(full)
            yield argument, document.split(document.other[full])
        elif not document.is_absent(full) and not document.is_parameter(name.full, argument):
            struct = document.options.get(name.full)
            document.used.add(name.full)
            yield argument, struct and ("estimator::" + struct, argument)


def unexplained(document, names):
    for name in names.values():
        if document.ours(name, names) is not None:
            yield from (f"{name.full}({argument})" for argument, struct in fields(document, name)
                        if struct is None)


def unwanted(document, names):
    """As wanted(), for the mechanical names of everything that is not here, each once."""
    here = {(owner, last) for _, owner, last in wanted(document, names)}
    for name in names.values():
        if name.full not in document.other and document.is_absent(
            name.full) and name.full not in document.homonyms:
            place = document.mechanical(name, names)
            if place is not None and place not in here:
                here.add(place)
                yield name.full, *place
        if name.full in document.options:
            for argument in name.optional:
                full = f"{name.full}({argument})"
                if full not in document.other and document.is_absent(full):
                    yield full, "estimator::" + document.options[name.full], argument


def absence(full, owner, last, index):
    """Returns C++ that compiles only if `owner`, a class or one of our namespaces, has no member
    `last`."""
    comment = (f"// {full}: a row of \"Not here\" in docs/reference/api_names.md is stale if this "
               f"fails\n")
    if owner in NAMESPACES.values():
        # If both namespaces have the name, it is ambiguous.
        return comment + (f"namespace absent{index} {{ struct {last}; }}\n"
                          f"namespace probe{index} {{ using namespace ::{owner}; using namespace "
                          f"absent{index};\nusing T = {last}; }}")
    if last == owner.rsplit("::", 1)[-1]:
        return ""  # a class has its own name
    # The same in a class: an ambiguous member cannot be named.
    return comment + (f"struct A{index} {{ int {last}; }};\nstruct B{index} : ::{owner}, A{index} "
                      f"{{}};\ntemplate <class T> concept Names{index} = requires {{ &T::{last}; "
                      f"}};\nstatic_assert(Names{index}<B{index}>);")


def generate(document, names):
    print('// Compiles if every name of docs/reference/api_names.md is there. Made by '
          'tools/checks/check_api_names.py.')
    print('#include "estimator/estimator.h"\n#include "tpu/tpu_estimator.h"\n')
    namespaces = set(NAMESPACES.values()) | {"estimator::regularizers", "estimator::rnn_cell",
                                             "estimator::seq2seq"}
    contrib = [(full, *document.split(ours)) for full, ours in document.contrib.items()]
    for index, (full, owner, last) in enumerate([*wanted(document, names), *contrib]):
        print(f"// {full}")
        if owner in namespaces and last.endswith(">"):
            print(f"using T{index} = ::{owner}::{last};")
        elif owner in namespaces:
            print(f"namespace n{index} {{ using ::{owner}::{last}; }}")
        elif last == owner.rsplit("::", 1)[-1]:
            print(f"using T{index} = ::{owner};")
        else:
            print(f"struct S{index} : ::{owner} {{ using ::{owner}::{last}; }};")
    for index, (full, owner, last) in enumerate(unwanted(document, names)):
        print(absence(full, owner, last, index))
    print("int main() { return 0; }")


def test(document, names):
    count = len(list(wanted(document, names)))
    problems = [f"docs/reference/api_names.md has no row for {full}"
                for full in unexplained(document, names)]
    for row in list(document.other) + list(document.options) + list(
        document.parameters) + document.absent:
        if row not in document.used:
            problems.append(f"docs/reference/api_names.md: {row} is not a name of TensorFlow, or "
                            f"is in two tables")
    print(f"{len(names)} names of TensorFlow's; {count} names and fields are here")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def main(arguments):
    if len(arguments) != 4 or arguments[1] not in ("test", "generate"):
        raise SystemExit(__doc__)
    document, names = Document(arguments[2]), read_list(arguments[3])
    if arguments[1] == "generate":
        generate(document, names)
        return 0
    return test(document, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
