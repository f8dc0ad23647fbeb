"""Writes goldens.h: decoders of tensorflow_addons.seq2seq, which continues tf.contrib.seq2seq, and
the beam search of the official transformer.

Command: python generate.py > goldens.h
(TensorFlow 2.15.1, tensorflow_addons 0.23.0, tf-models-official 2.15.0 without its dependencies)
All weights and inputs are wave(shape), which the tests have too. Outputs are padded to the largest
number of time steps: with 0, or with the end token for the sequences of a beam search.
"""
import importlib.util
import pathlib

import numpy as np
import tensorflow as tf
import tensorflow_addons as tfa

seq2seq = tfa.seq2seq
N, M, D, UNITS, C, V, STEPS, BEAMS = 2, 5, 4, 4, 3, 7, 6, 3
START, END, GREEDY_END = 1, 2, 1


def wave(shape, dtype=None, factor=3.0):
    numbers = (np.arange(np.prod(shape, dtype=np.int64)) * 37 + 11) % 101
    return tf.constant(((numbers / 101 - 0.5) * factor).reshape(shape), tf.float32)


def dense(units, **kwargs):
    return tf.keras.layers.Dense(units, kernel_initializer=wave, use_bias=False, **kwargs)


class Cell(tf.keras.layers.Layer):
    """BasicRNNCell: h <- tanh([x, h] kernel)."""
    state_size = output_size = UNITS

    def build(self, shape):
        self.kernel = self.add_weight("kernel", [shape[-1] + UNITS, UNITS], initializer=wave)

    def call(self, inputs, states):
        h = tf.tanh(tf.concat([inputs, states[0] if isinstance(states, (list, tuple)) else states],
                              1) @ self.kernel)
        return h, h

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        return tf.zeros([batch_size, UNITS], dtype)


MECHANISMS = {
    "luong": (seq2seq.LuongAttention, {}),
    "bahdanau": (seq2seq.BahdanauAttention, {}),
    "bahdanau_normalize": (seq2seq.BahdanauAttention, {"normalize": True}),
}


def wrapper(name, multiplier=1):
    make, options = MECHANISMS[name]
    if name.startswith("bahdanau"):
        options = dict(options, kernel_initializer=wave)
    mechanism = make(UNITS, **options)
    mechanism.memory_layer.kernel_initializer = wave
    if name.startswith("bahdanau"):
        mechanism.query_layer.kernel_initializer = wave
    memory, lengths = wave([N, M, D]), tf.constant([M, 3])
    mechanism.setup_memory(seq2seq.tile_batch(memory, multiplier),
                           memory_sequence_length=seq2seq.tile_batch(lengths, multiplier))
    luong = name.startswith("luong")
    cell = seq2seq.AttentionWrapper(
        Cell(), mechanism, attention_layer=dense(5) if luong else None, output_attention=luong)
    state = cell.get_initial_state(batch_size=N * multiplier, dtype=tf.float32)
    encoder = seq2seq.tile_batch(wave([N, UNITS]), multiplier)
    return cell, state.clone(cell_state=encoder)


def padded(x, value=0):
    x = np.asarray(x)
    return np.pad(x, [(0, 0), (0, STEPS - x.shape[1])] + [(0, 0)] * (x.ndim - 2),
                  constant_values=value)


def training():
    for name in MECHANISMS:
        cell, state = wrapper(name)
        decoder = seq2seq.BasicDecoder(cell, seq2seq.TrainingSampler(), dense(V))
        outputs, state, lengths = decoder(wave([N, STEPS, C]), initial_state=state,
                                          sequence_length=[STEPS, 3])
        yield name + "_rnn_output", outputs.rnn_output
        yield name + "_sample_id", outputs.sample_id
        yield name + "_attention", state.attention
        yield name + "_alignments", state.alignments


def greedy():
    cell, state = wrapper("luong")
    decoder = seq2seq.BasicDecoder(cell, seq2seq.GreedyEmbeddingSampler(), dense(V),
                                   maximum_iterations=STEPS, impute_finished=True)
    outputs, _, lengths = decoder(wave([V, C]), start_tokens=[START, 3],
                                  end_token=GREEDY_END, initial_state=state)
    yield "greedy_sample_id", padded(outputs.sample_id)
    yield "greedy_rnn_output", padded(outputs.rnn_output)
    yield "greedy_lengths", lengths


