#!/usr/bin/env python3
"""Installs headers, libraries, programs, and files for CMake, pkg-config and Bazel.

usage: bazelw run //tools/install -- --prefix=/opt/estimator [--libdir=lib] [--uninstall]

The environment variable DESTDIR is put before all paths that are written, for packages. --uninstall
removes what an installation with the same DESTDIR and prefix wrote, and nothing else.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys

HERE = "tools/install"
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent  # the repository
MANIFEST = "share/estimator/install_manifest.txt"
HEADER_FOLDERS = ("estimator", "models", "tools/replay", "tpu")
# What a program's compilation needs, besides our headers: the libraries whose headers ours include.
PKG_CONFIG_REQUIRES = ("absl_status absl_statusor absl_strings absl_span absl_str_format "
                       "libglog gflags")
CMAKE_LIBRARIES = ("absl::status absl::statusor absl::strings absl::span absl::str_format "
                   "glog::glog gflags")
PC_SHARED = "estimator-shared"


class Failed(Exception):
    """The message says what failed and what to do."""


def built():
    """The folder of what was built, in which files lie as in the repository."""
    program = pathlib.Path(os.path.abspath(sys.argv[0]))
    # Bazel's folder of the files that a program needs; within a test, that of the test.
    folders = sorted(pathlib.Path(f"{program}.runfiles").glob("*")) + [program.parents[2]]
    for folder in folders:
        if (folder / HERE / "libestimator.so").is_file():
            return folder
    raise Failed("the files to install are not built; "
                 "run: ./bazelw run //tools/install -- --prefix=DIR")


def is_program(path):
    if path.suffix or not path.is_file() or not os.access(path, os.X_OK):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def source_version():
    text = (SOURCE / "estimator/base/version.h").read_text(encoding="utf-8")
    return re.search(r'kVersion\[?\]? = "([\d.]+)"', text).group(1)


class Installation:
    """The files of an installation, by their paths below the prefix."""

    def __init__(self, prefix, libdir, destdir):
        self.prefix = prefix
        self.libdir = libdir
        self.root = pathlib.Path(destdir + str(prefix)) if destdir else prefix
        self.written = []

    def _prepare(self, path):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_symlink() or target.is_file():
            target.unlink()  # a file that a program has open stays whole
        self.written.append(path)
        return target

    def copy(self, source, path, executable=False):
        target = self._prepare(path)
        shutil.copyfile(source, target)
        target.chmod(0o755 if executable else 0o644)

    def write(self, path, text):
        target = self._prepare(path)
        target.write_text(text, encoding="utf-8")
        target.chmod(0o644)

    def link(self, path, to):
        """A symbolic link at `path` to the installed file or folder `to`."""
        self._prepare(path).symlink_to(os.path.relpath(to, os.path.dirname(path)))

    def old_files(self):
        """What the manifest of an earlier installation lists."""
        manifest = self.root / MANIFEST
        if not manifest.is_file():
            return []
        files = manifest.read_text(encoding="utf-8").splitlines()
        bad = [file for file in files
               if file.startswith("/") or ".." in file.split("/") or not file]
        if bad:
            raise Failed(f"{manifest} lists {bad[0]!r}, which is not below {self.prefix}; "
                         "nothing was removed")
        return files

    def remove(self, files):
        """Removes files and the folders that they leave empty."""
        folders = set()
        for file in files:
            path = self.root / file
            if path.is_symlink() or path.is_file():
                path.unlink()
            folders.update(pathlib.PurePath(file).parents)
        folders.discard(pathlib.PurePath("."))
        for folder in sorted(folders, key=lambda name: -len(name.parts)):
            path = self.root / folder
            if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
                path.rmdir()

    def finish(self, old):
        self.remove(sorted(set(old) - set(self.written)))
        self.write(MANIFEST, "".join(f"{file}\n" for file in sorted([*self.written, MANIFEST])))


def install_headers(root, to):
    for folder in HEADER_FOLDERS:
        for header in sorted((root / folder).rglob("*.h")):
            to.copy(header, f"include/estimator/{header.relative_to(root)}")


def install_libraries(root, to, version):
    major = version.split(".", maxsplit=1)[0]
    shared = f"{to.libdir}/libestimator.so"
    to.copy(root / HERE / "libestimator.so", f"{shared}.{version}")
    to.link(f"{shared}.{major}", f"{shared}.{version}")
    to.link(shared, f"{shared}.{major}")
    to.copy(root / HERE / "libestimator_main.a", f"{to.libdir}/libestimator_main.a")
    # In a folder of its own: pkg-config --static finds it before the shared library.
    to.copy(root / HERE / "libestimator.a", f"{to.libdir}/estimator/libestimator.a")


def install_pkg_config(to, version, link_options):
    folder = f"{to.libdir}/pkgconfig"
    prefix = os.path.relpath(".", folder)
    system = str(to.prefix) == "/usr"
    variables = (f"prefix=${{pcfiledir}}/{prefix}\n"
                 f"libdir=${{prefix}}/{to.libdir}\n"
                 "includedir=${prefix}/include/estimator\n\n")
    to.write(f"{folder}/estimator.pc", variables +
             "Name: estimator\n"
             "Description: Training with the API of TensorFlow's Estimator and TPUEstimator\n"
             f"Version: {version}\n"
             f"Requires: {PC_SHARED} {PKG_CONFIG_REQUIRES}\n"
             "Cflags: -std=c++20 -I${includedir}\n"
             "Libs: -lestimator_main -lestimator\n"
             "Libs.private: -L${libdir}/estimator " + " ".join(link_options) + "\n")
    # A package of its own, because its -L must follow that of the static library.
    to.write(f"{folder}/{PC_SHARED}.pc", variables +
             f"Name: {PC_SHARED}\n"
             "Description: the folder of libestimator.so, for estimator.pc\n"
             f"Version: {version}\n"
             "Libs: -L${libdir}" + ("" if system else " -Wl,-rpath,${libdir}") + "\n")


def install_cmake(to, version, link_options):
    folder = f"{to.libdir}/cmake/Estimator"
    major = version.split(".", maxsplit=1)[0]
    to.write(f"{folder}/EstimatorConfig.cmake", f"""\
