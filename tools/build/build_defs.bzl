"""C++ rules with the project's options and warnings.

A library is a folder: est_library(name = "checkpoint") has all sources and headers of the folder
and of its rooms. est_test makes one program of the tests of a room. The compiler gets several
sources at once (jumbo.bzl). The rules add the libraries that every folder may use (absl, glog;
tools/checks/layers.txt), and for tests GoogleTest and the matchers of absl::Status
(estimator/base/testing/status_matchers.h).
"""

load(":jumbo.bzl", "jumbo")

# Labels of this repository, also in a BUILD file of another workspace that calls the macros.
_FASTBUILD = str(Label("//tools/build:fastbuild"))
_MAIN = str(Label("//estimator/base:main"))
_NO_PRECOMPILE = str(Label("//tools/build:no_precompile"))
_PRECOMPILED_ESTIMATOR = Label("//tpu:precompiled")
_TPU = str(Label("//tpu"))

# Every compilation has these, whatever the .bazelrc of the workspace says.
BASE_COPTS = [
    "-std=c++20",
    # AVX2. Our own loops choose AVX-512 at run time.
    "-march=x86-64-v3",
    # The process has one thread pool: OpenMP, which oneDNN uses.
    "-fopenmp",
    # One object for the static library, the shared one, and programs. Nothing replaces a function
    # of the shared library, and it is loaded with the program, so calls and thread-local variables
    # cost what they cost in a program.
    "-fPIC",
    "-fno-semantic-interposition",
    "-ftls-model=initial-exec",
] + select({
    # A mode without options of its own: for workspaces that do not say `-c opt`.
    _FASTBUILD: ["-O2", "-DNDEBUG"],
    "//conditions:default": [],
})

# Objects are position-independent by BASE_COPTS, and each is compiled once.
COMPILED_ONCE = {
    "features": ["-supports_pic", "-supports_dynamic_linker"],
    "linkstatic": True,
}

EST_COPTS = BASE_COPTS + [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
    # Says so if the compiler ignores the precompiled header, because of other flags for example. No
    # error: after an update of the compiler, those in the cache do not fit.
    "-Winvalid-pch",
    "-Wno-error=invalid-pch",
    # With several sources in one (jumbo.bzl), the compiler takes a type of a source for one of a
    # header.
    "-Wno-subobject-linkage",
]

# For libraries that build graphs, rewrite them, or work before and after the steps: -Og compiles in
# two thirds of the time of -O2. What runs in a step or for a row of the input has -O2.
GRAPH_COPTS = ["-Og"]

_COMMON_DEPS = [
    "@sys//:absl",
    "@sys//:glog",
    "@sys//:openmp",
]

