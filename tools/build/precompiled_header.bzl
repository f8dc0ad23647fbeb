"""Precompiled headers for gcc and clang.

Half of the time of a compilation here is the parsing of the standard library, absl and GoogleTest.
A precompiled header is parsed once and mapped into every compilation that begins with it.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _precompiled_header_impl(ctx):
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

    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(
        header,
        "".join(["#include <%s>\n" % name for name in ctx.attr.includes] +
                ["#include \"%s\"\n" % name for name in ctx.attr.own_includes]),
    )
    precompiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")

    # The flags are those of every other compilation: gcc ignores a precompiled header if a flag
    # gives another set of predefined macros. -Wpedantic does, for example.
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        source_file = header.path,
        output_file = precompiled.path,
    )
    flags = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = ACTION_NAMES.cpp_compile,
        variables = variables,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
        ),
        arguments = ["-x", "c++-header"] + flags,
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
            variables = variables,
        ),
        inputs = depset([header], transitive = [context.headers, toolchain.all_files]),
        outputs = [precompiled],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling " + header.short_path,
    )
    return [
        DefaultInfo(files = depset([header, precompiled])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([header, precompiled]),
        )),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    doc = "Compiles NAME.h, which includes `includes` and `own_includes`. Use it with " +
          "`-include $(GENDIR)/FOLDER/NAME.h`.",
    attrs = {
        "copts": attr.string_list(doc = "flags that the users of the header are compiled with"),
        "deps": attr.label_list(providers = [CcInfo], doc = "libraries of the headers"),
        "includes": attr.string_list(doc = "headers of libraries: #include <...>"),
        "own_includes": attr.string_list(doc = "headers of this repository: #include \"...\""),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
