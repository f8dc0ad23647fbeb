#!/usr/bin/env python3
"""Training graphs of programs without Estimator, and of canned estimators: tools/train_graph
trains them as TensorFlow does.

Usage:
    check_session_graphs.py TRAIN_GRAPH [CASE ...]     built from //tools/train_graph:train_graph
    check_session_graphs.py --write FOLDER [CASE ...]  only writes the folders, for a look
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.

Each case writes the checkpoint of step 0 with its graph. TensorFlow and we train 6 steps from it
with the same batches: losses within 1e-5 (float16: 3e-3), and variables within 1e-4. Its docstring
says what the graph has that others have not. Its flags are those that a user has to give; all else
is found in the graph.
"""

import glob
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf1 = tf.compat.v1
ROWS, BATCH, STEPS = 32, 8, 6
X = np.random.RandomState(0).rand(ROWS, 3).astype(np.float32)
Y = (X.sum(1) > 1.5).astype(np.int32)


class Case:
    """train_op, loss: names for TensorFlow. inputs: the tensors that the files feed, in order.
    flags: for our program. feeds: tensors with one value in each step."""

    def __init__(self, train_op, loss, inputs=("x:0", "y:0"), arrays=(X, Y), flags=(), feeds=None,
                 tolerance=1e-5):
        self.train_op, self.loss, self.inputs, self.arrays = train_op, loss, inputs, arrays
        self.flags, self.feeds, self.tolerance = list(flags), feeds or {}, tolerance


def placeholders(dtype=tf.float32):
    return (tf1.placeholder(dtype, [None, 3], "x"), tf1.placeholder(tf.int32, [None], "y"))


def linear(x, y, name="w"):
    w = tf1.get_variable(name, [3, 2], dtype=x.dtype.base_dtype,
                         initializer=tf1.random_uniform_initializer(-1, 1, seed=1))
    return tf1.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x @ w))


def sgd(loss, variables=None, **kwargs):
    return tf1.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=variables, **kwargs)


def save(folder):
    with tf1.Session() as session:
        session.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
        tf1.train.Saver().save(session, os.path.join(folder, "model.ckpt"), global_step=0)


def no_collections(folder):
    """A train op and a loss that no collection names."""
    x, y = placeholders()
    loss = linear(x, y)
    train_op = sgd(loss)
    tf1.get_default_graph().clear_collection("train_op")
    save(folder)
    return Case(train_op.name, loss.name)


def gan(folder):
    """Two train ops, of which no op runs both, and two losses."""
    x, y = placeholders()
    d, g = linear(x, y, "d"), linear(2 * x, y, "g")
    total = d + g
    variables = {v.op.name: v for v in tf1.trainable_variables()}
    ops = [sgd(d, [variables["d"]]), sgd(total, [variables["g"]])]
    save(folder)
    names = ",".join(op.name for op in ops)
    return Case(names, total.name, flags=[f"--train_op={names}", f"--loss={total.name}"])


def unread_inputs(folder):
    """A placeholder that only an assertion reads, with an op that only it reads."""
    x, y = placeholders()
    weights = tf1.placeholder(tf.int32, [1, 2], "weights")
    extra = tf.sparse.to_dense(tf.sets.difference(weights, weights))
    with tf1.control_dependencies([tf1.Assert(tf.equal(tf.size(extra), 0), [extra])]):
        loss = linear(x, y)
        train_op = sgd(tf.identity(loss))
    save(folder)
    return Case(train_op.name, loss.name, feeds={"weights:0": np.ones([1, 2], np.int32)})


def fed_numbers(folder):
    """keep_prob and is_training, which have no row for each example."""
    x, y = placeholders()
    keep = tf1.placeholder(tf.float32, [], "keep_prob")
    training = tf1.placeholder(tf.bool, [], "on")
    loss = linear(tf1.cond(training, lambda: x * keep, lambda: x), y)
    train_op = sgd(loss)
    save(folder)
    return Case(train_op.name, loss.name, flags=["--feed=keep_prob:0=0.5,on:0=true"],
                feeds={"keep_prob:0": 0.5, "on:0": True})


