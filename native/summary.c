/* One array's numbers. */
#include "trueline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tl_summary_start(tl_summary *state)
{
    memset(state, 0, sizeof *state);
}

/* Chan's rule: exact for a constant array, because the means are then equal. */
static void join(tl_summary *whole, const tl_summary *part)
{
    whole->nan += part->nan;
    whole->pos_inf += part->pos_inf;
    whole->neg_inf += part->neg_inf;
    whole->zeros += part->zeros;
    whole->hash += part->hash;
    if (part->finite == 0)
        return;
    if (whole->finite == 0) {
        whole->finite = part->finite;
        whole->minimum = part->minimum;
        whole->maximum = part->maximum;
        whole->mean = part->mean;
        whole->m2 = part->m2;
        whole->abs_sum = part->abs_sum;
        return;
    }
    double apart = part->mean - whole->mean, here = (double)whole->finite, there = (double)part->finite;
    double share = there / (here + there);
    whole->finite += part->finite;
    whole->minimum = part->minimum < whole->minimum ? part->minimum : whole->minimum;
    whole->maximum = part->maximum > whole->maximum ? part->maximum : whole->maximum;
    whole->mean += apart * share;
    whole->m2 += part->m2 + apart * apart * here * share;
    whole->abs_sum += part->abs_sum;
}

static void take(tl_summary *part, const tl_values *found, size_t n, double shift)
{
    double m2 = found->squares - found->sum * found->sum / (double)n;
    part->finite = n;
    part->zeros = found->zeros;
    part->minimum = found->minimum;
    part->maximum = found->maximum;
    part->mean = shift + found->sum / (double)n;
    part->m2 = m2 < 0 ? 0 : m2;
    part->abs_sum = found->abs_sum;
}

/* The finite numbers are moved together first, so that the lanes never meet another. */
static void sift(const tl_lanes *lanes, const double *x, size_t n, double scale, tl_summary *part)
{
    double kept[TL_PIECE];
    size_t finite = 0;
    for (size_t i = 0; i < n; i++) {
        double value = x[i];
        kept[finite] = value * scale;
        finite += isfinite(value) != 0;
        part->nan += value != value;
        part->pos_inf += value == INFINITY;
        part->neg_inf += value == -INFINITY;
    }
    if (finite) {
        tl_values found;
        lanes->values_f64(kept, finite, kept[0], &found);
        take(part, &found, finite, kept[0]);
    }
}

static void magnitudes(tl_kind kind, const void *x, size_t n, double *out)
{
    if (kind == TL_C64) {
        const float *parts = x;
        for (size_t i = 0; i < n; i++)
            out[i] = hypot((double)parts[2 * i], (double)parts[2 * i + 1]);
    } else {
        const double *parts = x;
        for (size_t i = 0; i < n; i++)
            out[i] = hypot(parts[2 * i], parts[2 * i + 1]);
    }
}

static void summarise_piece(const tl_lanes *lanes, tl_kind kind, const void *x, size_t n, double scale,
                            tl_summary *whole)
{
    tl_summary part;
    tl_values found;
    double wide[TL_PIECE];
    tl_summary_start(&part);
    if (kind == TL_F32 || kind == TL_F16 || kind == TL_BF16) {
        float narrow[TL_PIECE];
        const float *numbers = x;
        if (kind != TL_F32) {
            lanes->widen_f32(kind, x, n, narrow);
            numbers = narrow;
        }
        double shift = (double)numbers[0];
        lanes->values_f32(numbers, n, shift, &found);
        if (isfinite(found.abs_sum)) {
            take(&part, &found, n, shift);
        } else {
            lanes->widen_f64(TL_F32, numbers, n, wide);
            sift(lanes, wide, n, 1.0, &part);
        }
    } else {
        const double *numbers = wide;
        if (kind == TL_C64 || kind == TL_C128)
            magnitudes(kind, x, n, wide);
        else if (kind == TL_F64)
            numbers = x;
        else
            lanes->widen_f64(kind, x, n, wide);
        lanes->values_f64(numbers, n, numbers[0], &found);
        if (scale == 1.0 && isfinite(found.abs_sum))
            take(&part, &found, n, numbers[0]);
        else
            sift(lanes, numbers, n, scale, &part);
    }
    join(whole, &part);
}

