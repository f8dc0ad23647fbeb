"""C++ rules with the project's warnings. .bazelrc sets the C++ standard and the target machine.

A library, its header and its test have one name and one rule:

    est_library(name = "saver", deps = [...], test_deps = [...])

uses those of saver.h, saver.cc and saver_test.cc that exist; the test is :saver_test. The rules add the
libraries that every folder may use (absl, glog; tools/checks/layers.txt), and GoogleTest for tests. The visibility is
that of the folder: package(default_visibility = ...).
"""

EST_COPTS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
]

_COMMON_DEPS = [
    "@sys//:absl",
    "@sys//:glog",
]

def est_library(
        name,
        srcs = None,
        hdrs = None,
        deps = [],
        copts = [],
        test_deps = [],
        test_data = [],
        test_size = "small",
        **kwargs):
    """A library and, if NAME_test.cc exists, its test.

    Args:
      name: the name of the files without extension.
      srcs: default: NAME.cc, if it exists.
      hdrs: default: NAME.h, if it exists.
      deps: the libraries that the library includes, except absl and glog.
      copts: options in addition to the project's warnings.
      test_deps: the libraries that the test includes, but not the library.
      test_data: files that the test reads.
      test_size: size of the cc_test.
      **kwargs: further arguments of cc_library.
    """
    native.cc_library(
        name = name,
        srcs = native.glob([name + ".cc"]) if srcs == None else srcs,
        hdrs = native.glob([name + ".h"]) if hdrs == None else hdrs,
        copts = EST_COPTS + copts,
        deps = deps + _COMMON_DEPS,
        **kwargs
    )
    if native.glob([name + "_test.cc"]):
        est_test(
            name = name + "_test",
            size = test_size,
            data = test_data,
            deps = [":" + name] + [dep for dep in deps + test_deps if dep != ":" + name],
        )

def est_binary(name, srcs = None, deps = [], copts = [], **kwargs):
    """A program of NAME.cc."""
    native.cc_binary(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        copts = EST_COPTS + copts,
        deps = deps + _COMMON_DEPS,
        **kwargs
    )

def est_test(name, srcs = None, deps = [], copts = [], size = "small", **kwargs):
    """A GoogleTest program of NAME.cc, for tests that do not belong to one library."""
    native.cc_test(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        copts = EST_COPTS + copts,
        size = size,
        deps = deps + _COMMON_DEPS + ["@sys//:gtest_main"],
        **kwargs
    )

def est_fuzz_test(name, src, corpus, deps):
    """A fuzz target: a source with LLVMFuzzerTestOneInput.

    NAME_test replays the corpus, in every build. NAME is the fuzzer, which needs clang: tools/fuzz.sh finds it by its
    tag, builds it and runs it.

    Args:
      name: must end in "_fuzz".
      src: the source file.
      corpus: a filegroup of small inputs.
      deps: the libraries that the source includes.
    """
    native.cc_test(
        name = name + "_test",
        size = "small",
        srcs = [src],
        args = ["$(locations %s)" % corpus],
        copts = EST_COPTS,
        data = [corpus],
        deps = deps + _COMMON_DEPS + ["//estimator/base/testing:fuzz_replay"],
    )
    native.cc_binary(
        name = name,
        testonly = True,
        srcs = [src],
        copts = EST_COPTS,
        linkopts = ["-fsanitize=fuzzer"],
        tags = [
            "fuzz",
            "manual",
        ],
        deps = deps + _COMMON_DEPS,
    )