def update_in_cond(folder):
    """A variable that only one branch of tf.cond changes."""
    x, y = placeholders()
    loss = linear(x, y)
    high = tf1.get_variable("high", [], initializer=tf1.zeros_initializer(), trainable=False)
    train_op = sgd(loss)
    with tf1.control_dependencies([train_op]):
        kept = tf1.cond(loss > 0.8, lambda: tf1.assign_add(high, 1.0), lambda: tf.identity(high))
    save(folder)
    return Case(kept.op.name, loss.name)


def dropout_in_cond(folder):
    """Dropout with an is_training that is fed."""
    x, y = placeholders()
    training = tf1.placeholder(tf.bool, [], "on")
    loss = linear(tf1.layers.dropout(x, 0.4, training=training, seed=3), y)
    train_op = sgd(loss)
    save(folder)
    return Case(train_op.name, loss.name, flags=["--feed=on:0=true"], feeds={"on:0": True})


def dropout_in_cond_that_ends(folder):
    """Dropout in a tf.cond, which TensorFlow runs in the first three steps only."""
    x, y = placeholders()
    step = tf1.train.get_or_create_global_step()
    loss = linear(tf1.cond(step < 3, lambda: tf.nn.dropout(x, rate=0.4, seed=3), lambda: x), y)
    train_op = sgd(loss, global_step=step)
    save(folder)
    return Case(train_op.name, loss.name)


def response_normalization(folder):
    """tf.nn.lrn, and depth_to_space with its gradient."""
    x, y = placeholders()
    w = tf1.get_variable("w", [3, 4 * 4 * 8], initializer=tf1.random_uniform_initializer(seed=1))
    deep = tf.nn.lrn(tf.reshape(x @ w, [-1, 4, 4, 8]), 2, bias=1.5, alpha=0.3, beta=0.75)
    wide = tf1.space_to_depth(tf1.depth_to_space(deep, 2) ** 2, 4)
    loss = linear(tf.reduce_mean(wide, [1, 2])[:, :3], y, "v")
    train_op = sgd(loss)
    save(folder)
    return Case(train_op.name, loss.name)


def partitioned(folder):
    """A variable in two parts, and the slots of its optimizer."""
    x, y = placeholders()
    with tf1.variable_scope("", partitioner=tf1.fixed_size_partitioner(2)):
        w = tf1.get_variable("w", [3, 2], initializer=tf1.random_uniform_initializer(-1, 1, seed=1))
    loss = tf1.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=y, logits=x @ tf.convert_to_tensor(w)))
    train_op = tf1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    save(folder)
    return Case(train_op.name, loss.name)


def float16(folder):
    """A step in float16."""
    x, y = placeholders(tf.float16)
    loss = linear(x, y)
    train_op = sgd(loss)
    save(folder)
    return Case(train_op.name, loss.name, arrays=(X.astype(np.float16), Y), tolerance=3e-3)


def float_step(folder):
    """A global_step of float32, which an exponential decay reads."""
    x, y = placeholders()
    loss = linear(x, y)
    step = tf1.Variable(0.0, name="global_step", trainable=False)
    rate = tf1.train.exponential_decay(0.1, step, 1, 0.5)
    train_op = tf1.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
    save(folder)
    return Case(train_op.name, loss.name)


def capital_step(folder):
    """A step whose name differs from global_step by a capital."""
    x, y = placeholders()
    step = tf1.Variable(0, name="Global_Step", trainable=False)
    loss = linear(x, y)
    train_op = sgd(loss, global_step=step)
    save(folder)
    return Case(train_op.name, loss.name)


def sampled_classes(folder):
    """nce_loss and sampled_softmax_loss, which removes samples that are true classes."""
    x, y = placeholders()
    w = tf1.get_variable("w", [6, 3], initializer=tf1.random_uniform_initializer(-1, 1, seed=1))
    b = tf1.get_variable("b", [6], initializer=tf1.zeros_initializer())
    classes = tf1.cast(y[:, None], tf.int64)
    uniform = tf.random.uniform_candidate_sampler(classes, 1, 4, True, 6, seed=3)
    log_uniform = tf.random.log_uniform_candidate_sampler(classes, 1, 4, True, 6, seed=4)
    loss = (tf1.reduce_mean(tf1.nn.nce_loss(w, b, classes, x, 4, 6, sampled_values=log_uniform)) +
            tf1.reduce_mean(tf1.nn.sampled_softmax_loss(w, b, classes, x, 4, 6,
                                                        sampled_values=uniform)))
    train_op = sgd(loss)
    save(folder)
    return Case(train_op.name, loss.name, flags=[f"--loss={loss.name}"])


