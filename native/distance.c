/* Two arrays' numbers; b is the benchmark. */
#include "trueline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const unsigned char *a, *b;
    tl_kind kind_a, kind_b;
    uint64_t count, offset;
    const tl_tolerance *tolerance;
    tl_distance *partial;
} distance_job;

void tl_distance_start(tl_distance *state)
{
    memset(state, 0, sizeof *state);
    state->worst = -1;
}

static void join(tl_distance *whole, const tl_distance *part)
{
    if (part->max_abs > whole->max_abs) {
        whole->max_abs = part->max_abs;
        whole->worst = part->worst;
    }
    whole->comparable += part->comparable;
    whole->non_finite_a += part->non_finite_a;
    whole->non_finite_b += part->non_finite_b;
    whole->same += part->same;
    whole->other += part->other;
    whole->equal += part->equal;
    whole->within += part->within;
    whole->sum_abs += part->sum_abs;
    whole->sum_dd += part->sum_dd;
    whole->sum_aa += part->sum_aa;
    whole->sum_bb += part->sum_bb;
    whole->sum_ab += part->sum_ab;
    whole->max_a = part->max_a > whole->max_a ? part->max_a : whole->max_a;
    whole->max_b = part->max_b > whole->max_b ? part->max_b : whole->max_b;
}

static void take(tl_distance *part, const tl_pairs *found, size_t n)
{
    part->comparable = n;
    part->equal = found->equal;
    part->within = found->within;
    part->max_abs = found->max_abs;
    part->sum_abs = found->sum_abs;
    part->sum_dd = found->sum_dd;
    part->sum_aa = found->sum_aa;
    part->sum_bb = found->sum_bb;
    part->sum_ab = found->sum_ab;
    part->max_a = found->max_a;
    part->max_b = found->max_b;
}

/* Counts a pair that is not finite on both sides. */
static void set_aside(tl_distance *part, int finite_a, int finite_b, int same)
{
    part->non_finite_a += !finite_a;
    part->non_finite_b += !finite_b;
    part->same += (uint64_t)same;
    part->other += !same;
}

static void scaled(const double *a, const double *b, size_t n, const tl_tolerance *by, tl_distance *part)
{
    part->comparable = n;
    for (size_t i = 0; i < n; i++) {
        double left = a[i] * by->scale_a, right = b[i] * by->scale_b, apart = a[i] - b[i];
        apart = fabs(isfinite(apart) ? apart * by->scale_d : (a[i] * 0.5 - b[i] * 0.5) * (by->scale_d * 2));
        part->max_abs = apart > part->max_abs ? apart : part->max_abs;
        part->sum_abs += apart;
        part->sum_dd += apart * apart;
        part->sum_aa += left * left;
        part->sum_bb += right * right;
        part->sum_ab += left * right;
    }
}

static void sift(const tl_lanes *lanes, const double *a, const double *b, size_t n, const tl_tolerance *by,
                 tl_distance *part)
{
    double kept_a[TL_PIECE], kept_b[TL_PIECE];
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        int finite_a = isfinite(a[i]) != 0, finite_b = isfinite(b[i]) != 0;
        kept_a[kept] = a[i];
        kept_b[kept] = b[i];
        kept += (size_t)(finite_a && finite_b);
        if (!(finite_a && finite_b))
            set_aside(part, finite_a, finite_b, a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]));
    }
    if (kept && by->scale_d != 0) {
        scaled(kept_a, kept_b, kept, by, part);
    } else if (kept) {
        tl_pairs found;
        lanes->pairs_f64(kept_a, kept_b, kept, by->rtol, by->atol, &found);
        take(part, &found, kept);
    }
}

static int is_short_float(tl_kind kind)
{
    return kind == TL_F32 || kind == TL_F16 || kind == TL_BF16;
}

static void measure_short(const tl_lanes *lanes, const distance_job *job, const void *a, const void *b, size_t n,
                          tl_distance *part)
{
    float narrow_a[TL_PIECE], narrow_b[TL_PIECE];
    const float *left = a, *right = b;
    tl_pairs found;
    if (job->kind_a != TL_F32) {
        lanes->widen_f32(job->kind_a, a, n, narrow_a);
        left = narrow_a;
    }
    if (job->kind_b != TL_F32) {
        lanes->widen_f32(job->kind_b, b, n, narrow_b);
        right = narrow_b;
    }
    lanes->pairs_f32(left, right, n, job->tolerance->rtol, job->tolerance->atol, &found);
    if (isfinite(found.sum_aa + found.sum_bb)) {
        take(part, &found, n);
    } else {
        double wide_a[TL_PIECE], wide_b[TL_PIECE];
        lanes->widen_f64(TL_F32, left, n, wide_a);
        lanes->widen_f64(TL_F32, right, n, wide_b);
        sift(lanes, wide_a, wide_b, n, job->tolerance, part);
    }
}

