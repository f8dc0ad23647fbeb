"""Networks that TensorFlow 2.15.1 trains with its Estimator: the folders that tools/train_graph
continues.

generate.py and testdata/interop/check_train_graph.py use this file. A case trains for 25 steps in
one session and saves a checkpoint after every 5. One session: TensorFlow's random stream starts
anew with each session, so dropout would otherwise draw other numbers after step 5.
"""

import os
import re
import shutil
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from reference_lib import SEED, tf, tf1  # noqa: E402
from bert import network as bert  # noqa: E402
from tensorflow.core.protobuf import rewriter_config_pb2  # noqa: E402

estimator = tf1.estimator
NCHW_TO_NHWC = rewriter_config_pb2.RewriterConfig.NCHW_TO_NHWC
BATCHES, BATCH = 5, 8  # the input repeats these batches
# steps before the checkpoint, of the comparison, of TensorFlow after it
START, CONTINUED, AFTER = 5, 20, 5
SAVED_CONTINUED = 10  # steps of the comparison that begins with a SavedModel


class Case:
    """A network with its input.

    model_fn(features, labels): returns (loss, train_op).
    features, labels: arrays [BATCHES * rows, ...], or dicts of them. labels may be None.
    rows: of a batch.
    static: whether the graph knows the number of rows.
    resource: whether variables are resources; False: references, as in TensorFlow 1.
    control_flow_v2: whether tf.cond makes If; False: Switch and Merge.
    trimmed: whether the features of a batch are cut after its longest row. Rows end in zeros.
    tpu: written by TPUEstimator with use_tpu=False.
    without: parts of names of variables that are not compared, because their true gradient is 0:
    the computed one is
      rounding errors alone.
    """

    def __init__(self, name, model_fn, features, labels, *, rows=BATCH, static=False,
                 resource=False, control_flow_v2=False, trimmed=False, tpu=False, without=()):
        self.name, self.model_fn, self.features, self.labels = name, model_fn, features, labels
        self.rows, self.static = rows, static
        self.resource, self.control_flow_v2 = resource, control_flow_v2
        self.trimmed, self.tpu, self.without = trimmed, tpu, without

    def arrays(self):
        """The arrays in the order of the iterator's outputs."""
        return tf.nest.flatten(self.features if self.labels is None
                               else (self.features, self.labels))

    def rows_of_steps(self, first, count):
        """The rows of steps first, first + 1, ... as our tool reads them."""
        step = np.arange(first, first + count) % BATCHES
        index = (step[:, None] * self.rows + np.arange(self.rows)).reshape(-1)
        return [array[index] for array in self.arrays()]

    def input_fn(self, first):
        def fn(params=None):
            del params
            data = self.features if self.labels is None else (self.features, self.labels)
            dataset = tf1.data.Dataset.from_tensor_slices(data).batch(self.rows,
                                                                      drop_remainder=self.static)
            if self.trimmed:
                dataset = dataset.map(
                    lambda x, y: (x[:, :tf.reduce_max(tf.math.count_nonzero(x, 1))], y))
            return dataset.repeat().skip(first % BATCHES)
        return fn

    def train(self, folder, first, max_steps, save_every=START):
        """Trains in this folder from step `first` on, and returns the losses."""
        (tf1.enable_resource_variables if self.resource else tf1.disable_resource_variables)()
        (tf1.enable_control_flow_v2 if self.control_flow_v2 else tf1.disable_control_flow_v2)()
        losses = Losses()
        session = tf1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        # TensorFlow's CPU computes only NHWC; the checkpoint's graph stays as it was built.
        session.graph_options.rewrite_options.cpu_layout_conversion = NCHW_TO_NHWC
        settings = dict(tf_random_seed=SEED, save_checkpoints_steps=save_every,
                        save_summary_steps=1, keep_checkpoint_max=100, session_config=session)

        def model_fn(features, labels, mode, params=None):
            del params
            loss, train_op = self.model_fn(features, labels)
            if self.tpu:
                return estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)
            return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

        if self.tpu:
            trainer = estimator.tpu.TPUEstimator(
                model_fn, config=estimator.tpu.RunConfig(model_dir=folder,
                                                         tpu_config=estimator.tpu.TPUConfig(),
                                                         **settings),
                use_tpu=False, train_batch_size=self.rows)
        else:
            trainer = estimator.Estimator(model_fn,
                                          config=estimator.RunConfig(model_dir=folder, **settings))
        trainer.train(self.input_fn(first), max_steps=max_steps, hooks=[losses])
        tf1.reset_default_graph()
        return np.array(losses.values, np.float32)


