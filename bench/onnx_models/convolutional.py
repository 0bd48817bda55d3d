"""Convolutional networks on images `[batch, 3, size, size]`."""

from collections.abc import Sequence

import onnx

from .builder import Extent, GraphBuilder


def resnet(
    depths: Sequence[int], bottleneck: bool, size: int = 224, width: int = 64, batch: Extent = 1, classes: int = 1000
) -> onnx.ModelProto:
    """A ResNet: (2, 2, 2, 2) of basic blocks is ResNet-18, (3, 4, 6, 3) of bottlenecks ResNet-50."""
    net = GraphBuilder("resnet")
    x = net.input("image", (batch, 3, size, size))
    x = net.op("Relu", net.batch_norm(net.conv(x, 3, width, 7, 2), width))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    inner = width
    for stage, depth in enumerate(depths):
        outer = width * 2**stage
        for block in range(depth):
            stride = 2 if stage and not block else 1
            x, inner = _residual(net, x, inner, outer, stride, bottleneck)
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    net.op("Gemm", x, net.weight((inner, classes)), net.weight((classes,), 0.02), output="scores")
    return net.model({"scores": (batch, classes)})


def _residual(net: GraphBuilder, x: str, inner: int, width: int, stride: int, bottleneck: bool) -> tuple[str, int]:
    """A block, and how many channels it gives."""
    outer = 4 * width if bottleneck else width
    shapes = (
        [(inner, width, 1), (width, width, 3), (width, outer, 1)]
        if bottleneck
        else [(inner, width, 3), (width, width, 3)]
    )
    y = x
    for number, (before, after, kernel) in enumerate(shapes):
        step = stride if number == (1 if bottleneck else 0) else 1
        y = net.batch_norm(net.conv(y, before, after, kernel, step), after)
        if number + 1 < len(shapes):
            y = net.op("Relu", y)
    if stride != 1 or inner != outer:
        x = net.batch_norm(net.conv(x, inner, outer, 1, stride), outer)
    return net.op("Relu", net.op("Add", x, y)), outer


def mobilenet(size: int = 224, batch: Extent = 1, classes: int = 1000) -> onnx.ModelProto:
    """Inverted residuals with depthwise convolutions, squeeze and excitation, hard swish: as MobileNet-v3."""
    net = GraphBuilder("mobilenet")
    x = net.input("image", (batch, 3, size, size))
    x = net.op("HardSwish", net.batch_norm(net.conv(x, 3, 16, 3, 2), 16))
    inner = 16
    for outer, expanded, kernel, stride, squeezes in (
        (16, 16, 3, 1, False),
        (24, 64, 3, 2, False),
        (24, 72, 3, 1, False),
        (40, 72, 5, 2, True),
        (40, 120, 5, 1, True),
        (80, 240, 3, 2, False),
        (112, 480, 3, 1, True),
    ):
        x = _inverted(net, x, inner, expanded, outer, kernel, stride, squeezes)
        inner = outer
    x = net.op("HardSwish", net.batch_norm(net.conv(x, inner, 480, 1), 480))
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    net.op("Gemm", x, net.weight((480, classes)), net.weight((classes,), 0.02), output="scores")
    return net.model({"scores": (batch, classes)})


def _inverted(
    net: GraphBuilder, x: str, inner: int, expanded: int, outer: int, kernel: int, stride: int, squeezes: bool
) -> str:
    y = net.op("HardSwish", net.batch_norm(net.conv(x, inner, expanded, 1), expanded))
    y = net.batch_norm(net.conv(y, expanded, expanded, kernel, stride, groups=expanded), expanded)
    y = net.op("HardSwish", y)
    if squeezes:
        narrow = max(8, expanded // 4)
        gate = net.op("Relu", net.conv(net.op("GlobalAveragePool", y), expanded, narrow, 1))
        y = net.op("Mul", y, net.op("HardSigmoid", net.conv(gate, narrow, expanded, 1), alpha=1 / 6, beta=0.5))
    y = net.batch_norm(net.conv(y, expanded, outer, 1), outer)
    return net.op("Add", x, y) if stride == 1 and inner == outer else y


def unet(size: int = 128, width: int = 32, levels: int = 3, batch: Extent = 1) -> onnx.ModelProto:
    """A U-Net: max pooling on the way down, transposed convolutions and concatenated skips on the way up."""
    net = GraphBuilder("unet")
    x, inner, skips = net.input("image", (batch, 3, size, size)), 3, []
    for level in range(levels):
        x, inner = _twice(net, x, inner, width * 2**level), width * 2**level
        skips.append((x, inner))
        x = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x, inner = _twice(net, x, inner, width * 2**levels), width * 2**levels
    for skip, channels in reversed(skips):
        x = net.op("ConvTranspose", x, net.weight((inner, channels, 2, 2)), kernel_shape=[2, 2], strides=[2, 2])
        x, inner = _twice(net, net.op("Concat", skip, x, axis=1), 2 * channels, channels), channels
    weight = net.weight((2, inner, 1, 1))
    net.op("Conv", x, weight, kernel_shape=[1, 1], output="mask")
    return net.model({"mask": (batch, 2, size, size)})


def _twice(net: GraphBuilder, x: str, inner: int, outer: int) -> str:
    x = net.op("Relu", net.batch_norm(net.conv(x, inner, outer, 3), outer))
    return net.op("Relu", net.batch_norm(net.conv(x, outer, outer, 3), outer))
