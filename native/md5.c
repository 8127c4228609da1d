/* MD5 of many buffers at once. One MD5 is a chain in which every step waits for the one before; eight chains that
   know nothing of each other fit into one register, so a lane works at each, and takes the next buffer when its own
   has ended. */
#include "trueline.h"

#include <string.h>

#define BLOCK 64
#define LANES TL_MD5_LANES

static const uint32_t sines[64] = {
    0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu, 0xf57c0fafu, 0x4787c62au, 0xa8304613u, 0xfd469501u,
    0x698098d8u, 0x8b44f7afu, 0xffff5bb1u, 0x895cd7beu, 0x6b901122u, 0xfd987193u, 0xa679438eu, 0x49b40821u,
    0xf61e2562u, 0xc040b340u, 0x265e5a51u, 0xe9b6c7aau, 0xd62f105du, 0x02441453u, 0xd8a1e681u, 0xe7d3fbc8u,
    0x21e1cde6u, 0xc33707d6u, 0xf4d50d87u, 0x455a14edu, 0xa9e3e905u, 0xfcefa3f8u, 0x676f02d9u, 0x8d2a4c8au,
    0xfffa3942u, 0x8771f681u, 0x6d9d6122u, 0xfde5380cu, 0xa4beea44u, 0x4bdecfa9u, 0xf6bb4b60u, 0xbebfbc70u,
    0x289b7ec6u, 0xeaa127fau, 0xd4ef3085u, 0x04881d05u, 0xd9d4d039u, 0xe6db99e5u, 0x1fa27cf8u, 0xc4ac5665u,
    0xf4292244u, 0x432aff97u, 0xab9423a7u, 0xfc93a039u, 0x655b59c3u, 0x8f0ccc92u, 0xffeff47du, 0x85845dd1u,
    0x6fa87e4fu, 0xfe2ce6e0u, 0xa3014314u, 0x4e0811a1u, 0xf7537e82u, 0xbd3af235u, 0x2ad7d2bbu, 0xeb86d391u};

#define F(b, c, d) (((c ^ d) & b) ^ d)
#define G(b, c, d) (((b ^ c) & d) ^ c)
#define H(b, c, d) ((c ^ d) ^ b)
#define I(b, c, d) (c ^ (b | ~d))

#define STEP(mix, a, b, c, d, word, place, by)  \
    a += words[(word)&15] + sines[place];       \
    a += mix(b, c, d);                          \
    a = ((a << (by)) | (a >> (32 - (by)))) + b;

#define FOUR(mix, place, first, stride, by0, by1, by2, by3)           \
    STEP(mix, a, b, c, d, first, place, by0)                          \
    STEP(mix, d, a, b, c, first + stride, (place) + 1, by1)           \
    STEP(mix, c, d, a, b, first + 2 * (stride), (place) + 2, by2)     \
    STEP(mix, b, c, d, a, first + 3 * (stride), (place) + 3, by3)

#define SIXTEEN(mix, place, first, stride, ...)                       \
    FOUR(mix, place, first, stride, __VA_ARGS__)                      \
    FOUR(mix, (place) + 4, first + 4 * (stride), stride, __VA_ARGS__) \
    FOUR(mix, (place) + 8, first + 8 * (stride), stride, __VA_ARGS__) \
    FOUR(mix, (place) + 12, first + 12 * (stride), stride, __VA_ARGS__)

/* The operators are the same for a number and for a register of eight. */
#define TAKE_BLOCK(type, state, words)                  \
    do {                                                \
        type a = state[0], b = state[1], c = state[2], d = state[3]; \
        SIXTEEN(F, 0, 0, 1, 7, 12, 17, 22)              \
        SIXTEEN(G, 16, 1, 5, 5, 9, 14, 20)              \
        SIXTEEN(H, 32, 5, 3, 4, 11, 16, 23)             \
        SIXTEEN(I, 48, 0, 7, 6, 10, 15, 21)             \
        state[0] += a;                                  \
        state[1] += b;                                  \
        state[2] += c;                                  \
        state[3] += d;                                  \
    } while (0)

