"""The static and the shared library of everything that a program may use."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _archives(target):
    """Label to archives of our own libraries that the target links, in the order of linking."""
    archives = {}
    for input in target[CcInfo].linking_context.linker_inputs.to_list():
        files = [
            library.static_library or library.pic_static_library
            for library in input.libraries
        ]
        archives.setdefault(input.owner, []).extend([file for file in files if file])
    return archives

def _flags(target):
    """The libraries of the system: each option once, in the order of linking."""
    flags = {}
    for input in target[CcInfo].linking_context.linker_inputs.to_list():
        for flag in input.user_link_flags:
            flags[flag] = True
    return flags.keys()

def _relocatable(ctx, compiler, name, archives):
    """One object of all objects of the archives, so that none is left out: they register."""
    out = ctx.actions.declare_file(name)
    ctx.actions.run(
        executable = compiler,
        arguments = ["-r", "-nostdlib", "-o", out.path, "-Wl,--whole-archive"] +
                    [file.path for file in archives] + ["-Wl,--no-whole-archive"],
        inputs = archives,
        outputs = [out],
        mnemonic = "CppRelocatable",
        use_default_shell_env = True,  # gcc finds the linker by PATH
        progress_message = "Linking " + out.short_path,
    )
    return out

def _archive(ctx, tool, name, objects):
    out = ctx.actions.declare_file(name)
    ctx.actions.run(
        executable = tool,
        arguments = ["rcsD", out.path] + [file.path for file in objects],
        inputs = objects,
        outputs = [out],
        mnemonic = "CppArchive",
        use_default_shell_env = True,
    )
    return out

def _estimator_libraries_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    compiler = toolchain.compiler_executable

    on_demand = {}
    for target in ctx.attr.on_demand:
        on_demand[target.label] = True
    archives = {}
    flags = {}
    for target in ctx.attr.deps + ctx.attr.on_demand:
        archives.update(_archives(target))
        for flag in _flags(target):
            flags[flag] = True

    # --as-needed first: it counts for the libraries after it.
    flags = [flag for flag in flags if flag.startswith("-Wl,")] + \
            [flag for flag in flags if not flag.startswith("-Wl,")]

    always = []
    objects = []
    for label, files in archives.items():
        if label in on_demand:
            name = "%s_%s.o" % (label.package.replace("/", "_"), label.name)
            objects.append(_relocatable(ctx, compiler, name, files))
        else:
            always += files
    whole = _relocatable(ctx, compiler, "estimator.o", always)
    static = _archive(ctx, toolchain.ar_executable, "libestimator.a", [whole])
    main = _archive(ctx, toolchain.ar_executable, "libestimator_main.a", objects)

    exports = ctx.actions.declare_file("estimator.map")
    ctx.actions.run(
        executable = ctx.executable._exports,
        arguments = [exports.path, toolchain.nm_executable, whole.path, main.path] +
                    [header.path for header in ctx.files.headers],
        inputs = [whole, main] + ctx.files.headers,
        outputs = [exports],
        mnemonic = "CppExports",
        use_default_shell_env = True,
    )
    shared = ctx.actions.declare_file("libestimator.so")
    ctx.actions.run_shell(
        # The major version is the first number in quotes.
        command = "major=$(sed -nE 's/.*\"([0-9]+)\\..*/\\1/p' %s) && \"$@\" %s$major" %
                  (ctx.file.version.path, "-Wl,-soname,libestimator.so."),
        arguments = [
            compiler,
            "-shared",
            "-o",
            shared.path,
            "-Wl,--version-script=" + exports.path,
            # Calls inside the library go straight to the function, as in a program.
            "-Wl,-Bsymbolic-functions",
            "-Wl,--gc-sections",
            "-Wl,-O1",
            "-Wl,-z,defs",
            whole.path,
        ] + flags + ["-lstdc++", "-lm"],
        inputs = [whole, exports, ctx.file.version],
        outputs = [shared],
        mnemonic = "CppSharedLibrary",
        use_default_shell_env = True,
        progress_message = "Linking " + shared.short_path,
    )
    targets = ctx.actions.declare_file("targets.txt")
    ctx.actions.write(targets, "".join([
        "//%s:%s\n" % (target.label.package, target.label.name)
        for target in ctx.attr.deps + ctx.attr.on_demand
    ]))
    options = ctx.actions.declare_file("link_options.txt")
    ctx.actions.write(options, "".join([flag + "\n" for flag in flags]))
    return [DefaultInfo(
        files = depset([static, main, shared, options, targets]),
        runfiles = ctx.runfiles([static, main, shared, options, targets]),
    )]

def _public_headers_impl(ctx):
    found = {}
    for target in ctx.attr.deps:
        for file in target[CcInfo].compilation_context.headers.to_list():
            found[file.short_path] = file
    missing = [name for name in ctx.attr.names if name not in found]
    if missing:
        fail("public headers that no dep has: " + ", ".join(missing))
    headers = [found[name] for name in ctx.attr.names]
    return [DefaultInfo(files = depset(headers), runfiles = ctx.runfiles(headers))]

public_headers = rule(
    implementation = _public_headers_impl,
    doc = "The headers with these names, which libraries in deps have.",
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "names": attr.string_list(),
    },
)

estimator_libraries = rule(
    implementation = _estimator_libraries_impl,
    doc = "libestimator.a (one object), libestimator.so, libestimator_main.a (an object for " +
          "each of on_demand), link_options.txt (the libraries of the system, for a static link) " +
          "and targets.txt (deps and on_demand).",
    attrs = {
        "deps": attr.label_list(
            providers = [CcInfo],
            doc = "what both libraries have, with all that these depend on",
        ),
        "headers": attr.label_list(
            allow_files = [".h"],
            doc = "the public headers: the shared library exports what they mention",
        ),
        "on_demand": attr.label_list(
            providers = [CcInfo],
            doc = "what a program gets only if it uses it, because it defines flags",
        ),
        "version": attr.label(
            allow_single_file = True,
            doc = "a header with one string, \"MAJOR.MINOR.PATCH\"",
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_exports": attr.label(
            default = "//tools/install:exports",
            executable = True,
            cfg = "host",
        ),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
