/* Which vectors the processor has: a pass is compiled for each width, and the widest is taken. */
#ifndef NETSHARP_VECTORS_H
#define NETSHARP_VECTORS_H

#if defined(__x86_64__)
static inline int has_64(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
           && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}

static inline int has_32(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#define WIDEST(pass, ...)                                                                          \
    (has_64() ? pass##_64(__VA_ARGS__) : has_32() ? pass##_32(__VA_ARGS__) : pass##_16(__VA_ARGS__))
#define TARGET_32 __attribute__((target("avx2,fma")))
#define TARGET_64 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
static inline int vector_bytes(void) { return has_64() ? 64 : has_32() ? 32 : 16; }
#else
#define WIDEST(pass, ...) pass##_16(__VA_ARGS__)

static inline int vector_bytes(void) { return 16; }
#endif

#endif
