// What a library is: its interface, and whether this processor can run it.
#include <string.h>

#include "pac.h"

extern "C" int pac_abi_version(void) { return PAC_ABI_VERSION; }

extern "C" int pac_supports(const char* isa) {
  if (strcmp(isa, "baseline") == 0) return 1;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (strcmp(isa, "avx2") == 0) return avx2;
  if (strcmp(isa, "avx512") == 0)
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
  return 0;
}
