#!/usr/bin/env python3
"""Small models that TensorFlow writes, with inputs and the outputs that TensorFlow computes from
them.

Usage: generate.py [CASE ...]     (default: all; each is written to a folder of its name beside this
                                  script)
The files were made with tensorflow-cpu 2.15.1 and Python 3.11. They are deterministic except for
TensorFlow's metadata.

A case is a directory: a SavedModel in `model/`, or `model.ckpt.*` with its `.meta`; and the bundle
`golden` (tf.train.load_checkpoint reads it) with `<signature>/input/<name>` and
`<signature>/output/<name>`.
"""

import os
import shutil
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
HERE = os.path.dirname(os.path.abspath(__file__))


def write_golden(path, values):
    names = sorted(values)
    with tf.Graph().as_default(), v1.Session() as session:
        tensors = [tf.constant(values[n]) for n in names]
        session.run(tf.raw_ops.SaveV2(prefix=os.path.join(path, "golden"), tensor_names=names,
                                      shape_and_slices=[""] * len(names), tensors=tensors))


def random_variables(session, seed=5):
    """Gives every variable a random value, including the statistics of batch normalization."""
    rng = np.random.RandomState(seed)
    for variable in v1.global_variables():
        value = rng.uniform(-0.3, 0.3, variable.shape)
        if "variance" in variable.name or "gamma" in variable.name:
            value = np.abs(value) + 0.5
        variable.load(value.astype(variable.dtype.base_dtype.as_numpy_dtype), session)


def export_v1(path, build, feeds, signature="serving_default", method=None):
    """build() -> (inputs, outputs) as dicts of tensors."""
    with tf.Graph().as_default(), v1.Session() as session:
        inputs, outputs = build()
        session.run(v1.global_variables_initializer())
        random_variables(session)
        method = method or v1.saved_model.signature_constants.PREDICT_METHOD_NAME
        builder = v1.saved_model.Builder(os.path.join(path, "model"))
        infos = [{k: v1.saved_model.build_tensor_info(t) for k, t in d.items()}
                 for d in (inputs, outputs)]
        builder.add_meta_graph_and_variables(
            session, ["serve"], {signature: v1.saved_model.build_signature_def(*infos, method)},
            strip_default_attrs=True)
        builder.save()
        results = session.run(outputs, {inputs[k]: v for k, v in feeds.items()})
    golden = {f"{signature}/input/{k}": v for k, v in feeds.items()}
    golden.update({f"{signature}/output/{k}": v for k, v in results.items()})
    write_golden(path, golden)


def images(n, size, channels, seed=3):
    return np.random.RandomState(seed).uniform(0, 1, (n, size, size, channels)).astype(np.float32)


def mnist(path):
    """The MNIST network in miniature: ref variables, tf.layers, a reshape to [-1, ...], dropout for
    serving."""
    def build():
        v1.disable_resource_variables()
        image = v1.placeholder(tf.float32, [None, 144], "image")
        x = tf.reshape(image, [-1, 12, 12, 1])
        x = v1.layers.conv2d(x, 4, 5, padding="same", activation=tf.nn.relu)
        x = v1.layers.max_pooling2d(x, 2, 2)
        x = v1.layers.conv2d(x, 8, 5, padding="same", activation=tf.nn.relu)
        x = v1.layers.max_pooling2d(x, 2, 2)
        x = v1.layers.dense(v1.layers.flatten(x), 16, activation=tf.nn.relu)
        logits = v1.layers.dense(v1.layers.dropout(x, 0.4, training=False), 10)
        return {"image": image}, {"classes": tf.argmax(logits, axis=1),
                                  "probabilities": tf.nn.softmax(logits)}
    export_v1(path, build, {"image": images(5, 12, 1).reshape(5, 144)})


