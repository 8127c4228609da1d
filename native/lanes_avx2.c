/* The lanes in AVX2, chosen at run time. Multiply and add stay apart: fused they would round differently. */
#if defined(__x86_64__)
#include "trueline.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "widen.h"

#define AVX2 __attribute__((target("avx2,f16c")))
#define INLINE_AVX2 __attribute__((target("avx2,f16c"), always_inline)) static inline

INLINE_AVX2 double fold(const double lanes[8])
{
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

INLINE_AVX2 __m256d absolute(__m256d x)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}

INLINE_AVX2 uint64_t count_u64(__m256i counts)
{
    uint64_t lanes[4];
    _mm256_storeu_si256((__m256i *)lanes, counts);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

INLINE_AVX2 double largest(__m256d x)
{
    __m128d half = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_max_sd(half, _mm_unpackhi_pd(half, half)));
}

typedef struct {
    __m256d sum[2], squares[2], abs_sum[2];
} value_lanes;

INLINE_AVX2 void take_values(value_lanes *acc, int half, __m256d value, __m256d shift)
{
    __m256d moved = _mm256_sub_pd(value, shift);
    acc->sum[half] = _mm256_add_pd(acc->sum[half], moved);
    acc->squares[half] = _mm256_add_pd(acc->squares[half], _mm256_mul_pd(moved, moved));
    acc->abs_sum[half] = _mm256_add_pd(acc->abs_sum[half], absolute(value));
}

typedef struct {
    double sum[8], squares[8], abs_sum[8];
} value_totals;

INLINE_AVX2 void store_values(const value_lanes *acc, value_totals *totals)
{
    for (int half = 0; half < 2; half++) {
        _mm256_storeu_pd(totals->sum + 4 * half, acc->sum[half]);
        _mm256_storeu_pd(totals->squares + 4 * half, acc->squares[half]);
        _mm256_storeu_pd(totals->abs_sum + 4 * half, acc->abs_sum[half]);
    }
}

#define FINISH_VALUES(type)                                         \
    for (size_t lane = 0; i + lane < n; lane++) {                   \
        type value = x[i + lane];                                   \
        double moved = (double)value - shift;                       \
        totals.sum[lane] += moved;                                  \
        totals.squares[lane] += moved * moved;                      \
        totals.abs_sum[lane] += fabs((double)value);                \
        low = value < low ? value : low;                            \
        high = value > high ? value : high;                         \
        zeros += value == 0;                                        \
    }                                                               \
    out->zeros = zeros;                                             \
    out->minimum = (double)low + 0.0;                               \
    out->maximum = (double)high + 0.0;                              \
    out->sum = fold(totals.sum);                                    \
    out->squares = fold(totals.squares);                            \
    out->abs_sum = fold(totals.abs_sum);

AVX2 static void values_f32(const float *x, size_t n, double shift, tl_values *out)
{
    value_lanes acc = {{_mm256_setzero_pd(), _mm256_setzero_pd()},
                       {_mm256_setzero_pd(), _mm256_setzero_pd()},
                       {_mm256_setzero_pd(), _mm256_setzero_pd()}};
    __m256d shifts = _mm256_set1_pd(shift);
    __m256 lows = _mm256_set1_ps(x[0]), highs = lows;
    __m256i zero_lanes = _mm256_setzero_si256();
    value_totals totals;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 values = _mm256_loadu_ps(x + i);
        lows = _mm256_min_ps(values, lows);
        highs = _mm256_max_ps(values, highs);
        zero_lanes = _mm256_sub_epi32(
            zero_lanes, _mm256_castps_si256(_mm256_cmp_ps(values, _mm256_setzero_ps(), _CMP_EQ_OQ)));
        take_values(&acc, 0, _mm256_cvtps_pd(_mm_loadu_ps(x + i)), shifts);
        take_values(&acc, 1, _mm256_cvtps_pd(_mm_loadu_ps(x + i + 4)), shifts);
    }
    store_values(&acc, &totals);
    float low_lanes[8], high_lanes[8], low = x[0], high = x[0];
    uint32_t counts[8];
    uint64_t zeros = 0;
    _mm256_storeu_ps(low_lanes, lows);
    _mm256_storeu_ps(high_lanes, highs);
    _mm256_storeu_si256((__m256i *)counts, zero_lanes);
    for (int lane = 0; lane < 8; lane++) {
        low = low_lanes[lane] < low ? low_lanes[lane] : low;
        high = high_lanes[lane] > high ? high_lanes[lane] : high;
        zeros += counts[lane];
    }
    FINISH_VALUES(float)
}

