#!/usr/bin/env python3
"""Event files: TensorFlow and TensorBoard read the files that we write, and histograms and images
equal TensorFlow's. After a run went back to an earlier checkpoint, TensorBoard shows each step
once.

Usage: check_events.py EVENT_TOOL MNIST_TPU     (built from //tools/interop:event_tool and
                                                //models/mnist:mnist_tpu)
Needs tensorflow-cpu 2.15.1, which brings TensorBoard; tools/verify_interop.sh installs it and runs
this.
"""

import glob
import os
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402


def tensorflow_reads_ours(directory):
    events = list(
        tf.compat.v1.train.summary_iterator(glob.glob(directory + "/events.out.tfevents.*")[0]))
    assert events[0].file_version == "brain.Event:2", events[0]
    assert events[1].session_log.status == 1 and events[
        -1].session_log.checkpoint_path == "model.ckpt"
    values = {value.tag: value for event in events for value in event.summary.value}
    assert np.array_equal(tf.make_ndarray(values["vector"].tensor), [1, 2])

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        histogram = v1.summary.histogram("weights",
                                         tf.constant([-1e30, -2, -1e-13, 0, 0, 1, 1, 5],
                                                     tf.float32))
        image = v1.summary.image("digit", tf.constant([-1, 0, 0.25, 0.5], shape=[1, 2, 2, 1]))
        theirs = v1.Summary.FromString(session.run(v1.summary.merge([histogram, image]))).value
        assert values["weights"].histo == theirs[0].histo, (values["weights"].histo,
                                                            theirs[0].histo)
        decode = [tf.io.decode_png(v.image.encoded_image_string)
                  for v in (values["digit"], theirs[1])]
        ours_pixels, theirs_pixels = session.run(decode)
        assert np.array_equal(ours_pixels, theirs_pixels), (ours_pixels, theirs_pixels)


def tensorboard_reads_ours(directory):
    accumulator = EventAccumulator(directory)
    accumulator.Reload()
    tags = accumulator.Tags()
    assert tags["graph"] and accumulator.Graph().node[0].name == "x", tags
    assert [(e.step, e.value) for e in accumulator.Scalars("loss")] == [(1, 0.5), (2, 0.25)]
    assert accumulator.Histograms("weights")[0].histogram_value.num == 8
    assert accumulator.Images("digit")[0].width == 2
    assert accumulator.Tensors("note")[0].tensor_proto.string_val[0] == b"**hello**"
    assert accumulator.SummaryMetadata("note").plugin_data.plugin_name == "text"


def steps_that_tensorboard_shows(directory, tag):
    accumulator = EventAccumulator(directory, size_guidance={"scalars": 0})
    accumulator.Reload()
    return [event.step for event in accumulator.Scalars(tag)]


def a_run_that_went_back(program, directory):
    def train(steps):
        subprocess.run([program, "--use_tpu=false", f"--model_dir={directory}",
                        f"--train_steps={steps}", "--batch_size=32", "--save_checkpoints_steps=4",
                        "--save_summary_steps=1", "--log_step_count_steps=2",
                        "--enable_predict=false", "--eval_steps=1"], check=True,
                       capture_output=True)

    def sessions():
        logs = [(event.session_log.status, event.step)
                for path in sorted(glob.glob(directory + "/events.out.tfevents.*"))
                for event in tf.compat.v1.train.summary_iterator(path)
                if event.HasField("session_log")]
        return [log for log in logs if log[0] == 1], [log[1] for log in logs if log[0] == 3]

    train(12)
    assert steps_that_tensorboard_shows(directory, "loss") == list(range(1, 13))
    with open(directory + "/checkpoint", "w", encoding="utf-8") as file:
        file.write('model_checkpoint_path: "model.ckpt-4"\n')
    train(9)
    assert steps_that_tensorboard_shows(directory, "loss") == list(range(1, 10))
    assert steps_that_tensorboard_shows(directory + "/eval", "accuracy") == [9]
    assert sessions() == ([(1, 0), (1, 5)], [0, 4, 8, 12, 8, 9]), sessions()
    for path in glob.glob(directory + "/model.ckpt-*") + [directory + "/checkpoint"]:
        os.remove(path)
    train(3)  # a new run
    assert steps_that_tensorboard_shows(directory, "loss") == [1, 2, 3]


def main():
    with tempfile.TemporaryDirectory() as directory:
        a_run_that_went_back(os.path.abspath(sys.argv[2]), directory)
        print("passed: a_run_that_went_back")
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([os.path.abspath(sys.argv[1]), directory], check=True)
        for check in (tensorflow_reads_ours, tensorboard_reads_ours):
            check(directory)
            print(f"passed: {check.__name__}")


if __name__ == "__main__":
    main()