static void measure_wide(const tl_lanes *lanes, const distance_job *job, const void *a, const void *b, size_t n,
                         tl_distance *part)
{
    double wide_a[TL_PIECE], wide_b[TL_PIECE];
    const double *left = a, *right = b;
    tl_pairs found;
    if (job->kind_a != TL_F64) {
        lanes->widen_f64(job->kind_a, a, n, wide_a);
        left = wide_a;
    }
    if (job->kind_b != TL_F64) {
        lanes->widen_f64(job->kind_b, b, n, wide_b);
        right = wide_b;
    }
    if (job->tolerance->scale_d == 0) {
        lanes->pairs_f64(left, right, n, job->tolerance->rtol, job->tolerance->atol, &found);
        if (isfinite(found.sum_aa + found.sum_bb)) {
            take(part, &found, n);
            return;
        }
    }
    sift(lanes, left, right, n, job->tolerance, part);
}

typedef struct {
    int negative;
    uint64_t size;
} whole_number;

static whole_number read_integer(tl_kind kind, const void *x, size_t i)
{
    int64_t value = 0;
    switch (kind) {
    case TL_BOOL: value = ((const uint8_t *)x)[i] != 0; break;
    case TL_I8: value = ((const int8_t *)x)[i]; break;
    case TL_U8: value = ((const uint8_t *)x)[i]; break;
    case TL_I16: value = ((const int16_t *)x)[i]; break;
    case TL_U16: value = ((const uint16_t *)x)[i]; break;
    case TL_I32: value = ((const int32_t *)x)[i]; break;
    case TL_U32: value = ((const uint32_t *)x)[i]; break;
    case TL_I64: value = ((const int64_t *)x)[i]; break;
    default: return (whole_number){0, ((const uint64_t *)x)[i]};
    }
    return (whole_number){value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value};
}

/* Doubles cannot tell 64-bit integers apart beyond 2^53, so these are subtracted as integers. */
static void measure_integers(const distance_job *job, const void *a, const void *b, size_t n, tl_distance *part)
{
    part->comparable = n;
    for (size_t i = 0; i < n; i++) {
        whole_number left = read_integer(job->kind_a, a, i), right = read_integer(job->kind_b, b, i);
        double size_a = (double)left.size, size_b = (double)right.size, apart, product = size_a * size_b;
        if (left.negative == right.negative) {
            apart = (double)(left.size > right.size ? left.size - right.size : right.size - left.size);
        } else {
            apart = size_a + size_b;
            product = -product;
        }
        part->equal += apart == 0;
        part->within += apart <= job->tolerance->atol + job->tolerance->rtol * size_b;
        part->max_abs = apart > part->max_abs ? apart : part->max_abs;
        part->max_a = size_a > part->max_a ? size_a : part->max_a;
        part->max_b = size_b > part->max_b ? size_b : part->max_b;
        part->sum_abs += apart;
        part->sum_dd += apart * apart;
        part->sum_aa += size_a * size_a;
        part->sum_bb += size_b * size_b;
        part->sum_ab += product;
    }
}

static void widen_complex(const tl_lanes *lanes, tl_kind kind, const void *x, size_t n, double *out)
{
    if (kind == TL_C128) {
        memcpy(out, x, 2 * n * sizeof(double));
    } else if (kind == TL_C64) {
        for (size_t i = 0; i < 2 * n; i++)
            out[i] = (double)((const float *)x)[i];
    } else {
        double wide[TL_PIECE];
        lanes->widen_f64(kind, x, n, wide);
        for (size_t i = 0; i < n; i++) {
            out[2 * i] = wide[i];
            out[2 * i + 1] = 0;
        }
    }
}

static void measure_complex(const tl_lanes *lanes, const distance_job *job, const void *a, const void *b, size_t n,
                            tl_distance *part)
{
    double wide_a[2 * TL_PIECE], wide_b[2 * TL_PIECE];
    const tl_tolerance *by = job->tolerance;
    double scale_a = by->scale_d != 0 ? by->scale_a : 1, scale_b = by->scale_d != 0 ? by->scale_b : 1;
    double scale_d = by->scale_d != 0 ? by->scale_d : 1;
    widen_complex(lanes, job->kind_a, a, n, wide_a);
    widen_complex(lanes, job->kind_b, b, n, wide_b);
    for (size_t i = 0; i < 2 * n; i += 2) {
        double ar = wide_a[i], ai = wide_a[i + 1], br = wide_b[i], bi = wide_b[i + 1];
        int finite_a = isfinite(ar) && isfinite(ai), finite_b = isfinite(br) && isfinite(bi);
        if (!(finite_a && finite_b)) {
            int nan_a = ar != ar || ai != ai, nan_b = br != br || bi != bi;
            set_aside(part, finite_a, finite_b, (nan_a && nan_b) || (ar == br && ai == bi));
            continue;
        }
        double apart = hypot(ar - br, ai - bi), size_a = hypot(ar, ai), size_b = hypot(br, bi);
        part->within += apart <= by->atol + by->rtol * size_b;
        part->max_a = size_a > part->max_a ? size_a : part->max_a;
        part->max_b = size_b > part->max_b ? size_b : part->max_b;
        ar *= scale_a, ai *= scale_a, br *= scale_b, bi *= scale_b;
        if (by->scale_d != 0 && isinf(apart)) {
            double half_r = wide_a[i] * 0.25 - wide_b[i] * 0.25, half_i = wide_a[i + 1] * 0.25 - wide_b[i + 1] * 0.25;
            apart = hypot(half_r, half_i) * (scale_d * 4);
        } else {
            apart *= scale_d;
        }
        part->comparable++;
        part->equal += apart == 0;
        part->max_abs = apart > part->max_abs ? apart : part->max_abs;
        part->sum_abs += apart;
        part->sum_dd += apart * apart;
        part->sum_aa += ar * ar + ai * ai;
        part->sum_bb += br * br + bi * bi;
        part->sum_ab += ar * br + ai * bi;
    }
}

