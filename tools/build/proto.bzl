"""C++ protocol buffers, by the system's protoc, whose version is that of its libprotobuf."""

load(":build_defs.bzl", "BASE_COPTS", "COMPILED_ONCE", "GRAPH_COPTS")

def proto_cc_library(name, srcs, deps = [], **kwargs):
    """A cc_library of the messages in srcs: #include "<package>/<file>.pb.h".

    Args:
      name: the library's name.
      srcs: .proto files of this package; imports are relative to the workspace root.
      deps: other proto_cc_library targets whose files srcs import.
      **kwargs: visibility, testonly and similar arguments.
    """
    root = Label("//:BUILD").workspace_root
    out = ["$(GENDIR)"] + ([root] if root else [])
    stems = [src[:-len(".proto")] for src in srcs]
    headers = [stem + ".pb.h" for stem in stems]
    sources = [stem + ".pb.cc" for stem in stems]
    together = name + "_files.pb.cc"

    # The compiler gets all files as one, because their headers take most of its time. protoc gives
    # two tables in every file the same names.
    join = "; ".join([
        "sed -E 's/\\b(schemas|file_default_instances)\\b/\\1_of_%s/g' $(location %s.pb.cc)" %
        (stem, stem)
        for stem in stems
    ])
    native.filegroup(
        name = name + "_protos",
        srcs = srcs + [dep + "_protos" for dep in deps],
        visibility = kwargs.get("visibility"),
    )
    native.genrule(
        name = name + "_protoc",
        srcs = srcs + [dep + "_protos" for dep in deps],
        outs = headers + sources + [together],
        cmd = "/usr/bin/protoc -I%s --cpp_out=%s " % (root or ".", "/".join(out)) +
              " ".join(["$(location %s)" % src for src in srcs]) +
              " && { %s; } >$(location %s)" % (join, together),
        message = "Generating C++ of",
    )
    native.cc_library(
        name = name,
        srcs = [together],
        hdrs = headers,
        copts = BASE_COPTS + GRAPH_COPTS + ["-w"],
        deps = deps + ["@sys//:protobuf"],
        **dict(COMPILED_ONCE, **kwargs)
    )
