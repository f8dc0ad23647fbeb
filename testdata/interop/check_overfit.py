#!/usr/bin/env python3
"""ResNet-18 learns 100 pictures by heart, each of which is a class of its own: evaluated on them,
its accuracy is 1.0. The exported model gives the same predictions in TensorFlow.

Usage: check_overfit.py RESNET_MAIN     (built from //models/imagenet:resnet_main)
The environment has SAMPLE_DIR=DIR, a folder with at least 100 JPEG files, also in folders below it.
Without it, the check is skipped. It takes about six minutes on two cores.
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.
"""

import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

PICTURES, SIZE, STEPS, BATCH = 100, 64, 800, 50
# One level of a pixel, by which our decoder and TensorFlow's differ, changes a probability by less.
TOLERANCE = 0.02


def find_pictures(folder):
    paths = [path for path in sorted(glob.glob(os.path.join(folder, "**", "*"), recursive=True))
             if path.lower().endswith((".jpg", ".jpeg"))]
    if len(paths) < PICTURES:
        sys.exit(f"check_overfit: SAMPLE_DIR={folder} has {len(paths)} JPEG files, but {PICTURES} "
                 f"are needed")
    return [tf.io.read_file(path).numpy() for path in paths[:PICTURES]]


def write_records(path, pictures):
    def feature(**value):
        return tf.train.Feature(**value)
    with tf.io.TFRecordWriter(path) as writer:
        for i, picture in enumerate(pictures):
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "image/encoded": feature(bytes_list=tf.train.BytesList(value=[picture])),
                "image/filename": feature(
                    bytes_list=tf.train.BytesList(value=[f"picture_{i}.jpg".encode()])),
                "image/class/label": feature(int64_list=tf.train.Int64List(value=[i + 1])),
            })).SerializeToString())


def center(picture):
    """The test image that the program makes of a picture: the square at the center, resized."""
    image = tf.io.decode_jpeg(picture, channels=3)
    height, width = image.shape[:2]
    side = max(1, int(np.float32(SIZE / (SIZE + 32)) * np.float32(min(height, width))))
    y, x = (height - side + 1) // 2, (width - side + 1) // 2
    window = image[tf.newaxis, y:y + side, x:x + side]
    return tf.raw_ops.ResizeBicubic(images=window, size=[SIZE, SIZE], align_corners=False,
                                    half_pixel_centers=False)[0]


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    assert [row["id"] for row in rows] == [f"picture_{i}.jpg"
                                           for i in range(
                                               PICTURES)], "the ids of the predictions differ"
    classes = np.array([int(row["class"]) for row in rows])
    return classes, np.array([[float(row[f"probability_{k + 1}"]) for k in range(PICTURES)]
                              for row in rows])


def main():
    if not os.environ.get("SAMPLE_DIR"):
        print("check_overfit: skipped, because SAMPLE_DIR is not set to a folder of JPEG files")
        return
    pictures = find_pictures(os.environ["SAMPLE_DIR"])
    with tempfile.TemporaryDirectory() as work:
        for split in ("train-00000-of-00001", "validation-00000-of-00001"):
            write_records(os.path.join(work, split), pictures)
        result, predictions = os.path.join(work, "result.json"), os.path.join(
            work, "predictions.csv")
        run = subprocess.run(
            [os.path.abspath(sys.argv[1]), "--use_tpu=false", "--resnet_depth=18",
             f"--image_size={SIZE}", f"--data_dir={work}", f"--model_dir={work}/model",
             f"--num_label_classes={PICTURES}", f"--num_train_images={PICTURES}",
             f"--num_eval_images={PICTURES}", f"--train_batch_size={BATCH}",
             f"--eval_batch_size={BATCH}", f"--train_steps={STEPS}", f"--steps_per_eval={STEPS}",
             "--base_learning_rate=0.5", f"--result_json={result}", f"--predict_csv={predictions}",
             "--predict_probabilities", f"--export_dir={work}/export"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f"check_overfit: the program failed:\n{run.stdout}")
        with open(result, encoding="utf-8") as f:
            accuracy = json.load(f)["top_1_accuracy"]
        print(f"accuracy on the {PICTURES} pictures after {STEPS} steps: {accuracy}")
        classes, probabilities = read_csv(predictions)
        assert accuracy == 1, "the network has not learned all pictures"
        assert (classes == np.arange(1, PICTURES
                                     + 1)).all(), "the predictions are not those of the evaluation"

        model = tf.saved_model.load(glob.glob(os.path.join(work, "export", "*"))[0]).signatures[
            "serving_default"]
        images = tf.stack([center(picture) for picture in pictures])
        outputs = {name: value.numpy() for name, value in model(image=images).items()}
        assert (outputs["classes"] + 1 == classes).all(), "TensorFlow predicts other classes"
        difference = np.abs(outputs["probabilities"] - probabilities).max()
        print(f"TensorFlow predicts the same classes; probabilities differ by at most "
              f"{difference:.2g}")
        assert difference < TOLERANCE, difference
    print("check_overfit: ok")


if __name__ == "__main__":
    main()
