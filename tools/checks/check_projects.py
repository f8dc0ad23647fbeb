#!/usr/bin/env python3
"""Uses the library as people do: installs it into a temporary folder, makes a project for each
build system there with the installed estimator_new_project, and checks each project:

  it builds, by the commands of its README;
  it trains 20 steps with the losses, as printed, of the same program in this tree;
  its test, which compares the model with TensorFlow, passes;
  `saved_model run` serves what it exported.

    tools/checks/check_projects.py OUT_DIR    # writes OUT_DIR/test.xml

It calls ./bazelw. A build system that is not installed is skipped. Exit code 0 if nothing failed.
"""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SUITE = "Projects"
# Build system -> the programs that its projects need.
PROGRAMS = {"cmake": ["cmake", "make"], "make": ["make", "pkg-config"], "bazel": ["bazel"]}
STEPS = 20
LOSS = re.compile(r"\bloss(?: =| for final step \d+:|\s) *([0-9][^,\s]*)")


class Failed(Exception):
    """What a case found."""


def run(command, folder, **options):
    """Returns what the command prints; it is printed here as well."""
    print(f"$ {command}", flush=True)
    begin = time.monotonic()
    done = subprocess.run(["bash", "-c", command], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
                          **options)
    print(done.stdout + f"({time.monotonic() - begin:.1f} s)", flush=True)
    if done.returncode != 0:
        raise Failed(f"`{command}` ended with exit code {done.returncode}:\n"
                     + "\n".join(done.stdout.splitlines()[-30:]))
    return done.stdout


def losses_of(program, folder, model_dir, *flags):
    """All losses that 20 steps of training and an evaluation print."""
    # The number of threads is part of the bits.
    text = run(" ".join([str(program), f"--train_steps={STEPS}", "--log_step_count_steps=1",
                         f"--model_dir={model_dir}", *flags]), folder,
               env={**os.environ, "OMP_NUM_THREADS": "2"})
    losses = LOSS.findall(text)
    if len(losses) < STEPS:
        raise Failed(f"expected {STEPS} losses or more in the program's output, found {losses}")
    return losses


def load_new_project(path):
    """The installed estimator_new_project as a module."""
    loader = importlib.machinery.SourceFileLoader("new_project", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("new_project", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class Cases:
    """Runs cases and keeps their results for test.xml."""

    def __init__(self):
        self.suite = ElementTree.Element("testsuite", name=SUITE)
        self.failures = 0

    def run(self, name, function):
        """Whether function() ends without a Failed."""
        case = ElementTree.SubElement(self.suite, "testcase", classname=SUITE, name=name)
        print(f"==== {name}", flush=True)
        try:
            function()
        except (Failed, OSError) as error:
            print(f"FAILED: {error}", flush=True)
            ElementTree.SubElement(case, "failure", message=str(error))
            self.failures += 1
            return False
        return True

    def skip(self, name, reason):
        print(f"==== {name}: skipped: {reason}", flush=True)
        ElementTree.SubElement(self.suite, "testcase", classname=SUITE, name=name, result="skipped")

    def write(self, path):
        root = ElementTree.Element("testsuites")
        root.append(self.suite)
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def write_points(path):
    """Writes a .npy file with two points: f32 [2, 2]."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack("<4f", 0.9, 0.1, 0.2, 0.8))


def check_served(prefix, folder, export):
    write_points(folder / "x.npy")
    text = run(f"{prefix}/bin/saved_model run --dir={export} --inputs='x={folder}/x.npy'", folder)
    for output in ("class", "probabilities"):
        if output not in text:
            raise Failed(f"saved_model run does not print the output {output}")


def check_project(cases, build, prefix, work, expected):
    folder = work / f"my_{build}"
    names = [f"{build}: {what}" for what in ("builds", "trains with the bits of the tree",
                                             "passes its test", "is served")]
    missing = [program for program in PROGRAMS[build] if shutil.which(program) is None]
    if missing:
        for name in names:
            cases.skip(name, f"{missing[0]} is not installed")
        return
    script = prefix / "bin/estimator_new_project"
    project = {}

    def make():
        run(f"{script} {folder} --build={build}", work)
        module = load_new_project(script)
        values = {"NAME": module.name_of(folder), **module.COMMANDS[build]}
        project.update((key, module.fill(value, values)) for key, value in values.items())
        if build == "bazel":
            # A server and files of its own, which go with the temporary folder.
            with open(folder / ".bazelrc", "a", encoding="utf-8") as file:
                file.write(f"startup --output_base={work}/bazel --max_idle_secs=60\n")
        run(project["BUILD"], folder)

    def train():
        losses = losses_of(project["RUN"], folder, work / f"{build}_run",
                           f"--export_dir={work}/{build}_export")
        if losses != expected:
            raise Failed(f"the losses {losses} are not those of the tree, {expected}")

    if not cases.run(names[0], make):
        return
    if cases.run(names[1], train):
        cases.run(names[3], lambda: check_served(prefix, folder, work / f"{build}_export"))
    cases.run(names[2], lambda: run(project["TEST"], folder))
    if build == "bazel":
        subprocess.run(["bazel", "shutdown"], cwd=folder, check=False)


def check_all(cases, work):
    prefix = work / "prefix"
    install = f"env -u DESTDIR ./bazelw run //tools/install -- --prefix={prefix}"
    expected = []

    def build_and_install():
        run("./bazelw build //tools/project_templates:points", ROOT)
        expected.extend(losses_of(ROOT / "bazel-bin/tools/project_templates/points", ROOT,
                                  work / "tree_run"))
        run(install, ROOT)

    def uninstall():
        run(f"{install} --uninstall", ROOT)
        left = [str(path) for path in prefix.rglob("*") if "__pycache__" not in str(path)]
        if left:
            raise Failed(f"--uninstall left {left[:5]}")

    if not cases.run("the library is installed", build_and_install):
        return
    for build in PROGRAMS:
        check_project(cases, build, prefix, work, expected)
    cases.run("the library is uninstalled", uninstall)


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    cases = Cases()
    work = pathlib.Path(tempfile.mkdtemp(prefix="projects_")).resolve()
    try:
        check_all(cases, work)
    finally:
        cases.write(os.path.join(sys.argv[1], "test.xml"))
        # Bazel's files are read-only.
        subprocess.run(["chmod", "-R", "u+w", work], check=False)
        shutil.rmtree(work, ignore_errors=True)
    return 1 if cases.failures else 0


if __name__ == "__main__":
    sys.exit(main())