class Losses(tf1.train.SessionRunHook):
    """Records the loss of every step. tensor: its name; None: what the Estimator shows."""

    def __init__(self, tensor=None):
        self.values, self.tensor = [], tensor

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(self.tensor or _loss_tensor(run_context.session.graph))

    def after_run(self, run_context, run_values):
        self.values.append(run_values.results)


def _loss_tensor(graph):
    """What Estimator's own summary records: "loss", or "loss_1" if the model has a scope of that
    name. It is the last."""
    for op in reversed(graph.get_operations()):
        if op.type == "ScalarSummary" and re.fullmatch(r"loss(_\d+)?", op.name):
            return op.inputs[1]
    raise ValueError("the graph has no summary of the loss")


def copy_checkpoint(source, step, target):
    """Makes a folder with the checkpoint of one step, its .meta and graph.pbtxt."""
    os.makedirs(target)
    for name in os.listdir(source):
        if name.startswith(f"model.ckpt-{step}.") or name == "graph.pbtxt":
            shutil.copy(os.path.join(source, name), target)
    with open(os.path.join(target, "checkpoint"), "w", encoding="utf-8") as f:
        f.write(f'model_checkpoint_path: "model.ckpt-{step}"\nall_model_checkpoint_paths: '
                f'"model.ckpt-{step}"\n')


def _step():
    return tf1.train.get_or_create_global_step()


