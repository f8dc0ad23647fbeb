#!/usr/bin/env python3
"""torchvision's ResNet-50, with images that are made once. Version 1.5 is torchvision's; version 1
has the stride of a block in its first 1x1 convolution.

usage: torch_resnet.py [--batch_size=32] [--resnet_version=1|1.5] [--compute_dtype=float32|bfloat16]
[--compile]
                       [--layout=nchw|nhwc] ...
"""
import measure
import torch_training


def main():
    flags = torch_training.add_flags(measure.parser(__doc__, batch_size=32))
    flags.add_argument("--resnet_version", choices=["1", "1.5"], default="1")
    flags.add_argument("--image_size", type=int, default=224)
    flags = flags.parse_args()
    import torch
    import torchvision
    model = torchvision.models.resnet50()
    if flags.resnet_version == "1":
        for layer in [model.layer2, model.layer3, model.layer4]:
            layer[0].conv1.stride, layer[0].conv2.stride = (2, 2), (1, 1)
    images = torch.rand(flags.batch_size, 3, flags.image_size, flags.image_size)
    labels = torch.randint(0, 1000, (flags.batch_size,))
    torch_training.run("torch_resnet", flags, model, images, labels,
                       torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
                       resnet_version=flags.resnet_version)


if __name__ == "__main__":
    main()
