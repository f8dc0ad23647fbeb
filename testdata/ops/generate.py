#!/usr/bin/env python3
"""Writes the results of TensorFlow's ops and gradients for the table in cases.py: cases.txt and the
checkpoint goldens.*.

Command: python generate.py     (needs tensorflow-cpu 2.15.1; writes into the folder of this script)
The output is the same at every run on one machine. On another machine, the last bits of roots,
logarithms and similar functions may differ. estimator/ops/golden_test.cc and
golden_functions_test.cc read the files. estimator/ops/testing/golden_table.h describes the formats
of cases.txt and absent.txt.
"""

import os
import zlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework import op_def_library, op_def_registry  # noqa: E402

import cases  # noqa: E402

v1 = tf.compat.v1
v1.disable_eager_execution()
HERE = os.path.dirname(os.path.realpath(__file__))


def session(graph):
    """A session that runs ops unchanged: without rewriting and folding, in one thread."""
    config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    return v1.Session(graph=graph, config=config)


def default_value(value):
    """Returns an attribute as an AttrValue of the GraphDef."""
    kind = value.WhichOneof("value")
    if kind == "list":
        return list(value.list.i) or [s.decode() for s in value.list.s] or list(value.list.f)
    return value.s.decode() if kind == "s" else tf.as_dtype(
        value.type) if kind == "type" else getattr(value, kind)


def add_op(op, inputs, attrs):
    """Adds a node of `op`. The inputs are in the order of its definition; lists are Python
    lists."""
    definition = op_def_registry.get(op)
    arguments = dict(zip([arg.name for arg in definition.input_arg], inputs))
    hidden = inferred_attrs(definition)
    defaults = {attr.name: default_value(attr.default_value) for attr in definition.attr
                if attr.HasField("default_value") and attr.name not in hidden}
    result = op_def_library.apply_op(op, **{**arguments, **defaults, **attrs})
    while isinstance(result, (list, tuple)):
        result = result[0]
    return result if isinstance(result, tf.Operation) else result.op


def attr_text(value, tensor_key):
    """Returns an attribute as cases.txt writes it: TYPE:VALUE."""
    kind = value.WhichOneof("value")
    join = ",".join
    if kind == "b":
        return f"b:{int(value.b)}"
    if kind == "i":
        return f"i:{value.i}"
    if kind == "f":
        return f"f:{np.float32(value.f)!r}"
    if kind == "s":
        return f"s:{value.s.decode()}"
    if kind == "type":
        return f"t:{tf.as_dtype(value.type).name}"
    if kind == "shape":
        return "d:" + join(str(d.size) for d in value.shape.dim)
    if kind == "tensor":
        return f"a:{tensor_key}"
    assert kind == "list", kind
    if value.list.f:
        return "lf:" + join(repr(np.float32(x)) for x in value.list.f)
    if value.list.s:
        return "ls:" + join(x.decode() for x in value.list.s)
    return "li:" + join(str(x) for x in value.list.i)


def inferred_attrs(definition):
    """Attributes that follow from the inputs."""
    names = set()
    for arg in definition.input_arg:
        names.update(n for n in (arg.type_attr, arg.number_attr, arg.type_list_attr) if n)
    return names


