"""The training loop of torch_mnist.py and torch_resnet.py."""
import measure


def add_flags(flags):
    flags.add_argument("--compile", action="store_true", help="torch.compile the model")
    flags.add_argument("--layout", choices=["nchw", "nhwc"], default="nhwc")
    return flags


def run(program, flags, model, images, labels, optimizer, **fields):
    """Trains on one batch and prints the line of JSON."""
    import torch
    torch.set_num_threads(flags.threads)
    if flags.layout == "nhwc":
        model = model.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    forward = torch.compile(model) if flags.compile else model
    meter = measure.Meter(flags)
    while True:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=flags.compute_dtype == "bfloat16"):
            loss = torch.nn.functional.cross_entropy(forward(images), labels)
        loss.backward()
        optimizer.step()
        if meter.step():
            break
    measure.print_training(program, flags, meter, "images", input="synthetic",
                           compile=flags.compile, layout=flags.layout, **fields)


