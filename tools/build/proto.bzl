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
    native.filegroup(
        name = name + "_protos",
        srcs = srcs + [dep + "_protos" for dep in deps],
        visibility = kwargs.get("visibility"),
    )
    native.genrule(
        name = name + "_protoc",
        srcs = srcs + [dep + "_protos" for dep in deps],
        outs = headers + sources,
        cmd = "/usr/bin/protoc -I%s --cpp_out=%s " % (root or ".", "/".join(out)) +
              " ".join(["$(location %s)" % src for src in srcs]),
        message = "Generating C++ of",
    )
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        copts = BASE_COPTS + GRAPH_COPTS + ["-w"],
        deps = deps + ["@sys//:protobuf"],
        **dict(COMPILED_ONCE, **kwargs)
    )
