"""The rows of docs/performance.md: which programs do the same work, and which number of each is
compared."""
import collections

# A row of the table.
#   run: the key of the Run that gives the number.
#   metric: the name of the number in the programs' JSON.
Row = collections.namedtuple("Row", "key title run metric unit lower_is_better")

# Programs that do the same work in turn.
#   ours: (target, arguments).
#   peers: for each script, (name in the table, column, script, arguments).
#   prepare: commands before the first round, as (target or script, arguments).
Run = collections.namedtuple("Run", "ours peers prepare")

TENSORFLOW, PYTORCH = "TensorFlow", "PyTorch"
MNIST = "//models/mnist:mnist_benchmark"
RESNET = "//models/imagenet:resnet_benchmark"
IMAGES = "//models/images:images_benchmark"
ENCODER = "//models/bert:encoder_benchmark"
DECODING = "//models/transformer:decoding_benchmark"
INPUT = "//tools/peers:input_benchmark"

# Of models/images, besides ResNet-50.
NETWORKS = ["MobileNetV2", "EfficientNetB0", "Xception"]

# The dtypes of the rows' keys.
DTYPES = {"f32": "float32", "bf16": "bfloat16"}


def _mnist_run(batch_size, dtype):
    common = ["--batch_size=%d" % batch_size, "--compute_dtype=" + dtype, "--steps=1000000",
              "--seconds={seconds}"]
    return Run(
        ours=(MNIST, common + ["--use_tpu=false", "--data_dir={data_dir}",
                               "--model_dir={new_dir}"]),
        peers=[("TPUEstimator", TENSORFLOW, "tf_mnist_tpu.py", common + ["--data_dir={data_dir}"]),
               ("Keras", TENSORFLOW, "tf_mnist_keras.py", common),
               ("PyTorch", PYTORCH, "torch_mnist.py", common)],
        prepare=[])


def _resnet_run(version, dtype):
    common = ["--batch_size=32", "--compute_dtype=" + dtype, "--resnet_version=" + version,
              "--steps=1000000", "--seconds={seconds}", "--warmup_steps=2"]
    return Run(ours=(RESNET, common + ["--use_tpu=false", "--model_dir={new_dir}"]),
               peers=[("Keras", TENSORFLOW, "tf_resnet.py", common),
                      ("PyTorch", PYTORCH, "torch_resnet.py", common)],
               prepare=[])


def _images_run(network, dtype):
    common = ["--network=" + network, "--batch_size=32", "--image_size=160",
              "--compute_dtype=" + dtype, "--steps=1000000", "--seconds={seconds}",
              "--warmup_steps=2"]
    return Run(ours=(IMAGES, common + ["--use_tpu=false", "--model_dir={new_dir}"]),
               peers=[("Keras", TENSORFLOW, "tf_images.py", common)], prepare=[])


def _encoder_run(dtype):
    common = ["--batch_size=32", "--compute_dtype=" + dtype, "--steps={encoder_steps}"]
    return Run(ours=(ENCODER, common + ["--use_tpu=false"]),
               peers=[("Estimator", TENSORFLOW, "tf_encoder.py", common)],
               prepare=[])


def _decoding_run(batch_size):
    common = ["--batch_size=%d" % batch_size, "--steps=1000000", "--seconds={seconds}"]
    return Run(ours=(DECODING, common + ["--use_tpu=false", "--model_dir={new_dir}"]),
               peers=[("tf.while_loop", TENSORFLOW, "tf_decoding.py", common)], prepare=[])


def _first_step_run(on_shards):
    common = ["--mode=first_step", "--batch_size=128", "--data_dir={data_dir}"]
    ours = common + ["--model_dir={new_dir}", "--use_tpu=" + ("true" if on_shards else "false")]
    return Run(ours=(MNIST, ours), peers=[("TPUEstimator", TENSORFLOW, "tf_mnist_tpu.py", common)],
               prepare=[])


def _predict_run():
    common = ["--mode=predict", "--batch_size=1000", "--data_dir={data_dir}", "--steps=1000000",
              "--seconds={seconds}"]
    return Run(ours=(MNIST, common + ["--use_tpu=false", "--model_dir={new_dir}"]),
               peers=[("TPUEstimator", TENSORFLOW, "tf_predict.py", common)], prepare=[])


def _predict_from_checkpoint_run():
    common = ["--batch_size=1000", "--data_dir={data_dir}"]
    once, timed = ["--mode=predict", "--steps=1"], ["--mode=predict_from_checkpoint",
                                                    "--rows=10000"]
    ours = ["--use_tpu=false", "--model_dir={work_dir}/our_model"]
    theirs = ["--model_dir={work_dir}/tf_model"]
    return Run(ours=(MNIST, common + timed + ours),
               peers=[("TPUEstimator", TENSORFLOW, "tf_predict.py", common + timed + theirs)],
               prepare=[(MNIST, common + once + ours), ("tf_predict.py", common + once + theirs)])


