"""What a workspace needs that uses this one.

WORKSPACE:

    local_repository(name = "estimator", path = "...")
    load("@estimator//:deps.bzl", "estimator_deps")
    estimator_deps()
"""

def _own_folder_impl(ctx):
    folder = ctx.path(Label("//:deps.bzl")).dirname
    for name in ctx.attr.folder.split("/"):
        folder = folder.get_child(name)
    for file in folder.readdir():
        ctx.symlink(file, file.basename)

_own_folder = repository_rule(
    implementation = _own_folder_impl,
    doc = "A folder of this workspace as a repository.",
    attrs = {"folder": attr.string(mandatory = True)},
    local = True,
)

# Bazel 4 asks for these by name even in a pure C++ build.
_OWN = {
    "remote_coverage_tools": "tools/build/coverage",
    "rules_cc": "tools/build/rules_cc",
}
_DEBIAN = {
    "bazel_skylib": "/usr/share/bazel/tools/skylib",
    "platforms": "/usr/share/bazel/tools/platforms",
    "rules_java": "/usr/share/bazel/rules/java",
    "rules_proto": "/usr/share/bazel/rules/proto",
}

def estimator_deps():
    """The repositories that are not there yet. Everything is a Debian package (see bazelw)."""
    for name, folder in _OWN.items():
        if not native.existing_rule(name):
            _own_folder(name = name, folder = folder)
    for name, path in _DEBIAN.items():
        if not native.existing_rule(name):
            native.local_repository(name = name, path = path)

    # The system's C++ libraries: @sys//:absl, @sys//:glog, ...
    if not native.existing_rule("sys"):
        native.new_local_repository(
            name = "sys",
            build_file = str(Label("//tools/build/third_party:sys.BUILD")),
            path = "/usr",
        )
