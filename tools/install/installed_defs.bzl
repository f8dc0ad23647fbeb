"""estimator_binary and estimator_test on an installed library, as those of the repository."""

_WARNINGS = [
    "-Wall",
    "-Werror=unused-result",
    # -Wextra would warn of options structs that leave out fields.
    "-Wno-missing-field-initializers",
]
_COPTS = ["-std=c++20", "-O1"] + _WARNINGS
_DEPS = [
    str(Label("//:installed")),
    "@sys//:absl",
    "@sys//:gflags",
    "@sys//:glog",
]

def estimator_library(name, srcs = [], hdrs = [], deps = [], **kwargs):
    """A library of a model, an op or an input: a cc_library with -std=c++20 and //tpu."""
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = ["-std=c++20", "-O2"] + _WARNINGS + kwargs.pop("copts", []),
        deps = deps + _DEPS,
        # What registers an op is linked though nothing calls it.
        alwayslink = True,
        **kwargs
    )

def estimator_binary(name, srcs = None, deps = [], **kwargs):
    """A program that trains a model: NAME.cc by default."""
    native.cc_binary(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        copts = _COPTS + kwargs.pop("copts", []),
        deps = deps + _DEPS,
        **kwargs
    )

def estimator_test(name, srcs = None, deps = [], **kwargs):
    """A GoogleTest of a model: NAME.cc by default. It has a main function."""
    native.cc_test(
        name = name,
        srcs = [name + ".cc"] if srcs == None else srcs,
        copts = _COPTS + kwargs.pop("copts", []),
        deps = ["@sys//:gtest_main"] + deps + _DEPS,
        **kwargs
    )
