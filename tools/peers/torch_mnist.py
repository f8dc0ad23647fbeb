#!/usr/bin/env python3
"""The network of mnist_tpu.cc with PyTorch, with images that are made once.

usage: torch_mnist.py [--batch_size=1024] [--compute_dtype=float32|bfloat16] [--compile]
[--layout=nchw|nhwc] ...
"""
import measure
import torch_training


def main():
    flags = torch_training.add_flags(measure.parser(__doc__, batch_size=1024)).parse_args()
    import torch
    from torch import nn
    model = nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Dropout(0.4), nn.Linear(1024, 10))
    images = torch.rand(flags.batch_size, 1, 28, 28)
    labels = torch.randint(0, 10, (flags.batch_size,))
    torch_training.run("torch_mnist", flags, model, images, labels,
                       torch.optim.SGD(model.parameters(), lr=0.05))


if __name__ == "__main__":
    main()
