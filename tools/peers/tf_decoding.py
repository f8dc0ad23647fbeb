#!/usr/bin/env python3
"""Greedy decoding by a transformer with a cache, as a tf.while_loop: the network of
//models/transformer:decoding_benchmark, with the same flags.

The keys and values of the inputs are computed before the loop. --cache says how those of decoded
tokens are kept: a tensor that grows in each step, as in the official transformer, or one of full
length (padded_decode).

--decoding_benchmark=PROGRAM also runs our program with the same flags and threads, and prints its
line, TensorFlow's and a line with the ratio of both speeds.

usage: tf_decoding.py [--batch_size=1] [--decode_length=64] [--hidden_size=32] [--num_layers=2]
                      [--cache=grow|padded] [--control_flow=v1|v2] [--jit_compile] ...
"""
import json
import os
import subprocess
import time

import measure

SIZES = {"decode_length": 64, "input_length": 16, "vocab_size": 1000, "hidden_size": 32,
         "num_layers": 2, "num_heads": 4, "filter_size": 128}


def run_ours(flags):
    """Returns the fields of our benchmark's line."""
    command = [flags.decoding_benchmark, "--use_tpu=false"]
    command += ["--%s=%s" % (name, getattr(flags, name))
                for name in ("batch_size", "steps", "seconds", "warmup_steps", *SIZES)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, OMP_NUM_THREADS=str(flags.threads)))
    line = [line for line in done.stdout.splitlines() if line.startswith("{")][-1]
    print(line, flush=True)
    return json.loads(line)