def graph_convolution(folder):
    """The product with a sparse matrix, which is fed."""
    x, y = placeholders()
    near = tf1.sparse_placeholder(tf.float32, name="near")
    mixed = tf1.sparse_tensor_dense_matmul(near, x)
    mixed = tf.reshape(mixed, tf.shape(x))
    loss = linear(mixed, y)
    train_op = sgd(loss)
    save(folder)
    places = np.array([[k, (k * 3) % BATCH] for k in range(BATCH)], np.int64)
    feeds = {near.indices.name: places, near.values.name: np.linspace(1, 2, BATCH, dtype="f"),
             near.dense_shape.name: np.array([BATCH, BATCH], np.int64)}
    files = []
    for k, (name, value) in enumerate(feeds.items()):
        files.append(f"{name}={folder}/near{k}.npy")
        np.save(f"{folder}/near{k}.npy", value)
    return Case(train_op.name, loss.name, flags=["--feed=" + ",".join(files)], feeds=feeds)


def numpy_queue(folder):
    """numpy_input_fn: its queue adds the number of the row."""
    tf1.estimator.Estimator(_model_fn, folder).train(tf1.estimator.inputs.numpy_input_fn(
        {"x": X}, Y, batch_size=BATCH, num_epochs=None, shuffle=False), steps=1)
    return _of_estimator(folder, "QueueDequeue", (1, 2))


def string_queue(folder):
    """string_input_producer, a reader and tf.train.batch."""
    path = os.path.join(folder, "data.csv")
    np.savetxt(path, np.concatenate([X, Y[:, None]], 1), delimiter=",")
    _, line = tf1.TextLineReader().read(tf1.train.string_input_producer([path]))
    values = tf1.decode_csv(line, [[0.0]] * 4)
    x, y = tf1.train.batch([tf.stack(values[:3]), tf.cast(values[3], tf.int32)], BATCH)
    loss = linear(x, y)
    train_op = sgd(loss)
    save(folder)
    return Case(train_op.name, loss.name, inputs=(x.name, y.name))


def canned_v1(folder):
    """A canned estimator of TensorFlow 1: variables of one part."""
    tf1.estimator.DNNClassifier([4], _columns(), folder).train(_dict_fn, steps=1)
    return _of_estimator(folder, "IteratorGetNext", (0, 1))


def canned_v2(folder):
    """A canned estimator of TensorFlow 2: no train_op in the collections."""
    tf.estimator.DNNClassifier([4], _columns(), folder).train(_dict_fn, steps=1)
    return _of_estimator(folder, "IteratorGetNext", (0, 1))


def _model_fn(features, labels, mode):
    loss = linear(features["x"], labels)
    return tf1.estimator.EstimatorSpec(
        mode, loss=loss, train_op=sgd(loss, global_step=tf1.train.get_global_step()))


def _columns():
    return [tf.feature_column.numeric_column("x", shape=(3,))]


def _dict_fn():
    return tf1.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(BATCH).repeat()


def _of_estimator(folder, kind, outputs):
    """kind: the op that gives the input."""
    meta = tf1.MetaGraphDef()
    with open(os.path.join(folder, "model.ckpt-0.meta"), "rb") as f:
        meta.ParseFromString(f.read())
    name = next(node.name for node in meta.graph_def.node if node.op.startswith(kind))
    return Case(None, None, inputs=[f"{name}:{k}" for k in outputs])


CASES = [no_collections, gan, unread_inputs, fed_numbers, update_in_cond, dropout_in_cond,
         dropout_in_cond_that_ends, response_normalization, partitioned, float16, float_step,
         capital_step, sampled_classes, graph_convolution,
         numpy_queue, string_queue, canned_v1, canned_v2]