def batch_norm(path):
    """Resource variables, fused batch norm with moving averages, separable and strided
    convolutions, average pooling, shapes that are computed while the graph runs, slices with
    ellipsis and new axis."""
    def build():
        v1.enable_resource_variables()
        image = v1.placeholder(tf.float32, [None, 8, 8, 3], "image")
        x = v1.layers.conv2d(image, 6, 3, padding="same", use_bias=False)
        x = tf.nn.relu6(v1.layers.batch_normalization(x, training=False))
        x = v1.layers.separable_conv2d(x, 8, 3, strides=2, padding="same", activation=tf.nn.elu)
        x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
        x = v1.layers.batch_normalization(v1.layers.conv2d(x, 8, 3), training=False, fused=False,
                                          name="plain_norm")
        x = v1.layers.average_pooling2d(x, 2, 2)
        batch = tf.shape(x)[0]
        flat = tf.reshape(x, [batch, tf.size(x) // batch])
        up = v1.layers.conv2d_transpose(x, 3, 2, strides=2)
        return {"image": image}, {
            "flat": flat,
            "mean": tf.reduce_mean(x, axis=[1, 2]),
            "up": up,
            "slices": image[:, 1:-1:2, tf.newaxis, ..., -1] * tf.cast(batch, tf.float32),
            "tiled": tf.tile(tf.expand_dims(flat, 1), [1, 3, 1])[:, ::-1],
            "zeros": tf.zeros([batch, 2]) + tf.fill(tf.stack([batch, 2]), 0.5),
        }
    export_v1(path, build, {"image": images(4, 8, 3)})


def attention(path):
    """A multi-head attention block as in BERT, with a mask, layer norm, gelu, an embedding by
    one-hot product and a partitioned embedding."""
    def build():
        v1.enable_resource_variables()
        ids = v1.placeholder(tf.int32, [None, 6], "ids")
        mask = v1.placeholder(tf.int32, [None, 6], "mask")
        batch, length, heads, size = tf.shape(ids)[0], 6, 2, 4
        width = heads * size
        table = v1.get_variable("word", [11, width], partitioner=v1.fixed_size_partitioner(3))
        x = tf.gather(tf.convert_to_tensor(table), ids)  # the parts, joined
        types = v1.get_variable("types", [2, width])
        x += tf.reshape(tf.matmul(tf.one_hot(tf.reshape(ids % 2, [-1]), 2), types),
                        [batch, length, width])

        def norm(x, name):
            gamma, beta = v1.get_variable(name + "/gamma", [width]), v1.get_variable(name + "/beta",
                                                                                     [width])
            mean, variance = tf.nn.moments(x, [-1], keepdims=True)
            return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)

        def split(x, name):
            x = v1.layers.dense(x, width, name=name)
            return tf.transpose(tf.reshape(x, [batch, length, heads, size]), [0, 2, 1, 3])
        x = norm(x, "input_norm")
        q, k, v = split(x, "query"), split(x, "key"), split(x, "value")
        scores = tf.matmul(q, k, transpose_b=True) / np.sqrt(size)
        scores += (1.0 - tf.cast(mask[:, tf.newaxis, tf.newaxis, :], tf.float32)) * -10000.0
        probabilities = tf.nn.softmax(scores)
        context = tf.reshape(tf.transpose(tf.matmul(probabilities, v), [0, 2, 1, 3]),
                             [batch, length, width])
        x = norm(x + v1.layers.dense(context, width, name="output"), "output_norm")
        hidden = v1.layers.dense(x, 12, name="hidden")
        hidden *= 0.5 * (1.0 + tf.tanh(np.sqrt(2 / np.pi)
                                       * (hidden + 0.044715 * tf.pow(hidden, 3))))
        pooled = tf.squeeze(x[:, 0:1, :], axis=1)
        return {"ids": ids, "mask": mask}, {
            "pooled": v1.layers.dense(pooled, 5, activation=tf.tanh, name="pooler"),
            "hidden": hidden,
            "heads": tf.einsum("bhqk,bhkd->bqhd", probabilities, v),
        }
    rng = np.random.RandomState(2)
    ids = rng.randint(0, 11, (3, 6)).astype(np.int32)
    export_v1(path, build, {"ids": ids, "mask": (ids > 2).astype(np.int32)})


def parsing(path):
    """An embedding classifier whose receiver takes serialized Examples."""
    def build():
        v1.enable_resource_variables()
        serialized = v1.placeholder(tf.string, [None], "examples")
        features = v1.io.parse_example(serialized, {
            "words": tf.io.FixedLenFeature([4], tf.int64),
            "weight": tf.io.FixedLenFeature([], tf.float32, default_value=0.5),
        })
        table = v1.get_variable("embedding", [9, 3])
        x = tf.reduce_sum(tf.nn.embedding_lookup(table, features["words"]), axis=1)
        logits = v1.layers.dense(x * features["weight"][:, tf.newaxis], 4)
        top = tf.math.top_k(logits, 2)
        return {"examples": serialized}, {"scores": tf.nn.softmax(logits), "top": top.values,
                                          "top_ids": top.indices}
    examples = []
    for i, words in enumerate([[1, 2, 3, 4], [0, 8, 8, 5], [7, 7, 7, 7]]):
        feature = {"words": tf.train.Feature(int64_list=tf.train.Int64List(value=words))}
        if i != 1:
            feature["weight"] = tf.train.Feature(
                float_list=tf.train.FloatList(value=[0.25 * i + 1]))
        examples.append(
            tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    feeds = {"examples": np.array(examples, dtype=object)}
    export_v1(path, build, feeds, method=v1.saved_model.signature_constants.CLASSIFY_METHOD_NAME)


def classifier(path):
    """Classes as strings, as the heads of TensorFlow's canned classifiers write them."""
    def build():
        v1.enable_resource_variables()
        x = v1.placeholder(tf.float32, [None, 4], "x")
        logits = v1.layers.dense(x, 3)
        probabilities = tf.nn.softmax(logits)
        all_classes = tf.tile(tf.expand_dims(tf.strings.as_string(tf.range(3)), 0),
                              [tf.shape(logits)[0], 1])
        return {"x": x}, {"scores": probabilities,
                          "classes": tf.strings.as_string(tf.argmax(logits, 1), name="str_classes"),
                          "all_classes": all_classes,
                          "texts": tf.strings.as_string(tf.cast(x * 4, tf.int32), width=4,
                                                        fill="0")}
    export_v1(path, build,
              {"x": np.random.RandomState(9).uniform(-9, 9, (5, 4)).astype(np.float32)})


def estimator(path):
    """An export by tf.estimator of a model like its linear classifier: model_fn, train,
    export_saved_model."""
    v1.disable_resource_variables()

    def model_fn(features, labels, mode):
        x = v1.layers.dense(features["x"], 7, activation=tf.nn.relu)
        x = v1.layers.batch_normalization(x, training=mode == tf.estimator.ModeKeys.TRAIN)
        logits = v1.layers.dense(x, 3)
        predictions = {"classes": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions, export_outputs={
                "serving_default": tf.estimator.export.PredictOutput(predictions),
                "regress": tf.estimator.export.RegressionOutput(logits[:, 0])})
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        train_op = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, v1.train.get_global_step())
        train_op = tf.group(train_op, *v1.get_collection(v1.GraphKeys.UPDATE_OPS))
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    rng = np.random.RandomState(4)
    x = rng.uniform(-1, 1, (64, 5)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(np.int64) + (x[:, 2] > 0)
    with tempfile.TemporaryDirectory() as directory:
        trained = tf.estimator.Estimator(model_fn, os.path.join(directory, "m"),
                                         tf.estimator.RunConfig(tf_random_seed=1))
        trained.train(lambda: tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat().batch(16),
                      steps=20)
        receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(
            {"x": tf.io.FixedLenFeature([5], tf.float32)})
        exported = trained.export_saved_model(os.path.join(directory, "e"), receiver)
        shutil.copytree(exported.decode(), os.path.join(path, "model"))
    examples = np.array([tf.train.Example(features=tf.train.Features(feature={
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=row))})).SerializeToString()
                         for row in x[:3]],
        dtype=object)
    golden = {}
    with tf.Graph().as_default(), v1.Session() as session:
        meta = v1.saved_model.load(session, ["serve"], os.path.join(path, "model"))
        for name, signature in meta.signature_def.items():
            (key, info), = signature.inputs.items()
            golden[f"{name}/input/{key}"] = examples
            outputs = {k: t.name for k, t in signature.outputs.items()}
            for k, value in session.run(outputs, {info.name: examples}).items():
                golden[f"{name}/output/{k}"] = value
    write_golden(path, golden)


