#!/usr/bin/env python3
"""Lists the fields of every options struct in their order: docs/reference/options.md.

The structs are those of the headers that estimator/estimator.h and tpu/tpu_estimator.h include,
directly or not, whose names end in one of SUFFIXES or are in OTHERS, if they are aggregates: a
designated initializer must name the fields in the order of their declaration.

Usage: list_options.py page          prints the page
       list_options.py test          fails if docs/reference/options.md is another page
       list_options.py generate DOC  prints C++ that compiles only if each struct of the page DOC
       has exactly the fields
                                     that DOC lists, in that order

Regenerate: tools/checks/list_options.py page > docs/reference/options.md
"""
import collections
import difflib
import os
import re
import sys

ROOTS = ["estimator/estimator.h", "tpu/tpu_estimator.h"]
SUFFIXES = ("Options", "Config", "Settings", "Feature")
OTHERS = {"Element", "EvalSpec", "HostCall", "Scaffold", "StepsOrSeconds", "TrainSpec", "VocabInfo"}
# Structs that users do not write.
INTERNAL = {"estimator::BuildOptions", "estimator::FeederOptions", "estimator::ImportOptions",
            "estimator::StepRunner::Options", "estimator::tpu::ReplicasStrategyOptions",
            "estimator::VariableScopeSettings", "estimator::tpu::TPUEstimatorSettings",
            "estimator::EpochSettings"}
PAGE = "docs/reference/options.md"
HEAD = """# Options structs

This page lists the fields of every options struct, with their defaults. A call may leave out any
field that has a default, but C++ wants the fields that it names in this order:
`Dense(x, {.units = 10, .use_bias = false})` compiles, and
`{.use_bias = false, .units = 10}` does not.

The header beside each struct says what the fields mean. `tools/checks/list_options.py` makes this
page from the headers, and `bazel test //docs:options_test` checks it.

| struct | fields in order | header |
|---|---|---|
"""


# name: as "estimator::layers::DenseOptions". fields: [(name, default or None)].
Struct = collections.namedtuple("Struct", "name fields header")


def read(path):
    """Returns the text of a file without comments and preprocessor lines."""
    with open(path) as file:
        text = file.read()
    # "//" in a string is text
    text = re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*', lambda match: match[1] or "", text)
    return re.sub(r"^#(?!include).*(?:\\\n.*)*$", "", text, flags=re.MULTILINE)


def headers():
    """Returns the headers that ROOTS include, in the order of their names."""
    found, pending = set(), list(ROOTS)
    while pending:
        path = pending.pop()
        # a generated header, as those of protos, has no options
        if path in found or not os.path.exists(path):
            continue
        found.add(path)
        pending += re.findall(r'^#include "((?:estimator|tpu)/[^"]+)"', read(path), re.MULTILINE)
    return sorted(found)


