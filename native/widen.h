/* Turning a piece of any kind into floats or doubles; written once, compiled per instruction set. */
#ifndef TRUELINE_WIDEN_H
#define TRUELINE_WIDEN_H

#define WIDEN_CASE(kind, type)               \
    case kind: {                             \
        const type *from = (const type *)x;  \
        for (size_t i = 0; i < n; i++)       \
            out[i] = (double)from[i];        \
        break;                               \
    }

#define DEFINE_WIDEN(target, half)                                                       \
    target static void widen_f32(tl_kind kind, const void *x, size_t n, float *out)      \
    {                                                                                    \
        if (kind == TL_F16) {                                                            \
            half((const uint16_t *)x, n, out);                                           \
        } else if (kind == TL_BF16) {                                                    \
            const uint16_t *from = (const uint16_t *)x;                                  \
            for (size_t i = 0; i < n; i++) {                                             \
                uint32_t bits = (uint32_t)from[i] << 16;                                 \
                memcpy(&out[i], &bits, 4);                                               \
            }                                                                            \
        } else {                                                                         \
            memcpy(out, x, n * sizeof(float));                                           \
        }                                                                                \
    }                                                                                    \
    target static void widen_f64(tl_kind kind, const void *x, size_t n, double *out)     \
    {                                                                                    \
        float narrow[TL_PIECE];                                                          \
        switch (kind) {                                                                  \
        case TL_BOOL: {                                                                  \
            const uint8_t *from = (const uint8_t *)x;                                    \
            for (size_t i = 0; i < n; i++)                                               \
                out[i] = (double)(from[i] != 0);                                         \
            break;                                                                       \
        }                                                                                \
        WIDEN_CASE(TL_I8, int8_t)                                                        \
        WIDEN_CASE(TL_U8, uint8_t)                                                       \
        WIDEN_CASE(TL_I16, int16_t)                                                      \
        WIDEN_CASE(TL_U16, uint16_t)                                                     \
        WIDEN_CASE(TL_I32, int32_t)                                                      \
        WIDEN_CASE(TL_U32, uint32_t)                                                     \
        WIDEN_CASE(TL_I64, int64_t)                                                      \
        WIDEN_CASE(TL_U64, uint64_t)                                                     \
        WIDEN_CASE(TL_F32, float)                                                        \
        case TL_F16:                                                                     \
        case TL_BF16:                                                                    \
            widen_f32(kind, x, n, narrow);                                               \
            for (size_t i = 0; i < n; i++)                                               \
                out[i] = (double)narrow[i];                                              \
            break;                                                                       \
        default:                                                                         \
            memcpy(out, x, n * sizeof(double));                                          \
        }                                                                                \
    }

#endif