/* Mapped files hold numbers at any address: a piece that does not lie on its own size is moved to where it does. */
static const void *aligned(const unsigned char *x, tl_kind kind, size_t n, double *room)
{
    size_t size = tl_item_size(kind), wanted = size < sizeof(double) ? size : sizeof(double);
    if ((uintptr_t)x % wanted == 0)
        return x;
    return memcpy(room, x, n * size);
}

static void measure(const tl_lanes *lanes, const distance_job *job, uint64_t at, size_t n, tl_distance *part)
{
    double room_a[2 * TL_PIECE], room_b[2 * TL_PIECE];
    const void *a = aligned(job->a + at * tl_item_size(job->kind_a), job->kind_a, n, room_a);
    const void *b = aligned(job->b + at * tl_item_size(job->kind_b), job->kind_b, n, room_b);
    tl_distance_start(part);
    if (job->kind_a >= TL_C64 || job->kind_b >= TL_C64)
        measure_complex(lanes, job, a, b, n, part);
    else if (is_short_float(job->kind_a) && is_short_float(job->kind_b))
        measure_short(lanes, job, a, b, n, part);
    else if (job->kind_a <= TL_U64 && job->kind_b <= TL_U64 && (job->kind_a >= TL_I64 || job->kind_b >= TL_I64))
        measure_integers(job, a, b, n, part);
    else
        measure_wide(lanes, job, a, b, n, part);
    part->worst = (int64_t)at;
}

/* The lanes keep only the greatest distance; its place is found by halving the piece that holds it. */
static uint64_t locate(const tl_lanes *lanes, const distance_job *job, uint64_t at, size_t n, double max_abs)
{
    while (n > 1) {
        tl_distance left;
        size_t half = n / 2;
        measure(lanes, job, at, half, &left);
        if (left.max_abs == max_abs) {
            n = half;
        } else {
            at += half;
            n -= half;
        }
    }
    return at;
}

static void measure_segment(void *context, size_t segment)
{
    const distance_job *job = context;
    const tl_lanes *lanes = tl_lanes_chosen();
    uint64_t start = (uint64_t)segment * TL_SEGMENT_PAIRS, end = start + TL_SEGMENT_PAIRS;
    tl_distance total, part;
    tl_distance_start(&total);
    if (end > job->count)
        end = job->count;
    for (uint64_t at = start; at < end; at += TL_PIECE) {
        measure(lanes, job, at, end - at < TL_PIECE ? (size_t)(end - at) : TL_PIECE, &part);
        join(&total, &part);
    }
    if (total.worst >= 0) {
        uint64_t at = (uint64_t)total.worst;
        size_t n = end - at < TL_PIECE ? (size_t)(end - at) : TL_PIECE;
        total.worst = (int64_t)(job->offset + locate(lanes, job, at, n, total.max_abs));
    }
    job->partial[segment] = total;
}

int tl_distance_add(const void *a, int kind_a, const void *b, int kind_b, uint64_t count, uint64_t offset,
                    const tl_tolerance *tolerance, int threads, tl_distance *state)
{
    size_t segments = (size_t)((count + TL_SEGMENT_PAIRS - 1) / TL_SEGMENT_PAIRS);
    tl_distance one;
    distance_job job = {a, b, (tl_kind)kind_a, (tl_kind)kind_b, count, offset, tolerance, &one};
    if (segments == 0)
        return 0;
    if (segments > 1 && !(job.partial = malloc(segments * sizeof(tl_distance))))
        return -1;
    tl_share_out(measure_segment, &job, segments, threads);
    for (size_t i = 0; i < segments; i++)
        join(state, &job.partial[i]);
    if (job.partial != &one)
        free(job.partial);
    return 0;
}
