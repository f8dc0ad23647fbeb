"""C++ rules with the project's warnings. .bazelrc sets the C++ standard and the target machine.

A library, its header and its test have one name and one rule:

    est_library(name = "saver", deps = [...], test_deps = [...])

uses those of saver.h, saver.cc and saver_test.cc that exist; the test is :saver_test. The rules add the
libraries that every folder may use (absl, glog; tools/checks/layers.txt), and for tests GoogleTest and the
matchers of absl::Status (estimator/base/testing/status_matchers.h). The visibility is that of the folder:
package(default_visibility = ...).
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

# What nearly every file includes: //tools/build:common. Parsing these took more than half of the time of a
# compilation. Files include what they need all the same: --define=precompile=off builds without.
COMMON_HEADERS = [
    "algorithm",
    "cmath",
    "cstdint",
    "cstring",
    "functional",
    "map",
    "memory",
    "optional",
    "set",
    "string",
    "utility",
    "variant",
    "vector",
    "absl/status/status.h",
    "absl/status/statusor.h",
    "absl/strings/str_cat.h",
    "absl/strings/str_join.h",
    "absl/strings/string_view.h",
    "absl/types/span.h",
    "glog/logging.h",
]

# What tests include besides: //tools/build:common_test.
TEST_HEADERS = [
    "gmock/gmock.h",
    "gtest/gtest.h",
]

def _begin_with(header):
    """The copts and deps of a target whose sources begin with a precompiled header.

    Args:
      header: the label of a precompiled_header.
    """
    file = header[2:].replace(":", "/") + ".h"
    return struct(
        copts = select({
            "//tools/build:no_precompile": [],
            "//conditions:default": ["-include", "$(GENDIR)/" + file],
        }),
        deps = select({
            "//tools/build:no_precompile": [],
            "//conditions:default": [header],
        }),
    )

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
    common = _begin_with("//tools/build:common")
    native.cc_library(
        name = name,
        srcs = native.glob([name + ".cc"]) if srcs == None else srcs,
        hdrs = native.glob([name + ".h"]) if hdrs == None else hdrs,
        copts = common.copts + EST_COPTS + copts,
        deps = deps + _COMMON_DEPS + common.deps,
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
    common = _begin_with("//tools/build:common")
    native.cc_binary(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        copts = common.copts + EST_COPTS + copts,
        deps = deps + _COMMON_DEPS + common.deps,
        **kwargs
    )

# For tests: -O1 compiles in two thirds of the time of -O2. What they test is compiled with -O2. With sanitizers a test
# compiles in half of the time without optimization, and without the undefined-behaviour sanitizer: that one checks what
# they test. The thread sanitizer must see the synchronization in a test, too.
TEST_COPTS = select({
    "//tools/build:asan": ["-O0", "-fno-sanitize=undefined,float-cast-overflow"],
    "//tools/build:tsan": ["-O0"],
    "//conditions:default": ["-O1"],
})

# For programs that train a model. -O1: such a program builds a graph, the compiled step does the work, and a
# compilation takes a quarter less than with -O2.
PROGRAM_COPTS = ["-O1"]

def estimator_binary(name, srcs = None, deps = [], copts = ["-Wall", "-Werror=unused-result"], **kwargs):
    """A program that trains a model: NAME.cc by default, with //tpu and //estimator/base:main.

    It begins with a precompiled tpu/tpu_estimator.h, so that an edit costs half of the time. If a function of
    the input pipeline computes much, put it into a cc_library, which is compiled with -O2.

    Args:
      name: the program, and the name of its file without extension.
      srcs: default: NAME.cc.
      deps: libraries in addition to //tpu, //estimator/base:main, absl, glog and gflags.
      copts: compiler options in addition to those of the precompiled header.
      **kwargs: further arguments of cc_binary.
    """
    estimator = _begin_with("//tpu:precompiled")
    native.cc_binary(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        copts = estimator.copts + PROGRAM_COPTS + copts,
        deps = deps + _COMMON_DEPS + estimator.deps + [
            "//estimator/base:main",
            "//tpu",
            "@sys//:gflags",
        ],
        **kwargs
    )

def est_test(name, srcs = None, deps = [], copts = [], size = "small", **kwargs):
    """A GoogleTest program of NAME.cc, for tests that do not belong to one library."""
    common = _begin_with("//tools/build:common_test")
    native.cc_test(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        copts = common.copts + TEST_COPTS + EST_COPTS + copts,
        size = size,
        deps = deps + _COMMON_DEPS + common.deps + ["//estimator/base/testing:gtest"],
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
