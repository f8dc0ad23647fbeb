"""A test that a source does not compile, and that the compiler says why in a line per mistake."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _compile_errors_test_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    context = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    ).compilation_context
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts +
                             ctx.attr.copts + ["-fsyntax-only"],
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        source_file = ctx.file.src.path,
    )
    flags = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = ACTION_NAMES.cpp_compile,
        variables = variables,
    )
    compiler = cc_common.get_tool_for_action(
        feature_configuration = features,
        action_name = ACTION_NAMES.cpp_compile,
    )
    log = ctx.actions.declare_file(ctx.label.name + ".log")
    ctx.actions.run_shell(
        command = 'log=$1; shift; LC_ALL=C "$@" > "$log" 2>&1 || true',
        arguments = [log.path, compiler] + flags,
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
            variables = variables,
        ),
        inputs = depset([ctx.file.src], transitive = [context.headers, toolchain.all_files]),
        outputs = [log],
        mnemonic = "CppErrors",
    )
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        "#!/bin/sh\nexec %s %s %s\n" %
        (ctx.file._check.short_path, ctx.file.src.short_path, log.short_path),
        is_executable = True,
    )
    return [DefaultInfo(
        executable = script,
        runfiles = ctx.runfiles([ctx.file._check, ctx.file.src, log]),
    )]

compile_errors_test = rule(
    doc = "Passes if the compiler gives the errors that comments `// error: TEXT` name, and no " +
          "others.",
    implementation = _compile_errors_test_impl,
    test = True,
    attrs = {
        "src": attr.label(allow_single_file = [".cc"], mandatory = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "copts": attr.string_list(),
        "_check": attr.label(
            default = "//tools/checks:check_compile_errors.py",
            allow_single_file = True,
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