AVX2 static void values_f64(const double *x, size_t n, double shift, tl_values *out)
{
    value_lanes acc = {{_mm256_setzero_pd(), _mm256_setzero_pd()},
                       {_mm256_setzero_pd(), _mm256_setzero_pd()},
                       {_mm256_setzero_pd(), _mm256_setzero_pd()}};
    __m256d shifts = _mm256_set1_pd(shift);
    __m256d lows = _mm256_set1_pd(x[0]), highs = lows;
    __m256i zero_lanes = _mm256_setzero_si256();
    value_totals totals;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int half = 0; half < 2; half++) {
            __m256d values = _mm256_loadu_pd(x + i + 4 * half);
            lows = _mm256_min_pd(values, lows);
            highs = _mm256_max_pd(values, highs);
            zero_lanes = _mm256_sub_epi64(
                zero_lanes, _mm256_castpd_si256(_mm256_cmp_pd(values, _mm256_setzero_pd(), _CMP_EQ_OQ)));
            take_values(&acc, half, values, shifts);
        }
    }
    store_values(&acc, &totals);
    double low_lanes[4], high_lanes[4], low = x[0], high = x[0];
    uint64_t zeros = count_u64(zero_lanes);
    _mm256_storeu_pd(low_lanes, lows);
    _mm256_storeu_pd(high_lanes, highs);
    for (int lane = 0; lane < 4; lane++) {
        low = low_lanes[lane] < low ? low_lanes[lane] : low;
        high = high_lanes[lane] > high ? high_lanes[lane] : high;
    }
    FINISH_VALUES(double)
}

typedef struct {
    __m256d sum_abs[2], sum_dd[2], sum_aa[2], sum_bb[2], sum_ab[2], max_abs, max_a, max_b;
    __m256i equal, within;
} pair_lanes;

INLINE_AVX2 void start_pairs(pair_lanes *acc)
{
    for (int half = 0; half < 2; half++)
        acc->sum_abs[half] = acc->sum_dd[half] = acc->sum_aa[half] = acc->sum_bb[half] = acc->sum_ab[half] =
            _mm256_setzero_pd();
    acc->max_abs = acc->max_a = acc->max_b = _mm256_setzero_pd();
    acc->equal = acc->within = _mm256_setzero_si256();
}

INLINE_AVX2 void take_pairs(pair_lanes *acc, int half, __m256d a, __m256d b, __m256d rtol, __m256d atol, int wide)
{
    __m256d apart = absolute(_mm256_sub_pd(a, b)), size_b = absolute(b);
    __m256d limit = _mm256_add_pd(atol, _mm256_mul_pd(rtol, size_b));
    acc->sum_abs[half] = _mm256_add_pd(acc->sum_abs[half], apart);
    acc->sum_dd[half] = _mm256_add_pd(acc->sum_dd[half], _mm256_mul_pd(apart, apart));
    acc->sum_aa[half] = _mm256_add_pd(acc->sum_aa[half], _mm256_mul_pd(a, a));
    acc->sum_bb[half] = _mm256_add_pd(acc->sum_bb[half], _mm256_mul_pd(b, b));
    acc->sum_ab[half] = _mm256_add_pd(acc->sum_ab[half], _mm256_mul_pd(a, b));
    acc->max_abs = _mm256_max_pd(apart, acc->max_abs);
    acc->max_b = _mm256_max_pd(size_b, acc->max_b);
    if (wide)
        acc->max_a = _mm256_max_pd(absolute(a), acc->max_a);
    acc->equal = _mm256_sub_epi64(acc->equal, _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_EQ_OQ)));
    acc->within = _mm256_sub_epi64(acc->within, _mm256_castpd_si256(_mm256_cmp_pd(apart, limit, _CMP_LE_OQ)));
}

INLINE_AVX2 double finish_lanes(const __m256d acc[2], const double tail[8])
{
    double lanes[8];
    _mm256_storeu_pd(lanes, acc[0]);
    _mm256_storeu_pd(lanes + 4, acc[1]);
    for (int lane = 0; lane < 8; lane++)
        lanes[lane] += tail[lane];
    return fold(lanes);
}

