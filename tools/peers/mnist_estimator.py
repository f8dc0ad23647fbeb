"""The program models/mnist/mnist_tpu.cc with TensorFlow's TPUEstimator, for tf_mnist_tpu.py and
tf_predict.py."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_v2_behavior()
tf1.logging.set_verbosity(tf1.logging.ERROR)


def inference(image, is_training, compute_dtype):
    layers = tf1.layers
    x = tf.cast(tf.reshape(image, [-1, 28, 28, 1]), tf.float32) / 255.0

    def network(x):
        x = layers.conv2d(x, 32, 5, padding="same", activation=tf.nn.relu)
        x = layers.max_pooling2d(x, 2, 2, padding="same")
        x = layers.conv2d(x, 64, 5, padding="same", activation=tf.nn.relu)
        x = layers.max_pooling2d(x, 2, 2, padding="same")
        x = layers.dense(layers.flatten(x), 1024, activation=tf.nn.relu)
        x = layers.dropout(x, 0.4, training=is_training)
        return layers.dense(x, 10)

    if compute_dtype == "float32":
        return network(x)
    with tf1.tpu.bfloat16_scope():
        return tf.cast(network(tf.cast(x, tf.bfloat16)), tf.float32)


def model_fn(features, labels, mode, params):
    logits = inference(features["image"], mode == tf.estimator.ModeKeys.TRAIN,
                       params["compute_dtype"])
    spec = tf1.estimator.tpu.TPUEstimatorSpec
    if mode == tf.estimator.ModeKeys.PREDICT:
        return spec(mode, predictions={"class_ids": tf.argmax(logits, 1),
                                       "probabilities": tf.nn.softmax(logits)})
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf1.train.get_global_step()
    rate = tf1.train.exponential_decay(0.05, step, max(1, 100000 // params["batch_size"]), 0.95)
    return spec(mode, loss=loss,
                train_op=tf1.train.GradientDescentOptimizer(rate).minimize(loss, step))


def records(data_dir, split):
    """Images and labels of MNIST's IDX files, which must not be compressed."""
    def fixed(kind, size, header_bytes):
        file = os.path.join(data_dir, "%s-%s" % (split, kind))
        if not os.path.exists(file):
            raise SystemExit("%s does not exist: --data_dir must have MNIST's four files, "
                             "uncompressed" % file)
        return tf1.data.FixedLengthRecordDataset(file, size, header_bytes=header_bytes)

    images = fixed("images-idx3-ubyte", 784, 16).map(
        lambda record: {"image": tf.reshape(tf.io.decode_raw(record, tf.uint8), [28, 28])})
    labels = fixed("labels-idx1-ubyte", 1, 8).map(
        lambda record: tf.reshape(tf.cast(tf.io.decode_raw(record, tf.uint8), tf.int32), []))
    return tf1.data.Dataset.zip((images, labels)).cache()


def train_input_fn(data_dir):
    def input_fn(params):
        examples = records(data_dir, "train").shuffle(60000).repeat()
        return examples.batch(params["batch_size"], drop_remainder=True).prefetch(2)
    return input_fn


def predict_input_fn(data_dir):
    def input_fn(params):
        return records(data_dir, "t10k").batch(params["batch_size"]).repeat().prefetch(2)
    return input_fn


def make_estimator(flags, model_dir, checkpoints):
    """A TPUEstimator on the CPU.

    Args:
      flags: batch_size, compute_dtype and threads.
      model_dir: the folder of checkpoints.
      checkpoints: whether checkpoints are written, at TensorFlow's default cadence.
    """
    tpu = tf1.estimator.tpu
    config = tpu.RunConfig(
        model_dir=model_dir,
        save_checkpoints_secs=600 if checkpoints else None,
        save_checkpoints_steps=None,
        tpu_config=tpu.TPUConfig(iterations_per_loop=50, num_shards=8),
        session_config=tf1.ConfigProto(
            allow_soft_placement=True,
            intra_op_parallelism_threads=flags.threads,
            inter_op_parallelism_threads=flags.threads))
    return tpu.TPUEstimator(
        model_fn=model_fn, config=config, use_tpu=False, train_batch_size=flags.batch_size,
        eval_batch_size=flags.batch_size, predict_batch_size=flags.batch_size,
        params={"compute_dtype": flags.compute_dtype})
