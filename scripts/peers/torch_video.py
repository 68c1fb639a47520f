"""Encoder and decoder of videos in PyTorch, eager. Written from the description in crates/cssc/src/model/frames/layers.rs.

Our images lie as [height, width, channels] and our weights as [side, side, in, out] (transposed: [in, side, side, out]), so
frames are kept in PyTorch's `channels_last`, which is also the layout its kernels like best here.
"""

import torch
import torch.nn.functional as F

from .workloads import VIDEO as SIZES


def frames_of(inputs, dtype):
    return torch.tensor(inputs["frames"], dtype=dtype)[:, None].to(memory_format=torch.channels_last)


def _convolved(parameters, name, x, side, stride):
    weight, bias = parameters[f"{name}.weight"], parameters[f"{name}.bias"]
    weight = weight.view(side, side, x.shape[1], -1).permute(3, 2, 0, 1)
    return F.conv2d(x, weight, bias, stride=stride, padding=1)


def _doubled(parameters, name, x):
    weight, bias = parameters[f"{name}.weight"], parameters[f"{name}.bias"]
    weight = weight.view(x.shape[1], 4, 4, -1).permute(0, 3, 1, 2)
    return F.conv_transpose2d(x, weight, bias, stride=2, padding=1)


def encode(parameters, frames):
    """Codes of frames [frames, 1, height, width]."""
    x = F.relu_(_convolved(parameters, "frame-encoder.first", frames, 4, 2))
    for number in range(2):
        more = F.relu_(_convolved(parameters, f"frame-encoder.block{number}.0", x, 3, 1))
        x = x + _convolved(parameters, f"frame-encoder.block{number}.1", more, 3, 1)
        x = F.relu_(_convolved(parameters, f"frame-encoder.halving{number}", x, 4, 2))
    flat = x.permute(0, 2, 3, 1).flatten(1)
    return torch.addmm(parameters["frame-encoder.code.bias"], flat, parameters["frame-encoder.code.weight"])


def decode(parameters, codes):
    """Frames of codes."""
    side, filters = SIZES["side"] // 8, SIZES["filters"]
    x = F.silu(torch.addmm(parameters["frame-decoder.first.bias"], codes, parameters["frame-decoder.first.weight"]))
    x = x.view(-1, side, side, 4 * filters).permute(0, 3, 1, 2)
    for number in range(2):
        x = F.silu(_doubled(parameters, f"frame-decoder.doubling{number}", x))
    return torch.sigmoid(_doubled(parameters, "frame-decoder.doubling2", x))


def video_loss(parameters, frames):
    """Mean squared error over all pixels."""
    return (frames - decode(parameters, encode(parameters, frames))).square().mean()
