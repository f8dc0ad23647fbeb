"""Trains the network of models/flowers in Keras, from the same first weights on the same records.

    tools/verify_interop.sh -k check_flowers.py

The first weights are an .h5 file of Keras'. Without shuffling and augmentation, model.fit with
LearningRateScheduler must have the same losses and accuracies by epoch to 1e-4, and the same rates.
A run that is killed and resumed must have the bits and the history of an undisturbed one, and Keras
must load the weights that it wrote. small_network.py says
why this network.
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

CLASSES, BATCH, EPOCHS = 5, 16, 4
FILES = [BATCH] * 5 + [24]  # pictures of each file; a share of 0.19, the last, is the validation


def draw(count, seed):
    """Pictures whose color and stripes tell the class."""
    random = np.random.RandomState(seed)
    labels = random.randint(0, CLASSES, count)
    colors = np.array([[180, 60, 60], [60, 180, 60], [60, 60, 180], [160, 160, 40], [40, 160, 160]])
    stripes = (np.arange(SIDE).reshape(1, SIDE, 1, 1) // 4 % (labels.reshape(-1, 1, 1, 1) + 2)) * 20
    pixels = colors[labels][:, None, None] + stripes + random.randint(-40, 40,
                                                                      (count, SIDE, SIDE, 3))
    return np.clip(pixels, 0, 255).astype(np.uint8), labels


def write_records(path, pixels, labels):
    with tf.io.TFRecordWriter(path) as writer:
        for image, label in zip(pixels, labels):
            png = tf.io.encode_png(image).numpy()
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[png])),
                "class": tf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)])),
            })).SerializeToString())


def learning_rate(epoch, _=None):
    return (2e-4 - 1e-5) / 5 * epoch + 1e-5  # of the first 5 epochs


def keras_model(network):
    logits = tf.keras.layers.Dense(CLASSES, name="dense")(network.output)
    return tf.keras.Model(network.input, logits)


def run(program, flags, kill_at=None):
    """Runs the program, and kills it when a line of its log has this text."""
    with subprocess.Popen([program, *flags], stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if kill_at and kill_at in line:
                process.kill()
        if (code := process.wait()) != 0 and not kill_at:
            raise RuntimeError(f"the program ended with {code}")


def history(model_dir):
    with open(os.path.join(model_dir, "history.csv")) as file:
        return [{name: value for name, value in row.items() if name != "seconds"}
                for row in csv.DictReader(file)]


def check_same_bits(one, other):
    readers = [tf.train.load_checkpoint(tf.train.latest_checkpoint(x)) for x in (one, other)]
    names = [reader.get_variable_to_dtype_map() for reader in readers]
    assert names[0] == names[1]
    for name in names[0]:
        values = [reader.get_tensor(name) for reader in readers]
        assert np.asarray(values[0]).tobytes() == np.asarray(values[1]).tobytes(), name
    print(f"killed and resumed: the same bits of {len(names[0])} variables, the same history")


def main(program):
    tf.keras.utils.set_random_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        parts = [draw(count, seed) for seed, count in enumerate(FILES)]
        for i, (pixels, labels) in enumerate(parts):
            write_records(path(f"flowers{i:02}-{len(labels)}.tfrec"), pixels, labels)
        train = [np.concatenate(x) for x in zip(*parts[:-1])]
        network = small_network(train[0])
        network.save_weights(path("network.h5"))
        flags = ["--use_tpu=false", "--data_dir=" + folder, "--network=" + NAME,
                 f"--image_size={SIDE}", f"--epochs={EPOCHS}", "--augment=false",
                 "--weights=" + path("network.h5"), "--save_checkpoints_steps=7"]
        for name, kill_at in (("whole", None), ("killed", f"epoch 2/{EPOCHS}"), ("killed", None)):
            run(program, [*flags, "--model_dir=" + path(name),
                          "--save_weights=" + path(name + ".h5")], kill_at)
        ours = history(path("whole"))
        assert ours == history(path("killed"))
        check_same_bits(path("whole"), path("killed"))

        first = tf.train.load_checkpoint(path("whole/model.ckpt-0"))
        for variable in network.variables:
            np.testing.assert_array_equal(variable, first.get_tensor(variable.name.split(":")[0]))
        model = keras_model(network)
        model.get_layer("dense").set_weights([first.get_tensor("dense/" + x)
                                              for x in ("kernel", "bias")])
        model.compile(tf.keras.optimizers.Adam(1e-3),
                      tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
        pixels, labels = parts[-1]
        keras = model.fit(train[0].astype(np.float32), train[1], batch_size=BATCH, epochs=EPOCHS,
                          shuffle=False, verbose=0, validation_data=(pixels, labels),
                          validation_batch_size=BATCH,
                          callbacks=[tf.keras.callbacks.LearningRateScheduler(learning_rate)],
                          ).history
        other = keras_model(small_network())
        other.load_weights(path("killed.h5"))
        other.compile(loss=model.loss)
        loss = other.evaluate(pixels, labels, batch_size=BATCH, verbose=0)
        print(f"Keras loads killed.h5: validation loss {loss:.6f}")
        assert abs(loss - float(ours[-1]["val_loss"])) < 1e-5
    assert len(ours) == EPOCHS
    for name in ("loss", "accuracy", "val_loss", "val_accuracy", "lr"):
        pairs = [(float(row[name]), float(value)) for row, value in zip(ours, keras[name])]
        print(name, *(f"{own:.6f} (Keras {theirs:.6f})" for own, theirs in pairs))
        assert all(abs(own - theirs) < (1e-8 if name == "lr" else 1e-4)
                   for own, theirs in pairs), name
    assert keras["loss"][-1] < keras["loss"][0], "it has not learned: the check shows little"


if __name__ == "__main__":
    main(sys.argv[1])
