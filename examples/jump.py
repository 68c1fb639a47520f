#!/usr/bin/env python3
"""Makes jump.json, the input of `cssc compensate jump.json`: python3 jump.py > jump.json

A swing is observed now and then: its angle (channel 0) nearly always, its speed (channel 1) sometimes. A model that
believes in too slow a swing predicts both, and is pulled towards each observation when it arrives. So its prediction
jumps at the observations, and compensation has something to do. Any model in any language can write such a file: it
only has to know its value, slope and curvature just before and just after each knot.
"""
from math import cos, sin
import json

TRUE_FREQUENCY, MODEL_FREQUENCY, PULL = 1.2, 1.0, 0.7
TIMES = [0.0, 0.7, 1.5, 2.1, 3.2, 4.0, 5.1, 5.6, 6.8, 8.0]
SEEN = [[1, 1, 1, 0, 1, 1, 1, 1, 1, 1], [1, 0, 1, 1, 0, 1, 0, 1, 0, 1]]


def truth(t):
    return [sin(TRUE_FREQUENCY * t), TRUE_FREQUENCY * cos(TRUE_FREQUENCY * t)]


def flow(state, elapsed):
    """The model between observations: angle'' = -frequency^2 angle."""
    (angle, speed), w = state, MODEL_FREQUENCY
    return [angle * cos(w * elapsed) + speed / w * sin(w * elapsed),
            speed * cos(w * elapsed) - angle * w * sin(w * elapsed)]


def limits(state):
    """Value, slope and curvature of both channels."""
    (angle, speed), w2 = state, MODEL_FREQUENCY**2
    return [(angle, speed, -w2 * angle), (speed, -w2 * angle, -w2 * speed)]


def write(knots):
    """[knot][channel][kind] -> {kind: [channel][knot]}, four decimals are enough to look at."""
    kinds = ("value", "slope", "curvature")
    cell = lambda knot, channel, kind: None if knot is None else round(knot[channel][kind], 4)
    return {name: [[cell(knot, channel, kind) for knot in knots] for channel in (0, 1)] for kind, name in enumerate(kinds)}


state, left, right = [0.2, 0.9], [], []
for k, t in enumerate(TIMES):
    if k > 0:
        state = flow(state, t - TIMES[k - 1])
    left.append(limits(state))
    state = [s + PULL * seen[k] * (x - s) for s, x, seen in zip(state, truth(t), SEEN)]
    right.append(limits(state))
left[0] = right[-1] = None

values = [[round(truth(t)[channel], 4) if SEEN[channel][k] else None for k, t in enumerate(TIMES)] for channel in (0, 1)]
fields = {"times": TIMES, "values": values, "left": write(left), "right": write(right),
          "end_rule": "output", "query": [0.5 * step for step in range(17)]}


def lines(value, indent):
    """JSON with one list of numbers a line."""
    if isinstance(value, dict):
        inner = ",\n".join(f'{indent}  "{name}": {lines(entry, indent + "  ")}' for name, entry in value.items())
        return "{\n" + inner + "\n" + indent + "}"
    if isinstance(value, list) and isinstance(value[0], list):
        return "[\n" + ",\n".join(indent + "  " + json.dumps(row) for row in value) + "\n" + indent + "]"
    return json.dumps(value)


print(lines(fields, ""))