class Writer:
    """Collects the lines of cases.txt and the tensors of the checkpoint."""

    def __init__(self):
        self.lines = []
        self.absent = []
        self.keys = set()
        self.tensors = {}

    def add(self, case):
        key = f"{case.op}/{case.name}"
        if key in self.keys:
            raise SystemExit(f"two cases are called {key}")
        self.keys.add(key)
        if case.absent:
            self.absent.append(f"{case.op} {case.name} {case.absent}")
            if case.absent not in cases.VERIFIED:
                return
        run = self.run_update if case.states else self.run
        words, tensors = run(case, key)
        self.lines.append(" ".join([case.op, case.name, f"tolerance={case.tolerance}"] + words))
        self.tensors.update({f"{key}/{name}": value for name, value in tensors.items()})

    def run(self, case, key):
        random = np.random.RandomState(zlib.crc32(key.encode()))
        with tf.Graph().as_default() as graph:
            tensors, feeds, count = {}, {}, 0

            def operand(value):
                nonlocal count
                i, count = count, count + 1
                tensors[f"in/{i}"] = value
                if i in case.const:
                    return tf.constant(value)
                feeds[i] = v1.placeholder(value.dtype, value.shape)
                return feeds[i]

            inputs = [[operand(v) for v in x] if isinstance(x, list) else operand(x)
                      for x in case.inputs]
            op = None if case.run else add_op(case.op, inputs, case.attrs)
            compute = case.run or case.by
            results = tf.nest.flatten(compute(*inputs)) if compute else op.outputs
            outputs = {i: results[i] for i in (range(len(results)) if case.out is None
                                               else case.out)}
            words = [f"inputs={count}", f"outputs={len(results)}"]
            if case.const:
                words.append("const=" + ",".join(map(str, case.const)))
            fetches = {f"out/{i}": t for i, t in outputs.items()}
            gradients = self.gradients(case, outputs, feeds, tensors, random)
            if gradients is not None:
                words.append("d=" + ",".join(str(i) for i in gradients))
                fetches.update({f"d/{i}": t for i, t in gradients.items() if t is not None})
            feed = {t: tensors[f"in/{i}"] for i, t in feeds.items()}
            with session(graph) as s:
                tensors.update(s.run(fetches, feed))
            if case.run:
                return words, tensors
            hidden = inferred_attrs(op.op_def)
            for name, value in sorted(op.node_def.attr.items()):
                if name.startswith("_") or name in hidden:
                    continue
                if value.WhichOneof("value") == "tensor":
                    tensors["attr"] = tensors["out/0"]
                words.append(f"{name}=" + attr_text(value, "attr"))
        return words, tensors

    @staticmethod
    def gradients(case, outputs, feeds, tensors, random):
        """Returns d(sum of dy * y) / dx of every floating input that is not a constant, or None if
        the op has no gradient."""
        ys = {i: t for i, t in outputs.items() if t.dtype.is_floating and i in (case.ys or outputs)}
        xs = {i: t for i, t in feeds.items() if t.dtype.is_floating}
        if not case.gradient or not ys or not xs:
            return None
        for i, y in ys.items():
            tensors[f"dy/{i}"] = random.uniform(-1, 1, y.shape.as_list()).astype(
                y.dtype.as_numpy_dtype)
        try:
            d = v1.gradients(list(ys.values()), list(xs.values()),
                             [tf.constant(tensors[f"dy/{i}"]) for i in ys])
        except LookupError:
            return None
        return dict(zip(xs, map(lambda t: None if t is None else tf.convert_to_tensor(t), d)))

    @staticmethod
    def run_update(case, key):
        """Runs an Apply op, whose state is in variables. The outputs are the values of the
        variables after it."""
        del key
        with tf.Graph().as_default() as graph:
            variables = [v1.Variable(x, use_resource=False) for x in case.inputs[:case.states]]
            refs = [v._ref() for v in variables]  # the op takes references
            op = add_op(case.op, refs + [tf.constant(x) for x in case.inputs[case.states:]],
                        case.attrs)
            with session(graph) as s:
                s.run(v1.global_variables_initializer())
                s.run(op)
                after = s.run([v._ref() for v in variables])
            words = [f"inputs={len(case.inputs)}", f"outputs={case.states}"]
            hidden = inferred_attrs(op.op_def) | {"use_locking"}
            words += [f"{name}=" + attr_text(value, "attr") for name,
                      value in sorted(op.node_def.attr.items())
                      if not name.startswith("_") and name not in hidden]
        tensors = {f"in/{i}": x for i, x in enumerate(case.inputs)}
        tensors.update({f"out/{i}": x for i, x in enumerate(after)})
        return words, tensors

    def write(self):
        prefix = os.path.join(HERE, "goldens")
        names = sorted(self.tensors)
        with tf.Graph().as_default() as graph, session(graph) as s:
            values = [tf.constant(np.asarray(self.tensors[name])) for name in names]
            s.run(tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names,
                                    shape_and_slices=[""] * len(names), tensors=values))
        for name, lines in (("cases.txt", self.lines), ("absent.txt", self.absent)):
            with open(os.path.join(HERE, name), "w", encoding="utf-8") as out:
                out.write(f"# Written by generate.py with TensorFlow {tf.__version__}: do not "
                          f"edit.\n")
                out.write("\n".join(lines) + "\n")


def main():
    writer = Writer()
    errors = []
    for case in cases.all_cases():
        refused = ""
        try:
            writer.add(case)
        except TypeError as e:
            refused, why = cases.TYPE, e
        except tf.errors.InvalidArgumentError as e:
            refused, why = cases.KERNEL if "No OpKernel was registered" in str(
                e) else cases.REFUSED, e
        except (tf.errors.OpError, ValueError) as e:
            refused, why = cases.REFUSED, e
        if refused and refused != case.absent:
            errors.append(f"{case.op}/{case.name}: {refused}: {str(why)[:300]}")
        if not refused and case.absent in cases.VERIFIED:
            errors.append(f"{case.op}/{case.name}: TensorFlow has it: remove it from ABSENT")
    if errors:
        raise SystemExit("\n".join(errors))
    writer.write()
    size = sum(os.path.getsize(os.path.join(HERE, f)) for f in os.listdir(HERE)
               if f.startswith(("goldens", "cases.txt", "absent.txt")))
    print(f"{len(writer.absent)} rows without a golden; {len(writer.lines)} cases of "
          f"{len({line.split()[0] for line in writer.lines})} ops, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
