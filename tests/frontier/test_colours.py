"""Colours that readers with any of the three colour blindnesses can tell apart, checked by simulating them.

Machado, Oliveira & Fernandes (2009), "A physiologically-based model for simulation of color vision deficiency", IEEE
TVCG 15(6), severity 1.0, on linear RGB. Distances are those of CIE 1976 L*a*b*, where about 2.3 is the least difference
that is seen side by side.
"""

import re
from itertools import combinations

import numpy as np
import pytest

from sfumato.frontier.plot import COLOURS, INK
from sfumato.look import stylesheet

SEEN = {
    "by most": np.eye(3),
    "without red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "without green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "without blue cones": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
LEAST = 15  # six times what is just seen, for marks of a few pixels that do not lie side by side
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(colour, seen):
    """A colour as somebody sees it, in L*a*b*."""
    coded = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    white = XYZ @ np.ones(3)
    share = XYZ @ np.clip(seen @ linear, 0, 1) / white
    curve = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * curve[1] - 16, 500 * (curve[0] - curve[1]), 200 * (curve[1] - curve[2])])


def closest(colours, seen):
    return min((float(np.linalg.norm(lab(a, seen) - lab(b, seen))), a, b) for a, b in combinations(colours, 2))


def test_the_simulation_makes_red_and_green_alike():
    red, green = "#c05020", "#7f7000"
    assert closest((red, green), SEEN["by most"])[0] > 45
    assert closest((red, green), SEEN["without green cones"])[0] < LEAST


@pytest.mark.parametrize("who", SEEN)
def test_the_colours_of_the_plot_can_be_told_apart(who):
    far, one, other = closest((*COLOURS, INK, "#FFFFFF"), SEEN[who])
    assert far >= LEAST, f"{one} and {other}"


def tokens(scheme):
    """The colours of the pages by name, in one scheme; dark ones replace some of the light ones."""
    light, dark = stylesheet().split("@media screen and (prefers-color-scheme: dark)", 1)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", light))
    return found | (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})\b", dark.split("/* ---- Base")[0])) if scheme == "dark" else {}
    )


@pytest.mark.parametrize("who", SEEN)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colours_of_pages_can_be_told_apart(who, scheme):
    named = tokens(scheme)
    for drawn in (("owner", "d1", "d3", "surface"), ("d1", "d4", "surface"), ("d1", "d2", "d3", "d4", "surface")):
        far, one, other = closest([named[name] for name in drawn], SEEN[who])
        assert far >= LEAST, f"{one} and {other}"