def theirs(folder, case):
    """TensorFlow's losses, and its variables after them."""
    prefix = os.path.join(folder, "model.ckpt-0")
    with tf1.Graph().as_default() as graph, tf1.Session() as session:
        saver = tf1.train.import_meta_graph(prefix + ".meta")
        saver.restore(session, prefix)
        session.run(tf1.variables_initializer(tf1.get_collection("local_variables")))
        ops = [graph.get_operation_by_name(name) for name in case.train_op.split(",")]
        losses = []
        for step in range(STEPS):
            first = step * BATCH % ROWS
            feed = {name: array[first:first + BATCH]
                    for name, array in zip(case.inputs, case.arrays)}
            losses.append(session.run([case.loss, ops], {**feed, **case.feeds})[0])
        values = saver.save(session, os.path.join(folder, "theirs"), write_meta_graph=False)
    return np.array(losses, np.float64), tf1.train.load_checkpoint(values)


def shown(program, prefix, flags):
    """The train op and the loss that our program finds."""
    done = subprocess.run([program, f"--meta={prefix}.meta", "--show_input", *flags],
                          capture_output=True, text=True)
    found = dict(line.split()[:2] for line in done.stdout.splitlines()
                 if line.startswith(("train_op ", "loss ")))
    if done.returncode != 0 or len(found) != 2:
        raise AssertionError(f"--show_input: {done.stderr.strip()}")
    return found["train_op"], found["loss"]


def ours(program, folder, case):
    files = []
    for k, array in enumerate(case.arrays):
        files.append(os.path.join(folder, f"{k}.npy"))
        np.save(files[-1], array)
    done = subprocess.run(
        [program, f"--meta={folder}/model.ckpt-0.meta", f"--model_dir={folder}/ours",
         f"--input=npy:{','.join(files)}", f"--batch_size={BATCH}", f"--steps={STEPS}",
         "--shuffle=0", "--save_summary_steps=1", "--log_step_count_steps=0", *case.flags],
        capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr.strip()[-2000:]}")
    losses = {}
    for path in glob.glob(os.path.join(folder, "ours", "events.out.tfevents.*")):
        for event in tf1.train.summary_iterator(path):
            for value in event.summary.value:
                if value.tag in ("loss", "loss_1"):
                    losses[event.step] = value.simple_value
    return [losses[step] for step in sorted(losses)], tf1.train.load_checkpoint(
        os.path.join(folder, "ours", f"model.ckpt-{STEPS}"))


def make(build, folder):
    os.makedirs(folder)
    tf1.reset_default_graph()
    tf1.disable_eager_execution()
    tf1.disable_resource_variables()
    tf1.disable_control_flow_v2()
    return build(folder)


def check(program, build, folder):
    case = make(build, folder)
    found = shown(program, os.path.join(folder, "model.ckpt-0"), case.flags)
    case.train_op, case.loss = case.train_op or found[0], case.loss or found[1]
    if found != (case.train_op, case.loss):
        raise AssertionError(f"we found {found}, not {(case.train_op, case.loss)}")
    expected, their_values = theirs(folder, case)
    losses, our_values = ours(program, folder, case)
    np.testing.assert_allclose(losses, expected, rtol=case.tolerance)
    for name in their_values.get_variable_to_shape_map():
        np.testing.assert_allclose(our_values.get_tensor(name), their_values.get_tensor(name),
                                   rtol=max(1e-4, case.tolerance), atol=1e-5, err_msg=name)


def main(cases, first=2):
    """first: the number of the argument that is the first name."""
    write = sys.argv[1] == "--write"
    names = sys.argv[3 if write else first:]
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        for build in cases:
            if names and build.__name__ not in names:
                continue
            folder = os.path.join(sys.argv[2] if write else work, build.__name__)
            if write:
                make(build, folder)
                continue
            try:
                check(os.path.abspath(sys.argv[1]), build, folder)
                print(f"passed: {build.__name__}", flush=True)
            except AssertionError as error:
                failed += 1
                print(f"FAILED: {build.__name__}: {error}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(CASES) > 0)