def beam_search():
    for weight in (0.0, 1.0):
        for name in ("luong", "bahdanau"):
            cell, state = wrapper(name, BEAMS)
            decoder = seq2seq.BeamSearchDecoder(
                cell, BEAMS, output_layer=dense(V), length_penalty_weight=weight,
                maximum_iterations=STEPS)
            outputs, _, lengths = decoder(wave([V, C]), start_tokens=[START, 3], end_token=END,
                                          initial_state=state)
            prefix = f"beam_{name}_{weight:.0f}_"
            step = outputs.beam_search_decoder_output
            yield prefix + "predicted_ids", padded(outputs.predicted_ids, END)
            yield prefix + "scores", padded(step.scores)
            yield prefix + "step_ids", padded(step.predicted_ids)
            yield prefix + "parent_ids", padded(step.parent_ids)
            yield prefix + "lengths", lengths


def loss():
    logits, targets = wave([2, 3, 4]), tf.constant([[0, 3, 1], [2, 2, 0]])
    weights = tf.constant([[1, 0.5, 0], [1, 0, 0]])
    for average_t, average_n, sum_t, sum_n in (
            (1, 1, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 0), (0, 0, 1, 1), (0, 0, 1, 0),
            (0, 0, 0, 1)):
        yield f"loss_{average_t}{average_n}{sum_t}{sum_n}", seq2seq.sequence_loss(
            logits, targets, weights, *map(bool, (average_t, average_n, sum_t, sum_n)))


def gather_tree():
    rng = np.random.RandomState(5)
    step_ids, parents = rng.randint(0, 5, [6, 2, 3]), rng.randint(0, 3, [6, 2, 3])
    yield "tree_step_ids", step_ids
    yield "tree_parent_ids", parents
    yield "tree_ids", seq2seq.gather_tree(step_ids.astype(np.int32), parents.astype(np.int32),
                                          [4, 6], 4)


def transformer():
    official = importlib.util.find_spec("official").submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location(
        "beam_search", pathlib.Path(official) / "nlp/modeling/ops/beam_search.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    own, memory = wave([V, V]), wave([V, V], factor=2.0)

    def logits(ids, i, cache):
        last = ids[:, -1]
        return tf.gather(own, last) + cache["h"], {"h": cache["h"] * 0.5 + tf.gather(memory, last)}

    for alpha in (0.0, 0.6, 3.0):
        ids, scores = module.sequence_beam_search(
            logits, tf.constant([START, 3, 5]), {"h": wave([3, V])}, V, BEAMS, alpha, STEPS, END)
        yield f"transformer_{alpha}_ids", np.pad(
            ids, [(0, 0), (0, 0), (0, STEPS + 1 - ids.shape[2])])
        yield f"transformer_{alpha}_scores", scores


print("""// Written by generate.py with TensorFlow 2.15.1.
#ifndef ESTIMATOR_NN_TESTDATA_SEQ2SEQ_GOLDENS_H_
#define ESTIMATOR_NN_TESTDATA_SEQ2SEQ_GOLDENS_H_

#include <map>
#include <string>
#include <vector>

namespace estimator::goldens {

// clang-format off
inline const std::map<std::string, std::vector<double>> kSeq2Seq = {""")
for cases in (training, greedy, beam_search, loss, gather_tree, transformer):
    for name, values in cases():
        values = np.asarray(values).ravel()
        lines, line = [], f'    {{"{name}", {{'
        for i, value in enumerate(values):
            word = f"{value:.8g}" + (", " if i + 1 < len(values) else "}},")
            if len(line) + len(word) > 98:
                lines.append(line.rstrip())
                line = "        "
            line += word
        print("\n".join(lines + [line]))
print("""};
// clang-format on

}  // namespace estimator::goldens

#endif  // ESTIMATOR_NN_TESTDATA_SEQ2SEQ_GOLDENS_H_""")
