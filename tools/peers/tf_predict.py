#!/usr/bin/env python3
"""TensorFlow's TPUEstimator.predict on MNIST, on the CPU: its speed, or the time from process start
to --rows.

usage: tf_predict.py --data_dir=DIR [--mode=predict|predict_from_checkpoint] [--model_dir=DIR]
[--rows=10000] ...
"""
import os
import tempfile
import time

import measure


def read(predictions, count):
    for _ in range(count):
        next(predictions)


def main():
    flags = measure.parser(__doc__, batch_size=1000)
    flags.add_argument("--data_dir", required=True, help="folder of MNIST's four files, "
                                                         "uncompressed")
    flags.add_argument("--mode", choices=["predict", "predict_from_checkpoint"], default="predict")
    flags.add_argument("--model_dir", default="", help="folder with a checkpoint, such as "
                                                       "--mode=predict leaves")
    flags.add_argument("--rows", type=int, default=10000)
    flags = flags.parse_args()
    if flags.mode == "predict_from_checkpoint" and not os.path.exists(os.path.join(flags.model_dir,
                                                                                   "checkpoint")):
        raise SystemExit("--model_dir must have a checkpoint: run --mode=predict with the same "
                         "--model_dir first")

    import mnist_estimator as mnist
    with tempfile.TemporaryDirectory() as temporary:
        estimator = mnist.make_estimator(flags, flags.model_dir or temporary, checkpoints=True)
        if flags.mode == "predict":
            estimator.train(mnist.train_input_fn(flags.data_dir), max_steps=1)
        predictions = estimator.predict(mnist.predict_input_fn(flags.data_dir))
        fields = {"mode": flags.mode, "batch_size": flags.batch_size,
                  "compute_dtype": flags.compute_dtype}
        if flags.mode == "predict_from_checkpoint":
            read(predictions, flags.rows)
            fields["seconds_to_predictions"] = measure.seconds_since_process_start()
            fields["measured_rows"] = flags.rows
        else:
            read(predictions, flags.warmup_steps * flags.batch_size)
            begin = time.monotonic()
            rows = 0
            for _ in range(flags.steps):
                read(predictions, flags.batch_size)
                rows += flags.batch_size
                seconds = time.monotonic() - begin
                if 0 < flags.seconds <= seconds:
                    break
            fields["predictions_per_second"] = rows / seconds
            fields["measured_rows"] = rows
        measure.print_json("tf_predict", {**fields, "peak_rss_mib": measure.peak_rss_mib()})


if __name__ == "__main__":
    main()
