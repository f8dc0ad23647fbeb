"""Writes the public names of TensorFlow 2.15.1 with which //docs:api_names_test compares ours.

The output is sorted and has one name per line: `losses.huber_loss(labels, predictions, weights=,
delta=)`. An argument with a default ends in "=". A name without parentheses is a constant or an
enum. The names are those of tf.compat.v1, because Estimator programs use that API: names of the
modules that such programs call on a tensor, an input, a file or an Estimator, and as `tf.NAME`
names that are only in tf.

Usage: generate.py > tensorflow_2_15_1.txt      (Python 3.9 to 3.11 with tensorflow-cpu==2.15.1)
"""
import inspect
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf  # noqa: E402

assert tf.__version__ == "2.15.1", tf.__version__
tf1 = tf.compat.v1

MODULES = ["estimator", "estimator.experimental", "estimator.export", "estimator.tpu",
           "initializers", "layers", "losses", "math", "metrics", "nn", "tpu", "train",
           "bitwise", "data", "data.experimental", "image", "io", "linalg", "random", "summary"]
# Classes whose methods users call or override.
WITH_METHODS = ["estimator.Estimator", "estimator.tpu.TPUEstimator", "estimator.SessionRunHook",
                "estimator.CheckpointSaverListener", "train.Optimizer",
                "train.ExponentialMovingAverage", "tpu.CrossShardOptimizer", "data.Dataset"]


def signature(value):
    """The arguments of a callable as "(a, b=)", or "" if it has no signature."""
    if inspect.isclass(value):
        if not inspect.isfunction(value.__init__) and not hasattr(value, "_fields"):
            return ""
        value = value.__new__ if hasattr(value, "_fields") else value.__init__
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return ""
    words = []
    for parameter in parameters:
        if parameter.name in ("self", "cls", "_cls") or parameter.kind in (
                parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        words.append(parameter.name + ("" if parameter.default is parameter.empty else "="))
    return "(" + ", ".join(words) + ")"


def resolve(name):
    value = tf1
    for part in name.split("."):
        value = getattr(value, part)
    return value


lines, seen = set(), []
for module_name in MODULES:
    module = resolve(module_name)
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        seen.append(value)
        lines.add(f"{module_name}.{name}" + (signature(value) if callable(value) else ""))
for class_name in WITH_METHODS:
    cls = resolve(class_name)
    lines.add(class_name + signature(cls))
    for name in dir(cls):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(cls, name)
        value = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        lines.add(f"{class_name}.{name}" + (signature(value) if callable(value) else ""))
# Of tf itself: the names that are not in a module above, too.
listed = set(map(id, seen))
for name in dir(tf1):
    value = getattr(tf1, name)
    if name.startswith("_") or inspect.ismodule(value) or id(value) in listed or not callable(
        value):
        continue
    lines.add(f"tf.{name}" + signature(value))
print("\n".join(sorted(lines)))
