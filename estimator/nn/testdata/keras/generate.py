"""Writes goldens.h: metrics and losses of Keras for the inputs of keras_inputs.h.

Command: python generate.py > goldens.h   (TensorFlow 2.15.1, tensorflow-cpu)
Metrics see the rows 0 to 7 and then 8 to 11. A loss has its value, its value with the weights, and
the gradient of its first two rows. Cohen's kappa, Pearson's correlation and Dice, which Keras 2.15
has not, are computed by NumPy.
"""
import numpy as np
import tensorflow as tf

keras = tf.keras
ROWS, LABELS = 12, 4
I, L = np.meshgrid(np.arange(ROWS), np.arange(LABELS), indexing="ij")
SCORES = ((I * 37 + L * 53 + 11) % 101).astype(np.float32) / np.float32(101)
LOGITS = (SCORES - np.float32(0.5)) * np.float32(6)
BINARY = ((I * 29 + L * 17 + I * I) % 7 < 3).astype(np.float32)
CLASSES = ((np.arange(ROWS) * 5 + 2 * (np.arange(ROWS) // 3)) % LABELS).astype(np.int64)
ONE_HOT = np.eye(LABELS, dtype=np.float32)[CLASSES]
WEIGHTS = (np.arange(ROWS) * 3 % 5).astype(np.float32) / np.float32(2)
BATCHES = [slice(0, 8), slice(8, 12)]
GUESSES = SCORES.argmax(axis=1)


def after_batches(metric, labels, predictions, weights=None):
    for rows in BATCHES:
        metric.update_state(labels[rows], predictions[rows],
                            sample_weight=None if weights is None else weights[rows])
    return metric.result().numpy()


def metrics():
    def both(name, make, labels, predictions):
        yield name, after_batches(make(), labels, predictions)
        yield name + "_weighted", after_batches(make(), labels, predictions, WEIGHTS)

    for curve in ("ROC", "PR"):
        name = "auc_" + curve.lower()
        yield from both(name + "_multi_label", lambda: keras.metrics.AUC(
            curve=curve, multi_label=True), BINARY, SCORES)
        yield from both(name, lambda: keras.metrics.AUC(curve=curve), BINARY[:, 0], SCORES[:, 0])
        yield name + "_by_label", [after_batches(keras.metrics.AUC(
            curve=curve), BINARY[:, k], SCORES[:, k]) for k in range(LABELS)]
    for average in (None, "micro", "macro", "weighted"):
        for threshold in (None, 0.5):
            name = f"f1_{str(average).lower()}_{'largest' if threshold is None else 'half'}"
            yield from both(name, lambda: keras.metrics.F1Score(
                average=average, threshold=threshold), BINARY, SCORES)
    yield from both("fbeta_2", lambda: keras.metrics.FBetaScore(
        average="macro", beta=2.0, threshold=0.5), BINARY, SCORES)
    yield from both("binary_accuracy", keras.metrics.BinaryAccuracy, BINARY, SCORES)
    yield from both("binary_accuracy_0.3", lambda: keras.metrics.BinaryAccuracy(threshold=0.3),
                    BINARY, SCORES)
    yield from both("categorical_accuracy", keras.metrics.CategoricalAccuracy, ONE_HOT, SCORES)
    yield from both("sparse_categorical_accuracy", keras.metrics.SparseCategoricalAccuracy,
                    CLASSES, SCORES)
    yield from both("top_2", lambda: keras.metrics.TopKCategoricalAccuracy(k=2), ONE_HOT, SCORES)
    yield from both("sparse_top_2", lambda: keras.metrics.SparseTopKCategoricalAccuracy(k=2),
                    CLASSES, SCORES)


def numpy_metrics():
    for suffix, weights in (("", np.ones(ROWS)), ("_weighted", WEIGHTS.astype(np.float64))):
        matrix = tf.math.confusion_matrix(CLASSES, GUESSES, LABELS, weights, tf.float64).numpy()
        yield "confusion_matrix" + suffix, matrix
        chance = np.outer(matrix.sum(axis=1), matrix.sum(axis=0)) / matrix.sum()
        apart = np.abs(np.subtract.outer(np.arange(LABELS), np.arange(LABELS)))
        for name, cost in (("none", apart > 0), ("linear", apart), ("quadratic", apart**2)):
            yield f"kappa_{name}{suffix}", 1 - (cost * matrix).sum() / (cost * chance).sum()
        covariance = np.cov(LOGITS[:, 0].astype(np.float64), SCORES[:, 1].astype(np.float64),
                            aweights=weights, ddof=0)
        yield ("pearson" + suffix,
               covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))


def dice(labels, predictions):
    axes = list(range(1, len(labels.shape)))
    intersection = tf.reduce_sum(labels * predictions, axes)
    total = tf.reduce_sum(labels, axes) + tf.reduce_sum(predictions, axes)
    return 1 - (2 * intersection + 1) / (total + 1)


class Dice(keras.losses.Loss):
    def call(self, labels, predictions):
        return dice(labels, predictions)


def losses():
    new = keras.losses
    cases = {
        "binary_crossentropy": (new.BinaryCrossentropy(), BINARY, SCORES),
        "binary_crossentropy_logits": (new.BinaryCrossentropy(from_logits=True), BINARY, LOGITS),
        "categorical_crossentropy": (
            new.CategoricalCrossentropy(), ONE_HOT, SCORES + np.float32(0.01)),
        "categorical_crossentropy_logits": (
            new.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1), ONE_HOT, LOGITS),
        "sparse_categorical_crossentropy": (new.SparseCategoricalCrossentropy(), CLASSES, SCORES),
        "sparse_categorical_crossentropy_logits": (
            new.SparseCategoricalCrossentropy(from_logits=True), CLASSES, LOGITS),
        "binary_focal": (new.BinaryFocalCrossentropy(), BINARY, SCORES),
        "binary_focal_logits": (new.BinaryFocalCrossentropy(
            apply_class_balancing=True, alpha=0.3, gamma=1.5, from_logits=True,
            label_smoothing=0.1), BINARY, LOGITS),
        "categorical_focal": (new.CategoricalFocalCrossentropy(), ONE_HOT, SCORES),
        "categorical_focal_logits": (new.CategoricalFocalCrossentropy(
            alpha=0.4, gamma=3.0, from_logits=True, label_smoothing=0.1), ONE_HOT, LOGITS),
        "squared_hinge": (new.SquaredHinge(), BINARY, LOGITS),
        "hinge": (new.Hinge(), BINARY, LOGITS),
        "categorical_hinge": (new.CategoricalHinge(), ONE_HOT, LOGITS),
        "kl_divergence": (new.KLDivergence(), SCORES[:, ::-1], SCORES),
        "poisson": (new.Poisson(), BINARY, SCORES),
        "log_cosh": (new.LogCosh(), BINARY, LOGITS),
        "huber": (new.Huber(delta=0.7), BINARY, LOGITS),
        "mean_squared_error": (new.MeanSquaredError(), BINARY, LOGITS),
        "mean_absolute_error": (new.MeanAbsoluteError(), BINARY, LOGITS),
        "mean_absolute_percentage_error": (
            new.MeanAbsolutePercentageError(), SCORES[:, ::-1] + 1, SCORES),
        "mean_squared_logarithmic_error": (
            new.MeanSquaredLogarithmicError(), SCORES[:, ::-1], SCORES),
        "cosine_similarity": (new.CosineSimilarity(), SCORES[:, ::-1], LOGITS),
        "dice": (Dice(), BINARY, SCORES),
    }
    for name, (loss, labels, predictions) in cases.items():
        x = tf.constant(predictions)
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = loss(labels, x)
        yield name, value.numpy()
        yield name + "_weighted", loss(labels, predictions, sample_weight=WEIGHTS).numpy()
        yield name + "_gradient", tape.gradient(value, x).numpy()[:2]


def main():
    print("// Written by generate.py with TensorFlow 2.15.1 and Keras 2.15.\n"
          "#ifndef ESTIMATOR_NN_TESTDATA_KERAS_GOLDENS_H_\n"
          "#define ESTIMATOR_NN_TESTDATA_KERAS_GOLDENS_H_\n\n"
          "#include <map>\n#include <string>\n#include <vector>\n\n"
          "namespace estimator::goldens {\n\n// clang-format off\n"
          "inline const std::map<std::string, std::vector<double>> kKeras = {")
    for name, value in [*metrics(), *numpy_metrics(), *losses()]:
        numbers = [f"{x:.9g}" for x in np.ravel(value).astype(np.float64)]
        lines, line = [], f'    {{"{name}",'
        for i, number in enumerate(numbers):
            end = "}}," if i + 1 == len(numbers) else ","
            part = f" {'' if i else '{'}{number}{end}"
            if len(line) + len(part) > 100:
                lines.append(line)
                line = "     "
            line += part
        print("\n".join([*lines, line]))
    print("};\n// clang-format on\n\n}  // namespace estimator::goldens\n\n"
          "#endif  // ESTIMATOR_NN_TESTDATA_KERAS_GOLDENS_H_")


if __name__ == "__main__":
    main()
