"""Training of the official transformer, tiny."""

import network
from reference_lib import Step, generate, tf, tf1

LEARNING_RATE, WARMUP_STEPS, LABEL_SMOOTHING = 0.4, 10, 0.1


def transformer_loss(logits, targets):
    """Cross entropy of smoothed targets, less the least possible one: the mean over all words."""
    confidence = 1 - LABEL_SMOOTHING
    low = LABEL_SMOOTHING / (network.VOCABULARY - 1)
    soft = tf.one_hot(targets, network.VOCABULARY, confidence, low)
    losses = tf.nn.softmax_cross_entropy_with_logits(labels=soft, logits=logits)
    losses += (confidence * tf.math.log(confidence)
               + (network.VOCABULARY - 1) * low * tf.math.log(low + 1e-20))
    weights = tf.cast(tf.not_equal(targets, network.PADDING), tf.float32)
    return tf.reduce_sum(losses * weights) / tf.reduce_sum(weights)


def learning_rate():
    step = tf.cast(tf1.train.get_global_step(), tf.float32)
    rate = LEARNING_RATE * network.HIDDEN ** -0.5 * tf.minimum(1.0, step / WARMUP_STEPS)
    return rate * tf.math.rsqrt(tf.maximum(step, WARMUP_STEPS))


def model_fn(features, labels):
    outputs = network.encode(features)
    logits = network.decode(labels, outputs, network.padding_bias(features))
    loss = transformer_loss(logits, labels)
    optimizer = tf1.train.AdamOptimizer(learning_rate(), beta1=0.9, beta2=0.997, epsilon=1e-9)
    return Step(loss=loss, train_op=optimizer.minimize(loss, tf1.train.get_global_step()))


# The slots follow from the gradients. Without them the case has less than half of its size.
generate(__file__, model_fn, "the official transformer with 2 layers of width 8",
         batches=network.batches(), num_steps=20, forward_ops=set(), without=["/Adam"])