def _input_run(row):
    common = ["--row=" + row, "--work_dir={work_dir}/input", "--steps=1000000",
              "--seconds={seconds}", "--data_dir={data_dir}"]
    ours = common + (["--images={images}"] if row.startswith("jpeg") else [])
    # The first call writes the files that tf_data.py reads.
    return Run(ours=(INPUT, ours), peers=[("tf.data", TENSORFLOW, "tf_data.py", common)],
               prepare=[(INPUT, ours + ["--seconds=0.1"])])


def _save_run():
    common = ["--mode=save", "--batch_size=128", "--data_dir={data_dir}", "--steps=200"]
    return Run(ours=(MNIST, common + ["--use_tpu=false", "--model_dir={new_dir}"]),
               peers=[("Saver", TENSORFLOW, "tf_mnist_tpu.py", common)], prepare=[])


RUNS = {}
for _name, _dtype in DTYPES.items():
    for _batch_size in (1024, 128):
        RUNS["mnist_%d_%s" % (_batch_size, _name)] = _mnist_run(_batch_size, _dtype)
    RUNS["resnet50_" + _name] = _resnet_run("1", _dtype)
    RUNS["resnet50_v1_5_" + _name] = _resnet_run("1.5", _dtype)
    for _network in NETWORKS:
        RUNS["%s_%s" % (_network.lower(), _name)] = _images_run(_network, _dtype)
    RUNS["encoder_" + _name] = _encoder_run(_dtype)
for _batch_size in (1, 32):
    RUNS["decoding_%d" % _batch_size] = _decoding_run(_batch_size)
RUNS["first_step_cpu"] = _first_step_run(on_shards=False)
RUNS["first_step_shards"] = _first_step_run(on_shards=True)
RUNS["predict"] = _predict_run()
RUNS["predict_from_checkpoint"] = _predict_from_checkpoint_run()
INPUT_TITLES = {
    "parse_small": "TFRecord files, Examples of 40 small features: read, batch, parse",
    "parse_images": "TFRecord files, Examples of 100 kB: read, batch, parse",
    "shuffle_batch": "MNIST in memory: shuffle, repeat, batch 1024",
    "jpeg_bilinear": "JPEG: decode a random crop, resize to 224x224 (bilinear), flip, batch",
    "jpeg_bicubic": "JPEG: decode a random crop, resize to 224x224 (bicubic), flip, batch",
}
for _row in INPUT_TITLES:
    RUNS[_row] = _input_run(_row)
RUNS["save"] = _save_run()

ROWS = [Row("mnist_%d_%s" % (b, d), "MNIST, batch %d, %s: training" % (b, d),
            "mnist_%d_%s" % (b, d), "images_per_second", "images/s", False)
        for d in DTYPES for b in (1024, 128)]
ROWS += [Row("resnet50%s_%s" % (v, d), "ResNet-50 v%s, batch 32, 224x224, %s: training" % (n, d),
             "resnet50%s_%s" % (v, d), "images_per_second", "images/s", False)
         for v, n in (("", "1"), ("_v1_5", "1.5")) for d in DTYPES]
ROWS += [Row("%s_%s" % (n.lower(), d), "%s, batch 32, 160x160, %s: training" % (n, d),
             "%s_%s" % (n.lower(), d), "images_per_second", "images/s", False)
         for n in NETWORKS for d in DTYPES]
ROWS += [Row("encoder_" + d, "encoder of 4 layers, batch 32, %s: training" % d, "encoder_" + d,
             "examples_per_second", "examples/s", False)
         for d in DTYPES]
ROWS += [Row("decoding_%d" % b, "transformer of 2 layers of 32, batch %d: greedy decoding" % b,
             "decoding_%d" % b, "tokens_per_second", "tokens/s", False)
         for b in (1, 32)]
ROWS += [
    Row("first_step_cpu", "MNIST, batch 128, CPU: process start to the first step",
        "first_step_cpu", "first_step_seconds", "s", True),
    Row("first_step_shards", "MNIST, batch 128, 8 replicas: process start to the first step",
        "first_step_shards", "first_step_seconds", "s", True),
    Row("mnist_memory", "MNIST, batch 1024, f32: peak memory", "mnist_1024_f32", "peak_rss_mib",
        "MiB", True),
    Row("resnet50_memory", "ResNet-50 v1, batch 32, f32: peak memory", "resnet50_f32",
        "peak_rss_mib", "MiB", True),
    Row("predict", "MNIST: Predict, batch 1000", "predict", "predictions_per_second", "rows/s",
        False),
    Row("predict_from_checkpoint", "MNIST: process start to the 10,000th prediction from a "
                                   "checkpoint",
        "predict_from_checkpoint", "seconds_to_predictions", "s", True),
]
ROWS += [Row(key, title, key, "examples_per_second", "examples/s", False) for key,
         title in INPUT_TITLES.items()]
ROWS.append(Row("save", "MNIST: what a save takes from the training loop", "save", "save_ms", "ms",
                True))
