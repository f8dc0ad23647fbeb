"""The network of check_plant.py and check_flowers.py, with first weights as if it were trained.

It is well conditioned. Adam moves a weight by the whole rate whatever the size of its gradient, and
in MobileNetV2 many gradients are 0 but for rounding errors, such as those of a beta that the next
batch norm subtracts. With 48 pictures of 32 rows the second loss of models/plant was 0.5288 in
Keras in float32, 0.5268 in Keras in float64, and 0.5269 here; that of MobileNetV3Small with
pictures of 64 rows is 0.450762 in all three.
"""

import numpy as np
import tensorflow as tf

NAME, SIDE = "MobileNetV3Small", 64


def small_network(pictures=None):
    """Without the top. The moving averages are those of the pictures: Keras' first ones are far
    from the activations, and an evaluation after a few steps would not tell pictures apart."""
    network = tf.keras.applications.MobileNetV3Small(
        input_shape=(SIDE, SIDE, 3), include_top=False, pooling="avg", weights=None)
    if pictures is not None:
        norms = [layer for layer in network.layers
                 if isinstance(layer, tf.keras.layers.BatchNormalization)]
        momentum = [layer.momentum for layer in norms]
        for layer in norms:
            layer.momentum = 0.0
        network(pictures.astype(np.float32), training=True)
        for layer, value in zip(norms, momentum):
            layer.momentum = value
    return network