# Estimator::estimator (the shared library) and Estimator::estimator_static.
include(CMakeFindDependencyMacro)
find_dependency(absl)
find_dependency(gflags)
find_dependency(glog)

if(NOT TARGET Estimator::estimator)
  get_filename_component(_estimator_prefix
    "${{CMAKE_CURRENT_LIST_DIR}}/{os.path.relpath(".", folder)}" ABSOLUTE)
  set(_estimator_libdir "${{_estimator_prefix}}/{to.libdir}")

  # What every program compiles with.
  add_library(Estimator::headers INTERFACE IMPORTED)
  set_target_properties(Estimator::headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${{_estimator_prefix}}/include/estimator"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES "{CMAKE_LIBRARIES.replace(" ", ";")}")

  add_library(Estimator::shared SHARED IMPORTED)
  set_target_properties(Estimator::shared PROPERTIES
    IMPORTED_LOCATION "${{_estimator_libdir}}/libestimator.so.{version}"
    IMPORTED_SONAME libestimator.so.{major}
    INTERFACE_LINK_LIBRARIES Estimator::headers)

  add_library(Estimator::static STATIC IMPORTED)
  set_target_properties(Estimator::static PROPERTIES
    IMPORTED_LOCATION "${{_estimator_libdir}}/estimator/libestimator.a"
    INTERFACE_LINK_LIBRARIES "Estimator::headers;{";".join(link_options)}")

  # The main function and the flags of a run: objects that a program gets if it uses them.
  add_library(Estimator::main STATIC IMPORTED)
  set_target_properties(Estimator::main PROPERTIES
    IMPORTED_LOCATION "${{_estimator_libdir}}/libestimator_main.a")

  add_library(Estimator::estimator INTERFACE IMPORTED)
  set_target_properties(Estimator::estimator PROPERTIES
    INTERFACE_LINK_LIBRARIES "Estimator::main;Estimator::shared")
  add_library(Estimator::estimator_static INTERFACE IMPORTED)
  set_target_properties(Estimator::estimator_static PROPERTIES
    INTERFACE_LINK_LIBRARIES "Estimator::main;Estimator::static")
endif()
""")
    to.write(f"{folder}/EstimatorConfigVersion.cmake", f"""\
set(PACKAGE_VERSION {version})
if(PACKAGE_FIND_VERSION_MAJOR EQUAL {major} AND NOT PACKAGE_FIND_VERSION VERSION_GREATER {version})
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
elseif(NOT PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL {version})
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
""")


def install_bazel(to, targets, link_options):
    """A workspace that has the labels of this repository, on the installed files."""
    folder = "share/estimator/bazel"
    to.link(f"{folder}/include", "include/estimator")
    to.link(f"{folder}/lib", to.libdir)
    for repository in ("coverage", "rules_cc", "third_party"):
        for source in sorted((SOURCE / "tools/build" / repository).rglob("*")):
            if source.is_file():
                to.copy(source, f"{folder}/{source.relative_to(SOURCE)}",
                        os.access(source, os.X_OK))
    to.write(f"{folder}/tools/build/BUILD", "")
    to.copy(SOURCE / "deps.bzl", f"{folder}/deps.bzl")
    to.copy(SOURCE / HERE / "installed_defs.bzl", f"{folder}/tools/build/build_defs.bzl")
    to.write(f"{folder}/WORKSPACE", 'workspace(name = "estimator")\n')
    to.write(f"{folder}/BUILD", f"""\
# The installed library, under the labels of the repository that it was made from.
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "installed",
    srcs = ["lib/libestimator_main.a", "lib/estimator/libestimator.a"],
    hdrs = glob(["include/**/*.h"]),
    includes = ["include"],
    linkopts = {link_options!r},
    linkstatic = True,
    deps = ["@sys//:absl", "@sys//:gflags", "@sys//:glog"],
)
""")
    packages = {}
    for target in targets:
        package, name = target.lstrip("/").split(":")
        packages.setdefault(package, []).append(name)
    for package, names in sorted(packages.items()):
        to.write(f"{folder}/{package}/BUILD",
                 'package(default_visibility = ["//visibility:public"])\n' + "".join(
                     f'alias(name = "{name}", actual = "//:installed")\n'
                     for name in sorted(names)))


def install_programs(root, to):
    for path in sorted(root.glob("models/*/*")) + sorted(root.glob("tools/*/*")):
        if is_program(path):
            to.copy(path, f"bin/{path.name}", executable=True)
    templates = SOURCE / "tools/project_templates"
    to.copy(SOURCE / "tools/new_project", "bin/estimator_new_project", executable=True)
    for path in sorted(templates.rglob("*")):
        if path.is_file() and path.name not in ("BUILD", "model_test.sh"):  # those of this tree
            to.copy(path, f"share/estimator/new_project/{path.relative_to(templates)}",
                    os.access(path, os.X_OK))
    to.copy(SOURCE / "testdata/reference/reference_lib.py",
            "share/estimator/reference/reference_lib.py")


def install_documents(to):
    for name in ("CHANGELOG.md", "LICENSE", "README.md"):
        to.copy(SOURCE / name, f"share/doc/estimator/{name}")
    for page in sorted((SOURCE / "docs").rglob("*.md")):
        to.copy(page, f"share/doc/estimator/{page.relative_to(SOURCE)}")


def install(to):
    root = built()
    version = source_version()
    lines = (root / HERE / "link_options.txt").read_text(encoding="utf-8").splitlines()
    targets = (root / HERE / "targets.txt").read_text(encoding="utf-8").splitlines()
    old = to.old_files()
    install_headers(root, to)
    install_libraries(root, to, version)
    install_pkg_config(to, version, lines)
    install_cmake(to, version, lines)
    install_bazel(to, targets, lines)
    install_programs(root, to)
    install_documents(to)
    to.finish(old)
    print(f"installed version {version} in {to.root}: {len(to.written)} files")


def uninstall(to):
    files = to.old_files()
    if not files:
        raise Failed(f"{to.root / MANIFEST} does not exist: nothing is installed with this prefix")
    to.remove(files)
    print(f"removed {len(files)} files from {to.root}")


def main():
    parser = argparse.ArgumentParser(prog="install", allow_abbrev=False,
                                     description="Installs the library and its programs.")
    parser.add_argument("--prefix", default="/usr/local",
                        help="the folder to install into (default: %(default)s)")
    parser.add_argument("--libdir", default="lib", help="below the prefix (default: %(default)s)")
    parser.add_argument("--uninstall", action="store_true", help="removes what was installed")
    arguments = parser.parse_args()
    prefix = pathlib.Path(os.path.normpath(os.path.expanduser(arguments.prefix)))
    if not prefix.is_absolute():
        # `bazel run` starts in a folder of its own.
        prefix = pathlib.Path(os.path.normpath(
            os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", os.getcwd()), prefix)))
    libdir = os.path.normpath(arguments.libdir)
    if os.path.isabs(libdir) or libdir.split("/")[0] in ("..", "."):
        parser.error(f"--libdir={arguments.libdir} must be a folder below the prefix, such as lib")
    to = Installation(prefix, libdir, os.environ.get("DESTDIR", ""))
    try:
        if arguments.uninstall:
            uninstall(to)
        else:
            install(to)
    except Failed as error:
        sys.exit(f"install: {error}")
    except OSError as error:
        sys.exit(f"install: {error.filename}: {error.strerror}; "
                 "choose a --prefix that you may write")


if __name__ == "__main__":
    main()
