"""The common part of every case's generate.py. Runs a model in TensorFlow 2.15.1 (graph mode, one
thread) and writes the results into the case's folder. README.md describes the format.
"""

import contextlib
import hashlib
import os
import warnings

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # Eigen's kernels: no Winograd, whose errors are larger
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf1 = tf.compat.v1
tf1.disable_v2_behavior()
warnings.simplefilter("ignore")  # hides that tf.layers is deprecated
tf1.logging.set_verbosity(tf1.logging.ERROR)

VERSION = "2.15.1"
SEED = 1  # of the graph
# The ops whose outputs are recorded as forward tensors, unless a case chooses others. Mean is not
# among them: the means of a layer norm are close to 0, so that rounding errors of the values that
# they sum are larger than the tolerance.
FORWARD_OPS = {"AvgPool", "BiasAdd", "Conv2D", "Elu", "FusedBatchNormV3", "MatMul", "MaxPool",
               "Relu", "Softmax", "Tanh"}
MAX_NAMES = 8  # how many names a printed line lists


class Step:
    """The result of a case's model function. TRAIN: loss and train_op; EVAL: loss; PREDICT:
    predictions (a dict)."""

    def __init__(self, loss=None, train_op=None, predictions=None):
        self.loss, self.train_op, self.predictions = loss, train_op, predictions or {}


