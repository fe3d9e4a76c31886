// The adapting kernel. With d = f_j - f_i (its positive part if `asym`), j the pixel that i sees
// through tap a:
//
//     K_a(i) = exp(-|d|^2 / 2)       or    alpha + (|d|^2 + epsilon)^(lambda / 2)
//
// Grid: a block per tile of 32 x 8 output pixels, in strides of the grid; a thread per pixel goes
// through the taps. The guide below the tile is staged in shared memory if it fits (features.cuh).
//
// Resources, at most (shared memory in bytes, blocks per SM of 64 KiB of it or more):
//     kernel                            threads  registers  static  dynamic  blocks
//     adapting_kernel_tiles                 256         64       0    16384       4
//
// Roofline, for 500 x 375 pixels, 3 channels, 5x5 taps, an exp counted as 8: 84 MFLOP and at least
// 21 MB of memory traffic, 4 FLOP per byte, bound by memory. In ms (see cuda.cuh): V100 0.023, A100
// 0.010, H100 0.006, RTX 4090 0.021. The paper times K together with the rest of PAC-CRF: 39 ms for
// 5 steps.
#include "features.cuh"

namespace pac {
namespace {

template <class T>
__global__ void __launch_bounds__(kTilePixels, 4)
    adapting_kernel_tiles(const Features<T> features, int64_t tiles, T* kernel) {
  PAC_DYNAMIC_SHARED(halo);
  const Gather& gather = features.windows;
  const int64_t targets = gather.target_pixels();
  for (int64_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    const Tile tile = gather.tile(index);
    const GuideTile<T> guide(features, tile, 1, 1, halo);
    __syncthreads();  // the halo is there
    const int64_t to = gather.target(tile, threadIdx.y, threadIdx.x);
    T* plane = kernel + tile.entry * gather.taps() * targets;
    for (int tap = 0; tap < gather.taps() && to >= 0; ++tap, plane += targets)
      store(plane + to, guide.kernel(threadIdx.y, threadIdx.x, tap));
    __syncthreads();  // the halo has been used
  }
}

template <class T>
int adapting_kernel(const PacShape& s, const PacGuide& guide, T* kernel, void* stream) {
  if (!fits(s, &guide)) return refused("pac_cuda_adapting_kernel", kTooLarge);
  const Features<T> features(guide, 1, 1);
  const int64_t tiles = s.batch * features.windows.tiles();
  if (tiles == 0) return 0;
  return PAC_LAUNCH(adapting_kernel_tiles<T>, blocks(tiles), dim3(kTileX, kTileY),
                    features.halo_bytes(), stream, features, tiles, kernel);
}

}  // namespace
}  // namespace pac

PAC_CUDA_DEFINE(adapting_kernel,
                (const PacShape* s, const PacGuide* guide, PacArray kernel, void* stream), *s, *guide,
                kernel, stream)
