/* The fingerprint: every 4096 bytes are hashed apart and enter a sum by their place, so order matters and threads do not. */
#include "trueline.h"

#include <string.h>
#include <stdlib.h>

#define GOLDEN 0x9e3779b97f4a7c15u

uint64_t tl_hash_block(const tl_lanes *lanes, const unsigned char *bytes, size_t size, uint64_t index)
{
    uint64_t acc[4] = {0, 0, 0, 0};
    size_t vectors = size / 32, rest = size % 32;
    lanes->hash(bytes, vectors, acc);
    if (rest) {
        uint64_t words[4] = {0, 0, 0, 0};
        memcpy(words, bytes + 32 * vectors, rest);
        for (int lane = 0; lane < 4; lane++) {
            uint64_t mixed = words[lane] ^ tl_keys[4 * vectors + (size_t)lane];
            acc[lane] += (mixed & 0xffffffffu) * (mixed >> 32) + words[lane];
        }
    }
    uint64_t folded = tl_mix(tl_mix(tl_mix(acc[0]) + acc[1]) + acc[2]) + acc[3];
    return tl_mix(tl_mix(folded) + (index + 1) * GOLDEN);
}

uint64_t tl_hash_finish(uint64_t state, uint64_t size, int kind)
{
    return tl_mix(state ^ tl_mix(size * GOLDEN + (uint64_t)kind + 1));
}

typedef struct {
    const unsigned char *bytes;
    uint64_t size, first_block, *partial;
} hash_job;

static void hash_segment(void *context, size_t segment)
{
    const hash_job *job = context;
    const tl_lanes *lanes = tl_lanes_chosen();
    uint64_t start = (uint64_t)segment * TL_SEGMENT_BYTES, end = start + TL_SEGMENT_BYTES, total = 0;
    if (end > job->size)
        end = job->size;
    for (uint64_t at = start; at < end; at += TL_BLOCK_BYTES) {
        size_t size = end - at < TL_BLOCK_BYTES ? (size_t)(end - at) : TL_BLOCK_BYTES;
        total += tl_hash_block(lanes, job->bytes + at, size, job->first_block + at / TL_BLOCK_BYTES);
    }
    job->partial[segment] = total;
}

int tl_hash_add(const void *x, uint64_t size, uint64_t first_block, int threads, uint64_t *state)
{
    size_t segments = (size_t)((size + TL_SEGMENT_BYTES - 1) / TL_SEGMENT_BYTES);
    uint64_t one;
    hash_job job = {x, size, first_block, &one};
    if (segments == 0)
        return 0;
    if (segments > 1 && !(job.partial = malloc(segments * sizeof(uint64_t))))
        return -1;
    tl_share_out(hash_segment, &job, segments, threads);
    for (size_t i = 0; i < segments; i++)
        *state += job.partial[i];
    if (job.partial != &one)
        free(job.partial);
    return 0;
}