def meta_graph(path):
    """The .meta file of a training graph and its checkpoint, as tf.train.Saver writes them. There
    are no signatures, so the test uses names of tensors."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.disable_resource_variables()
        x = v1.placeholder(tf.float32, [None, 4], "x")
        labels = v1.placeholder(tf.int32, [None], "labels")
        hidden = v1.layers.dense(x, 5, activation=tf.nn.leaky_relu)
        logits = tf.identity(v1.layers.dense(hidden, 3), "logits")
        loss = tf.identity(v1.losses.sparse_softmax_cross_entropy(labels, logits), "the_loss")
        v1.train.AdamOptimizer(0.01).minimize(loss, v1.train.get_or_create_global_step())
        session.run(v1.global_variables_initializer())
        random_variables(session)
        v1.train.Saver(sharded=True).save(session, os.path.join(path, "model.ckpt"))
        feeds = {"x": np.random.RandomState(8).uniform(-1, 1, (4, 4)).astype(np.float32),
                 "labels": np.array([0, 2, 1, 1], np.int32)}
        results = session.run({"logits": logits, "loss": loss},
                              {"x:0": feeds["x"], "labels:0": feeds["labels"]})
    os.remove(os.path.join(path, "checkpoint"))
    golden = {f"train/input/{k}": v for k, v in feeds.items()}
    golden.update({f"train/output/{k}": v for k, v in results.items()})
    write_golden(path, golden)


def tf2_module(path):
    """tf.saved_model.save of a tf.Module: functions that call functions, object-graph names in the
    checkpoint."""
    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            rng = np.random.RandomState(6)
            self.layers = [tf.Variable(rng.uniform(-1, 1, s).astype(np.float32))
                           for s in ((4, 6), (6, 3))]
            self.bias = tf.Variable(rng.uniform(-1, 1, (3,)).astype(np.float32), name="bias")

        @tf.function
        def hidden(self, x):
            return tf.nn.relu(x @ self.layers[0]), tf.split(x, 2, axis=1)

        @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
        def serve(self, x):
            h, (left, right) = self.hidden(x)
            return {"y": h @ self.layers[1] + self.bias, "right": right - left}
    net = Net()
    tf.saved_model.save(net, os.path.join(path, "model"), signatures=net.serve)
    x = np.random.RandomState(7).uniform(-1, 1, (3, 4)).astype(np.float32)
    results = {k: t.numpy() for k, t in net.serve(tf.constant(x)).items()}
    write_golden(path, {"serving_default/input/x": x,
                        **{f"serving_default/output/{k}": v for k, v in results.items()}})


def keras(path):
    """A Keras model of the functional API with batch norm and an embedding, as tf.saved_model.save
    writes it."""
    tf.keras.utils.set_random_seed(3)
    image = tf.keras.Input((6, 6, 2), name="image")
    x = tf.keras.layers.Conv2D(4, 3, activation="relu")(image)
    x = tf.keras.layers.BatchNormalization()(x)
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    word = tf.keras.Input((3,), name="word", dtype=tf.int32)
    y = tf.keras.layers.Flatten()(tf.keras.layers.Embedding(5, 2)(word))
    z = tf.keras.layers.Dense(3, activation="softmax",
                              name="probabilities")(tf.keras.layers.Concatenate()([x, y]))
    model = tf.keras.Model([image, word], z)
    model.get_layer("batch_normalization").set_weights(
        [np.array(v, np.float32) for v in ([1, .5, 2, 1], [0, .1, -.2, .3], [.1, .2, .3, .4],
                                           [1, 2, .5, .7])])
    tf.saved_model.save(model, os.path.join(path, "model"))
    feeds = {"image": images(2, 6, 2), "word": np.array([[0, 1, 4], [2, 2, 3]], np.int32)}
    loaded = tf.saved_model.load(os.path.join(path, "model")).signatures["serving_default"]
    results = {k: t.numpy() for k, t in loaded(**{k: tf.constant(v) for k,
                                                  v in feeds.items()}).items()}
    golden = {f"serving_default/input/{k}": v for k, v in feeds.items()}
    golden.update({f"serving_default/output/{k}": v for k, v in results.items()})
    write_golden(path, golden)


def loops(path):
    """Loops and branches of TensorFlow 2: map_fn, scan, foldl, while_loop with a condition on
    values and with a TensorArray, a cond inside of a loop."""

    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            rng = np.random.RandomState(8)
            self.w = tf.Variable(rng.uniform(0.2, 0.8, (3,)).astype(np.float32))
            self.m = tf.Variable(rng.uniform(-0.8, 0.8, (3, 3)).astype(np.float32))

        def cell(self, state, row):
            return tf.tanh(tf.linalg.matvec(self.m, state) + row)

        @tf.function(input_signature=[tf.TensorSpec([None, 4, 3], tf.float32, name="x")])
        def serve(self, x):
            rows = x[:, 0, :]

            def grow(i, v):
                return i + 1, v * 1.5 + self.w

            _, grown = tf.while_loop(lambda i, v: tf.reduce_sum(v) < 30.0, grow,
                                     [0, tf.reduce_sum(tf.abs(rows), axis=0)])
            _, cut = tf.while_loop(lambda i, v: tf.reduce_sum(v) < 1e6, grow, [0, rows[0]],
                                   maximum_iterations=3)
            array = tf.TensorArray(tf.float32, size=4)
            for step in tf.range(4):
                array = array.write(step, tf.gather(x, step, axis=1) * self.w)
            return {
                "map": tf.map_fn(lambda row: tf.nn.softmax(row * self.w), rows),
                "pairs": tf.map_fn(lambda pair: tf.reduce_sum(pair[0] * pair[1]), (rows, rows + 1),
                                   fn_output_signature=tf.float32),
                "branches": tf.map_fn(lambda row: tf.cond(tf.reduce_sum(row) > 0,
                                                          lambda: row * 2, lambda: -row), rows),
                "scan": tf.scan(self.cell, rows, self.w),
                "scan_reverse": tf.scan(self.cell, rows, self.w, reverse=True),
                "foldl": tf.foldl(self.cell, rows, self.w),
                "nested": tf.map_fn(
                    lambda block: tf.map_fn(lambda row: tf.reduce_sum(row * self.w), block), x),
                "grown": grown,
                "cut": cut,
                "array": array.stack(),
            }
    net = Net()
    x = np.random.RandomState(7).uniform(-1, 1, (5, 4, 3)).astype(np.float32)
    results = {k: t.numpy() for k, t in net.serve(tf.constant(x)).items()}
    tf.saved_model.save(net, os.path.join(path, "model"), signatures=net.serve)
    write_golden(path, {"serving_default/input/x": x,
                        **{f"serving_default/output/{k}": v for k, v in results.items()}})


def loop_gradients(path):
    """The gradients of loops and branches, as TensorFlow builds them in a graph with functional
    control flow: lists that the loop appends to and that the gradient's loop takes from."""
    def build():
        v1.enable_resource_variables()
        x = v1.placeholder(tf.float32, [None, 3], "x")
        w, m = v1.get_variable("w", [3]), v1.get_variable("m", [3, 3])

        def cell(state, row):
            return tf.tanh(tf.linalg.matvec(m, state) + row)
        values = {
            "map": tf.map_fn(lambda row: tf.sigmoid(row * w) * row, x),
            "scan": tf.scan(cell, x, w),
            "foldl": tf.foldl(cell, x, w),
            "while": tf.while_loop(lambda i, v: tf.reduce_sum(v) < 30.0,
                                   lambda i, v: (i + 1, v * v + 1.5 + w),
                                   [0, tf.reduce_sum(tf.abs(x), axis=0)])[1],
            "limited": tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sin(v) * w),
                                     [0, x], maximum_iterations=5)[1],
            "cond": tf.cond(tf.reduce_sum(x) > 0, lambda: x * w, lambda: tf.exp(x) * w),
        }
        outputs = {}
        for name, value in values.items():
            outputs[name] = value
            gradients = v1.gradients(tf.reduce_sum(value * value), [x, w, m])
            for variable, gradient in zip("xwm", gradients):
                if gradient is not None:
                    outputs[f"{name}_{variable}"] = tf.convert_to_tensor(gradient)
        return {"x": x}, outputs
    v1.enable_control_flow_v2()
    export_v1(path, build, {"x": np.random.RandomState(5).uniform(-1, 1, (4, 3)).astype(
        np.float32)})
    v1.disable_control_flow_v2()


CASES = [mnist, batch_norm, attention, parsing, classifier, estimator, meta_graph, tf2_module,
         keras, loops, loop_gradients]


def main():
    for case in CASES:
        if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
            continue
        path = os.path.join(HERE, case.__name__)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        case(path)
        # TensorFlow 2 writes them beside the model; nothing here reads them.
        for name in ("fingerprint.pb", "keras_metadata.pb"):
            extra = os.path.join(path, "model", name)
            if os.path.exists(extra):
                os.remove(extra)
        for name in ("assets", "assets.extra"):
            shutil.rmtree(os.path.join(path, "model", name), ignore_errors=True)
        print(case.__name__)


if __name__ == "__main__":
    main()