class Network:
    """The layers, with variables that are random once."""

    def __init__(self, tf, flags):
        self.tf, self.flags, self.variables = tf, flags, {}

    def variable(self, name, shape):
        if name not in self.variables:
            scale = shape[-1] ** -0.5
            value = self.tf.random.stateless_uniform(shape, (1, len(self.variables)), -scale, scale)
            self.variables[name] = self.tf.Variable(value)
        return self.variables[name]

    def make_variables(self):
        """A tf.function must not make them: runs one position without a loop."""
        tf, flags = self.tf, self.flags
        inputs = tf.ones([1, flags.input_length], tf.int32)
        self.next_logits(tf.ones([1, 1], tf.int32), tf.constant(0), self.empty_cache(1),
                         self.encode(inputs))

    def norm(self, x, name):
        tf, size = self.tf, [self.flags.hidden_size]
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, self.variable(name + "/bias", size),
                                         self.variable(name + "/scale", size), 1e-6)

    def dense(self, x, units, name, bias=False, activation=None):
        tf, depth = self.tf, x.shape[-1]
        rows = tf.matmul(tf.reshape(x, [-1, depth]), self.variable(name + "/kernel",
                                                                  [depth, units]))
        if bias:
            rows = tf.nn.bias_add(rows, self.variable(name + "/bias", [units]))
        rows = activation(rows) if activation else rows
        return tf.reshape(rows, [x.shape[0], -1, units])

    def heads(self, x):
        tf, flags = self.tf, self.flags
        x = tf.reshape(x, [x.shape[0], -1, flags.num_heads, flags.hidden_size // flags.num_heads])
        return tf.transpose(x, [0, 2, 1, 3])

    def attend(self, query, keys, values, bias, name):
        tf, hidden = self.tf, self.flags.hidden_size
        query = self.heads(query) * (hidden // self.flags.num_heads) ** -0.5
        scores = tf.matmul(query, self.heads(keys), transpose_b=True)
        scores = scores if bias is None else scores + bias
        context = tf.transpose(tf.matmul(tf.nn.softmax(scores), self.heads(values)), [0, 2, 1, 3])
        context = tf.reshape(context, [query.shape[0], -1, hidden])
        return self.dense(context, hidden, name + "/output_transform")

    def feed_forward(self, x, name):
        tf, flags = self.tf, self.flags
        x = self.dense(x, flags.filter_size, name + "/filter", bias=True, activation=tf.nn.relu)
        return self.dense(x, flags.hidden_size, name + "/output", bias=True)

    def embed(self, ids):
        tf, flags = self.tf, self.flags
        counts = tf.cast(tf.not_equal(ids, 0), tf.float32)[..., None] * flags.hidden_size ** 0.5
        return tf.gather(self.variable("weights", [flags.vocab_size, flags.hidden_size]),
                         ids) * counts

    def positions(self, length):
        import numpy as np
        scales = self.flags.hidden_size // 2
        inverse = np.exp(np.arange(scales) * -(np.log(1e4) / (scales - 1)))
        angles = np.arange(length)[:, None] * inverse
        return self.tf.constant(np.concatenate([np.sin(angles), np.cos(angles)], 1), "float32")

    def encode(self, inputs):
        """The keys and values of each layer of the decoder, and the bias of padding."""
        tf, hidden = self.tf, self.flags.hidden_size
        bias = tf.cast(tf.equal(inputs, 0), tf.float32)[:, None, None, :] * -1e9
        x = self.embed(inputs) + self.positions(inputs.shape[1])
        for layer in range(self.flags.num_layers):
            name = "encoder%d" % layer
            y = self.norm(x, name + "/norm0")
            query, keys, values = (self.dense(y, hidden, name + "/" + part) for part in "qkv")
            x += self.attend(query, keys, values, bias, name)
            x += self.feed_forward(self.norm(x, name + "/norm1"), name)
        x = self.norm(x, "encoder/norm")
        memory = [[self.dense(x, hidden, "decoder%d/encdec_%s" % (layer, part)) for part in "kv"]
                  for layer in range(self.flags.num_layers)]
        return memory, bias

    def empty_cache(self, batch_size):
        length = 0 if self.flags.cache == "grow" else self.flags.decode_length
        shape = [batch_size, length, self.flags.hidden_size]
        return [self.tf.zeros(shape) for _ in range(2 * self.flags.num_layers)]

    def next_logits(self, ids, i, cache, memory):
        """The logits after token ids [N, 1] at position i, and the new cache."""
        tf, flags, hidden = self.tf, self.flags, self.flags.hidden_size
        keys_and_values, encoder_bias = memory
        length = flags.decode_length
        x = self.embed(ids) + self.positions(length)[i]
        bias, place, new_cache = None, None, []
        if flags.cache == "padded":
            bias = tf.where(tf.range(length) > i, -1e9, 0.0)
            place = tf.one_hot(i, length)[None, :, None]
        for layer in range(flags.num_layers):
            name = "decoder%d" % layer
            y = self.norm(x, name + "/norm0")
            query, *own = (self.dense(y, hidden, name + "/" + part) for part in "qkv")
            for old, new in zip(cache[2 * layer:], own):
                new_cache.append(tf.concat([old, new], 1) if place is None else old + new * place)
            x += self.attend(query, *new_cache[-2:], bias, name)
            query = self.dense(self.norm(x, name + "/norm1"), hidden, name + "/encdec_q")
            x += self.attend(query, *keys_and_values[layer], encoder_bias, name + "/encdec")
            x += self.feed_forward(self.norm(x, name + "/norm2"), name)
        x = tf.reshape(self.norm(x, "decoder/norm"), [-1, hidden])
        weights = self.variable("weights", [flags.vocab_size, hidden])
        return tf.matmul(x, weights, transpose_b=True), new_cache

    def greedy(self, inputs):
        """i32 [N, decode_length]."""
        tf, flags, batch_size = self.tf, self.flags, inputs.shape[0]
        memory = self.encode(inputs)
        cache = self.empty_cache(batch_size)
        shape = [batch_size, None if flags.cache == "grow" else flags.decode_length,
                 flags.hidden_size]
        tokens = tf.TensorArray(tf.int32, flags.decode_length, element_shape=[batch_size])

        def body(i, ids, tokens, *cache):
            logits, cache = self.next_logits(ids, i, cache, memory)
            ids = tf.argmax(logits, 1, tf.int32)
            return i + 1, ids[:, None], tokens.write(i, ids), *cache

        variables = (tf.constant(0), tf.zeros([batch_size, 1], tf.int32), tokens, *cache)
        invariants = (tf.TensorShape([]), tf.TensorShape([batch_size, 1]), tf.TensorShape(None),
                      *[tf.TensorShape(shape)] * len(cache))
        last = tf.while_loop(lambda i, *_: i < flags.decode_length, body, variables, invariants,
                             maximum_iterations=flags.decode_length)
        return tf.transpose(last[2].stack())


def main():
    flags = measure.parser(__doc__, batch_size=1)
    for name, value in SIZES.items():
        flags.add_argument("--" + name, type=int, default=value)
    flags.add_argument("--cache", choices=["grow", "padded"], default="grow")
    flags.add_argument("--control_flow", choices=["v1", "v2"], default="v2",
                       help="v1: the loop of TensorFlow 1, with Enter and NextIteration")
    flags.add_argument("--jit_compile", action="store_true", help="under XLA; needs --cache=padded")
    flags.add_argument("--decoding_benchmark", default="",
                       help="our program, bazel-bin/models/transformer/decoding_benchmark")
    flags = flags.parse_args()
    ours = run_ours(flags) if flags.decoding_benchmark else None
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(flags.threads)
    if flags.control_flow == "v1":
        tf.compat.v1.disable_control_flow_v2()
    network = Network(tf, flags)
    network.make_variables()
    inputs = tf.random.uniform([flags.batch_size, flags.input_length], 2, flags.vocab_size,
                               tf.int32)
    decode = tf.function(network.greedy, jit_compile=flags.jit_compile)
    for _ in range(max(flags.warmup_steps, 1)):
        tokens = decode(inputs).numpy()
    assert tokens.shape == (flags.batch_size, flags.decode_length), tokens.shape
    begin, cpu_begin = time.monotonic(), time.process_time()
    batches, seconds = 0, 0
    while batches < flags.steps and not 0 < flags.seconds <= seconds:
        decode(inputs).numpy()
        batches += 1
        seconds = time.monotonic() - begin
    cpu_seconds = time.process_time() - cpu_begin
    fields = {name: getattr(flags, name) for name in ("batch_size", *SIZES, "cache",
                                                      "control_flow", "jit_compile")}
    speed = batches * flags.batch_size * flags.decode_length / seconds
    measure.print_json("tf_decoding", {
        **fields, "tokens_per_second": speed, "batch_ms": 1000 * seconds / batches,
        "batch_cpu_ms": 1000 * cpu_seconds / batches, "measured_batches": batches,
        "peak_rss_mib": measure.peak_rss_mib(), "threads": flags.threads})
    if ours:
        measure.print_json("decoding_ratio", {
            "batch_size": flags.batch_size,
            "speed_ratio": ours["tokens_per_second"] / speed,
            "cpu_ratio": 1000 * cpu_seconds / batches / ours["batch_cpu_ms"]})


if __name__ == "__main__":
    main()
