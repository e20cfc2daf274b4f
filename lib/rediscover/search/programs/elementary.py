"""exp, log, sin and cos of many numbers in vector instructions, to the same bits on every x86 processor.

A library's function takes one number a call and rounds as its version does. These take several at a time and
are off by 2 units in the last place at most; arguments outside their ranges go to the library. Each reduces its
argument, with constants whose leading parts have few enough bits for exact products, and sums a Taylor series.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiled import compiled

SHIFT = 1.5 * 2.0**52  # the lowest bits of SHIFT + x hold the nearest integer of x
SHIFT_BITS, ONE_BITS, HALF_ROOT_BITS = (int(np.float64(v).view(np.int64)) for v in (SHIFT, 1.0, math.sqrt(0.5)))
PER_LN2, PER_HALF_PI = 1.4426950408889634, 0.6366197723675814
LN2 = tuple(map(float.fromhex, ("0x1.62e42fefap-1", "0x1.cf79abc9e3b3ap-40")))
HALF_PI = tuple(map(float.fromhex, ("0x1.921fb544p+0", "0x1.0b4611a6p-34", "0x1.3198a2e037073p-69")))
LARGEST_EXPONENT, LARGEST_ANGLE = 708.0, 2.0**20
SMALLEST_NORMAL = 2.0**-1022


@intrinsic
def as_bits(context, x):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def as_float(context, bits):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


# What follows is right for arguments within the range only; loops over it become vector instructions.


@compiled
def exp_within(x):
    """exp(k ln 2 + r) = 2^k exp(r), abs(r) < 0.35."""
    shifted = x * PER_LN2 + SHIFT
    k = shifted - SHIFT
    r = (x - k * LN2[0]) - k * LN2[1]
    s = 1 / 39916800 + r * (1 / 479001600 + r * (1 / 6227020800))
    s = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * s))
    s = 1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * s))
    s = 0.5 + r * (1 / 6 + r * (1 / 24 + r * s))
    return (1.0 + (r + r * r * s)) * as_float((as_bits(shifted) << 52) + ONE_BITS)


@compiled
def log_within(x):
    """log(2^k (1 + f)) = k ln 2 + 2 artanh(s), s = f/(2 + f), 1 + f from 0.7 to 1.4."""
    bits = as_bits(x)
    k = (bits - HALF_ROOT_BITS) >> 52
    f = as_float(bits - (k << 52)) - 1.0
    exponent = as_float(k + SHIFT_BITS) - SHIFT
    s = f / (2.0 + f)
    z = s * s
    t = 1 / 15 + z * (1 / 17 + z * (1 / 19 + z * (1 / 21)))
    t = 1 / 9 + z * (1 / 11 + z * (1 / 13 + z * t))
    t = z * (1 / 3 + z * (1 / 5 + z * (1 / 7 + z * t)))
    return exponent * LN2[0] + (f - (s * (f - 2.0 * t) - exponent * LN2[1]))


@compiled
def sine_within(x, quarter):
    """sin(x + quarter pi/2), from sine or cosine of r = x - k pi/2."""
    shifted = x * PER_HALF_PI + SHIFT
    k = shifted - SHIFT
    turns = as_bits(shifted) + quarter
    r = ((x - k * HALF_PI[0]) - k * HALF_PI[1]) - k * HALF_PI[2]
    z = r * r
    s = -1 / 39916800 + z * (1 / 6227020800 + z * (-1 / 1307674368000 + z * (1 / 355687428096000)))
    s = r + r * z * (-1 / 6 + z * (1 / 120 + z * (-1 / 5040 + z * (1 / 362880 + z * s))))
    c = -1 / 3628800 + z * (1 / 479001600 + z * (-1 / 87178291200 + z * (1 / 20922789888000)))
    c = 1.0 - (0.5 * z - z * z * (1 / 24 + z * (-1 / 720 + z * (1 / 40320 + z * c))))
    value = c if turns & 1 else s
    return -value if turns & 2 else value


# ---------------------------------------------------------------------------------------------------- one number


@compiled
def exp(x):
    return exp_within(x) if abs(x) <= LARGEST_EXPONENT else math.exp(x)


@compiled
def log(x):
    return log_within(x) if SMALLEST_NORMAL <= x < math.inf else math.log(x)


@compiled
def sin(x):
    return sine_within(x, 0) if abs(x) <= LARGEST_ANGLE else math.sin(x)


@compiled
def cos(x):
    return sine_within(x, 1) if abs(x) <= LARGEST_ANGLE else math.cos(x)


# ------------------------------------------------------------------------------------- many: fill ``out[:n]``


@compiled
def exps(a, out, n):
    strange = 0
    for j in range(n):
        strange |= not abs(a[j]) <= LARGEST_EXPONENT
        out[j] = exp_within(a[j])
    for j in range(n if strange else 0):
        out[j] = exp(a[j])


@compiled
def logs(a, out, n):
    strange = 0
    for j in range(n):
        strange |= not SMALLEST_NORMAL <= a[j] < math.inf
        out[j] = log_within(a[j])
    for j in range(n if strange else 0):
        out[j] = log(a[j])


@compiled
def sines(a, out, n):
    strange = 0
    for j in range(n):
        strange |= not abs(a[j]) <= LARGEST_ANGLE
        out[j] = sine_within(a[j], 0)
    for j in range(n if strange else 0):
        out[j] = sin(a[j])


@compiled
def cosines(a, out, n):
    strange = 0
    for j in range(n):
        strange |= not abs(a[j]) <= LARGEST_ANGLE
        out[j] = sine_within(a[j], 1)
    for j in range(n if strange else 0):
        out[j] = cos(a[j])