void tl_md5_baseline(tl_md5_state *lanes, size_t blocks)
{
    for (int lane = 0; lane < LANES; lane++) {
        const unsigned char *at = lanes->at[lane];
        uint32_t state[4], words[16];
        if (!lanes->stride[lane])
            continue;
        for (int i = 0; i < 4; i++)
            state[i] = lanes->sums[i][lane];
        for (size_t block = 0; block < blocks; block++, at += BLOCK) {
            memcpy(words, at, BLOCK);
            TAKE_BLOCK(uint32_t, state, words);
        }
        for (int i = 0; i < 4; i++)
            lanes->sums[i][lane] = state[i];
        lanes->at[lane] = at;
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE_AVX2 __attribute__((target("avx2"), always_inline)) static inline

typedef uint32_t eight __attribute__((vector_size(32)));

/* Eight words of each lane become eight words across the lanes. */
INLINE_AVX2 void gather(const unsigned char *const at[LANES], size_t offset, eight words[8])
{
    __m256i row[8], pair[8], four[8];
    for (int i = 0; i < 8; i++)
        row[i] = _mm256_loadu_si256((const __m256i *)(at[i] + offset));
    for (int i = 0; i < 8; i += 2) {
        pair[i] = _mm256_unpacklo_epi32(row[i], row[i + 1]);
        pair[i + 1] = _mm256_unpackhi_epi32(row[i], row[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        four[i] = _mm256_unpacklo_epi64(pair[i], pair[i + 2]);
        four[i + 1] = _mm256_unpackhi_epi64(pair[i], pair[i + 2]);
        four[i + 2] = _mm256_unpacklo_epi64(pair[i + 1], pair[i + 3]);
        four[i + 3] = _mm256_unpackhi_epi64(pair[i + 1], pair[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        words[i] = (eight)_mm256_permute2x128_si256(four[i], four[i + 4], 0x20);
        words[i + 4] = (eight)_mm256_permute2x128_si256(four[i], four[i + 4], 0x31);
    }
}

AVX2 void tl_md5_avx2(tl_md5_state *lanes, size_t blocks)
{
    eight state[4], words[16];
    const unsigned char *at[LANES];
    memcpy(state, lanes->sums, sizeof state);
    memcpy(at, lanes->at, sizeof at);
    for (size_t block = 0; block < blocks; block++) {
        gather(at, 0, words);
        gather(at, 32, words + 8);
        TAKE_BLOCK(eight, state, words);
        for (int lane = 0; lane < LANES; lane++)
            at[lane] += lanes->stride[lane];
    }
    memcpy(lanes->sums, state, sizeof state);
    memcpy(lanes->at, at, sizeof at);
}
#endif

/* What a lane has before it: whole blocks where they lie, then the rest of the buffer with MD5's padding. */
typedef struct {
    unsigned char rest[2 * BLOCK];
    size_t blocks, rest_blocks;
    uint64_t buffer;
} job;

static const unsigned char nothing[BLOCK];

static void begin(tl_md5_state *lanes, int lane, job *own, const unsigned char *bytes, uint64_t size, uint64_t buffer)
{
    static const uint32_t start[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
    size_t rest = size % BLOCK;
    uint64_t bits = size * 8;
    own->buffer = buffer;
    own->blocks = size / BLOCK;
    own->rest_blocks = rest < BLOCK - 8 ? 1 : 2;
    memset(own->rest, 0, sizeof own->rest);
    if (rest)
        memcpy(own->rest, bytes + size - rest, rest);
    own->rest[rest] = 0x80;
    memcpy(own->rest + own->rest_blocks * BLOCK - 8, &bits, 8);
    for (int i = 0; i < 4; i++)
        lanes->sums[i][lane] = start[i];
    lanes->at[lane] = bytes;
    lanes->stride[lane] = BLOCK;
}

static void turn_to_rest(tl_md5_state *lanes, int lane, job *own)
{
    lanes->at[lane] = own->rest;
    own->blocks = own->rest_blocks;
    own->rest_blocks = 0;
}

void tl_md5_many(const unsigned char *bytes, const int64_t *starts, const int64_t *sizes, uint64_t count,
                 unsigned char *digests)
{
    const tl_lanes *chosen = tl_lanes_chosen();
    tl_md5_state lanes;
    job jobs[LANES];
    uint64_t next = 0;
    int busy = 0;
    for (int lane = 0; lane < LANES; lane++) {
        lanes.stride[lane] = 0;
        lanes.at[lane] = nothing;
        for (int i = 0; i < 4; i++)
            lanes.sums[i][lane] = 0;
    }
    for (;;) {
        size_t blocks = SIZE_MAX;
        for (int lane = 0; lane < LANES; lane++) {
            job *own = &jobs[lane];
            if (lanes.stride[lane] && !own->blocks && own->rest_blocks)
                turn_to_rest(&lanes, lane, own);
            else if (lanes.stride[lane] && !own->blocks) {
                for (int i = 0; i < 4; i++)
                    memcpy(digests + 16 * own->buffer + 4 * i, &lanes.sums[i][lane], 4);
                lanes.stride[lane] = 0;
                lanes.at[lane] = nothing;
                busy--;
            }
            while (!lanes.stride[lane] && next < count) {
                if (sizes[next] >= 0) {
                    begin(&lanes, lane, own, bytes + starts[next], (uint64_t)sizes[next], next);
                    if (!own->blocks)
                        turn_to_rest(&lanes, lane, own);
                    busy++;
                }
                next++;
            }
            if (lanes.stride[lane] && own->blocks < blocks)
                blocks = own->blocks;
        }
        if (!busy)
            return;
        /* A chain alone is faster in plain registers, which can rotate. */
        (busy > 1 ? chosen : &tl_lanes_baseline)->md5(&lanes, blocks);
        for (int lane = 0; lane < LANES; lane++)
            if (lanes.stride[lane])
                jobs[lane].blocks -= blocks;
    }
}
