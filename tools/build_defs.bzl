"""C++ rules with the project's warnings. The standard and the target machine stand in .bazelrc."""

EST_COPTS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Werror",
]

def est_library(copts = [], **kwargs):
    native.cc_library(copts = EST_COPTS + copts, **kwargs)

def est_binary(copts = [], **kwargs):
    native.cc_binary(copts = EST_COPTS + copts, **kwargs)

def est_test(copts = [], deps = [], size = "small", **kwargs):
    native.cc_test(
        copts = EST_COPTS + copts,
        size = size,
        deps = deps + ["@sys//:gtest_main"],
        **kwargs
    )

def est_fuzz_test(name, src, corpus, deps):
    """A fuzz target: a source with LLVMFuzzerTestOneInput.

    NAME_test replays the corpus, in every build. NAME is the fuzzer itself, which needs clang:
    tools/fuzz.sh finds it by its tag, builds and runs it.

    Args:
      name: ends in "_fuzz".
      src: the source.
      corpus: a filegroup of small inputs.
      deps: of the source.
    """
    native.cc_test(
        name = name + "_test",
        size = "small",
        srcs = [src],
        args = ["$(locations %s)" % corpus],
        copts = EST_COPTS,
        data = [corpus],
        deps = deps + ["//estimator/base:fuzz_replay"],
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
        deps = deps,
    )
