#!/usr/bin/env python3
"""Installs, looks at what lies there, and uninstalls.

usage: install_test.py INSTALL
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

INSTALL = os.path.abspath(sys.argv[1])


def install(*arguments, destdir=None, succeeds=True):
    environment = dict(os.environ, **({"DESTDIR": destdir} if destdir else {}))
    run = subprocess.run([INSTALL, *arguments], env=environment, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert (run.returncode == 0) == succeeds, run.stdout
    return run.stdout


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*")
                      if not path.is_dir() or path.is_symlink())

    def test_uninstall_leaves_what_it_did_not_write(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/mine").write_text("mine")
        install(f"--prefix={self.folder}")
        self.assertIn("lib/libestimator.so", self.files())
        install(f"--prefix={self.folder}", "--uninstall")
        self.assertEqual(self.files(), ["bin/mine"])
        self.assertEqual(os.listdir(self.folder), ["bin"])

    def test_destdir_is_put_before_the_prefix(self):
        install("--prefix=/usr", "--libdir=lib/x86_64-linux-gnu", destdir=str(self.folder))
        self.assertEqual(os.listdir(self.folder), ["usr"])
        library = self.folder / "usr/lib/x86_64-linux-gnu/libestimator.so"
        self.assertRegex(os.readlink(library), r"^libestimator\.so\.\d+$")
        self.assertTrue(library.resolve().is_file())
        text = (self.folder / "usr/lib/x86_64-linux-gnu/pkgconfig/estimator.pc").read_text()
        self.assertNotIn(str(self.folder), text)

    def test_a_second_installation_removes_files_of_the_first(self):
        install(f"--prefix={self.folder}")
        manifest = self.folder / "share/estimator/install_manifest.txt"
        (self.folder / "include/estimator/old.h").write_text("")
        manifest.write_text(manifest.read_text() + "include/estimator/old.h\n")
        install(f"--prefix={self.folder}")
        self.assertFalse((self.folder / "include/estimator/old.h").exists())

    def test_a_manifest_that_leaves_the_prefix_removes_nothing(self):
        (self.folder / "thesis.tex").write_text("")
        prefix = self.folder / "prefix"
        install(f"--prefix={prefix}")
        manifest = prefix / "share/estimator/install_manifest.txt"
        for name in ("../thesis.tex", str(self.folder / "thesis.tex")):
            manifest.write_text(f"bin/checkpoint\n{name}\n")
            self.assertIn("nothing was removed",
                          install(f"--prefix={prefix}", "--uninstall", succeeds=False))
        self.assertTrue((self.folder / "thesis.tex").exists())
        self.assertTrue((prefix / "bin/checkpoint").exists())

    def test_says_what_is_wrong(self):
        self.assertIn("nothing is installed",
                      install(f"--prefix={self.folder}", "--uninstall", succeeds=False))
        self.assertIn("--libdir=../lib",
                      install(f"--prefix={self.folder}", "--libdir=../lib", succeeds=False))
        (self.folder / "file").write_text("")
        self.assertIn("choose a --prefix",
                      install(f"--prefix={self.folder}/file", succeeds=False))

    @unittest.skipUnless(shutil.which("pkg-config"), "needs pkg-config")
    def test_pkg_config_finds_the_library_that_was_asked_for(self):
        install(f"--prefix={self.folder}")
        environment = dict(os.environ, PKG_CONFIG_PATH=str(self.folder / "lib/pkgconfig"))

        def folders(*arguments):
            text = subprocess.run(["pkg-config", "--libs", *arguments, "estimator"], check=True,
                                  env=environment, text=True, stdout=subprocess.PIPE).stdout
            return [os.path.relpath(os.path.normpath(flag[2:]), self.folder)
                    for flag in text.split() if flag.startswith("-L")]

        self.assertEqual(folders(), ["lib"])
        # The linker takes the first folder that has the library.
        self.assertEqual(folders("--static")[0], "lib/estimator")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
