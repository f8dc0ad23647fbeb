#!/usr/bin/env python3
"""train_and_evaluate: TensorFlow and we evaluate and export the same steps, with the same losses.

Each case runs in both, and then once more to a later max_steps, as a restarted program does.

Usage: check_train_and_evaluate.py TRAIN_AND_EVALUATE_TOOL
TRAIN_AND_EVALUATE_TOOL is built from //tools/interop:train_and_evaluate_tool.
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
estimators = v1.estimator

CHECKPOINT_STEPS = 10  # as in the tool

# name: [(max_steps of each start)], throttle_secs, stop_below, memory_every
CASES = {
    "every checkpoint": ([22], 0, 0, 0),
    "throttled": ([40], 600, 0, 0),
    "stopped early": ([100], 0, 1.0, 0),
    "in memory": ([10], 0, 0, 4),
    "restarted": ([20, 35], 0, 0, 0),
}


def model_fn(features, labels, mode):
    y = v1.layers.dense(features["x"], 1, kernel_initializer=v1.zeros_initializer())
    if mode == estimators.ModeKeys.PREDICT:
        return estimators.EstimatorSpec(mode, predictions={"y": y})
    loss = v1.losses.mean_squared_error(labels, y)
    if mode == estimators.ModeKeys.EVAL:
        return estimators.EstimatorSpec(mode, loss=loss)
    step = v1.train.get_global_step()
    return estimators.EstimatorSpec(mode, loss=loss,
                                    train_op=v1.train.GradientDescentOptimizer(0.1).minimize(
                                        loss, step))


def points():
    x = (np.arange(100, dtype=np.float32) / 100).reshape(100, 1)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, 3 * x + 1))


def tensorflow(directory, max_steps, throttle_secs, stop_below, memory_every):
    config = estimators.RunConfig(model_dir=directory, save_checkpoints_steps=CHECKPOINT_STEPS)
    estimator = estimators.Estimator(model_fn, config=config)
    receiver = estimators.export.build_raw_serving_input_receiver_fn(
        {"x": v1.placeholder(tf.float32, [None, 1])})
    eval_input = lambda: points().batch(50)  # noqa: E731
    hooks = []
    if stop_below:
        hooks.append(estimators.experimental.stop_if_lower_hook(
            estimator, "loss", stop_below, run_every_secs=None, run_every_steps=1))
    if memory_every:
        hooks.append(estimators.experimental.InMemoryEvaluatorHook(
            estimator, eval_input, name="memory", every_n_iter=memory_every))
    exporters = [estimators.LatestExporter("latest", receiver, exports_to_keep=2),
                 estimators.BestExporter("best", receiver),
                 estimators.FinalExporter("final", receiver)]
    estimators.train_and_evaluate(
        estimator,
        estimators.TrainSpec(lambda: points().repeat().batch(20), max_steps=max_steps, hooks=hooks),
        estimators.EvalSpec(eval_input, steps=None, exporters=exporters,
                            throttle_secs=throttle_secs))


def losses(directory):
    """Returns {step: loss} of the event files of a folder."""
    found = {}
    for path in sorted(glob.glob(os.path.join(directory, "*.tfevents.*"))):
        for event in v1.train.summary_iterator(path):
            for value in event.summary.value:
                if value.tag == "loss":
                    found[event.step] = value.simple_value
    return found


def exported_steps(directory):
    """Returns {exporter: [step, ...]}."""
    steps = {}
    for path in sorted(glob.glob(os.path.join(directory, "export", "*", "*"))):
        exporter = os.path.basename(os.path.dirname(path))
        step = tf.train.load_variable(os.path.join(path, "variables", "variables"), "global_step")
        steps.setdefault(exporter, []).append(int(step))
    return steps


def check(name, tool, ours, theirs):
    starts, *options = CASES[name]
    for max_steps in starts:
        subprocess.run([tool, ours] + [str(word) for word in [max_steps] + options], check=True,
                       stderr=subprocess.DEVNULL)
        for _ in range(10):
            with tf.Graph().as_default():
                tensorflow(theirs, max_steps, *options)
            # TensorFlow's early stopping hook reads global_step while the step adds to it. If it
            # sees the same step in two runs, it stops one step later. Such a run is repeated.
            stop_below = options[1]
            if not stop_below or max(losses(os.path.join(theirs, "eval"))) % CHECKPOINT_STEPS == 0:
                break
            shutil.rmtree(theirs)
    for folder in ("eval", "eval_memory"):
        a, b = losses(os.path.join(ours, folder)), losses(os.path.join(theirs, folder))
        assert list(a) == list(
            b), f"{name}: we evaluate {list(a)} in {folder}, TensorFlow {list(b)}"
        np.testing.assert_allclose(list(a.values()), list(b.values()), rtol=1e-5)
    a, b = exported_steps(ours), exported_steps(theirs)
    assert a == b, f"{name}: we export {a}, TensorFlow {b}"
    print(f"passed: {name}: evaluated {list(losses(os.path.join(ours, 'eval')))}, exported {a}")


def main():
    tool = os.path.abspath(sys.argv[1])
    v1.logging.set_verbosity(v1.logging.ERROR)
    for name in CASES:
        with tempfile.TemporaryDirectory() as directory:
            check(name, tool, os.path.join(directory, "ours"), os.path.join(directory, "theirs"))


if __name__ == "__main__":
    main()
