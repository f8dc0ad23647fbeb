#!/usr/bin/env python3
"""Networks for images: from the weights that Keras writes as .h5 and as .keras, our networks of
full width give the outputs of Keras'.

Usage: check_networks.py NETWORKS_TOOL [NETWORK...]     (built from //tools/interop:networks_tool)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.

A network is compared by the largest difference of its outputs, in units of the largest output. The
batch normalizations get random moving averages, gammas and betas, which are all 0 or 1 at first.
"""

import os
import subprocess
import sys
import tempfile

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference",
                                "images"))

TOLERANCE = 1e-5
BATCH = 2
CLASSES = 1000
# The size of the images. The dense layers of VGG16 and the positions of ViT fit one size.
SIZES = {"VGG16": 224, "ViT": 224, "InceptionV3": 139, "Xception": 139}
USUAL_SIZE = 96


def keras(name):
    """The function of tf.keras.applications of this name."""
    def build(shape):
        return getattr(tf.keras.applications, name)(weights=None, input_shape=shape,
                                                    classes=CLASSES, classifier_activation=None)
    return build


def of_resnets(depth, version):
    def build(shape):
        import resnets
        return resnets.network(depth, version, classes=CLASSES)(shape)
    return build


def of_vit(shape):
    import vit
    return vit.network(shape, CLASSES)


# name here -> a function of the shape of an image that makes Keras' model of it
NETWORKS = {name: keras(name) for name in [
    "VGG16", "ResNet50", "ResNet101", "ResNet152", "ResNet50V2", "ResNet101V2", "ResNet152V2",
    "InceptionV3", "Xception", "DenseNet121", "MobileNet", "MobileNetV2", "MobileNetV3Small",
    "MobileNetV3Large", *(f"EfficientNetB{i}" for i in range(8)), "EfficientNetV2S"]}
NETWORKS.update({f"ResNet{depth}{'' if version == '1' else 'V' + version}":
                 of_resnets(depth, version)
                 for depth, version in [(18, "1"), (34, "1"), (18, "2"), (34, "2"), (50, "1.5"),
                                        (101, "1.5"), (152, "1.5")]})
NETWORKS["ViT"] = of_vit


def randomize(model, rng):
    """Values for what starts as 0 or 1."""
    ranges = {"gamma": (0.7, 1.2), "beta": (-0.2, 0.2), "bias": (-0.1, 0.1),
              "moving_mean": (-0.2, 0.2), "moving_variance": (0.7, 1.5), "embeddings": (-0.1, 0.1)}
    for variable in model.weights:
        kind = variable.name.split("/")[-1].removesuffix(":0")
        if kind in ranges:
            variable.assign(rng.uniform(*ranges[kind], variable.shape).astype(np.float32))


def write_bundle(prefix, arrays):
    tf.raw_ops.SaveV2(prefix=prefix, tensor_names=list(arrays), shape_and_slices=[""] * len(arrays),
                      tensors=[tf.constant(array) for array in arrays.values()])


def difference(tool, name, folder):
    """The largest difference, and the number of parameters."""
    tf.keras.backend.clear_session()
    rng = np.random.default_rng(5)
    size = SIZES.get(name, USUAL_SIZE)
    model = NETWORKS[name]((size, size, 3))
    randomize(model, rng)
    # Keras' EfficientNets and MobileNetV3 take pixels of 0 to 255.
    pixels = rng.uniform(0, 255, (BATCH, size, size, 3)).astype(np.float32)
    takes_pixels = name.startswith(("EfficientNet", "MobileNetV3"))
    images = pixels if takes_pixels else pixels / np.float32(127.5) - np.float32(1)
    expected = model(images, training=False).numpy()
    write_bundle(os.path.join(folder, "images"),
                 {"images": images, "classes": np.array(CLASSES, np.int32)})
    worst = 0
    for ending in (".h5", ".keras"):
        weights = os.path.join(folder, name + ending)
        model.save_weights(weights) if ending == ".h5" else model.save(weights)
        subprocess.run([tool, name, weights, os.path.join(folder, "images"),
                        os.path.join(folder, "out")], check=True)
        os.remove(weights)
        ours = tf.train.load_checkpoint(os.path.join(folder, "out")).get_tensor("outputs")
        assert ours.shape == expected.shape, f"{name}: {ours.shape}, Keras has {expected.shape}"
        worst = max(worst, np.max(np.abs(ours - expected)) / np.max(np.abs(expected)))
    return worst, model.count_params()


def main():
    tool = os.path.abspath(sys.argv[1])
    failures = []
    for name in sys.argv[2:] or NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                worst, parameters = difference(tool, name, folder)
            except (subprocess.CalledProcessError, AssertionError) as error:
                failures.append(f"{name}: {error}")
                continue
        print(f"{name}: {parameters} parameters, largest difference {worst:.1e}", flush=True)
        if not worst <= TOLERANCE:
            failures.append(f"{name}: differs by {worst:.1e}, more than {TOLERANCE:.0e}")
    if failures:
        sys.exit("FAILED\n" + "\n".join(failures))
    print("passed: networks from Keras' .h5 and .keras")


if __name__ == "__main__":
    main()
