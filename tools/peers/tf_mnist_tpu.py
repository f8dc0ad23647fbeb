#!/usr/bin/env python3
"""TensorFlow's TPUEstimator on MNIST, on the CPU: training, the first step, or what a save costs.

usage: tf_mnist_tpu.py --data_dir=DIR [--mode=train|first_step|save] [--batch_size=1024] ...
"""
import statistics
import tempfile
import time

import measure


def main():
    flags = measure.parser(__doc__, batch_size=1024)
    flags.add_argument("--data_dir", required=True, help="folder of MNIST's four files, "
                                                         "uncompressed")
    flags.add_argument("--mode", choices=["train", "first_step", "save"], default="train")
    flags = flags.parse_args()

    import mnist_estimator as mnist
    tf1 = mnist.tf1
    meter = measure.Meter(flags)

    class Steps(tf1.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            if meter.step():
                run_context.request_stop()

    class Saves(tf1.train.SessionRunHook):
        """Saves a checkpoint after every 20th step, as CheckpointSaverHook does."""
        def __init__(self, model_dir):
            self.model_dir = model_dir
            self.milliseconds = []
            self.saver = None
            self.steps = 0

        def begin(self):
            self.saver = tf1.train.Saver(sharded=True)

        def after_run(self, run_context, run_values):
            self.steps += 1
            if self.steps % 20:
                return
            begin = time.monotonic()
            self.saver.save(run_context.session, self.model_dir + "/saved.ckpt",
                            global_step=self.steps)
            self.milliseconds.append(1000 * (time.monotonic() - begin))

    with tempfile.TemporaryDirectory() as model_dir:
        estimator = mnist.make_estimator(flags, model_dir, checkpoints=flags.mode == "first_step")
        input_fn = mnist.train_input_fn(flags.data_dir)
        if flags.mode == "first_step":
            estimator.train(input_fn, max_steps=1, hooks=[Steps()])
        elif flags.mode == "save":
            saves = Saves(model_dir)
            estimator.train(input_fn, hooks=[saves, Steps()])
            later = saves.milliseconds[1:]
            measure.print_json("tf_mnist_tpu", {
                "mode": flags.mode, "batch_size": flags.batch_size,
                "save_ms": statistics.median(later) if later else None,
                "saves": len(saves.milliseconds), "peak_rss_mib": measure.peak_rss_mib()})
            return
        else:
            estimator.train(input_fn, hooks=[Steps()])
    measure.print_training("tf_mnist_tpu", flags, meter, "images", mode=flags.mode, input="real")


if __name__ == "__main__":
    main()