def _images(side, seed=1):
    """Blobs whose place is their class, u8 [n, side, side]. A fifth has a wrong label, so that the
    loss stays above 0."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, BATCHES * BATCH)
    images = rng.integers(0, 40, (len(labels), side, side))
    for image, label in zip(images, labels):
        row, column = (label // 2) * side // 6, (label % 2) * side // 2
        image[row:row + side // 5 + 1, column:column + side // 3] += 200
    labels = np.where(rng.random(labels.shape) < 0.2, rng.integers(0, 10, labels.shape), labels)
    return images.astype(np.uint8), labels.astype(np.int32)


def _mnist(make_optimizer, filters=(4, 8), units=16, size=5):
    def model_fn(images, labels):
        layers = tf1.layers
        side = int(images.shape[1])
        x = tf.reshape(tf.cast(images, tf.float32) / 255.0, [-1, side, side, 1])
        for count in filters:
            x = layers.conv2d(x, count, size, padding="same", activation=tf.nn.relu)
            x = layers.max_pooling2d(x, 2, 2, padding="same")
        x = layers.dense(layers.flatten(x), units, activation=tf.nn.relu)
        x = layers.dropout(x, rate=0.4, training=True)
        logits = layers.dense(x, 10)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        tf1.summary.scalar("accuracy",
                           tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, tf.int32), labels),
                                                  tf.float32)))
        return loss, make_optimizer().minimize(loss, _step())
    return model_fn


def _batch_norm(fused):
    def model_fn(x, labels):
        for units in (12, 8):
            x = tf1.layers.dense(x, units, use_bias=False)
            if fused:
                x = tf1.layers.batch_normalization(x[:, None, None, :], momentum=0.9, training=True,
                                                   fused=True)[:, 0, 0, :]
            else:
                x = tf1.layers.batch_normalization(x, momentum=0.9, training=True)
            x = tf.nn.tanh(x)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(x, 3))
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            return loss, tf1.train.MomentumOptimizer(0.05, 0.9).minimize(loss, _step())
    return model_fn


def _moving_averages(x, labels):
    hidden = tf1.layers.dense(x, 8, activation=tf.nn.elu)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(hidden, 3))
    step = _step()
    update = tf1.train.AdamOptimizer(0.01).minimize(loss, step)
    averages = tf1.train.ExponentialMovingAverage(0.9, num_updates=step)
    with tf.control_dependencies([update]):
        return loss, averages.apply(tf1.trainable_variables())


def _conv_bn(x, filters, size, strides=1, relu=True):
    x = tf1.layers.conv2d(x, filters, size, strides, padding="same", use_bias=False,
                          kernel_initializer=tf1.variance_scaling_initializer())
    x = tf1.layers.batch_normalization(x, momentum=0.9, epsilon=1e-5, training=True, fused=True)
    return tf.nn.relu(x) if relu else x


def _block(x, filters, strides=1):
    shortcut = x if strides == 1 and x.shape[-1] == filters else _conv_bn(x, filters, 1, strides,
                                                                          relu=False)
    y = _conv_bn(_conv_bn(x, filters, 3, strides), filters, 3, relu=False)
    return tf.nn.relu(y + shortcut)


def _resnet(features, labels):
    x = _conv_bn(features["image"], 4, 3)
    x = tf1.layers.max_pooling2d(x, 3, 2, padding="same")
    x = _block(_block(_block(x, 4), 8, strides=2), 8)
    logits = tf1.layers.dense(tf.reduce_mean(x, [1, 2]), 5)
    loss = tf1.losses.softmax_cross_entropy(tf.one_hot(labels, 5), logits, label_smoothing=0.1)
    loss += 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in tf1.trainable_variables()
                             if "batch_normalization" not in v.name])
    step = _step()
    rate = tf1.train.piecewise_constant(step, [8, 16], [0.02, 0.01, 0.002])
    tf1.summary.scalar("learning_rate", rate)
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        return loss, tf1.train.MomentumOptimizer(rate, 0.9, use_nesterov=True).minimize(loss, step)


def _nchw(features, labels):
    """Convolutions, pools, batch normalization and a concatenation of images [N,C,H,W]."""
    first = dict(data_format="channels_first")
    x = tf.transpose(features["image"], [0, 3, 1, 2])
    x = tf1.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu, **first)
    x = tf1.layers.max_pooling2d(x, 3, 2, padding="same", **first)
    for strides in (1, 2):
        y = tf1.layers.conv2d(x, 4, 3, strides, padding="same", use_bias=False, **first)
        y = tf.nn.relu(tf1.layers.batch_normalization(y, axis=1, momentum=0.9, training=True))
        x = tf1.layers.average_pooling2d(x, 1, strides, padding="same", **first)
        x = tf.concat([x, y + 0.5 * x[:, :4]], 1)
    logits = tf1.layers.dense(tf.reduce_mean(x, [2, 3]), 5)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        return loss, tf1.train.MomentumOptimizer(0.05, 0.9).minimize(loss, _step())


def _bert(features, labels):
    del labels  # they are a feature
    _step()
    _, pooled, _ = bert.bert(features)
    weights, bias = bert.variable("output_weights", [3, bert.UNITS]), bert.bias("output_bias", 3)
    with tf1.variable_scope("loss"):
        loss = tf.reduce_mean(bert.cross_entropy(pooled, weights, bias, features["label_ids"]))
    return loss, bert.train_op(loss)


def _embedding(make_optimizer):
    def model_fn(features, labels):
        table = tf1.get_variable("embeddings", [40, 6],
                                 initializer=tf1.random_normal_initializer(stddev=0.5))
        words = tf.nn.embedding_lookup(table, features["words"])
        mask = tf.cast(tf.sequence_mask(features["length"], 7), tf.float32)[:, :, None]
        mean = tf.reduce_sum(words * mask, 1) / tf.reduce_sum(mask, 1)
        hidden = tf1.layers.dense(mean, 8, activation=tf.nn.tanh)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(hidden, 3))
        return loss, make_optimizer().minimize(loss, _step())
    return model_fn


def _two_losses(x, labels):
    """A shared trunk is trained by one optimizer, a second head by another one."""
    with tf1.variable_scope("trunk"):
        hidden = tf1.layers.dense(x, 8, activation=tf.nn.tanh)
    with tf1.variable_scope("classes"):
        first = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(hidden, 3))
    with tf1.variable_scope("copy"):
        second = tf1.losses.mean_squared_error(x, tf1.layers.dense(tf.stop_gradient(hidden),
                                                                   x.shape[1]))
    variables = {key: tf1.trainable_variables(key) for key in ("trunk", "classes", "copy")}
    one = tf1.train.MomentumOptimizer(0.05, 0.9).minimize(first, _step(),
                                                          variables["trunk"] + variables["classes"])
    two = tf1.train.AdamOptimizer(0.01).minimize(second, var_list=variables["copy"])
    return first + second, tf.group(one, two)


def _cond(x, labels):
    hidden = tf1.layers.dense(x, 8, activation=tf.nn.tanh)
    step = _step()
    hidden = tf.cond(step < 15, lambda: hidden * 2.0, lambda: tf.nn.relu(hidden) + 1.0)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(hidden, 3))
    rate = tf.cond(step < 10, lambda: tf.constant(0.02), lambda: 0.2 / tf.cast(step, tf.float32))
    return loss, tf1.train.GradientDescentOptimizer(rate).minimize(loss, step)


def _optimizers():
    train = tf1.train
    return {
        "sgd": lambda: train.GradientDescentOptimizer(train.exponential_decay(0.1, _step(), 10,
                                                                              0.9)),
        "momentum": lambda: train.MomentumOptimizer(train.exponential_decay(0.02, _step(), 10,
                                                                            0.95), 0.9),
        "nesterov": lambda: train.MomentumOptimizer(0.02, 0.9, use_nesterov=True),
        "adam": lambda: train.AdamOptimizer(0.001, epsilon=1e-4),
        "adagrad": lambda: train.AdagradOptimizer(0.02),
        "adadelta": lambda: train.AdadeltaOptimizer(1.0, epsilon=1e-5),
        "rms_prop": lambda: train.RMSPropOptimizer(0.002, momentum=0.9, epsilon=1e-3),
        "rms_prop_centered": lambda: train.RMSPropOptimizer(0.005, momentum=0.5, epsilon=1e-3,
                                                            centered=True),
        "ftrl": lambda: train.FtrlOptimizer(0.02, initial_accumulator_value=1e-4,
                                            l1_regularization_strength=1e-4,
                                            l2_regularization_strength=1e-3),
        "proximal_adagrad": lambda: train.ProximalAdagradOptimizer(
            0.02, l1_regularization_strength=1e-3,
                                                                   l2_regularization_strength=1e-2),
    }


def tiny():
    """The case whose files are in this folder: 8x8 images, Momentum with a schedule, dropout."""
    optimizer = _optimizers()["momentum"]
    return Case("tiny", _mnist(optimizer, filters=(3,), units=6, size=3), *_images(8))


def lengths():
    """The case whose files are in `lengths`: sentences, whose batches have 5 different lengths."""
    rng = np.random.default_rng(3)
    tokens = rng.integers(1, 20, (BATCHES * BATCH, 9)).astype(np.int32)
    longest = np.repeat([4, 9, 2, 6, 7], BATCH)
    ends = np.maximum(1, longest - np.arange(BATCHES * BATCH) % BATCH)
    tokens[np.arange(9) >= ends[:, None]] = 0

    def model_fn(tokens, labels):
        words = tf.nn.embedding_lookup(tf1.get_variable("words", [20, 6]), tokens)
        mask = tf.expand_dims(tf.cast(tokens > 0, tf.float32), -1)
        sentence = tf.reduce_sum(words * mask, 1) / tf.reduce_sum(mask, 1)
        # Of one size: TensorFlow's next numbers depend on how many were drawn before.
        sentence = tf1.layers.dropout(sentence, 0.25, training=True)
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf1.layers.dense(sentence, 3))
        return loss, tf1.train.MomentumOptimizer(0.5, 0.9).minimize(loss, _step())

    return Case("lengths", model_fn, tokens, (tokens.sum(1) % 3).astype(np.int32), trimmed=True)


def whole_mnist():
    """The network of models/mnist in full size, under its default optimizer."""
    optimizer = lambda: tf1.train.GradientDescentOptimizer(  # noqa: E731
        tf1.train.exponential_decay(0.05, _step(), 781, 0.95))
    return Case("mnist", _mnist(optimizer, filters=(32, 64), units=1024), *_images(28))


def cases():
    rng = np.random.default_rng(2)
    count = BATCHES * BATCH
    x, labels = rng.standard_normal((count, 6)).astype(np.float32), rng.integers(
        0, 3, count).astype(np.int32)
    result = [tiny(), lengths()]
    for name, optimizer in _optimizers().items():
        result.append(Case(f"mnist_{name}", _mnist(optimizer), *_images(28), tpu=name == "momentum",
                           static=name == "adam", resource=name in ("nesterov", "adagrad", "ftrl")))
    result.append(Case("batch_norm", _batch_norm(fused=False), x, labels))
    result.append(Case("batch_norm_fused", _batch_norm(fused=True), x, labels, resource=True))
    result.append(Case("moving_averages", _moving_averages, x, labels))
    pictures = rng.standard_normal((count, 15, 15, 3)).astype(np.float32)
    kinds = rng.integers(0, 5, count).astype(np.int32)
    result.append(Case("resnet", _resnet, {"image": pictures}, kinds))
    result.append(Case("resnet_resource", _resnet, {"image": pictures}, kinds, static=True,
                       resource=True, tpu=True))
    result.append(Case("nchw", _nchw, {"image": pictures}, kinds))
    rng, batches = bert.batches(BATCHES)
    features = {key.split("/")[1]: array.reshape(-1, *array.shape[2:]) for key,
                array in batches.items()}
    features["label_ids"] = rng.integers(0, 3, BATCHES * bert.BATCH).astype(np.int32)
    # A key's bias adds one number to all scores of a word, which does not change their softmax.
    result.append(Case("bert", _bert, features, None, rows=bert.BATCH, static=True, tpu=True,
                       without=["key/bias"]))
    words = {"words": rng.integers(0, 40, (count, 7)).astype(np.int32),
             "length": rng.integers(1, 8, count).astype(np.int32)}
    for name in ("sgd", "momentum", "adam", "adagrad"):
        result.append(Case(f"embedding_{name}", _embedding(_optimizers()[name]), words, labels))
    result.append(Case("embedding_resource", _embedding(_optimizers()["adagrad"]), words, labels,
                       resource=True))
    result.append(Case("two_losses", _two_losses, x, labels))
    result.append(Case("cond", _cond, x, labels))
    result.append(Case("cond_v2", _cond, x, labels, resource=True, control_flow_v2=True))
    return result