# What nearly every file includes: //tools/build:common. Parsing these took more than half of the
# time of a compilation. Files include what they need all the same: --define=precompile=off builds
# without.
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
      header: the Label of a precompiled_header.
    """
    folders = [header.workspace_root, header.package, header.name + ".h"]
    file = "/".join(["$(GENDIR)"] + [folder for folder in folders if folder])
    return struct(
        copts = select({
            _NO_PRECOMPILE: [],
            "//conditions:default": ["-include", file],
        }),
        deps = select({
            _NO_PRECOMPILE: [],
            "//conditions:default": [str(header)],
        }),
    )

def _begin_with_common(copts):
    """The copts and deps of sources with `copts` in addition to EST_COPTS.

    gcc takes the optimizations of a precompiled header, whatever the flags of the source say: a
    part with -ffp-contract=off was contracted. So there is a header for each set of options that
    many libraries have, and none for others.
    """
    if not copts:
        return _begin_with(Label("//tools/build:common"))
    if copts == GRAPH_COPTS:
        return _begin_with(Label("//tools/build:common_graph"))
    return struct(copts = [], deps = [])

def _without_tests(files):
    """Without what is not compiled into a library: tests, benchmarks, fuzz targets."""
    ends = ("_test.cc", "_benchmark.cc", "_fuzz.cc")
    return [file for file in files if not [end for end in ends if file.endswith(end)]]

def est_library(
        name,
        srcs = None,
        hdrs = None,
        exclude = [],
        deps = [],
        link = [],
        singly = [],
        options = {},
        copts = [],
        **kwargs):
    """A library of a folder and the folders in it that have no BUILD file.

    `deps` come from the #includes: tools/build/update_deps.py writes them.

    Args:
      name: the library.
      srcs: default: all .cc files but tests (_test), benchmarks (_benchmark) and fuzz targets
        (_fuzz).
      hdrs: default: all .h files.
      exclude: files that the defaults leave out, for example programs.
      deps: the libraries whose headers are included, except absl and glog.
      link: libraries that are linked though nothing includes their headers.
      singly: the sources that are compiled alone (jumbo.bzl).
      options: compiler options, in one string, of the sources that need others than the rest:
        {"-fno-math-errno": ["fused/bias.cc"]}.
      copts: compiler options in addition to the project's warnings.
      **kwargs: further arguments of cc_library.
    """
    common = _begin_with_common(copts)
    if srcs == None:
        srcs = _without_tests(native.glob(["**/*.cc"], exclude = exclude))
    if hdrs == None:
        hdrs = native.glob(["**/*.h"], exclude = exclude)
    deps = deps + link + _COMMON_DEPS + common.deps
    testonly = kwargs.get("testonly", False)
    rest = [source for source in srcs if not [0 for files in options.values() if source in files]]

    # Parts with other options include headers of the library, and the library uses what they
    # define.
    if options:
        native.cc_library(
            name = name + "_headers",
            hdrs = hdrs,
            deps = deps,
            testonly = testonly,
            **COMPILED_ONCE
        )
        deps = [":" + name + "_headers"] + deps
        hdrs = []
    parts = []
    for i, (flags, files) in enumerate(options.items()):
        part = "%s_options_%d" % (name, i + 1)
        begin = _begin_with_common(copts + flags.split(" "))
        native.cc_library(
            name = part,
            srcs = jumbo(part + "_", [file for file in files if file in srcs], singly),
            copts = begin.copts + EST_COPTS + copts + flags.split(" "),
            deps = deps + begin.deps,
            alwayslink = True,
            testonly = testonly,
            **COMPILED_ONCE
        )
        parts.append(":" + part)

    # The parts and the rest use each other, in any order.
    alwayslink = kwargs.pop("alwayslink", False) or len(options) > 0
    native.cc_library(
        name = name,
        alwayslink = alwayslink,
        srcs = jumbo(name + "_", rest, singly),
        hdrs = hdrs,
        copts = common.copts + EST_COPTS + copts,
        deps = deps + parts,
        **dict(COMPILED_ONCE, **kwargs)
    )

def est_binary(name, srcs = None, deps = [], link = [], copts = [], **kwargs):
    """A program of NAME.cc. `deps` and `link` are those of est_library."""
    common = _begin_with_common(copts)
    native.cc_binary(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        copts = common.copts + EST_COPTS + copts,
        deps = deps + link + _COMMON_DEPS + common.deps,
        **dict(COMPILED_ONCE, **kwargs)
    )

# For tests. What they test has the options of its library.
# With sanitizers a test compiles in half of the time without optimization, and without the
# undefined-behaviour sanitizer: that one checks what they test. The thread sanitizer must see the
# synchronization in a test, too.
TEST_COPTS = select({
    "//tools/build:asan": ["-O0", "-fno-sanitize=undefined,float-cast-overflow"],
    "//tools/build:tsan": ["-O0"],
    "//conditions:default": GRAPH_COPTS,
})

# For programs that train a model. -O1: such a program builds a graph, the compiled step does the
# work, and a compilation takes a quarter less than with -O2. -Wextra would warn of designated
# initializers that leave out fields, which is how options structs are used.
PROGRAM_COPTS = ["-O1", "-Wno-missing-field-initializers"]

def estimator_binary(
        name,
        srcs = None,
        deps = [],
        copts = ["-Wall", "-Werror=unused-result"],
        **kwargs):
    """A program that trains a model: NAME.cc by default, with //tpu and //estimator/base:main.

    It begins with a precompiled tpu/tpu_estimator.h, so that an edit costs half of the time. If a
    function of the input pipeline computes much, put it into a cc_library, which is compiled with
    -O2.

    Args:
      name: the program, and the name of its file without extension.
      srcs: default: NAME.cc.
      deps: libraries in addition to //tpu, //estimator/base:main, absl, glog and gflags.
      copts: compiler options in addition to those of the precompiled header.
      **kwargs: further arguments of cc_binary.
    """
    estimator = _begin_with(_PRECOMPILED_ESTIMATOR)
    native.cc_binary(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        copts = estimator.copts + BASE_COPTS + PROGRAM_COPTS + copts,
        deps = deps + _COMMON_DEPS + estimator.deps + [_MAIN, _TPU, "@sys//:gflags"],
        **dict(COMPILED_ONCE, **kwargs)
    )

def estimator_library(
        name,
        copts = ["-Wall", "-Werror=unused-result"],
        deps = [],
        **kwargs):
    """A library of a model, an op or an input: a cc_library with //tpu. Compiled with -O2.

    Args:
      name: the library.
      copts: compiler options, as those of estimator_binary.
      deps: libraries in addition to //tpu, absl, glog and gflags.
      **kwargs: further arguments of cc_library.
    """
    native.cc_library(
        name = name,
        copts = BASE_COPTS + copts,
        deps = deps + _COMMON_DEPS + [_TPU, "@sys//:gflags"],
        # What registers an op is linked though nothing calls it.
        alwayslink = True,
        **dict(COMPILED_ONCE, **kwargs)
    )

def estimator_test(
        name,
        srcs = None,
        deps = [],
        copts = ["-Wall", "-Werror=unused-result"],
        **kwargs):
    """A GoogleTest of a model: NAME.cc by default, with //tpu. It has a main function.

    Args:
      name: the test, and the name of its file without extension.
      srcs: default: NAME.cc.
      deps: libraries in addition to //tpu, absl, glog, gflags and GoogleTest.
      copts: compiler options, as those of estimator_binary.
      **kwargs: further arguments of cc_test.
    """
    estimator = _begin_with(_PRECOMPILED_ESTIMATOR)
    native.cc_test(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        copts = estimator.copts + BASE_COPTS + PROGRAM_COPTS + copts,
        deps = ["@sys//:gtest_main"] + deps + _COMMON_DEPS + estimator.deps + [
            _TPU,
            "@sys//:gflags",
        ],
        **dict(COMPILED_ONCE, **kwargs)
    )

def est_test(
        name,
        srcs = None,
        deps = [],
        link = [],
        singly = [],
        copts = [],
        size = "medium",
        **kwargs):
    """A GoogleTest program of the tests of a folder, or of those that must share a process.

    Args:
      name: the program.
      srcs: default: NAME.cc.
      deps: the libraries whose headers are included: tools/build/update_deps.py writes them.
      link: libraries that are linked though nothing includes their headers, such as kernels.
      singly: the sources that are compiled alone (jumbo.bzl).
      copts: compiler options in addition to those of tests.
      size: of the cc_test.
      **kwargs: further arguments of cc_test.
    """
    common = _begin_with(Label("//tools/build:common_test"))
    srcs = [name + ".cc"] if srcs == None else srcs
    native.cc_test(
        name = name,
        srcs = jumbo(name + "_", srcs, singly, own_names = True),
        copts = common.copts + TEST_COPTS + EST_COPTS + copts,
        size = size,
        deps = deps + link + _COMMON_DEPS + common.deps + ["//estimator/base/testing:gtest"],
        **dict(COMPILED_ONCE, **kwargs)
    )

def est_fuzz_test(name, src, corpus, deps):
    """A fuzz target: a source with LLVMFuzzerTestOneInput.

    NAME_test replays the corpus, in every build. NAME is the fuzzer, which needs clang:
    tools/fuzz.sh finds it by its tag, builds it and runs it.

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
        **COMPILED_ONCE
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
        **COMPILED_ONCE
    )
