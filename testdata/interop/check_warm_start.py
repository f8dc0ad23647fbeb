#!/usr/bin/env python3
"""Warm start: from files of TensorFlow, our first values equal those of TensorFlow's Estimator.
Moving averages instead of weights: for evaluation we restore the same values as TensorFlow.

Usage: check_warm_start.py WARM_START_TOOL     (built from //tools/interop:warm_start_tool)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.

The source is a model_dir of an Estimator with a partitioned variable, slots and global_step, its
SavedModel, and a checkpoint and a SavedModel of TensorFlow 2's objects.
Each case warm-starts a new Estimator of TensorFlow (its first checkpoint) and the same model here,
and compares all bits.
"""

import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
v1 = tf.compat.v1

# name -> shape; those with /Momentum are not trainable.
OLD = {
    "embedding": (5, 2),
    "dense/kernel": (2, 3),
    "dense/bias": (3,),
    "dense/kernel/Momentum": (2, 3),
    "output/kernel": (3, 4),
}


def model_fn(features, labels, mode, params):
    del labels
    total = tf.reduce_sum(features) * 0.0
    for name, shape in params["variables"].items():
        old = params["old"]
        total += tf.reduce_sum(
            v1.get_variable(
                name,
                shape,
                initializer=v1.random_normal_initializer(seed=1) if old
                else v1.constant_initializer(-1.0), trainable="/Momentum" not in name,
                partitioner=v1.fixed_size_partitioner(2) if old and name == "embedding" else None,
            )
        )
    if params.get("assignment_map"):
        v1.train.init_from_checkpoint(params["init"], params["assignment_map"])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=total)
    train_op = v1.assign_add(v1.train.get_or_create_global_step(), 1)
    return tf.estimator.EstimatorSpec(mode, loss=total, train_op=train_op)


def train(directory, params, steps, warm_start_from=None):
    estimator = tf.estimator.Estimator(model_fn, directory, params=params,
                                       warm_start_from=warm_start_from)
    estimator.train(lambda: tf.data.Dataset.from_tensors(np.zeros([1], np.float32)).repeat(),
                    steps=steps)
    return estimator


def receiver():
    x = v1.placeholder(tf.float32, [1])
    return tf.estimator.export.TensorServingInputReceiver(x, x)


def values_of(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def save_objects(directory):
    """Writes the same variables in a tf.Module, in a separate process, which is eager. Returns
    (checkpoint, SavedModel)."""
    program = f"""
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
module = tf.Module()
module.list = [tf.Variable(tf.random.stateless_normal(shape, [1, i]), name=name)
               for i, (name, shape) in enumerate(sorted({OLD!r}.items()))]
tf.train.Checkpoint(model=module).write(sys.argv[1])
tf.saved_model.save(module, sys.argv[2])
"""
    paths = [os.path.join(directory, name) for name in ("objects", "saved_objects")]
    subprocess.run([sys.executable, "-c", program] + paths, check=True, stderr=subprocess.DEVNULL)
    return paths


def vocabulary(directory, name, words):
    path = os.path.join(directory, name)
    with open(path, "w") as f:
        f.write("\n".join(words) + "\n")
    return path


def moving_averages(tool, directory):
    """Compares the values that Saver(ema.variables_to_restore()) restores from a checkpoint with
    moving averages."""
    shapes = {name: shape for name, shape in OLD.items() if "/Momentum" not in name}

    def build():
        v1.train.get_or_create_global_step()
        return {name: v1.get_variable(name, shape, initializer=v1.random_normal_initializer(seed=1))
                for name, shape in shapes.items()}

    with tf.Graph().as_default(), v1.Session() as session:
        variables = build()
        loss = tf.add_n([tf.nn.l2_loss(v) for v in variables.values()])
        step = v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss, v1.train.get_global_step())
        with tf.control_dependencies([step]):
            train_op = v1.train.ExponentialMovingAverage(0.9).apply(list(variables.values()))
        session.run(v1.global_variables_initializer())
        for _ in range(4):
            session.run(train_op)
        weights = session.run(variables)
        trained = v1.train.Saver().save(session, os.path.join(directory, "averages"), global_step=4)
    with tf.Graph().as_default(), v1.Session() as session:
        variables = build()
        v1.train.Saver(v1.train.ExponentialMovingAverage(0.9).variables_to_restore()).restore(
            session, trained)
        expected = dict(session.run(variables), global_step=session.run(v1.train.get_global_step()))
    ours = os.path.join(directory, "our_averages")
    declared = [f"var={name}:{'x'.join(map(str, shape))}" for name, shape in shapes.items()]
    subprocess.run([tool, ours] + declared + ["averages=" + trained], check=True,
                   stderr=subprocess.DEVNULL)
    got = values_of(ours)
    assert sorted(got) == sorted(expected) and expected["global_step"] == 4, (sorted(got),
                                                                              sorted(expected))
    for name, value in expected.items():
        assert np.array_equal(got[name], value), (name, got[name], value)
        assert name == "global_step" or not np.array_equal(value, weights[name]), name
    print(f"moving averages instead of weights: {len(expected)} variables, equal")


