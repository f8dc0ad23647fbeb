"""Training of a recurrent encoder and a decoder with Luong attention."""

import network
from reference_lib import Step, generate, tf, tf1


def model_fn(features, labels):
    logits = network.training_logits(features, labels["targets"])
    mask = tf.sequence_mask(labels["length"], network.TARGET_STEPS, tf.float32)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels["targets"],
                                                            logits=logits)
    loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)
    return Step(loss=loss, train_op=tf1.train.AdamOptimizer(0.05).minimize(
        loss, tf1.train.get_global_step()))


# Tensors inside of the encoder's loop cannot be fetched.
generate(__file__, model_fn, "a decoder with Luong attention under Adam",
         batches=network.batches(), num_steps=20, forward_ops={"Transpose"})
