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
