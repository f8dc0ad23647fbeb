#!/usr/bin/env python3
"""Tests of tools/new_project: what it writes, and what it refuses."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "tools/new_project"
COMMON = {"README.md", ".gitignore", "main.cc", "model.cc", "model.h", "model_test.cc"}


class NewProjectTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def run_script(self, *arguments, script=SCRIPT):
        return subprocess.run([sys.executable, script, *arguments], cwd=self.folder, text=True,
                              capture_output=True)

    def make(self, name, build, script=SCRIPT):
        """The files of a new project: {name: text}. Those of reference/ are not text."""
        run = self.run_script(name, f"--build={build}", script=script)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"wrote {self.folder / name}. Next:", run.stdout)
        return {path.name: path.read_text() for path in (self.folder / name).iterdir()
                if path.is_file()}

    def refuses(self, part, *arguments):
        before = sorted(self.folder.rglob("*"))
        run = self.run_script(*arguments)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn(part, run.stderr)
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def installed(self):
        """The program and its data in an installed tree."""
        prefix = self.folder / "prefix"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib/some-arch/pkgconfig").mkdir(parents=True)
        (prefix / "lib/some-arch/pkgconfig/estimator.pc").write_text("")
        shutil.copytree(ROOT / "tools/project_templates", prefix / "share/estimator/new_project")
        shutil.copy(SCRIPT, prefix / "bin/estimator_new_project")
        return prefix

    def test_a_project_has_the_files_of_its_build_system(self):
        for build, files in (("cmake", {"CMakeLists.txt"}), ("make", {"Makefile"}),
                             ("bazel", {"WORKSPACE", "BUILD", ".bazelrc"})):
            made = self.make(f"my_{build}", build)
            self.assertEqual(set(made), COMMON | files)
            for name, text in made.items():
                self.assertIsNone(re.search("@[A-Z_]+@", text), name)
            self.assertIn(f"my_{build}", "".join(made[name] for name in files))
            self.assertLessEqual(len(made["README.md"].splitlines()), 10)

    def test_the_reference_is_copied_byte_for_byte(self):
        self.make("mine", "make")
        reference = self.folder / "mine/reference"
        for path in (ROOT / "tools/project_templates/reference").glob("*[!y]"):
            self.assertEqual((reference / path.name).read_bytes(), path.read_bytes())
        self.assertIn(str(ROOT / "testdata/reference"),
                      (reference / "record_reference.py").read_text())

    def test_a_project_of_the_clone_has_the_clone_and_the_prefix_of_the_documentation(self):
        self.assertIn(f'path = "{ROOT}"', self.make("b", "bazel")["WORKSPACE"])
        self.assertIn('"/opt/estimator"', self.make("c", "cmake")["CMakeLists.txt"])

    def test_a_project_of_an_installed_tree_has_its_paths(self):
        prefix = self.installed()
        script = prefix / "bin/estimator_new_project"
        self.assertIn(f'path = "{prefix}/share/estimator/bazel"',
                      self.make("b", "bazel", script)["WORKSPACE"])
        self.assertIn(f'"{prefix}"', self.make("c", "cmake", script)["CMakeLists.txt"])
        made = self.make("m", "make", script)
        self.assertIn(f'"{prefix}/lib/some-arch/pkgconfig:', made["Makefile"])
        self.assertIn(f"{prefix}/bin/saved_model run", made["README.md"])

    def test_an_empty_folder_is_taken(self):
        (self.folder / "mine").mkdir()
        self.make("mine", "cmake")

    def test_what_exists_is_not_overwritten(self):
        (self.folder / "mine").mkdir()
        (self.folder / "mine/main.cc").write_text("kept")
        self.refuses("is not empty (it has main.cc)", "mine", "--build=cmake")
        (self.folder / "notes").write_text("")
        self.refuses("is not a folder", "notes", "--build=cmake")
        self.assertEqual((self.folder / "mine/main.cc").read_text(), "kept")

    def test_a_name_that_no_program_can_have_is_refused(self):
        self.refuses('"3d" cannot be one: begin with a letter', "3d", "--build=make")
        self.refuses('"my model" cannot be one', "my model", "--build=make")
        self.refuses('"test" is the name of another target', "test", "--build=make")
        self.refuses('"bazel-bin" is the name', "bazel-bin", "--build=bazel")

    def test_a_wrong_command_line_says_what_is_needed(self):
        self.refuses("the following arguments are required: DIR, --build")
        self.refuses("the following arguments are required: --build", "mine")
        self.refuses("invalid choice: 'meson' (choose from ", "mine",
                     "--build=meson")
        self.refuses("unrecognized arguments: --biuld=make", "mine", "--build=make",
                     "--biuld=make")

    def test_a_folder_that_cannot_be_made_is_an_error_without_a_trace(self):
        (self.folder / "file").write_text("")
        run = self.run_script("file/mine", "--build=make")
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot write the project: ", run.stderr)
        self.assertNotIn("Traceback", run.stderr)

    def test_a_script_without_templates_says_where_it_looked(self):
        alone = self.folder / "bin/new_project"
        os.makedirs(alone.parent)
        shutil.copy(SCRIPT, alone)
        run = self.run_script("mine", "--build=make", script=alone)
        self.assertEqual(run.returncode, 2)
        self.assertIn("the templates are neither in", run.stderr)


if __name__ == "__main__":
    unittest.main()
