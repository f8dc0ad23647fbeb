"""What Keras' callbacks do, epoch by epoch: cases.json.

    ~/.cache/estimator-interop/bin/python testdata/callbacks/generate.py

TensorFlow 2.15.1. Each case has the options of a callback, the logs of each epoch, and what the
callback did: the rates (ReduceLROnPlateau), the epoch after which it stopped and the epoch whose
weights the model then had (EarlyStopping), the files that were written (ModelCheckpoint), the bytes
of the file (CSVLogger).
"""

import json
import os
import random
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
callbacks = tf.keras.callbacks
random.seed(37)


class Model:
    """What callbacks see of a model. Its weights are the number of the epoch."""

    def __init__(self):
        self.optimizer = tf.keras.optimizers.SGD(0.1)
        self.stop_training = False
        self.distribute_strategy = tf.distribute.get_strategy()
        self.weights = -1
        self.saved = []

    def get_weights(self):
        return self.weights

    def set_weights(self, weights):
        self.weights = weights

    def save_weights(self, path, overwrite=True, options=None):
        self.saved.append(path)


def values(count):
    """A falling curve with noise, and some equal numbers."""
    result, level = [], 1.0
    for _ in range(count):
        level = max(0.05, level - random.choice([0.2, 0.05, 0.01, 0.0, -0.02]))
        result.append(round(level + random.choice([0, 0, 0.001, -0.001, 0.03]), 3))
    return result


def fit(callback, model, logs_of_epochs):
    callback.set_model(model)
    callback.on_train_begin()
    rates = []
    for epoch, logs in enumerate(logs_of_epochs):
        callback.on_epoch_begin(epoch)
        model.weights = epoch
        callback.on_epoch_end(epoch, dict(logs))
        rates.append(float(model.optimizer.lr.numpy()))
        if model.stop_training:
            break
    callback.on_train_end()
    return rates


def plateau():
    options = {
        "monitor": random.choice(["val_loss", "accuracy"]),
        "factor": random.choice([0.5, 0.1, 0.666]),
        "patience": random.choice([0, 1, 2, 4]), "mode": random.choice(["auto", "min", "max"]),
        "min_delta": random.choice([0, 1e-4, 0.01, 0.05]), "cooldown": random.choice([0, 1, 3]),
        "min_lr": random.choice([0, 1e-3, 0.02])}
    logs = [{options["monitor"]: value} for value in values(24)]
    return {"options": options, "logs": logs,
            "rates": fit(callbacks.ReduceLROnPlateau(**options), Model(), logs)}


def early_stopping():
    options = {
        "monitor": random.choice(["val_loss", "val_auc", "accuracy"]),
        "min_delta": random.choice([0, 0.01, -0.02, 0.05]), "patience": random.choice([0, 1, 2, 4]),
        "mode": random.choice(["auto", "auto", "min", "max"]),
        "baseline": random.choice([None, None, 0.3, 0.9]), "restore_best_weights": True,
        "start_from_epoch": random.choice([0, 0, 3])}
    numbers = values(24)
    if random.random() < 0.2:
        numbers = [float("nan")] * 6 + numbers
    logs = [{options["monitor"]: value} for value in numbers]
    model = Model()
    epochs = len(fit(callbacks.EarlyStopping(**options), model, logs))
    return {"options": options, "logs": logs, "epochs": epochs, "weights_of": model.weights}


def model_checkpoint():
    options = {
        "monitor": random.choice(["val_loss", "val_acc"]), "save_best_only": random.random() < 0.7,
        "mode": random.choice(["auto", "min", "max"]),
        "initial_value_threshold": random.choice([None, 0.5])}
    logs = [{options["monitor"]: value, "loss": value / 3} for value in values(12)]
    model = Model()
    pattern = "ep{epoch:03d}_{loss:.4f}_{%s}_{loss:8.2e}_{epoch}" % options["monitor"]
    fit(callbacks.ModelCheckpoint(pattern, save_weights_only=True, **options), model, logs)
    return {"options": options, "pattern": pattern, "logs": logs, "files": model.saved}


def csv_logger():
    # Python's floats, as the arrays of fit are NumPy's with the same text.
    logs = [{"loss": 0.5, "accuracy": 1 / 3}, {"loss": 0.25, "accuracy": 1.0, "val_loss": 1e-05}]
    separator = random.choice([",", ";"])
    if random.random() < 0.5:
        logs = [dict(entry, val_loss=0.125) for entry in logs]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.csv")
        fit(callbacks.CSVLogger(path, separator=separator), Model(), logs)
        with open(path, newline="") as file:
            text = file.read()
    return {"options": {"separator": separator}, "logs": logs, "text": text}


def main():
    cases = {"ReduceLROnPlateau": [plateau() for _ in range(60)],
             "EarlyStopping": [early_stopping() for _ in range(60)],
             "ModelCheckpoint": [model_checkpoint() for _ in range(20)],
             "CSVLogger": [csv_logger() for _ in range(6)]}
    with open(os.path.join(HERE, "cases.json"), "w") as file:
        text = json.dumps(cases, separators=(",", ":"))
        file.write(text.replace("NaN", "null") + "\n")  # JSON has no NaN
    print(tf.__version__, {name: len(c) for name, c in cases.items()}, file=sys.stderr)


if __name__ == "__main__":
    main()
