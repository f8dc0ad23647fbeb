"""Trains the network of models/naic in Keras, from the same first weights on the same records.

    tools/verify_interop.sh -k check_naic.py

Keras' model.fit with ReduceLROnPlateau and ModelCheckpoint must have the same losses and accuracies
by epoch to 1e-4, the same rates, and the same best epochs.
"""

import csv
import glob
import os
import re
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

BITS, BATCH, STEPS, EPOCHS, RATE = 64, 32, 8, 50, 0.03


class AdaBelief(tf.keras.optimizers.Optimizer):
    """adabelief_tf with its defaults (estimator/nn/train/adabelief.h has the formula)."""

    def __init__(self, learning_rate, beta_1=0.9, beta_2=0.999, epsilon=1e-14):
        super().__init__(name="AdaBelief")
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def build(self, variables):
        super().build(variables)
        if getattr(self, "m", None):
            return
        self.m = [self.add_variable_from_reference(v, "m") for v in variables]
        self.v = [self.add_variable_from_reference(v, "v") for v in variables]

    def update_step(self, gradient, variable):
        index = self._index_dict[self._var_key(variable)]
        m, v = self.m[index], self.v[index]
        # In float64: sma is a small difference of large numbers.
        t = tf.cast(self.iterations + 1, tf.float64)
        power_1, power_2 = self.beta_1**t, self.beta_2**t
        m.assign(self.beta_1 * m + (1 - self.beta_1) * gradient)
        v.assign(self.beta_2 * v + (1 - self.beta_2) * tf.square(gradient - m) + self.epsilon)
        mean = m / tf.cast(1 - power_1, tf.float32)
        deviation = tf.sqrt(v / tf.cast(1 - power_2, tf.float32)) + self.epsilon
        sma_inf = 2 / (1 - self.beta_2) - 1
        sma = sma_inf - 2 * t * power_2 / (1 - power_2)
        r = tf.sqrt((sma - 4) / (sma_inf - 4) * (sma - 2) / (sma_inf - 2) * sma_inf / sma)
        update = tf.where(sma >= 5, tf.cast(r, tf.float32) * mean / deviation, mean)
        variable.assign_sub(self.learning_rate * update)

    def get_config(self):
        return {}


def write_records(path, data):
    def feature(row):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[row.tobytes()]))

    os.makedirs(os.path.dirname(path))
    with tf.io.TFRecordWriter(path) as writer:
        for x, y in zip(*data):
            features = tf.train.Features(feature={"x": feature(x), "y": feature(y)})
            writer.write(tf.train.Example(features=features).SerializeToString())


def draw(count, seed):
    """One of four patterns, to be seen through noise: the loss soon stops to fall."""
    random = np.random.RandomState(seed)
    x = np.repeat(random.randint(0, 2, (count, 2)), BITS // 2, axis=1)
    return x.astype(np.float32), (x ^ (random.rand(count, BITS) < 1 / 16)).astype(np.float32)


def fit_keras(model_dir, train, test, folder):
    first = tf.train.load_checkpoint(os.path.join(model_dir, "model.ckpt-0"))
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(24, activation="tanh", input_shape=(BITS,)),
        tf.keras.layers.Dense(BITS)])
    for layer, name in zip(model.layers, ("dense", "dense_1")):
        layer.set_weights([first.get_tensor(name + "/kernel"), first.get_tensor(name + "/bias")])
    model.compile(AdaBelief(RATE), tf.keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[tf.keras.metrics.BinaryAccuracy(name="accuracy", threshold=0.0)])
    pattern = os.path.join(folder, "ep{epoch:03d}")
    callbacks = [
        tf.keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.666, patience=3, min_lr=1e-5),
        tf.keras.callbacks.EarlyStopping(patience=9, restore_best_weights=True),
        tf.keras.callbacks.ModelCheckpoint(pattern, monitor="loss", save_best_only=True,
                                           save_weights_only=True)]
    history = model.fit(*train, batch_size=BATCH, epochs=EPOCHS, shuffle=False, verbose=0,
                        validation_data=test, validation_batch_size=BATCH,
                        callbacks=callbacks).history
    best = {int(re.search(r"ep(\d+)", path)[1]) for path in glob.glob(folder + "/*.index")}
    return history, best, model


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        data, model_dir = os.path.join(folder, "data"), os.path.join(folder, "model")
        # Other data would let EarlyStopping end the training before a plateau.
        train = test = draw(BATCH * STEPS, 1)
        write_records(os.path.join(data, "tfrecords_train", "a.tfrecords"), train)
        write_records(os.path.join(data, "tfrecords_test", "a.tfrecords"), test)
        subprocess.run([program, "--use_tpu=false", "--data_dir=" + data, "--shuffle_buffer=1",
                        "--model_dir=" + model_dir, f"--batch_size={BATCH}", f"--epochs={EPOCHS}",
                        f"--steps_per_epoch={STEPS}", f"--learning_rate={RATE}"], check=True)
        with open(os.path.join(model_dir, "history.csv")) as file:
            ours = list(csv.DictReader(file))
        files = sorted(glob.glob(model_dir + "/best/*.h5"))
        ours_best = {int(re.search(r"ep(\d+)_", path)[1]) for path in files}
        history, best, model = fit_keras(model_dir, train, test, os.path.join(folder, "keras"))
        model.load_weights(files[-1])
        loss = model.evaluate(*test, batch_size=BATCH, verbose=0)[0]
        print(f"Keras loads {os.path.basename(files[-1])}: validation loss {loss:.4f}")
        assert f"val-loss{loss:.4f}" in files[-1]
    for name in ("loss", "accuracy", "val_loss", "val_accuracy", "lr"):
        difference = max(abs(float(row[name]) - value) for row, value in zip(ours, history[name]))
        print(f"{name}: {history[name][0]:.4f} to {history[name][-1]:.4f}, differs by at most "
              f"{difference:.1e}")
        assert difference < (1e-7 if name == "lr" else 1e-4), name
    print("best epochs:", sorted(ours_best))
    assert len(ours) == len(history["loss"]) and ours_best == best, (len(ours), best)
    assert history["lr"][-1] < history["lr"][0], "no plateau: the check shows nothing of it"


if __name__ == "__main__":
    main(sys.argv[1])
