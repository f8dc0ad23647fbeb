"""Sources that the compiler gets together.

Much of the time of a compilation is the parsing of headers. Ten sources that are compiled as one
parse them once.
"""

def _path(source):
    """The path below the root of the source's workspace, which may not be the main one."""
    path = source.short_path  # ../WORKSPACE/PATH in another workspace
    return path.split("/", 2)[2] if path.startswith("../") else path

def _jumbo_source_impl(ctx):
    # The text itself and no #include of it: a source that is included would be an input of all that
    # depends on the library, whose objects a build cache would not find after an edit of it.
    out = ctx.actions.declare_file(ctx.label.name + ".cc")
    commands = []
    for source in ctx.files.srcs:
        commands.append("echo '#line 1 \"%s\"'" % _path(source))
        if ctx.attr.own_names:
            stem = source.basename[:-len(".cc")]
            commands.append("sed 's/^namespace {$/namespace in_%s {/' %s" % (stem, source.path))
        else:
            commands.append("cat " + source.path)
    ctx.actions.run_shell(
        inputs = ctx.files.srcs,
        outputs = [out],
        command = "{ %s; } > %s" % ("; ".join(commands), out.path),
        mnemonic = "JumboSource",
    )
    return [DefaultInfo(files = depset([out]))]

_jumbo_source = rule(
    implementation = _jumbo_source_impl,
    doc = "NAME.cc, with the text of all `srcs`.",
    attrs = {
        "own_names": attr.bool(
            doc = "An unnamed namespace gets the name of its file: names of two files differ.",
        ),
        "srcs": attr.label_list(allow_files = [".cc"]),
    },
)

def _folder(file):
    return file.rpartition("/")[0]

# How many sources of a folder are compiled together. More would save little, and an edit would cost
# more.
_AT_MOST = 20

def jumbo(name, srcs, singly = [], own_names = False):
    """The `srcs` of a target, as few sources.

    The sources of a folder are divided evenly. Sources of two folders are never compiled together,
    so a name in an anonymous namespace must be unique in its folder only, and not even there with
    `own_names`. With --define=jumbo=off each source is compiled alone.

    Args:
      name: the prefix of the names of the generated sources.
      srcs: the sources.
      singly: those that are compiled alone: they include themselves (Highway's foreach_target.h),
        define macros, or take very long.
      own_names: each source has an unnamed namespace of its own. For tests, which have the same
        names often.

    Returns:
      What the attribute `srcs` of the target gets.
    """
    folders = {}
    for source in srcs:
        if source not in singly:
            folders.setdefault(_folder(source), []).append(source)
    together = []
    generated = []
    for folder, sources in folders.items():
        if len(sources) == 1:
            continue
        together += sources
        count = (len(sources) + _AT_MOST - 1) // _AT_MOST
        for i in range(count):
            part = sources[i * len(sources) // count:(i + 1) * len(sources) // count]
            target = "_".join([name] + folder.split("/") + ["part%d" % (i + 1)]).replace("__", "_")
            _jumbo_source(
                name = target,
                srcs = part,
                own_names = own_names,
                visibility = ["//visibility:private"],
            )
            generated.append(":" + target)
    alone = [source for source in srcs if source not in together]
    return select({
        str(Label("//tools/build:no_jumbo")): srcs,
        "//conditions:default": generated + alone,
    })