#define FINISH_PAIRS                                                                             \
    double tail_abs[8] = {0}, tail_dd[8] = {0}, tail_aa[8] = {0}, tail_bb[8] = {0}, tail_ab[8] = {0}; \
    double max_abs = largest(acc.max_abs), max_a = largest(acc.max_a), max_b = largest(acc.max_b); \
    uint64_t equal = count_u64(acc.equal), within = count_u64(acc.within);                       \
    for (size_t lane = 0; i + lane < n; lane++) {                                                \
        double left = (double)a[i + lane], right = (double)b[i + lane];                          \
        double apart = fabs(left - right), size_a = fabs(left), size_b = fabs(right);            \
        tail_abs[lane] = apart;                                                                  \
        tail_dd[lane] = apart * apart;                                                           \
        tail_aa[lane] = left * left;                                                             \
        tail_bb[lane] = right * right;                                                           \
        tail_ab[lane] = left * right;                                                            \
        max_abs = apart > max_abs ? apart : max_abs;                                             \
        max_a = size_a > max_a ? size_a : max_a;                                                 \
        max_b = size_b > max_b ? size_b : max_b;                                                 \
        equal += left == right;                                                                  \
        within += apart <= atol + rtol * size_b;                                                 \
    }                                                                                            \
    out->equal = equal;                                                                          \
    out->within = within;                                                                        \
    out->max_abs = max_abs;                                                                      \
    out->max_a = max_a;                                                                          \
    out->max_b = max_b;                                                                          \
    out->sum_abs = finish_lanes(acc.sum_abs, tail_abs);                                          \
    out->sum_dd = finish_lanes(acc.sum_dd, tail_dd);                                             \
    out->sum_aa = finish_lanes(acc.sum_aa, tail_aa);                                             \
    out->sum_bb = finish_lanes(acc.sum_bb, tail_bb);                                             \
    out->sum_ab = finish_lanes(acc.sum_ab, tail_ab);

AVX2 static void pairs_f32(const float *a, const float *b, size_t n, double rtol, double atol, tl_pairs *out)
{
    pair_lanes acc;
    __m256d rtols = _mm256_set1_pd(rtol), atols = _mm256_set1_pd(atol);
    size_t i = 0;
    start_pairs(&acc);
    for (; i + 8 <= n; i += 8) {
        take_pairs(&acc, 0, _mm256_cvtps_pd(_mm_loadu_ps(a + i)), _mm256_cvtps_pd(_mm_loadu_ps(b + i)), rtols, atols,
                   0);
        take_pairs(&acc, 1, _mm256_cvtps_pd(_mm_loadu_ps(a + i + 4)), _mm256_cvtps_pd(_mm_loadu_ps(b + i + 4)), rtols,
                   atols, 0);
    }
    FINISH_PAIRS
}

AVX2 static void pairs_f64(const double *a, const double *b, size_t n, double rtol, double atol, tl_pairs *out)
{
    pair_lanes acc;
    __m256d rtols = _mm256_set1_pd(rtol), atols = _mm256_set1_pd(atol);
    size_t i = 0;
    start_pairs(&acc);
    for (; i + 8 <= n; i += 8) {
        take_pairs(&acc, 0, _mm256_loadu_pd(a + i), _mm256_loadu_pd(b + i), rtols, atols, 1);
        take_pairs(&acc, 1, _mm256_loadu_pd(a + i + 4), _mm256_loadu_pd(b + i + 4), rtols, atols, 1);
    }
    FINISH_PAIRS
}

AVX2 static void hash(const unsigned char *bytes, size_t vectors, uint64_t acc[4])
{
    __m256i total = _mm256_loadu_si256((const __m256i *)acc);
    for (size_t i = 0; i < vectors; i++) {
        __m256i words = _mm256_loadu_si256((const __m256i *)(bytes + 32 * i));
        __m256i mixed = _mm256_xor_si256(words, _mm256_loadu_si256((const __m256i *)(tl_keys + 4 * i)));
        __m256i product = _mm256_mul_epu32(mixed, _mm256_srli_epi64(mixed, 32));
        total = _mm256_add_epi64(total, _mm256_add_epi64(product, words));
    }
    _mm256_storeu_si256((__m256i *)acc, total);
}

AVX2 static void widen_half(const uint16_t *x, size_t n, float *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i))));
    for (; i < n; i++)
        out[i] = _cvtsh_ss(x[i]);
}

DEFINE_WIDEN(AVX2, widen_half)

const tl_lanes tl_lanes_avx2 = {values_f32, values_f64, pairs_f32, pairs_f64, hash,
                                widen_f32, widen_f64, tl_md5_avx2};
#else
typedef int tl_no_avx2_here;
#endif
