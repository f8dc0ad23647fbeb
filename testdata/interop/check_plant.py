"""Trains the network of models/plant in Keras, from the same first weights on the same records.

    tools/verify_interop.sh -k check_plant.py

An epoch is one batch, so that the shuffling changes nothing. Keras' model.fit must have the same
losses and areas under the curve by epoch to 1e-4, and the same predictions in the submission. The
first weights are an .h5 file of Keras' (small_network.py says why this network).
"""

import csv
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from small_network import NAME, SIDE, small_network  # noqa: E402

LABELS = ["healthy", "multiple_diseases", "rust", "scab"]
TRAIN, VALID, TEST, EPOCHS = 48, 32, 8, 2


def draw(count, seed):
    """Pictures whose color and brightness tell the labels."""
    random = np.random.RandomState(seed)
    labels = random.randint(0, 2, (count, len(LABELS)))
    base = np.concatenate([labels[:, :3] * 80 + 60, labels[:, 3:] * 60], axis=1)
    pixels = base[:, None, None, :3] + base[:, None, None, 3:] * (
        np.arange(SIDE).reshape(1, SIDE, 1, 1) % 4 < 2) + random.randint(0, 40, (
            count, SIDE, SIDE, 3))
    return np.clip(pixels, 0, 255).astype(np.uint8), labels


def feature(value):
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def write_records(path, pixels, labels):
    with tf.io.TFRecordWriter(path) as writer:
        for i, (image, row) in enumerate(zip(pixels, labels)):
            features = {"image": feature(tf.io.encode_png(image).numpy()),
                        "image_name": feature(f"Test_{i}".encode())}
            if "test" not in os.path.basename(path):
                features.update({name: feature(int(x)) for name, x in zip(LABELS, row)})
            writer.write(tf.train.Example(features=tf.train.Features(
                feature=features)).SerializeToString())


def keras_model(network, checkpoint):
    logits = tf.keras.layers.Dense(len(LABELS), name="dense")(network.output)
    model = tf.keras.Model(network.input, logits)
    first = tf.train.load_checkpoint(checkpoint)
    for variable in network.variables:
        np.testing.assert_array_equal(variable, first.get_tensor(variable.name.split(":")[0]))
    model.layers[-1].set_weights([first.get_tensor("dense/" + x) for x in ("kernel", "bias")])
    model.compile(tf.keras.optimizers.Adam(1e-3),
                  tf.keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[tf.keras.metrics.AUC(multi_label=True, num_labels=len(LABELS),
                                                from_logits=True, name="auc")])
    return model


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        model_dir, submission = os.path.join(folder, "model"), os.path.join(folder, "s.csv")
        sets = [draw(TRAIN, 1), draw(VALID, 2), draw(TEST, 3)]
        for name, (pixels, labels) in zip(("train", "valid", "test"), sets):
            write_records(os.path.join(folder, f"{name}00-{len(labels)}.tfrec"), pixels, labels)
        tf.keras.utils.set_random_seed(2)
        network, weights = small_network(sets[0][0]), os.path.join(folder, "network.h5")
        network.save_weights(weights)
        subprocess.run([program, "--use_tpu=false", "--data_dir=" + folder,
                        "--network=" + NAME, "--weights=" + weights, f"--image_size={SIDE}",
                        f"--batch_size={TRAIN}", f"--epochs={EPOCHS}", "--model_dir=" + model_dir,
                        "--submission_csv=" + submission], check=True)
        with open(os.path.join(model_dir, "history.csv")) as file:
            ours = list(csv.DictReader(file))
        with open(submission) as file:
            rows = list(csv.DictReader(file))
        model = keras_model(network, os.path.join(model_dir, "model.ckpt-0"))
        (x, y), (val_x, val_y), (test_x, _) = [
            (pixels.astype(np.float32), labels) for pixels, labels in sets]
        history = model.fit(x, y, batch_size=TRAIN, epochs=EPOCHS, shuffle=False, verbose=0,
                            validation_data=(val_x, val_y), validation_batch_size=TRAIN).history
        expected = tf.sigmoid(model.predict(test_x, verbose=0)).numpy()
    for name in ("loss", "auc", "val_loss", "val_auc"):
        pairs = [(float(row[name]), value) for row, value in zip(ours, history[name])]
        print(name, *(f"{own:.6f} (Keras {keras:.6f})" for own, keras in pairs))
        # Adam enlarges rounding errors, which depend on the CPU. So two of the 32 scores may change
        # places, and an AUC changes by as much as it can.
        tolerance = 5e-3 if name == "val_auc" else 1e-4
        assert all(abs(own - keras) < tolerance for own, keras in pairs), name
    assert len(ours) == EPOCHS and [row["image_id"] for row in rows] == [
        f"Test_{i}" for i in range(TEST)]
    actual = np.array([[float(row[name]) for name in LABELS] for row in rows])
    print(f"predictions differ by at most {np.abs(actual - expected).max():.1e}")
    np.testing.assert_allclose(actual, expected, atol=3e-3)


if __name__ == "__main__":
    main(sys.argv[1])
