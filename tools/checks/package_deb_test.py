#!/usr/bin/env python3
"""Tests of tools/package_deb, with a small tree in place of the installed one."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = str(ROOT / "tools/package_deb")
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("package_deb", SCRIPT)
package_deb = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("package_deb", LOADER))
LOADER.exec_module(package_deb)

# In place of bazelw: installs a program, a library and its pkg-config file.
INSTALLER = """#!/bin/bash
[[ $* == "run //tools/install -- --prefix=/usr --libdir=lib/"* ]] || exit 3
to=$DESTDIR/usr
lib=$to/${5#--libdir=}
mkdir -p $to/bin $to/share/estimator $lib/pkgconfig
cp /bin/bash $to/bin/program
cp $(g++ -print-file-name=libglog.so) $lib/libestimator.so.1.0.0
ln -s libestimator.so.1.0.0 $lib/libestimator.so.1
touch $to/share/estimator/install_manifest.txt
cat >$lib/pkgconfig/estimator.pc <<EOF
Name: estimator
Description: a library
Version: 1.0.0
Libs: -lestimator_main -lestimator
Libs.private: -L/nowhere -lsnappy -lglog
EOF
mkdir -p $to/include/estimator/tools
printf '#include <%s>\\n' vector glog/logging.h >$to/include/estimator/tools/a.h
echo '#include "gmock/gmock.h"' >$to/include/estimator/tools/b.h
"""


class PackageDebTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def repository(self, installer=INSTALLER):
        root = self.folder / "repository"
        (root / "estimator/base").mkdir(parents=True)
        shutil.copy(ROOT / "LICENSE", root)
        (root / "estimator/base/version.h").write_text(
            '// In its place: "9.9.9".\ninline constexpr char kVersion[] = "1.2.3";\n')
        (root / "bazelw").write_text(installer)
        (root / "bazelw").chmod(0o755)
        return root

    def make(self, root):
        stage = self.folder / "stage"
        stage.mkdir()
        return package_deb.make_package(self.folder / "out/new", stage, root)

    def test_a_package_depends_on_what_its_files_load_and_on_what_headers_include(self):
        path = self.make(self.repository())

        def field(name):
            return subprocess.run(["dpkg-deb", "--field", path, name], check=True, text=True,
                                  capture_output=True).stdout.strip()

        self.assertEqual(field("Package"), "estimator")
        self.assertRegex(field("Version"), r"^1\.2\.3\+[a-z]{3}\d*")
        depends = field("Depends").split(", ")
        names = [entry.split(" ")[0] for entry in depends]
        for name in ("libc6", "libstdc++6", "libgoogle-glog-dev", "libgmock-dev", "g++",
                     "pkgconf", "python3", "fonts-dejavu-core"):
            self.assertIn(name, names)
        self.assertRegex(depends[names.index("libc6")], r"^libc6 \(>= \d+\.\d+\)$")
        self.assertEqual(field("Recommends"), "libsnappy-dev")
        self.assertIn("/out/new/estimator_1.2.3+", path)

    def test_the_files_are_those_of_the_installation_with_a_licence(self):
        path = self.make(self.repository())
        files = subprocess.run(["dpkg-deb", "--contents", path], check=True, text=True,
                               capture_output=True).stdout
        self.assertIn("root/root", files)
        for name in ("./usr/bin/program", "./usr/share/doc/estimator/copyright",
                     "libestimator.so.1 -> libestimator.so.1.0.0"):
            self.assertIn(name, files)
        self.assertNotIn("install_manifest", files)
        subprocess.run(["dpkg-deb", "--control", path, self.folder / "control"], check=True)
        self.assertEqual((self.folder / "control/shlibs").read_text(),
                         "libestimator 1 estimator (>= 1.2.3)\n")
        self.assertIn("usr/bin/program\n", (self.folder / "control/md5sums").read_text())

    def test_a_library_without_a_package_is_an_error(self):
        root = self.repository(INSTALLER.replace("-lsnappy", "-lno_such_library"))
        with self.assertRaisesRegex(package_deb.Error, "no installed package has no_such_library"):
            self.make(root)

    def test_a_failed_installation_is_an_error(self):
        with self.assertRaisesRegex(package_deb.Error, "//tools/install failed"):
            self.make(self.repository("#!/bin/bash\nexit 1\n"))

    def test_upstream_versions_have_no_revision(self):
        self.assertEqual(package_deb.upstream_version("1:2.1.5-2+deb12u1"), "1:2.1.5")
        self.assertEqual(package_deb.upstream_version("2.36"), "2.36")

    def test_a_wrong_command_line_is_refused(self):
        (self.folder / "file").write_text("")
        for arguments, code, message in (([], 2, "required: OUT_DIR"),
                                         ([self.folder / "file"], 1, "is not a folder")):
            run = subprocess.run([sys.executable, SCRIPT, *arguments], text=True,
                                 capture_output=True)
            self.assertEqual(run.returncode, code)
            self.assertIn(message, run.stderr)


if __name__ == "__main__":
    unittest.main()
