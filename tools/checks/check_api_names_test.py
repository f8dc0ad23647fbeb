#!/usr/bin/env python3
"""The C++ by which check_api_names.py finds stale rows of "Not here" compiles without the name, and
not with it."""
import subprocess
import sys

import check_api_names

HERE = """
namespace estimator {
struct Type;
void Function(int);
void Function(float);
template <class T> struct Template;
extern int Variable;
enum class Enum;
struct Class {
  int field;
  static Class Make();
 private:
  void Method();
  struct Nested;
};
}
"""


def compiles(owner, name):
    code = HERE + check_api_names.absence("tf.name", owner, name, 0)
    run = subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], input=code,
                         text=True, capture_output=True)
    assert run.returncode == 0 or name in run.stderr, run.stderr  # it fails for this reason
    return run.returncode == 0


def names_of(document, lines):
    names = {name.full: name for name in map(check_api_names.Name, lines)}
    return [full for full, _, _ in check_api_names.unwanted(document, names)]


class FakeDocument(check_api_names.Document):
    def __init__(self, other, options, absent):
        self.other, self.options, self.absent, self.used = other, options, absent, set()
        self.homonyms = {"math.betainc"}
        self.parameters = {"math.*": {"name", "axis"}, "losses.huber": {"scope"}}


def main():
    for name in ("Type", "Function", "Template", "Variable", "Enum"):
        assert not compiles("estimator", name), name
    assert compiles("estimator", "Nothing")
    for name in ("field", "Make", "Method", "Nested"):
        assert not compiles("estimator::Class", name), name
    assert compiles("estimator::Class", "nothing")

    document = FakeDocument({"math.mod": "FloorMod"}, {"losses.huber": "HuberOptions"},
                            ["math.b*", "losses.*(loss)", "losses.gone", "train.Gone*"])
    lines = ["math.abs(x)", "math.betainc(x)", "math.bincount(x)", "math.mod(x)",
             "losses.huber(x, delta=, loss=)", "losses.gone()",
             "train.Gone()", "train.Gone.method()"]
    found = names_of(document, lines)
    assert found == ["math.bincount", "losses.huber(loss)", "losses.gone", "train.Gone"], found

    # Every optional argument of a name that is here is a field, a parameter, or in "Not here".
    lines = ["math.mod(x, y, name=, out=)", "math.abs(x, axis=)",
             "losses.huber(x, delta=, name=, scope=, loss=)", "losses.gone(y=)"]
    names = {name.full: name for name in map(check_api_names.Name, lines)}
    assert list(check_api_names.unexplained(document, names)) == ["math.mod(out)"]
    held = [full for full, _, _ in check_api_names.wanted(document, names) if "(" in full]
    assert held == ["losses.huber(delta)", "losses.huber(name)"], held
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
