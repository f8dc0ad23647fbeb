"""The network of the cases seq2seq*: a recurrent encoder, and a decoder with Luong attention, as
tf.contrib.seq2seq of TensorFlow 1.15 computes them. TensorFlow 2.15 has no seq2seq, so the decoder
and both searches are written from their definitions. The time steps of the decoder are unrolled."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from reference_lib import tf, tf1  # noqa: E402

SOURCE_WORDS, TARGET_WORDS, EMBEDDING, UNITS, ATTENTION = 11, 9, 5, 6, 4
SOURCE_STEPS, TARGET_STEPS = 7, 6
START, END = 1, 2


def batches():
    """Three batches of six examples."""
    rng = np.random.default_rng(41)
    source = rng.integers(0, SOURCE_WORDS, (3, 6, SOURCE_STEPS))
    source_length = rng.integers(1, SOURCE_STEPS + 1, (3, 6))
    source_length[:, 1] = SOURCE_STEPS
    # Both halves of a batch have as many target words, so that its loss is the mean of theirs.
    half = rng.integers(1, TARGET_STEPS, (3, 3))
    half[:, 0] = TARGET_STEPS
    length = np.concatenate([half, half[:, ::-1]], 1)
    # A target is its source from the end on, so that there is something to learn.
    targets = np.zeros((3, 6, TARGET_STEPS), np.int32)
    for b, n in np.ndindex(3, 6):
        words = source[b, n, :source_length[b, n]][::-1] % (TARGET_WORDS - 3) + 3
        words = np.resize(words, length[b, n])
        words[-1] = END
        targets[b, n, :length[b, n]] = words
    return {"features/source": source.astype(np.int32),
            "features/source_length": source_length.astype(np.int32),
            "labels/targets": targets, "labels/length": length.astype(np.int32)}


def translator():
    """The scope of all variables. Each decoding opens it again, and has the same variables."""
    return tf1.variable_scope("translator", reuse=tf1.AUTO_REUSE)


def encode(features):
    """Returns the outputs [N, SOURCE_STEPS, UNITS] and the last state."""
    with translator():
        table = tf1.get_variable("source_embeddings", [SOURCE_WORDS, EMBEDDING])
        source = tf.nn.embedding_lookup(table, features["source"])
        return tf1.nn.dynamic_rnn(tf1.nn.rnn_cell.BasicLSTMCell(UNITS), source,
                                  sequence_length=features["source_length"], dtype=tf.float32,
                                  scope="encoder")


def embed(ids):
    with translator():
        table = tf1.get_variable("target_embeddings", [TARGET_WORDS, EMBEDDING])
    return tf.nn.embedding_lookup(table, ids)


class Decoder:
    """AttentionWrapper(BasicLSTMCell, LuongAttention(scale=True)) and a dense layer.

    memory: [N, SOURCE_STEPS, UNITS], of which the first lengths [N] steps of each example count.
    """

    def __init__(self, memory, lengths):
        self.memory = memory
        self.counts = tf.sequence_mask(lengths, SOURCE_STEPS)
        with translator():
            self.keys = tf1.layers.dense(memory, UNITS, use_bias=False, name="memory_layer")
        self.cell = tf1.nn.rnn_cell.BasicLSTMCell(UNITS, name="basic_lstm_cell")

    def start(self, encoder_state):
        return encoder_state, tf.zeros([self.memory.shape[0], ATTENTION])

    def __call__(self, inputs, state):
        """One time step. inputs: [N, EMBEDDING]. Returns the logits and the new state."""
        cell_state, attention = state
        with translator(), tf1.variable_scope("decoder"):
            with tf1.variable_scope("attention_wrapper"):
                output, cell_state = self.cell(tf.concat([inputs, attention], 1), cell_state)
                scale = tf1.get_variable("luong_attention/attention_g", [],
                                         initializer=tf1.ones_initializer())
                scores = scale * tf.einsum("nu,nmu->nm", output, self.keys)
                alignments = tf.nn.softmax(tf.where(self.counts, scores, -float("inf")))
                context = tf.einsum("nm,nmu->nu", alignments, self.memory)
                attention = tf1.layers.dense(tf.concat([output, context], 1), ATTENTION,
                                             use_bias=False, name="attention_layer")
            logits = tf1.layers.dense(attention, TARGET_WORDS, name="dense")
        return logits, (cell_state, attention)


def training_logits(features, targets):
    """The logits [N, TARGET_STEPS, TARGET_WORDS], where each step gets the target before it."""
    memory, encoder_state = encode(features)
    decoder = Decoder(memory, features["source_length"])
    start = tf.fill([targets.shape[0], 1], START)
    inputs = embed(tf.concat([start, targets[:, :-1]], 1))
    state, logits = decoder.start(encoder_state), []
    for t in range(TARGET_STEPS):
        step, state = decoder(inputs[:, t], state)
        logits.append(step)
    return tf.stack(logits, 1)


def greedy(features, steps):
    """GreedyEmbeddingHelper with impute_finished: the outputs of an example are 0 after its end.

    Returns tokens [N, steps], logits [N, steps, TARGET_WORDS] and lengths [N].
    """
    memory, encoder_state = encode(features)
    decoder = Decoder(memory, features["source_length"])
    num_examples = memory.shape[0]
    token, finished = tf.fill([num_examples], START), tf.zeros([num_examples], tf.bool)
    lengths, state = tf.zeros([num_examples], tf.int32), decoder.start(encoder_state)
    all_tokens, all_logits = [], []
    for _ in range(steps):
        logits, state = decoder(embed(token), state)
        token = tf.argmax(logits, 1, tf.int32)
        all_tokens.append(tf.where(finished, 0, token))
        all_logits.append(tf.where(finished[:, None], 0.0, logits))
        lengths += tf.cast(~finished, tf.int32)
        finished |= tf.equal(token, END)
    return tf.stack(all_tokens, 1), tf.stack(all_logits, 1), lengths


def gather_tree(tokens, parents, lengths):
    """The sequences of the last beams, from tokens and parents of each step: [steps, N, beams].

    lengths: [N]: the steps that count. Later ones, and those after an end, are END.
    """
    beams = tf.broadcast_to(tf.range(tokens[0].shape[1]), tokens[0].shape)
    sequences = []
    for t in reversed(range(len(tokens))):
        counts = (t < lengths)[:, None]
        sequences.insert(0, tf.where(counts, tf.gather(tokens[t], beams, batch_dims=1), END))
        beams = tf.where(counts, tf.gather(parents[t], beams, batch_dims=1), beams)
    sequences = tf.stack(sequences, 1)
    ends = tf.cumsum(tf.cast(tf.equal(sequences, END), tf.int32), 1, exclusive=True)
    return tf.where(ends > 0, END, sequences)


def beam_search(features, steps, num_beams, length_penalty_weight):
    """BeamSearchDecoder. After the step in which all beams are over, there are no scores: 0.

    Returns sequences [N, steps, num_beams], scores of the same shape and lengths [N, num_beams].
    """
    memory, encoder_state = encode(features)
    num_examples = memory.shape[0]
    tile = lambda x: tf.repeat(x, num_beams, 0)  # noqa: E731
    decoder = Decoder(tile(memory), tile(features["source_length"]))
    state = decoder.start(tf.nest.map_structure(tile, encoder_state))
    token = tf.fill([num_examples, num_beams], START)
    # All beams are equal, so only the first one counts before the first step.
    first = tf.broadcast_to(tf.range(num_beams) < 1, token.shape)
    log_probs, finished = tf.where(first, 0.0, -float("inf")), ~first
    lengths, is_end = tf.zeros_like(token), tf.equal(tf.range(TARGET_WORDS), END)
    all_tokens, all_parents, all_scores = [], [], []
    for _ in range(steps):
        running = ~tf.reduce_all(finished)
        logits, state = decoder(embed(tf.reshape(token, [-1])), state)
        step = tf.nn.log_softmax(tf.reshape(logits, [num_examples, num_beams, TARGET_WORDS]))
        only_end = tf.where(is_end, 0.0, tf.float32.min)
        total = tf.where(finished[..., None], only_end, step) + log_probs[..., None]
        longer = tf.cast(~(finished[..., None] | is_end), tf.float32)
        length = tf.cast(lengths, tf.float32)[..., None] + longer
        scores = total / ((5 + length) / 6) ** length_penalty_weight
        flat = [num_examples, num_beams * TARGET_WORDS]
        best, indices = tf.math.top_k(tf.reshape(scores, flat), num_beams)
        parents, token = indices // TARGET_WORDS, indices % TARGET_WORDS
        log_probs = tf.gather(tf.reshape(total, flat), indices, batch_dims=1)
        finished = tf.gather(finished, parents, batch_dims=1)
        lengths = tf.gather(lengths, parents, batch_dims=1) + tf.cast(~finished, tf.int32)
        finished |= tf.equal(token, END)

        def of_parents(x):
            beams = tf.reshape(x, [num_examples, num_beams, -1])
            return tf.reshape(tf.gather(beams, parents, batch_dims=1), x.shape)

        state = tf.nest.map_structure(of_parents, state)
        all_tokens.append(token)
        all_parents.append(parents)
        all_scores.append(tf.where(running, best, 0.0))
    sequences = gather_tree(all_tokens, all_parents, tf.reduce_max(lengths, 1))
    return sequences, tf.stack(all_scores, 1), lengths