static void summarise_block(const tl_lanes *lanes, tl_kind kind, const unsigned char *x, size_t n, double scale,
                            uint64_t index, tl_summary *whole)
{
    size_t item = tl_item_size(kind);
    for (size_t at = 0; at < n; at += TL_PIECE)
        summarise_piece(lanes, kind, x + at * item, n - at < TL_PIECE ? n - at : TL_PIECE, scale, whole);
    whole->hash += tl_hash_block(lanes, x, n * item, index);
}

typedef struct {
    const unsigned char *x;
    uint64_t count, first_block;
    tl_kind kind;
    double scale;
    tl_summary *partial;
} summary_job;

static tl_summary summarise_part(const summary_job *job, size_t segment)
{
    const tl_lanes *lanes = tl_lanes_chosen();
    size_t item = tl_item_size(job->kind), block = TL_BLOCK_BYTES / item;
    uint64_t start = (uint64_t)segment * (TL_SEGMENT_BYTES / item), end = start + TL_SEGMENT_BYTES / item;
    tl_summary total;
    tl_summary_start(&total);
    if (end > job->count)
        end = job->count;
    for (uint64_t at = start; at < end; at += block)
        summarise_block(lanes, job->kind, job->x + at * item, end - at < block ? (size_t)(end - at) : block,
                        job->scale, job->first_block + at / block, &total);
    return total;
}

static void summarise_segment(void *context, size_t segment)
{
    const summary_job *job = context;
    job->partial[segment] = summarise_part(job, segment);
}

int tl_summary_add(const void *x, uint64_t count, int kind, uint64_t first_block, double scale, int threads,
                   tl_summary *state)
{
    uint64_t per_segment = TL_SEGMENT_BYTES / tl_item_size((tl_kind)kind);
    size_t segments = (size_t)((count + per_segment - 1) / per_segment);
    tl_summary one;
    summary_job job = {x, count, first_block, (tl_kind)kind, scale, &one};
    if (segments == 0)
        return 0;
    if (segments > 1 && !(job.partial = malloc(segments * sizeof(tl_summary))))
        return -1;
    tl_share_out(summarise_segment, &job, segments, threads);
    for (size_t i = 0; i < segments; i++)
        join(state, &job.partial[i]);
    if (job.partial != &one)
        free(job.partial);
    return 0;
}

int tl_summary_whole(const void *x, uint64_t count, int kind, int threads, tl_summary *state)
{
    tl_summary_start(state);
    int trouble = tl_summary_add(x, count, kind, 0, 1.0, threads, state);
    state->hash = tl_hash_finish(state->hash, count * tl_item_size((tl_kind)kind), kind);
    return trouble;
}

void tl_describe_rows(const void *x, uint64_t rows, uint64_t row_count, int kind, uint64_t *fingerprints, float *mean,
                      float *std, float *minimum, float *maximum)
{
    size_t size = (size_t)row_count * tl_item_size((tl_kind)kind);
    for (uint64_t row = 0; row < rows; row++) {
        summary_job job = {(const unsigned char *)x + row * size, row_count, 0, (tl_kind)kind, 1.0, NULL};
        size_t segments = (size + TL_SEGMENT_BYTES - 1) / TL_SEGMENT_BYTES;
        tl_summary total;
        tl_summary_start(&total);
        for (size_t segment = 0; segment < segments; segment++) {
            tl_summary part = summarise_part(&job, segment);
            join(&total, &part);
        }
        fingerprints[row] = tl_hash_finish(total.hash, size, kind);
        mean[row] = (float)total.mean;
        std[row] = total.finite ? (float)sqrt(total.m2 / (double)total.finite) : 0.0f;
        minimum[row] = (float)total.minimum;
        maximum[row] = (float)total.maximum;
    }
}