def main():
    tool = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        moving_averages(tool, directory)
        source = os.path.join(directory, "source")
        old = train(source, {"variables": OLD, "old": True}, 3)
        index = tf.train.latest_checkpoint(source)
        saved_model = old.export_saved_model(os.path.join(directory, "saved"), receiver).decode()
        words = vocabulary(directory, "words_old", ["the", "a", "cat", "dog", "sat"])
        new_words = vocabulary(directory, "words_new", ["sat", "mat", "the", "cat", "on", "a"])
        classes = vocabulary(directory, "classes_old", ["w", "x", "y", "z"])
        new_classes = vocabulary(directory, "classes_new", ["z", "v", "x"])
        objects, saved_objects = save_objects(directory)
        settings, vocab_info = tf.estimator.WarmStartSettings, tf.estimator.VocabInfo
        ones = v1.ones_initializer()
        same = dict(OLD)
        renamed = {"words": (5, 2), "layer/kernel": (2, 3), "layer/bias": (3,)}
        bigger = {"embedding": (8, 2), "dense/kernel": (2, 3), "output/kernel": (3, 4)}
        # (name, variables, TensorFlow's warm_start_from, its assignment map, arguments of our tool)
        cases = [
            ("a model_dir", same, source, None, ["from=" + source]),
            ("a prefix", same, index, None, ["from=" + index]),
            ("a SavedModel", same, saved_model, None, ["from=" + saved_model]),
            ("a checkpoint of objects", same, objects, None, ["from=" + objects]),
            ("a SavedModel of objects", same, saved_objects, None, ["from=" + saved_objects]),
            (
                "one expression",
                same,
                settings(source, vars_to_warm_start=".*kernel"),
                None,
                ["from=" + source, "regex=.*kernel"],
            ),
            (
                "a list of expressions",
                same,
                settings(source, vars_to_warm_start=["dense", "global_step"]),
                None,
                ["from=" + source, "all=dense", "all=global_step"],
            ),
            (
                "other names",
                renamed,
                settings(
                    source,
                    var_name_to_prev_var_name={
                        "words": "embedding",
                        "layer/kernel": "dense/kernel",
                        "layer/bias": "dense/bias",
                    },
                ),
                None,
                ["from=" + source, "prev=words:embedding", "prev=layer/kernel:dense/kernel",
                 "prev=layer/bias:dense/bias"],
            ),
            (
                "vocabularies",
                bigger,
                settings(
                    source,
                    var_name_to_vocab_info={
                        "embedding": vocab_info(new_words, 6, 2, words, backup_initializer=ones),
                        "output/kernel": vocab_info(new_classes, 3, 1, classes,
                                                    backup_initializer=ones, axis=1),
                    },
                ),
                None,
                [
                    "from=" + source,
                    f"vocab=embedding:{new_words}:6:2:{words}:-1:1:0",
                    f"vocab=output/kernel:{new_classes}:3:1:{classes}:-1:1:1",
                ],
            ),
            (
                "only what has a vocabulary, the first words of the old one",
                bigger,
                settings(
                    source,
                    vars_to_warm_start=None,
                    var_name_to_vocab_info={
                        "embedding": vocab_info(new_words, 6, 2, words, old_vocab_size=3,
                                                backup_initializer=ones)
                    },
                ),
                None,
                ["from=" + source, "only_vocab", f"vocab=embedding:{new_words}:6:2:{words}:3:1:0"],
            ),
            (
                "a vocabulary of a variable of another name, and a list",
                {"words": (8, 2), "layer/kernel": (2, 3), "dense/bias": (3,)},
                settings(
                    source,
                    vars_to_warm_start=["words", "dense/bias", "layer"],
                    var_name_to_prev_var_name={"words": "embedding",
                                               "layer/kernel": "dense/kernel"},
                    var_name_to_vocab_info={"words": vocab_info(new_words, 5, 3, words,
                                                                old_vocab_size=4)},
                ),
                None,
                ["from=" + source, "all=words", "all=dense/bias", "all=layer",
                 "prev=words:embedding", "prev=layer/kernel:dense/kernel",
                 f"vocab=words:{new_words}:5:3:{words}:4:0:0"],
            ),
            (
                "init_from_checkpoint",
                renamed,
                None,
                {"embedding": "words", "dense/": "layer/"},
                ["init=" + source, "assign=embedding:words", "assign=dense/:layer/"],
            ),
            (
                "init_from_checkpoint, the variables of a SavedModel",
                renamed,
                None,
                {"embedding": "words", "dense/": "layer/"},
                ["init=" + saved_model, "assign=embedding:words", "assign=dense/:layer/"],
            ),
            (
                "init_from_checkpoint of all, then warm start",
                same,
                settings(source, vars_to_warm_start="dense/bias",
                         var_name_to_prev_var_name={"dense/bias": "dense/bias"}),
                {"/": "/"},
                ["init=" + source, "assign=/:/", "from=" + source, "regex=dense/bias"],
            ),
        ]
        for i, (name, variables, warm_start_from, assignment_map,
                words_for_tool) in enumerate(cases):
            theirs = os.path.join(directory, f"theirs{i}")
            init = os.path.join(saved_model, "variables",
                                "variables") if "SavedModel" in name else source
            params = {"variables": variables, "old": False, "assignment_map": assignment_map,
                      "init": init}
            train(theirs, params, 1, warm_start_from)
            expected = values_of(
                tf.train.get_checkpoint_state(theirs).all_model_checkpoint_paths[0])
            ours = os.path.join(directory, f"ours{i}")
            declared = [
                f"{'slot' if '/Momentum' in v else 'var'}={v}:{'x'.join(map(str, shape))}" for v,
                shape in variables.items()
            ]
            subprocess.run([tool, ours] + declared + words_for_tool, check=True,
                           stderr=subprocess.DEVNULL)
            got = values_of(ours)
            assert sorted(got) == sorted(expected), (name, sorted(got), sorted(expected))
            if assignment_map == {"/": "/"}:  # docs/differences.md: scopes leave it out
                assert expected["global_step"] == 3
                expected["global_step"] = 0
            moved = 0
            for variable, value in expected.items():
                assert np.array_equal(got[variable], value), (name, variable, got[variable], value)
                moved += variable != "global_step" and not np.all(value == -1)
            assert moved > 0, (name, "nothing was warm-started")
            print(f"{name}: {len(expected)} variables, {moved} of them warm-started, equal")


if __name__ == "__main__":
    main()
