/* What is chosen once: the lanes this CPU can run, and the keys of the hash. */
#include "trueline.h"

uint64_t tl_keys[TL_BLOCK_BYTES / 8] __attribute__((aligned(64)));
static const tl_lanes *chosen = &tl_lanes_baseline;

uint64_t tl_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

int tl_choose_lanes(int best)
{
    chosen = &tl_lanes_baseline;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (best && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) {
        chosen = &tl_lanes_avx2;
        return 1;
    }
#else
    (void)best;
#endif
    return 0;
}

const tl_lanes *tl_lanes_chosen(void)
{
    return chosen;
}

size_t tl_item_size(tl_kind kind)
{
    static const unsigned char sizes[TL_KINDS] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16};
    return sizes[kind];
}

__attribute__((constructor)) static void set_up(void)
{
    uint64_t state = 0x7472756c696e6531u;
    for (size_t i = 0; i < TL_BLOCK_BYTES / 8; i++)
        tl_keys[i] = tl_mix(state += 0x9e3779b97f4a7c15u);
    tl_choose_lanes(1);
}