def closing(text, begin, pair="{}"):
    """Returns the index of the bracket that closes the one at `begin`."""
    depth = 0
    for i in range(begin, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return i
    raise SystemExit(f"no end of {text[begin:begin + 60]!r}")


def without_brackets(text):
    """Returns the text without <...>, innermost first."""
    while True:
        shorter = re.sub(r"<[^<>]*>", "", text)
        if shorter == text:
            return text
        text = shorter


def split(text, separator):
    """Splits at a separator that is in no bracket and no string literal."""
    parts, depth = [""], 0
    for token in re.findall(r'"(?:[^"\\\n]|\\.)*"|.', text, re.DOTALL):
        depth += (token in "<({[") - (token in ">)}]")
        if token == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def statements(body):
    """Yields (text, whether it is public) for the declarations of a class, without the bodies of
    functions."""
    text, i, public = "", 0, True
    while i < len(body):
        access = re.match(r"\s*(public|protected|private):", body[i:]) if not text.strip() else None
        if access:
            public = access.group(1) == "public"
            i += access.end()
        elif body[i] == ";":
            yield text.strip(), public
            text, i = "", i + 1
        elif body[i] == "{":
            end = closing(body, i)
            function = re.search(r"\)\s*(const|override|final|noexcept|\s)*(:.*)?$",
                                 without_brackets(text), re.DOTALL)
            if function and "=" not in without_brackets(text).split("(")[0]:
                yield text.strip(), public
                text = ""
            else:
                text += body[i:end + 1]
            i = end + 1
        else:
            text += body[i]
            i += 1


NO_FIELD = re.compile(
    r"(static|using|enum|friend|template|struct|class|typedef|explicit|virtual|operator)\b")


def fields_of(body, name):
    """Returns [(field, default)], or None if the struct is not an aggregate."""
    fields = []
    for text, public in statements(body):
        plain = without_brackets(text)
        if re.match(rf"(explicit\s+)?{name}\s*\(", plain):
            return None  # a constructor
        if not text or NO_FIELD.match(text) or "operator" in plain or "(" in re.split(r"[={]",
                                                                                      plain)[0]:
            continue
        if not public:
            return None
        for declarator in split(text, ","):
            before, *default = split(" ".join(declarator.split()), "=")
            field = re.search(r"(\w+)\s*(\{.*\})?\s*$", before)
            fields.append((field.group(1), "=".join(default).strip() or field.group(2)))
    return fields


OPEN = re.compile(r"\b(?P<kind>namespace|struct|class)\s+(?P<name>[\w:]+)(?P<base>[^;{()=]*)\{")


def structs_in(text, scope, header):
    """Yields the structs of a text that is in the scope `scope`."""
    i = 0
    while match := OPEN.search(text, i):
        if re.search(r"enum\s+$", text[:match.start("kind")]):
            i = match.end()
            continue
        begin = match.end() - 1
        end = closing(text, begin)
        body, name = text[begin + 1:end], match.group("name")
        full = f"{scope}::{name}" if scope else name
        if match.group("kind") != "namespace":
            short = name.rsplit("::", 1)[-1]
            listed = (short.endswith(SUFFIXES)
                      or short in OTHERS) and match.group("kind") == "struct"
            fields = fields_of(body, short) if listed and not match.group(
                "base").strip().startswith(":") else None
            if fields and full not in INTERNAL:
                yield Struct(full, fields, header)
            body = public_part(body, match.group("kind"))
        if name != "internal":
            yield from structs_in(body, full, header)
        i = end


def public_part(body, kind):
    """Returns the parts of a class that are public."""
    parts = re.split(r"^\s*(public|protected|private):", body, flags=re.MULTILINE)
    public = parts[0] if kind == "struct" else ""
    for access, part in zip(parts[1::2], parts[2::2]):
        public += part if access == "public" else ""
    return public


def structs():
    found = {}
    for header in headers():
        for struct in structs_in(read(header), "", header):
            found.setdefault(struct.name, struct)
    return [found[name] for name in sorted(found)]


def qualified(default, struct):
    """Returns a default as a user in namespace estimator writes it: an enum that is declared beside
    the struct gets the struct's namespace."""
    scope = struct.name.removeprefix("estimator::").rpartition("::")[0]
    enum = re.match(r"(\w+)::\w+$", default)
    if scope and enum and re.search(rf"\benum class {enum[1]}\b", read(struct.header)):
        return f"{scope}::{default}"
    return default


def cpp_name(struct):
    name = re.sub(r"\b(TPUEstimator|Estimator)::", r"\1<>::", struct.name)
    return re.sub(r"\b(EpochOptions|EvalSpec|TrainSpec)$", r"\1<>", name)


def page():
    lines = []
    for struct in structs():
        fields = ", ".join(f"`.{name} = {qualified(default, struct)}`" if default else f"`.{name}`"
                           for name, default in struct.fields)
        name = cpp_name(struct).removeprefix("estimator::")
        lines.append(f"| `{name}` | {fields} | `{struct.header}` |\n")
    return HEAD + "".join(lines)


def generate(path):
    print("// Compiles if every struct has exactly the fields that docs/reference/options.md "
          "lists, in that order.")
    print("// Made by tools/checks/list_options.py.")
    print("".join(f'#include "{root}"\n' for root in ROOTS))
    with open(path) as file:
        rows = re.findall(r"^\| `(.*?)` \| (.*) \| `.*` \|$", file.read(), re.MULTILINE)
    for index, (struct, cells) in enumerate(rows):
        names = re.findall(r"`\.(\w+)", cells)
        print(f"[[maybe_unused]] static void Check{index}(estimator::{struct}& x) {{")
        print(f"  [[maybe_unused]] auto& [{', '.join(f'f{i}' for i in range(len(names)))}] = x;")
        print(f"  [[maybe_unused]] const auto y = "
              f"estimator::{struct}{{{', '.join(f'.{n} = x.{n}' for n in names)}}};\n}}")
    print("int main() { return 0; }")


def test():
    with open(PAGE) as file:
        actual = file.read().splitlines(keepends=True)
    difference = list(difflib.unified_diff(actual, page().splitlines(keepends=True), PAGE,
                                           "the headers"))
    sys.stdout.writelines(difference)
    if difference:
        print(f"\nRegenerate: tools/checks/list_options.py page > {PAGE}")
    return 1 if difference else 0


def main(arguments):
    if len(arguments) == 3 and arguments[1] == "generate":
        generate(arguments[2])
        return 0
    if len(arguments) != 2 or arguments[1] not in ("page", "test"):
        raise SystemExit(__doc__)
    os.chdir(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", ".."))
    if arguments[1] == "test":
        return test()
    print(page(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
