#!/usr/bin/env python3
"""Training graphs with loops, sequences and recurrent layers: tools/train_graph trains them as
TensorFlow does.

Usage:
    check_loop_graphs.py TRAIN_GRAPH SAVED_MODEL [CASE ...]   built from //tools/train_graph and
                                                              //tools/saved_model
    check_loop_graphs.py --write FOLDER [CASE ...]            only writes the folders, for a look
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.

Cases and tolerances are those of check_session_graphs.py: 6 steps from a checkpoint of TensorFlow.
Loops are in the form of TensorFlow 1 (Enter, Exit, TensorArrayV3, StackV2), except in the cases
whose names end in _v2: these have While and TensorLists. Then a model with loops is served, as a
SavedModel and as a frozen graph: outputs within 1e-5. At last loops that never end must end: after
--step_timeout_secs, by a signal, and when a list has used up the memory.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

import check_import
import check_session_graphs as sessions
from check_session_graphs import ROWS, Case, linear, np, save, sgd, tf, tf1

TIME, UNITS, WORDS = 5, 3, 7
RANDOM = np.random.RandomState(1)
X = (2 * RANDOM.rand(ROWS, TIME, 3) - 1).astype(np.float32)
Y = (X.sum((1, 2)) > 0).astype(np.int32)
LENGTHS = np.arange(ROWS, dtype=np.int32) % (TIME + 1)
LENGTHS[8:16] = np.minimum(LENGTHS[8:16], TIME - 2)  # a batch without a whole sequence
TOKENS = RANDOM.randint(0, WORDS, [ROWS, TIME]).astype(np.int32)
# Batches with 2, 5, 7 and 3 ones.
COUNTED = np.array([[k < ones for k in range(8)] for ones in (2, 5, 7, 3)]).ravel().astype(np.int32)


def sequences(time=TIME):
    return tf1.placeholder(tf.float32, [None, time, 3], "x"), tf1.placeholder(tf.int32, [None], "y")


def finish(folder, loss, inputs=("x:0", "y:0"), arrays=(X, Y), optimizer=None, **kwargs):
    train_op = optimizer.minimize(loss) if optimizer else sgd(loss)
    save(folder)
    return Case(train_op.name, loss.name, inputs, arrays, **kwargs)


def matrix(name, shape=(3, UNITS)):
    return tf1.get_variable(name, shape,
                            initializer=tf1.random_uniform_initializer(-1, 1, seed=len(name)))


def lstm(name="lstm"):
    return tf1.nn.rnn_cell.LSTMCell(UNITS, initializer=tf1.random_uniform_initializer(-1, 1, 5),
                                    name=name)


def dynamic_rnn(folder):
    """dynamic_rnn of an LSTM over a known number of time steps."""
    x, y = sequences()
    outputs, state = tf1.nn.dynamic_rnn(lstm(), x, dtype=tf.float32)
    return finish(folder, linear(tf.reduce_mean(outputs, 1) + state.c, y))


def dynamic_rnn_last(folder):
    """Only the last state is used, and the file does not know the number of time steps."""
    x, y = sequences(None)
    _, state = tf1.nn.dynamic_rnn(lstm(), x, dtype=tf.float32)
    return finish(folder, linear(state.h, y), optimizer=tf1.train.AdamOptimizer(0.01))


def dynamic_rnn_lengths(folder):
    """Sequences of mixed lengths, 0 and the whole one included."""
    x, y = sequences(None)
    lengths = tf1.placeholder(tf.int32, [None], "lengths")
    outputs, state = tf1.nn.dynamic_rnn(lstm(), x, lengths, dtype=tf.float32)
    return finish(folder, linear(tf.reduce_sum(outputs, 1) + state.h, y),
                  ("x:0", "y:0", "lengths:0"), (X, Y, LENGTHS))


def stacked_clipped(folder):
    """Two layers, and gradients clipped by their norm."""
    x, y = sequences()
    cell = tf1.nn.rnn_cell.MultiRNNCell([lstm("first"), tf1.nn.rnn_cell.GRUCell(UNITS)])
    outputs, _ = tf1.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=False)
    loss = linear(outputs[:, -1], y)
    variables = tf1.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.1)
    train_op = tf1.train.MomentumOptimizer(0.1, 0.9).apply_gradients(zip(gradients, variables))
    save(folder)
    return Case(train_op.name, loss.name, arrays=(X, Y))


def bidirectional(folder):
    """bidirectional_dynamic_rnn of GRUs with lengths, over embedded words."""
    words = tf1.placeholder(tf.int32, [None, None], "x")
    y, lengths = (tf1.placeholder(tf.int32, [None], name) for name in ("y", "lengths"))
    table = matrix("table", [WORDS, 3])
    embedded = tf.nn.embedding_lookup(table, words)
    outputs, _ = tf1.nn.bidirectional_dynamic_rnn(
        tf1.nn.rnn_cell.GRUCell(UNITS), tf1.nn.rnn_cell.GRUCell(UNITS), embedded, lengths,
        dtype=tf.float32)
    return finish(folder, linear(tf.reduce_mean(outputs[0] * outputs[1], 1), y),
                  ("x:0", "y:0", "lengths:0"), (TOKENS, Y, LENGTHS))


def raw_rnn_attention(folder):
    """raw_rnn whose input is a sum over a memory, weighted by the last output."""
    x, y = sequences()
    rows = tf.shape(x)[0]
    array = tf.TensorArray(tf.float32, TIME).unstack(tf.transpose(x, [1, 0, 2]))

    def loop_fn(time, output, state, _):
        state = lstm().zero_state(rows, tf.float32) if output is None else state
        weights = tf.nn.softmax(tf.reduce_sum(x * state.h[:, None], 2))
        context = tf.reduce_sum(weights[:, :, None] * x, 1)
        finished = time >= tf.fill([rows], TIME)
        following = tf1.cond(tf.reduce_all(finished), lambda: tf.zeros([rows, 2 * 3]),
                             lambda: tf.concat([context, array.read(time)], 1))
        following.set_shape([None, 2 * 3])
        return finished, following, state, output, None

    outputs, _, _ = tf1.nn.raw_rnn(lstm(), loop_fn)
    return finish(folder, linear(tf.reduce_mean(outputs.stack(), 0), y))


def map_fn(folder):
    """map_fn over the rows of a batch, with a variable and two results."""
    x, y = sequences()
    w = matrix("in_map")
    sums, most = tf.map_fn(lambda row: (tf.reduce_sum(tf.tanh(row @ w), 0), tf.reduce_max(row @ w)),
                           x, (tf.float32, tf.float32))
    return finish(folder, linear(sums + most[:, None], y))


def scan(folder):
    """scan forwards, scan in reverse, and foldl."""
    x, y = sequences()
    w = matrix("in_scan")
    by_time = tf.transpose(x, [1, 0, 2])
    step = lambda last, row: tf.tanh(last @ w + row)  # noqa: E731
    zeros = tf.zeros_like(by_time[0])
    forwards = tf.scan(step, by_time, initializer=zeros)
    backwards = tf.scan(step, by_time, initializer=zeros, reverse=True)
    folded = tf.foldl(step, by_time, initializer=zeros)
    return finish(folder, linear(tf.reduce_mean(forwards * backwards, 0) + folded, y))


def while_loop(folder):
    """A loop that ends when a computed value is large enough, of a bounded number of trips."""
    x, y = sequences()
    w = matrix("in_loop")
    _, last = tf1.while_loop(lambda i, v: tf.reduce_sum(v * v) < 30,
                             lambda i, v: (i + 1, v + tf.abs(tf.tanh(v @ w)) + 0.1), (0, x[:, 0]),
                             maximum_iterations=20)
    return finish(folder, linear(last, y))


def while_loop_unbounded(folder):
    """The same without a bound: what the gradient needs grows with the trips."""
    x, y = sequences()
    w = matrix("in_loop")
    _, last = tf1.while_loop(lambda i, v: tf.reduce_sum(v * v) < 30,
                             lambda i, v: (i + 1, v + tf.abs(tf.tanh(v @ w)) + 0.1), (0, x[:, 0]))
    return finish(folder, linear(last, y))


def cond_in_loop(folder):
    """A tf.cond in each trip, and an array that the loop reads and writes."""
    x, y = sequences()
    w = matrix("in_cond")
    array = tf.TensorArray(tf.float32, TIME + 1, clear_after_read=False).write(0, x[:, 0])

    def body(i, array):
        last = array.read(i)
        new = tf1.cond(tf.equal(i % 2, 0), lambda: tf.tanh(last @ w), lambda: last * 0.5 + x[:, 1])
        return i + 1, array.write(i + 1, new)

    _, array = tf1.while_loop(lambda i, _: i < TIME, body, (0, array))
    return finish(folder, linear(tf.reduce_mean(array.stack(), 0), y))


def words_in_loop(folder):
    """The rows of an embedding are looked up in a loop, so their gradients grow with the trips."""
    words = tf1.placeholder(tf.int32, [None, TIME], "x")
    y = tf1.placeholder(tf.int32, [None], "y")
    table = matrix("table", [WORDS, UNITS])
    _, last = tf1.while_loop(
        lambda i, _: i < TIME,
        lambda i, v: (i + 1, tf.tanh(v + tf.nn.embedding_lookup(table, words[:, i]))),
        (0, tf.zeros([tf.shape(words)[0], UNITS])), shape_invariants=(
            tf.TensorShape([]), tf.TensorShape([None, UNITS])))
    return finish(folder, linear(last, y), arrays=(TOKENS, Y),
                  optimizer=tf1.train.AdagradOptimizer(0.1))


def dropout_in_loop(folder):
    """Dropout in each time step: other numbers at each trip and in each step. Of trips that run at
    the same time, TensorFlow does not define which one draws first."""
    x, y = sequences()
    cell = tf1.nn.rnn_cell.DropoutWrapper(lstm(), output_keep_prob=0.6, seed=7)
    outputs, _ = tf1.nn.dynamic_rnn(cell, x, dtype=tf.float32, parallel_iterations=1)
    return finish(folder, linear(tf.reduce_mean(outputs, 1), y))


def loop_in_cond(folder):
    """A loop in a branch that depends on the data."""
    x, y = sequences()
    w = matrix("in_loop")
    looped = lambda: tf1.while_loop(  # noqa: E731
        lambda i, _: i < 4, lambda i, v: (i + 1, tf.tanh(v @ w)), (0, x[:, 0]))[1]
    chosen = tf1.cond(tf.reduce_sum(x) > 0, looped, lambda: x[:, 1] * 2)
    return finish(folder, linear(chosen, y))


def loop_in_loop(folder):
    """A loop in the body of a loop, with the gradient through both."""
    x, y = sequences()
    w = matrix("inner")

    def body(i, v):
        inner = tf1.while_loop(lambda j, _: j < 3, lambda j, u: (j + 1, tf.tanh(u @ w)), (0, v))
        return i + 1, inner[1] + x[:, i]

    _, last = tf1.while_loop(lambda i, _: i < TIME, body, (0, x[:, 0]))
    return finish(folder, linear(last, y))


def arrays(folder):
    """concat, split, scatter and gather of TensorArrays, without a loop."""
    x, y = sequences()
    x = tf.tensordot(x, matrix("u"), 1)
    array = tf.TensorArray(tf.float32, TIME, clear_after_read=False, element_shape=[None, 3])
    array = array.split(tf.reshape(x, [-1, 3]), tf.fill([TIME], tf.shape(x)[0]))
    picked = array.gather([1, 3, 1])
    scattered = tf.TensorArray(tf.float32, 2).scatter([1, 0], tf.stack([picked[0], array.read(2)]))
    loss = linear(tf.reduce_sum(picked, 0) + tf.reshape(scattered.concat(), [2, -1, 3])[0], y)
    w = matrix("v")
    return finish(folder, loss + tf.reduce_mean(tf.square(array.read(4) @ w)))


def ctc(folder):
    """ctc_loss of padded labels."""
    x = tf1.placeholder(tf.float32, [None, TIME, 3], "x")
    y = tf1.placeholder(tf.int32, [None, 2], "y")
    outputs, _ = tf1.nn.dynamic_rnn(lstm(), x, dtype=tf.float32)
    places = tf1.where(tf.not_equal(y, -1))
    labels = tf.SparseTensor(places, tf.gather_nd(y, places), tf.shape(y, out_type=tf.int64))
    loss = tf.reduce_mean(tf1.nn.ctc_loss(labels, tf.transpose(outputs @ matrix("v"), [1, 0, 2]),
                                          tf.fill([tf.shape(x)[0]], TIME)))
    padded = np.stack([RANDOM.randint(0, 2, ROWS), RANDOM.randint(-1, 2, ROWS)], 1)
    return finish(folder, loss, arrays=(X, padded.astype(np.int32)))


def dynamic_rnn_v2(folder):
    """dynamic_rnn with lengths, as While and TensorLists."""
    tf1.enable_control_flow_v2()
    return dynamic_rnn_lengths(folder)


def scan_v2(folder):
    """scan and foldl, as While and TensorLists."""
    tf1.enable_control_flow_v2()
    return scan(folder)


def update_in_cond_v2(folder):
    """A variable that only one branch of an If changes."""
    tf1.enable_control_flow_v2()
    tf1.enable_resource_variables()
    return sessions.update_in_cond(folder)


def case_v2(folder):
    """A Case with its gradient, and one whose functions change a variable or leave it."""
    tf1.enable_control_flow_v2()
    tf1.enable_resource_variables()
    x, y = sessions.placeholders()
    # In some batches there is no function with this number, so that the last one runs.
    index = tf.reduce_sum(y) % 4 - 1
    w = matrix("in_case")
    loss = linear(tf.switch_case(index, [lambda: x @ w, lambda: tf.tanh(x @ w), lambda: x]), y)
    total = tf1.get_variable("total", [], initializer=tf1.zeros_initializer(), trainable=False)
    train_op = sgd(loss)
    with tf1.control_dependencies([train_op]):
        kept = tf.switch_case(index, [lambda: total.assign_add(1.0), lambda: tf.identity(total),
                                      lambda: total.assign_add(10.0)])
    save(folder)
    return Case(kept.op.name, loss.name,
                flags=[f"--train_op={kept.op.name}", f"--loss={loss.name}"])


def branches(folder):
    """Branches in each other, with their gradients, that fail in the steps that do not take them.
    A later tf.cond of the same condition reads what the first one gives."""
    x, y = sessions.placeholders()
    table, w = matrix("table", [5, 3]), matrix("in_branch", [3, 3])
    count = tf.reduce_sum(y)
    row = lambda v: tf.tanh(tf.gather(table * 2, count) + v)  # noqa: E731
    few = count < 5
    divided = lambda: (x @ w) * tf.cast(12 // (count - 5), tf.float32)  # noqa: E731
    first = tf1.cond(few, lambda: row(x) @ w, lambda: tf1.cond(
        count > 5, divided, lambda: tf.sin(x @ w)))
    second = tf1.cond(few, lambda: row(first) * first, lambda: first @ w)
    loss = linear(second, y)
    return finish(folder, loss, arrays=(sessions.X, COUNTED), flags=[f"--loss={loss.name}"])


def branches_v2(folder):
    """The same as If and StatelessIf."""
    tf1.enable_control_flow_v2()
    tf1.enable_resource_variables()
    return branches(folder)


def loop_in_branch_v2(folder):
    """A loop in a branch that fails in the steps that do not take it, with its gradient."""
    tf1.enable_control_flow_v2()
    x, y = sessions.placeholders()
    table, w = matrix("table", [5, 3]), matrix("in_loop", [3, 3])
    count = tf.reduce_sum(y)
    looped = lambda: tf1.while_loop(  # noqa: E731
        lambda i, _: i < count, lambda i, v: (i + 1, tf.tanh(v @ w)),
        (0, x + tf.gather(table * 2, count)), maximum_iterations=8)[1]
    chosen = tf1.cond(count < 5, looped, lambda: x * 2)
    loss = linear(chosen, y)
    return finish(folder, loss, arrays=(sessions.X, COUNTED), flags=[f"--loss={loss.name}"])


def words_in_branch(folder):
    """The rows of an embedding are looked up in a branch, and elsewhere. A tf.cond in the other
    branch has the same condition, so that its first branch, which would fail, never runs."""
    words = tf1.placeholder(tf.int32, [None, TIME], "x")
    y = tf1.placeholder(tf.int32, [None], "y")
    table, w = matrix("table", [WORDS, UNITS]), matrix("in_branch")
    looked_up = lambda: tf.reduce_mean(tf.nn.embedding_lookup(table, words), 1)  # noqa: E731
    first = tf.nn.embedding_lookup(table, words[:, 0])
    count = tf.reduce_sum(y)
    few = count < 5
    chosen = tf1.cond(few, looked_up, lambda: tf1.cond(
        few, lambda: first + tf.gather(w, count), lambda: tf.tanh(first @ w)))
    loss = linear(chosen + first, y)
    return finish(folder, loss, arrays=(TOKENS, COUNTED), flags=[f"--loss={loss.name}"],
                  optimizer=tf1.train.MomentumOptimizer(0.1, 0.9))


def words_in_branch_v2(folder):
    """The same as If."""
    tf1.enable_control_flow_v2()
    tf1.enable_resource_variables()
    return words_in_branch(folder)


CASES = [dynamic_rnn, dynamic_rnn_last, dynamic_rnn_lengths, stacked_clipped, bidirectional,
         raw_rnn_attention, map_fn, scan, while_loop, while_loop_unbounded, cond_in_loop,
         words_in_loop, dropout_in_loop, loop_in_cond, loop_in_loop, arrays, ctc, dynamic_rnn_v2,
         scan_v2, update_in_cond_v2, case_v2, branches, branches_v2, loop_in_branch_v2,
         words_in_branch, words_in_branch_v2]


def served(folder):
    """A model to serve: (path, inputs, outputs) of a SavedModel and of a frozen graph."""
    x = tf1.placeholder(tf.float32, [None, None, 3], "x")
    lengths = tf1.placeholder(tf.int32, [None], "lengths")
    outputs, state = tf1.nn.dynamic_rnn(lstm(), x, lengths, dtype=tf.float32)
    step = lambda i, v: (i + 1, tf1.cond(  # noqa: E731
        tf.equal(i % 2, 0), lambda: tf.tanh(v), lambda: v * 2))
    _, grown = tf1.while_loop(lambda i, v: tf.reduce_sum(tf.abs(v)) < 20, step, (0, state.h))
    # The branch that is not taken would fail.
    longest = tf.reduce_max(lengths)
    last = tf1.cond(longest < TIME, lambda: tf.gather(x, longest, axis=1), lambda: x[:, -1])
    tensors = {"outputs": tf.identity(outputs, "outputs"), "grown": tf.identity(grown, "grown"),
               "last": tf.identity(last, "last")}
    feed = {x: X[:8], lengths: LENGTHS[:8]}
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        values = session.run(tensors, feed)
        saved, frozen = os.path.join(folder, "saved"), os.path.join(folder, "frozen.meta")
        tf1.saved_model.simple_save(session, saved, {"x": x, "lengths": lengths}, tensors)
        names = [tensor.op.name for tensor in tensors.values()]
        graph = tf1.graph_util.convert_variables_to_constants(
            session, session.graph.as_graph_def(), names)
        with open(frozen, "wb") as f:
            f.write(tf1.MetaGraphDef(graph_def=graph).SerializeToString())
    yield saved, "serving_default", {"x": X[:8], "lengths": LENGTHS[:8]}, values
    yield (frozen, None, {tensor.name: value for tensor, value in feed.items()},
           {tensors[key].name: value for key, value in values.items()})


def block_cells(folder):
    """The fused recurrent cells, with what their gradients are given."""
    random, rows, width, units = np.random.RandomState(3), 2, 3, 4

    def array(*shape):
        return tf.constant(random.uniform(-1, 1, shape).astype(np.float32))

    x = tf1.placeholder(tf.float32, [None, rows, width], "x")
    states = {"cs_prev": array(rows, units), "h_prev": array(rows, units)}
    weights = {"w": array(width + units, 4 * units), "b": array(4 * units),
               **{name: array(units) for name in ("wci", "wcf", "wco")}}
    found = {}
    for peephole in (False, True):
        same = dict(x=x[0], **states, **weights, use_peephole=peephole)
        cell = tf.raw_ops.LSTMBlockCell(forget_bias=0.5, cell_clip=0.4 if peephole else -1, **same)
        gates = {name: getattr(cell, name) for name in ("i", "cs", "f", "o", "ci", "co")}
        found["cell", peephole] = cell
        found["cell_grad", peephole] = tf.raw_ops.LSTMBlockCellGrad(
            **same, **gates, cs_grad=array(rows, units), h_grad=array(rows, units))
    same = dict(x=x[0], h_prev=states["h_prev"], w_ru=array(width + units, 2 * units),
                w_c=array(width + units, units), b_ru=array(2 * units), b_c=array(units))
    found["gru"] = gru = tf.raw_ops.GRUBlockCell(**same)
    found["gru_grad"] = tf.raw_ops.GRUBlockCellGrad(**same, r=gru.r, u=gru.u, c=gru.c,
                                                    d_h=array(rows, units))
    for op, grad, options in (
            (tf.raw_ops.BlockLSTM, tf.raw_ops.BlockLSTMGrad, {"cell_clip": -1}),
            (tf.raw_ops.BlockLSTMV2, tf.raw_ops.BlockLSTMGradV2, {"cell_clip": 0})):
        same = dict(seq_len_max=tf.constant(4, tf.int64), x=x, **states, **weights,
                    use_peephole=False)
        layer = op(**same, **options)
        found[op.__name__] = (layer.cs, layer.h)
        gradients = array(TIME, rows, units), array(TIME, rows, units)
        found[grad.__name__] = grad(**same, **layer._asdict(), cs_grad=gradients[0],
                                    h_grad=gradients[1])
    tensors = {f"{str(key).strip('()')}_{k}".replace("'", "").replace(", ", "_"): tensor
               for key, outputs in found.items() for k, tensor in enumerate(outputs)}
    feed = {x: X[:2].transpose(1, 0, 2)}
    with tf1.Session() as session:
        values = session.run(tensors, feed)
        saved = os.path.join(folder, "block_cells")
        tf1.saved_model.simple_save(session, saved, {"x": x}, tensors)
    yield saved, "serving_default", {"x": feed[x]}, values


def endless(folder):
    """A loop that never ends: (command, how to end it, exit code, what stderr has) each."""
    train_graph, saved_model = (os.path.abspath(program) for program in sys.argv[1:3])
    np.save(os.path.join(folder, "x.npy"), np.ones([ROWS, 1000], np.float32))
    np.save(os.path.join(folder, "y.npy"), Y)
    commands = {}
    for kind, v2 in (("carries", False), ("grows", False), ("grows_v2", True)):
        tf1.reset_default_graph()
        (tf1.enable_control_flow_v2 if v2 else tf1.disable_control_flow_v2)()
        x = tf1.placeholder(tf.float32, [None, 1000], "x")
        y = tf1.placeholder(tf.int32, [None], "y")
        w = matrix("w", [1000, 2])
        # The gradient keeps a tensor of each trip.
        last = tf1.while_loop(
            lambda i, v: tf.reduce_sum(v * v) > -1, lambda i, v: (i + 1, tf.sin(v)),
            (0, x if kind == "carries" else x * w[:, 0]), name="without_end")[1]
        loss = tf1.losses.sparse_softmax_cross_entropy(y, last @ w)
        train_op = sgd(loss)
        prefix = os.path.join(folder, kind)
        os.makedirs(prefix)
        save(prefix)
        commands[kind] = [train_graph, f"--meta={prefix}/model.ckpt-0.meta",
                          f"--model_dir={prefix}/ours",
                          f"--input=npy:{folder}/x.npy,{folder}/y.npy",
                          "--batch_size=8", "--steps=2", f"--train_op={train_op.name}",
                          f"--loss={loss.name}"]
        if kind == "carries":
            with tf1.Session() as session:
                session.run(tf1.global_variables_initializer())
                tf1.saved_model.simple_save(session, f"{prefix}/saved", {"x": x}, {"last": last})
            commands["served"] = [saved_model, "run", f"--dir={prefix}/saved",
                                  "--signature_def=serving_default", f"--inputs=x={folder}/x.npy",
                                  f"--outdir={prefix}/out"]
    late = ("without_end", "trip", "step_timeout_secs")
    yield [*commands["carries"], "--step_timeout_secs=2"], None, 1, late
    yield [*commands["grows"], "--step_timeout_secs=0.5"], None, 1, late
    for kind in ("carries", "served"):
        for number in (signal.SIGINT, signal.SIGTERM):
            yield commands[kind], number, 130, ()
    for kind in ("grows", "grows_v2"):
        yield (["prlimit", f"--as={1 << 30}", *commands[kind]], None, 1,
               ("without_end", "trip", "out of memory", "1.0 GiB"))


def check_endless(command, number, code, words):
    """number: of the signal that is sent after three seconds, or None."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        if number is not None:
            time.sleep(3)
            process.send_signal(number)
        stderr = process.communicate(timeout=120)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return f"it does not end: {process.communicate()[1][-1000:]}"
    missing = [word for word in words if word not in stderr]
    if process.returncode != code or missing:
        return f"exit code {process.returncode}, without {missing}: {stderr[-1000:]}"
    return None


def main():
    failed = sessions.main(CASES, first=3)
    for build in (served, block_cells, endless):
        if sys.argv[1] == "--write" or (sys.argv[3:] and build.__name__ not in sys.argv[3:]):
            continue
        with tempfile.TemporaryDirectory() as work:
            folder = os.path.join(work, build.__name__)
            for made in sessions.make(build, folder):
                if build is endless:
                    problem, name = check_endless(*made), f"endless {made[1] or ' '.join(made[3])}"
                else:
                    name = os.path.basename(made[0])
                    problem = check_import.check(os.path.abspath(sys.argv[2]), *made)
                failed += problem is not None
                print(f"{'FAILED' if problem else 'passed'}: {name}: {problem or ''}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