def generate(case_file, model_fn, description, *, batches=None, shared=None, mode="TRAIN",
             num_steps=50, initial=None, steps_before=0, random=False, forward_ops=None,
             max_forward_elements=60000, without=(), max_values=None, own_first_step=False,
             same_initial=None, rtol=None, variable_rtol=None, atol=None, resource_variables=False):
    """Writes the folder of the case whose generate.py is case_file.

    model_fn(features, labels): builds the model and returns a Step. features and labels are each a
      tensor, or a dict of tensors if batches has names below "features/", "labels/".
    batches: {"features" | "features/<name>" | "labels" | "labels/<name>": array [batches, batch,
      ...]}.
    shared: instead of batches: a folder of generate_shared, whose initial checkpoint, batches,
      forward tensors and gradients this case uses.
    initial: {variable: array}, instead of initializers; or a function of {variable: shape}.
    forward_ops: the ops whose outputs are recorded; None: FORWARD_OPS; set(): none. An output that
      TensorFlow cannot fetch (inside a while_loop or a cond), or whose shape is not static, is left
      out with a line that says so. Add "Mean" where no mean is close to 0, as those of a layer norm
      are.
    max_forward_elements: larger outputs are left out.
    steps_before: TRAIN: the number of steps before the initial checkpoint, which then has slots and
      global_step too. The environment variable REFERENCE_STEPS_BEFORE sets it for every case that
      is not random. (In a random case, the numbers of an op depend on how often its session drew
      before.)
    random: True if ops with their own seeds draw random numbers. Each op then draws once per step,
      as in a training loop: loss and update are computed in one run, in a session that has run
      nothing else. The update has to wait for the loss.
    without: parts of names of variables that are not recorded, with their slots and gradients:
      those whose true gradient is 0 (README.md, "Rounding errors alone").
    max_values: keeps the reference of a large network small: larger variables are recorded by norms
      only, without values and gradients, and their slots are not recorded and start at 0.
    same_initial: the folder of another case. If its initial checkpoint has the same bytes, this
      case has none of its own.
    own_first_step: with shared: records the forward tensors and gradients of this case, for a case
      whose network differs from that of the shared folder.
    rtol, variable_rtol, atol: other tolerances than 1e-5, 1e-4, 0. The case states the reason.
    resource_variables: the kind of all variables, as TensorFlow's enable_resource_variables. False
      is the kind of a program of TensorFlow 1 on a CPU. True is the kind on a TPU and in
      TensorFlow 2. A program that assigns to a variable that its step also reads, as in
          tf.group(train_op, global_step.assign(global_step + 1))
      needs True: a reference variable is read in place, so the rate of the step may be computed
      before or after the assignment. The manifest and a report's first line say which it was.

    Lookup tables and local variables are initialized. A partitioned variable and its slots are
    recorded whole, under the name without "/part_0".
    """
    folder = _folder(case_file)
    run = _Run(model_fn, _read_batches(shared) if shared else batches, mode, resource_variables)
    if mode == "TRAIN" and not random:
        steps_before = int(os.environ.get("REFERENCE_STEPS_BEFORE", steps_before))
    begins_as_shared = shared and steps_before == 0
    initial = initial(run.shapes()) if callable(initial) else initial
    with run.session() as session:
        if shared:
            initial = dict(_read_bundle(os.path.join(shared, "initial")), **(initial or {}))
        run.initialize(session, initial)
        values = run.values(session)
        run.train(session, steps_before)
        expected = {}
        if not shared:
            _write_bundle(os.path.join(folder, "batches"), batches)
        if not begins_as_shared:
            run.save_initial(session, folder, None if steps_before else max_values)
        if not begins_as_shared or own_first_step:
            expected.update(run.first_step(session, forward_ops, max_forward_elements))
        if not random:
            expected.update(run.steps(session, num_steps))
    if random:
        with run.session() as session:
            run.initialize(session, values)
            run.train(session, steps_before)
            expected.update(run.steps(session, num_steps, one_run=True))
    expected = {name: value for name, value in expected.items()
                if name.startswith("forward/") or not any(part in name for part in without)}
    if max_values is not None:
        expected = {name: value for name, value in expected.items()
                    if not name.startswith(("gradient/", "step_1/", "final/"))
                    or np.size(value) <= max_values}
    _write_bundle(os.path.join(folder, "results"), expected)
    relative = os.path.relpath(os.path.abspath(shared), folder) if shared else "."
    begin = os.path.normpath(os.path.join(relative if begins_as_shared else ".", "initial"))
    if same_initial and _initial_files(same_initial) == _initial_files(folder):
        for name in _initial_files(folder):
            os.remove(os.path.join(folder, name))
        begin = os.path.join(os.path.relpath(os.path.abspath(same_initial), folder), "initial")
    lines = ["# Written by generate.py. Text form of tools/replay/reference.proto.",
             f'description: "{description}"', f'made_by: "{_made_by(resource_variables)}"',
             f"mode: {mode}", f"num_steps: {num_steps}", f'initial_checkpoint: "{begin}"',
             f'batches: "{os.path.normpath(os.path.join(relative, "batches"))}"']
    if random:
        lines.append(f"random_seed: {SEED}")
    if begins_as_shared and not own_first_step:
        lines.append(f'expected: "{os.path.normpath(os.path.join(relative, "step_1"))}"')
    lines.append('expected: "results"')
    lines += [f"{name}: {value:g}" for name,
              value in (("rtol", rtol), ("variable_rtol", variable_rtol), ("atol", atol))
              if value is not None]
    with open(os.path.join(folder, "reference.textproto"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    _write_sums(folder)
    if mode != "PREDICT":
        loss = expected["loss"]
        kind = "resource" if resource_variables else "reference"
        print(f"{os.path.basename(folder)}: loss {loss[0]:.6f} ... {loss[-1]:.6f}, {kind} "
              f"variables, {_size(folder)} bytes")


def trained(folder):
    """For generate's initial: the variables that the case of `folder` has after its last step."""
    results = _read_bundle(os.path.join(folder, "results"))
    return lambda shapes: {name: results["final/" + name] for name in shapes}


def generate_shared(case_file, loss_fn, batches, forward_ops=None, max_forward_elements=60000):
    """Writes the files that the cases of one network share: initial, batches, and step_1 (forward
    tensors, gradients).

    loss_fn(features, labels): builds the network and returns its loss.
    forward_ops, max_forward_elements: as in generate.
    """
    folder = _folder(case_file)
    run = _Run(lambda features, labels: Step(loss=loss_fn(features, labels)), batches, "TRAIN")
    with run.session() as session:
        run.initialize(session, None)
        run.save_initial(session, folder)
        _write_bundle(os.path.join(folder, "batches"), batches)
        _write_bundle(os.path.join(folder, "step_1"),
                      run.first_step(session, forward_ops, max_forward_elements))
    _write_sums(folder)
    print(f"{os.path.basename(folder)}: {_size(folder)} bytes")


class _Run:
    """A model in its own graph."""

    def __init__(self, model_fn, batches, mode, resource_variables=False):
        assert tf.__version__ == VERSION, (
            f"references are made by TensorFlow {VERSION}, this is {tf.__version__}")
        self._batches = batches
        self._mode = mode
        self._graph = tf1.Graph()
        with self._graph.as_default(), _kind_of_variables(resource_variables):
            tf1.set_random_seed(SEED)
            tf1.train.get_or_create_global_step()
            self._feeds = {key: tf1.placeholder(array.dtype, array.shape[1:], key.replace("/", "_"))
                           for key, array in batches.items()}
            self._step = model_fn(self._argument("features"), self._argument("labels"))
            self._variables = tf1.global_variables()
            self._init = [tf1.global_variables_initializer(), tf1.local_variables_initializer()]
            self._init_tables = tf1.tables_initializer()
            self._saver = tf1.train.Saver(self._variables)
            self._read = [variable.read_value() for variable in self._variables]

    def _argument(self, what):
        named = {key[len(what) + 1:]: tensor for key, tensor in self._feeds.items()
                 if key.startswith(what + "/")}
        return named or self._feeds.get(what)

    def _feed(self, step):
        return {tensor: self._batches[key][step % len(self._batches[key])] for key,
                tensor in self._feeds.items()}

    def shapes(self):
        return {_whole_name(variable): _whole_shape(variable) for variable in self._variables}

    def session(self):
        config = tf1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        return tf1.Session(graph=self._graph, config=config)

    def initialize(self, session, values):
        session.run(self._init)
        session.run(self._init_tables)  # after the variables, which a table may be made from
        given = [v for v in self._variables if values and _whole_name(v) in values]
        # As variable.load does it, but at once: TensorFlow optimizes a graph for each new run. Two
        # variables may share their initial value.
        while given:
            now = {v.initializer.inputs[1]: v for v in given}
            session.run([v.initializer for v in now.values()],
                        {x: _part_of(values[_whole_name(v)], v) for x, v in now.items()})
            given = [v for v in given if now[v.initializer.inputs[1]] is not v]
        unknown = set(values or {}) - {_whole_name(variable) for variable in self._variables}
        assert not unknown, f"the model has no variables {sorted(unknown)}"

    def save_initial(self, session, folder, max_slot_values=None):
        saver = self._saver
        if max_slot_values is not None:
            with self._graph.as_default():
                trainable = {variable.op.name for variable in tf1.trainable_variables()}
                saver = tf1.train.Saver([v for v in self._variables
                                         if v.op.name in trainable
                                         or np.prod(_whole_shape(v)) <= max_slot_values])
        saver.save(session, os.path.join(folder, "initial"), write_meta_graph=False,
                   write_state=False)

    def train(self, session, num_steps):
        for step in range(num_steps):
            session.run(self._step.train_op, self._feed(step))

    def first_step(self, session, forward_ops, max_elements):
        """Returns the forward tensors and gradients of the first step, without running its
        updates."""
        outputs = [self._step.loss] if self._step.loss is not None else list(
            self._step.predictions.values())
        forward = {f"forward/{t.name.replace(':', '/')}": t
                   for t in _forward_tensors(self._graph, outputs, forward_ops, max_elements)}
        reached, gradients = [], []
        if self._mode == "TRAIN":
            with self._graph.as_default():
                variables = tf1.trainable_variables()
                for variable, gradient in zip(variables,
                                              tf.gradients(self._step.loss, variables)):
                    if gradient is not None:
                        reached.append(variable)
                        gradients.append(tf.convert_to_tensor(gradient))
        expected, gradients = session.run((forward, gradients), self._feed(0))
        expected.update({f"gradient/{name}": gradient
                         for name, gradient in _whole(reached, gradients).items()})
        return expected

    def values(self, session):
        return _whole(self._variables, session.run(self._read))

    def steps(self, session, num_steps, one_run=False):
        losses, predictions, norms, values = [], {key: [] for key in self._step.predictions}, {}, {}
        fetches = {"predictions": self._step.predictions}
        if self._step.loss is not None:
            fetches["loss"] = self._step.loss
        expected = {}
        for step in range(num_steps):
            # Not in one run with the updates: there, a penalty may read its variable before or
            # after them.
            results, _ = session.run((fetches, self._step.train_op if one_run else []),
                                     self._feed(step))
            losses.append(results.get("loss"))
            for key, value in results["predictions"].items():
                predictions[key].append(value)
            if self._mode != "TRAIN":
                continue
            assert np.isfinite(results["loss"]), f"step {step}: loss {results['loss']}"
            if not one_run:
                session.run(self._step.train_op, self._feed(step))
            values = self.values(session)
            if step == 0:
                expected.update({f"step_1/{name}": value for name, value in values.items()})
            for name, value in values.items():
                if value.dtype.kind == "f":
                    norm = np.sqrt(np.sum(np.square(value.astype(np.float64))))
                    norms.setdefault(name, []).append(norm)
        if self._step.loss is not None:
            expected["loss"] = np.array(losses, np.float32)
        expected.update({f"prediction/{key}": np.stack(rows) for key, rows in predictions.items()})
        expected.update({f"norm/{name}": np.array(norm, np.float64) for name,
                         norm in norms.items()})
        expected.update({f"final/{name}": value for name, value in values.items()})
        return expected


def _forward_tensors(graph, outputs, forward_ops, max_elements):
    """Returns the tensors of the given ops from which outputs are computed, in the order of their
    creation.

    Prints those that have to be left out because TensorFlow cannot fetch them, or because their
    size is not known.
    """
    forward_ops = FORWARD_OPS if forward_ops is None else forward_ops
    needed, pending = set(), [tensor.op for tensor in outputs]
    while pending:
        op = pending.pop()
        if op not in needed:
            needed.add(op)
            pending.extend(tensor.op for tensor in op.inputs)
    tensors = [op.outputs[0] for op in graph.get_operations() if op in needed
               and op.type in forward_ops]
    tensors = [t for t in tensors if t.dtype.is_floating]
    fetchable = [t for t in tensors if graph.is_fetchable(t) and t.shape.num_elements() is not None]
    skipped = [t.name for t in tensors if not any(t is other for other in fetchable)]
    if skipped:
        more = len(skipped) - MAX_NAMES
        print(f"not recorded, because TensorFlow cannot fetch them or their shape is not static: "
              f"{', '.join(skipped[:MAX_NAMES])}{f' and {more} more' if more > 0 else ''}")
    return [t for t in fetchable if 1 < t.shape.num_elements() <= max_elements]


@contextlib.contextmanager
def _kind_of_variables(resource_variables):
    """All variables made inside are resource variables, or reference variables."""
    if resource_variables:
        tf1.enable_resource_variables()
    try:
        yield  # disable_v2_behavior has made reference variables the default
    finally:
        if resource_variables:
            tf1.disable_resource_variables()


def _made_by(resource_variables):
    return f"TensorFlow {tf.__version__}{' with resource variables' if resource_variables else ''}"


def _slice_of(variable):
    """Returns TensorFlow's SaveSliceInfo of a part of a partitioned variable; else None."""
    return variable._get_save_slice_info()  # pylint: disable=protected-access


def _whole_name(variable):
    part = _slice_of(variable)
    return part.full_name if part else variable.op.name


def _whole_shape(variable):
    part = _slice_of(variable)
    return list(part.full_shape) if part else variable.shape.as_list()


def _indices(part):
    return tuple(slice(offset, offset + size) for offset, size in zip(part.var_offset,
                                                                      part.var_shape))


def _part_of(whole, variable):
    """Returns the values of a variable, or of a part of one, from those of the whole variable."""
    part = _slice_of(variable)
    return whole[_indices(part)] if part else whole


def _whole(variables, values):
    """Returns {name: array} with the parts of each partitioned variable joined."""
    joined = {}
    for variable, value in zip(variables, values):
        part = _slice_of(variable)
        if part is None:
            joined[variable.op.name] = value
            continue
        if part.full_name not in joined:
            joined[part.full_name] = np.zeros(part.full_shape, value.dtype)
        joined[part.full_name][_indices(part)] = value
    return joined


def _folder(case_file):
    return os.path.dirname(os.path.abspath(case_file))


def _initial_files(folder):
    """{name: contents} of the initial checkpoint."""
    files = {}
    for name in os.listdir(folder):
        if name.startswith("initial.") and _is_result(name):
            with open(os.path.join(folder, name), "rb") as f:
                files[name] = f.read()
    return files


def _read_bundle(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def _read_batches(folder):
    return _read_bundle(os.path.join(folder, "batches"))


def _write_bundle(prefix, arrays):
    """Writes a checkpoint with any names."""
    names = sorted(arrays)
    with tf1.Graph().as_default(), tf1.Session() as session:
        save = tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names,
                                 shape_and_slices=[""] * len(names),
                                 tensors=[tf.constant(arrays[name]) for name in names])
        session.run(save)


def _size(folder):
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)
               if _is_result(name))


def _is_result(name):
    return name.endswith((".textproto", ".index", ".data-00000-of-00001"))


def _write_sums(folder):
    with open(os.path.join(folder, "SHA256SUMS"), "w", encoding="utf-8") as out:
        for name in sorted(filter(_is_result, os.listdir(folder))):
            with open(os.path.join(folder, name), "rb") as f:
                out.write(f"{hashlib.sha256(f.read()).hexdigest()}  {name}\n")
