/* The lanes in plain C: the fallback for CPUs without AVX2, and the reference for those with it. */
#include "trueline.h"

#include <math.h>
#include <string.h>

#include "widen.h"

#define LANES 8

static void values_start(double sum[LANES], double squares[LANES], double abs_sum[LANES])
{
    for (int lane = 0; lane < LANES; lane++)
        sum[lane] = squares[lane] = abs_sum[lane] = 0.0;
}

static double fold(const double lanes[LANES])
{
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

#define DEFINE_VALUES(name, type)                                                        \
    static void name(const type *x, size_t n, double shift, tl_values *out)              \
    {                                                                                    \
        double sum[LANES], squares[LANES], abs_sum[LANES];                               \
        type low = x[0], high = x[0];                                                    \
        uint64_t zeros = 0;                                                              \
        values_start(sum, squares, abs_sum);                                             \
        for (size_t i = 0; i < n; i += LANES) {                                          \
            size_t width = n - i < LANES ? n - i : LANES;                                \
            for (size_t lane = 0; lane < width; lane++) {                                \
                double value = (double)x[i + lane], moved = value - shift;               \
                sum[lane] += moved;                                                      \
                squares[lane] += moved * moved;                                          \
                abs_sum[lane] += fabs(value);                                            \
                low = x[i + lane] < low ? x[i + lane] : low;                             \
                high = x[i + lane] > high ? x[i + lane] : high;                          \
                zeros += x[i + lane] == 0;                                               \
            }                                                                            \
        }                                                                                \
        out->zeros = zeros;                                                              \
        out->minimum = (double)low + 0.0;                                                \
        out->maximum = (double)high + 0.0;                                               \
        out->sum = fold(sum);                                                            \
        out->squares = fold(squares);                                                    \
        out->abs_sum = fold(abs_sum);                                                    \
    }

DEFINE_VALUES(values_f32, float)
DEFINE_VALUES(values_f64, double)

#define DEFINE_PAIRS(name, type)                                                                              \
    static void name(const type *a, const type *b, size_t n, double rtol, double atol, tl_pairs *out)         \
    {                                                                                                         \
        double sum_abs[LANES] = {0}, sum_dd[LANES] = {0}, sum_aa[LANES] = {0}, sum_bb[LANES] = {0};           \
        double sum_ab[LANES] = {0}, max_abs = 0, max_a = 0, max_b = 0;                                        \
        uint64_t equal = 0, within = 0;                                                                       \
        for (size_t i = 0; i < n; i += LANES) {                                                               \
            size_t width = n - i < LANES ? n - i : LANES;                                                     \
            for (size_t lane = 0; lane < width; lane++) {                                                     \
                double left = (double)a[i + lane], right = (double)b[i + lane];                               \
                double apart = fabs(left - right), size_a = fabs(left), size_b = fabs(right);                 \
                sum_abs[lane] += apart;                                                                       \
                sum_dd[lane] += apart * apart;                                                                \
                sum_aa[lane] += left * left;                                                                  \
                sum_bb[lane] += right * right;                                                                \
                sum_ab[lane] += left * right;                                                                 \
                max_abs = apart > max_abs ? apart : max_abs;                                                  \
                max_a = size_a > max_a ? size_a : max_a;                                                      \
                max_b = size_b > max_b ? size_b : max_b;                                                      \
                equal += left == right;                                                                       \
                within += apart <= atol + rtol * size_b;                                                      \
            }                                                                                                 \
        }                                                                                                     \
        out->equal = equal;                                                                                   \
        out->within = within;                                                                                 \
        out->max_abs = max_abs;                                                                               \
        out->sum_abs = fold(sum_abs);                                                                         \
        out->sum_dd = fold(sum_dd);                                                                           \
        out->sum_aa = fold(sum_aa);                                                                           \
        out->sum_bb = fold(sum_bb);                                                                           \
        out->sum_ab = fold(sum_ab);                                                                           \
        out->max_a = max_a;                                                                                   \
        out->max_b = max_b;                                                                                   \
    }

DEFINE_PAIRS(pairs_f32, float)
DEFINE_PAIRS(pairs_f64, double)

static void hash(const unsigned char *bytes, size_t vectors, uint64_t acc[4])
{
    const uint64_t *key = tl_keys;
    for (size_t i = 0; i < vectors; i++, bytes += 32, key += 4) {
        uint64_t words[4];
        memcpy(words, bytes, 32);
        for (int lane = 0; lane < 4; lane++) {
            uint64_t mixed = words[lane] ^ key[lane];
            acc[lane] += (mixed & 0xffffffffu) * (mixed >> 32) + words[lane];
        }
    }
}

static float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu, bits;
    if (rest >= 0x7c00u)
        bits = sign | 0x7f800000u | (rest & 0x3ffu) << 13;
    else if (rest >= 0x0400u)
        bits = sign | ((rest << 13) + (112u << 23));
    else {
        float tiny = (float)rest * 0x1p-24f;
        memcpy(&bits, &tiny, 4);
        bits |= sign;
    }
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static void widen_half(const uint16_t *x, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = half_to_float(x[i]);
}

DEFINE_WIDEN(, widen_half)

const tl_lanes tl_lanes_baseline = {values_f32, values_f64, pairs_f32, pairs_f64, hash,
                                    widen_f32, widen_f64, tl_md5_baseline};
