#!/usr/bin/env python3
"""Makes a seed of import_train_graph_fuzz from a model.ckpt-N.meta that TensorFlow wrote.

Usage: strip_meta_graph.py model.ckpt-0.meta import_train_graph/SEED
Leaves out what is large and not read: the list of ops, functions, and nodes of the input pipeline.
The seeds are of TF 2.15.1: `cond` is a linear model with tf.cond, `table` an embedding with Adam,
`mnist` the MNIST network with Adam and resource variables. import_graph_def/generate.py writes
`frames` and `lists`.
"""

import sys


def varint(data, position):
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def encoded(value):
    result = b""
    while value >= 0x80:
        result += bytes([value & 0x7F | 0x80])
        value >>= 7
    return result + bytes([value])


def fields(data):
    """Yields the number, the contents and all bytes of each field; contents is None unless it is a
    message."""
    position = 0
    while position < len(data):
        start = position
        tag, position = varint(data, position)
        contents = None
        if tag & 7 == 0:
            _, position = varint(data, position)
        elif tag & 7 == 2:
            length, position = varint(data, position)
            contents = data[position : position + length]
            position += length
        else:
            position += 8 if tag & 7 == 1 else 4
        yield tag >> 3, contents, data[start:position]


def without_large_nodes(nodes):
    """Drops nodes of more than 4096 bytes, which hold the input's data, and the nodes that use
    them."""
    dropped = set()
    kept = []
    for contents, whole in nodes:
        names = [text for number, text, _ in fields(contents) if number == 1]
        inputs = {text.split(b":")[0].lstrip(b"^") for number, text, _ in fields(contents)
                  if number == 3}
        if len(contents) > 4096 or inputs & dropped:
            dropped.update(names)
        else:
            kept.append(whole)
    return kept


def main():
    with open(sys.argv[1], "rb") as file:
        meta_graph = file.read()
    result = b""
    for number, contents, whole in fields(meta_graph):
        if number == 1:  # meta_info_def
            continue
        if number == 2:  # graph_def; its field 2 is the library
            nodes = [(node, part) for inner, node, part in fields(contents) if inner == 1]
            rest = [part for inner, _, part in fields(contents) if inner > 2]
            graph = b"".join(without_large_nodes(nodes) + rest)
            whole = encoded(2 << 3 | 2) + encoded(len(graph)) + graph
        result += whole
    with open(sys.argv[2], "wb") as file:
        file.write(result)


if __name__ == "__main__":
    main()
