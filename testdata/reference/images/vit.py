"""ViT, made of Keras' layers: Keras 2.15 has none."""

from keras.src import layers
import tensorflow as tf


def network(shape, classes=1000, patch_size=16, hidden_size=768, blocks=12, heads=12,
            mlp_size=3072):
    images = layers.Input(shape)
    x = layers.Conv2D(hidden_size, patch_size, strides=patch_size, name="patch_embedding")(images)
    x = layers.Reshape((-1, hidden_size))(x)
    # A look-up of row 0 for each image, and of all rows for the positions.
    first = layers.Lambda(lambda t: tf.zeros_like(t[:, :1, 0], tf.int32))(x)
    token = layers.Embedding(1, hidden_size, embeddings_initializer="zeros", name="class_token")
    x = layers.Concatenate(axis=1)([token(first), x])
    tokens = x.shape[1]
    positions = layers.Lambda(lambda t: tf.zeros_like(t[:, :, 0], tf.int32) + tf.range(tokens))(x)
    x = x + layers.Embedding(
        tokens, hidden_size, name="position_embedding",
        embeddings_initializer=tf.keras.initializers.RandomNormal(stddev=0.02))(positions)
    for i in range(1, blocks + 1):
        y = layers.LayerNormalization(epsilon=1e-6, name=f"block{i}_norm1")(x)
        x = x + layers.MultiHeadAttention(heads, hidden_size // heads,
                                          name=f"block{i}_attention")(y, y)
        y = layers.LayerNormalization(epsilon=1e-6, name=f"block{i}_norm2")(x)
        y = layers.Dense(mlp_size, activation="gelu", name=f"block{i}_mlp1")(y)
        x = x + layers.Dense(hidden_size, name=f"block{i}_mlp2")(y)
    x = layers.LayerNormalization(epsilon=1e-6, name="norm")(x)
    x = layers.Dense(classes, name="predictions")(x[:, 0])
    return tf.keras.Model(images, x)
