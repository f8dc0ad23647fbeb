"""The case `saved` of tools/train_graph: a model with a graph for each mode, as a SavedModel."""

import os
import shutil

import numpy as np

from cases import BATCH, BATCHES, START, Losses, estimator
from reference_lib import SEED, tf, tf1


class SavedCase:
    """A model with a graph for each mode, as a SavedModel of them: features {"x": f32 [n,6]},
    labels i32 [n]."""

    name, rows = "saved", BATCH

    def __init__(self):
        rng = np.random.default_rng(3)
        self.x = rng.standard_normal((BATCHES * BATCH, 6)).astype(np.float32)
        self.labels = (self.x[:, 0] > 0).astype(np.int32) + (self.x[:, 1] > 0.5)

    def model_fn(self, features, labels, mode):
        training = mode == estimator.ModeKeys.TRAIN
        hidden = tf1.layers.dense(features["x"], 8, activation=tf.nn.tanh)
        hidden = tf1.layers.batch_normalization(hidden, momentum=0.9, training=training)
        hidden = tf1.layers.dropout(hidden, 0.2, training=training)
        logits = tf1.layers.dense(hidden, 3)
        classes = tf.argmax(logits, 1, tf.int32)
        if mode == estimator.ModeKeys.PREDICT:
            return estimator.EstimatorSpec(mode, predictions={"logits": logits, "classes": classes})
        loss = tf1.losses.sparse_softmax_cross_entropy(labels, logits)
        if training:
            tf1.summary.scalar("loss", loss)  # a SavedModel has no summaries but the model's own
        metrics = {"accuracy": tf1.metrics.accuracy(labels, classes),
                   "auc": tf1.metrics.auc(tf.equal(labels, 1), tf.nn.softmax(logits)[:, 1]),
                   "recall": tf1.metrics.recall(tf.equal(labels, 1), tf.equal(classes, 1)),
                   "top": tf1.metrics.mean(tf.reduce_max(logits, 1))}
        with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
            update = tf1.train.MomentumOptimizer(0.05, 0.9).minimize(
                loss, tf1.train.get_or_create_global_step()) if training else None
        return estimator.EstimatorSpec(mode, loss=loss, train_op=update, eval_metric_ops={}
                                       if training else metrics)

    def _estimator(self, folder):
        session = tf1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        return estimator.Estimator(self.model_fn, config=estimator.RunConfig(
            model_dir=folder, tf_random_seed=SEED, save_checkpoints_steps=START,
            keep_checkpoint_max=100, session_config=session))

    def input_fn(self):
        return tf1.data.Dataset.from_tensor_slices(({"x": self.x}, self.labels)).batch(BATCH)

    def train(self, folder, max_steps):
        """Trains from the newest checkpoint, and returns the losses."""
        losses = Losses("sparse_softmax_cross_entropy_loss/value:0")
        self._estimator(folder).train(lambda: self.input_fn().repeat(), max_steps=max_steps,
                                      hooks=[losses])
        return np.array(losses.values, np.float32)

    def evaluate(self, folder, step):
        return self._estimator(folder).evaluate(self.input_fn,
                                                checkpoint_path=os.path.join(folder,
                                                                             f"model.ckpt-{step}"))

    def predict(self, folder, step):
        rows = self._estimator(folder).predict(self.input_fn,
                                               checkpoint_path=os.path.join(folder,
                                                                            f"model.ckpt-{step}"))
        return np.stack([row["logits"] for row in rows])

    def export(self, folder, step, target, modes=("train", "eval", "infer")):
        """Writes a SavedModel of the checkpoint of `step`, with a graph for each mode, as the
        folder `target`."""
        keys = estimator.ModeKeys

        def features():
            return {"x": tf1.placeholder(tf.float32, [None, 6], name="x")}

        def supervised():
            build = estimator.experimental.build_raw_supervised_input_receiver_fn
            return build(features(), tf1.placeholder(tf.int32, [None], name="labels"))()

        def serving():
            x = features()
            return estimator.export.ServingInputReceiver(x, x)

        receivers = {keys.TRAIN: supervised, keys.EVAL: supervised, keys.PREDICT: serving}
        written = self._estimator(folder).experimental_export_all_saved_models(
            target + ".parent", {mode: receivers[mode] for mode in modes},
            checkpoint_path=os.path.join(folder, f"model.ckpt-{step}"))
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(written.decode(), target)
        shutil.rmtree(target + ".parent")
