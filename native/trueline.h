/* The fused kernels: one pass over memory gives every number of a Summary or a Distance. */
#ifndef TRUELINE_H
#define TRUELINE_H

#include <stddef.h>
#include <stdint.h>

#define TL_EXPORT __attribute__((visibility("default")))

/* These sizes define the fingerprint and the order of every sum: the NumPy twin knows them too. */
#define TL_BLOCK_BYTES 4096
#define TL_PIECE 1024
#define TL_SEGMENT_BYTES (256 * TL_BLOCK_BYTES)
#define TL_SEGMENT_PAIRS (256 * TL_PIECE)

typedef enum {
    TL_BOOL, TL_I8, TL_U8, TL_I16, TL_U16, TL_I32, TL_U32, TL_I64, TL_U64,
    TL_F16, TL_BF16, TL_F32, TL_F64, TL_C64, TL_C128, TL_KINDS
} tl_kind;

/* Read by the wrapper as five u64, five f64, one u64. */
typedef struct {
    uint64_t finite, nan, pos_inf, neg_inf, zeros;
    double minimum, maximum, mean, m2, abs_sum;
    uint64_t hash;
} tl_summary;

/* Read by the wrapper as seven u64, one i64, eight f64. `worst` is -1 where nothing differs. */
typedef struct {
    uint64_t comparable, non_finite_a, non_finite_b, same, other, equal, within;
    int64_t worst;
    double max_abs, sum_abs, sum_dd, sum_aa, sum_bb, sum_ab, max_a, max_b;
} tl_distance;

/* `scale_d` 0 asks for the plain pass; otherwise sums are taken of scaled numbers, which cannot overflow. */
typedef struct {
    double rtol, atol, scale_a, scale_b, scale_d;
} tl_tolerance;

/* What the lanes find in at most TL_PIECE numbers; sums are of x - shift. */
typedef struct {
    uint64_t zeros;
    double minimum, maximum, sum, squares, abs_sum;
} tl_values;

typedef struct {
    uint64_t equal, within;
    double max_abs, sum_abs, sum_dd, sum_aa, sum_bb, sum_ab, max_a, max_b;
} tl_pairs;

/* Eight MD5 at once: `sums` word by word across the lanes, and where each lane reads on, by `stride` bytes a block;
   a lane whose stride is 0 has nothing to do. */
#define TL_MD5_LANES 8
typedef struct {
    uint32_t sums[4][TL_MD5_LANES];
    const unsigned char *at[TL_MD5_LANES];
    size_t stride[TL_MD5_LANES];
} tl_md5_state;

/* The same lanes in the same order for every instruction set, so every machine gives the same bits. */
typedef struct {
    void (*values_f32)(const float *x, size_t n, double shift, tl_values *out);
    void (*values_f64)(const double *x, size_t n, double shift, tl_values *out);
    void (*pairs_f32)(const float *a, const float *b, size_t n, double rtol, double atol, tl_pairs *out);
    void (*pairs_f64)(const double *a, const double *b, size_t n, double rtol, double atol, tl_pairs *out);
    void (*hash)(const unsigned char *bytes, size_t vectors, uint64_t acc[4]);
    void (*widen_f32)(tl_kind kind, const void *x, size_t n, float *out);
    void (*widen_f64)(tl_kind kind, const void *x, size_t n, double *out);
    void (*md5)(tl_md5_state *lanes, size_t blocks);
} tl_lanes;

void tl_md5_baseline(tl_md5_state *lanes, size_t blocks);
#if defined(__x86_64__)
void tl_md5_avx2(tl_md5_state *lanes, size_t blocks);
#endif

extern const tl_lanes tl_lanes_baseline;
#if defined(__x86_64__)
extern const tl_lanes tl_lanes_avx2;
#endif
const tl_lanes *tl_lanes_chosen(void);

size_t tl_item_size(tl_kind kind);
extern uint64_t tl_keys[TL_BLOCK_BYTES / 8];
uint64_t tl_mix(uint64_t x);
uint64_t tl_hash_block(const tl_lanes *lanes, const unsigned char *bytes, size_t size, uint64_t index);

typedef void (*tl_task)(void *context, size_t segment);
void tl_share_out(tl_task task, void *context, size_t segments, int threads);

/* State carries over between calls, so an array may arrive in chunks of whole segments. All return 0, or -1
   where memory is short. */
TL_EXPORT void tl_summary_start(tl_summary *state);
TL_EXPORT int tl_summary_add(const void *x, uint64_t count, int kind, uint64_t first_block, double scale, int threads,
                             tl_summary *state);
TL_EXPORT int tl_summary_whole(const void *x, uint64_t count, int kind, int threads, tl_summary *state);
TL_EXPORT int tl_hash_add(const void *x, uint64_t size, uint64_t first_block, int threads, uint64_t *state);
TL_EXPORT uint64_t tl_hash_finish(uint64_t state, uint64_t size, int kind);
TL_EXPORT void tl_describe_rows(const void *x, uint64_t rows, uint64_t row_count, int kind, uint64_t *fingerprints,
                                float *mean, float *std, float *minimum, float *maximum);
TL_EXPORT void tl_distance_start(tl_distance *state);
TL_EXPORT int tl_distance_add(const void *a, int kind_a, const void *b, int kind_b, uint64_t count, uint64_t offset,
                              const tl_tolerance *tolerance, int threads, tl_distance *state);
/* Files whole into `room`, with where each starts and its size: -errno where it could not be read, TL_TOO_LARGE where
   it has `most` bytes or more (and its start is its size). `names` are one after the other, each with its NUL; `base`
   stands before those that do not begin with a slash. Returns how many were dealt with: fewer where the room is full, a
   signal came or `stop` is not 0. The room has more than `most` bytes. */
#define TL_TOO_LARGE INT64_MIN
TL_EXPORT uint64_t tl_read_files(const char *base, const char *names, uint64_t count, unsigned char *room,
                                 uint64_t room_size, uint64_t most, const int32_t *stop, int64_t *starts,
                                 int64_t *sizes);
/* The MD5 of each buffer, sixteen bytes after sixteen bytes; one whose size is below 0 is stepped over. */
TL_EXPORT void tl_md5_many(const unsigned char *bytes, const int64_t *starts, const int64_t *sizes, uint64_t count,
                           unsigned char *digests);
/* Forces the baseline lanes (0) or the best ones (1); says which are in use. */
TL_EXPORT int tl_choose_lanes(int best);

#endif
