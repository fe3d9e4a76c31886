// The gradients of the adapting kernel. With d = f_j - f_i (its positive part if `asym`):
//
//     slope         =  dK / d(|d|^2 / 2)  =  -K    or    lambda (|d|^2 + epsilon)^(lambda / 2 - 1)
//     grad_guide_j  =  sum over taps a, i seeing j through a:   grad_K_a(i) slope d
//     grad_centre_i = -sum over taps a:                         grad_K_a(i) slope d
//     grad_lambda   =  sum over i, a:   grad_K_a(i) log(|d|^2 + epsilon) / 2 (K_a(i) - alpha)
//
// Grid: for guide and centre, a block per tile of 32 x 8 of their pixels and 12 channels, in strides
// of the grid; a thread per pixel gathers from the other side, so that nothing is written twice, and
// sums its 12 channels in registers. For lambda, a block per output row, whose threads' sums are added
// up in a fixed order through shared memory.
//
// Resources, at most (shared memory in bytes, blocks per SM of 64 KiB of it or more):
//     kernel                            threads  registers  static  dynamic  blocks
//     adapting_kernel_grad_tiles            256        128       0        0       2
//     adapting_kernel_grad_lambda_rows      128        128     512        0       4
//
// Roofline, for 500 x 375 pixels, 3 channels, 5x5 taps, an exp counted as 8: 234 MFLOP and at least
// 46 MB of memory traffic, 5 FLOP per byte, bound by memory. In ms (see cuda.cuh): V100 0.052, A100
// 0.023, H100 0.014, RTX 4090 0.046. The paper gives no times of training.
#include "features.cuh"

namespace pac {
namespace {

constexpr int kChannels = 12;
constexpr int kRowThreads = 128;

// f_i and f_j of a pair of pixels; f_j is 0 if j is -1, outside the guide.
template <class T>
class Pair {
 public:
  __device__ Pair(const Features<T>& f, int64_t entry, int64_t i, int64_t j)
      : f_(f), inside_(j >= 0),
        seen_(f.guide + entry * f.channels * f.windows.source_pixels() + (inside_ ? j : 0)),
        own_(f.centre + entry * f.channels * f.windows.target_pixels() + i) {}

  // Calls visit(c, d_c) for `n` channels from `first` on, n being known to the compiler.
  template <class Function>
  __device__ void for_differences(int first, int n, Function visit) const {
    const int64_t sources = f_.windows.source_pixels(), targets = f_.windows.target_pixels();
    const T *seen = seen_ + first * sources, *own = own_ + first * targets;
#pragma unroll
    for (int c = 0; c < n; ++c, seen += sources, own += targets)
      if (first + c < f_.channels)
        visit(c, f_.difference(inside_ ? to_float(*seen) : 0.0f, to_float(*own)));
  }

  __device__ float squared() const {
    float sum = 0.0f;
    for (int first = 0; first < f_.channels; first += 4)
      for_differences(first, 4, [&](int, float d) { sum = fmaf(d, d, sum); });
    return sum;
  }

 private:
  const Features<T>& f_;
  const bool inside_;
  const T *seen_, *own_;
};

// kOfCentre: grad_centre, else grad_guide. `gather` goes from these pixels to the others.
template <class T, bool kOfCentre>
__global__ void __launch_bounds__(kTilePixels, 2)
    adapting_kernel_grad_tiles(const Features<T> f, const Gather gather, int64_t tiles,
                               const T* grad_kernel, T* gradient) {
  const int lane = threadIdx.x, row = threadIdx.y;
  const int64_t outputs = f.windows.target_pixels();
  const int chunks = int(ceil_divide(f.channels, kChannels));
  for (int64_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    const Tile tile = gather.tile(index / chunks);
    const int channel = int(index % chunks) * kChannels;
    const int64_t to = gather.target(tile, row, lane);
    if (to < 0) continue;
    const float lambda = f.inv() ? to_float(f.lambda[tile.entry]) : 0.0f;
    float sums[kChannels] = {};

    for (int tap = 0; tap < gather.taps(); ++tap) {
      Tap seen;
      const bool located = gather.locate(tile, tap, &seen);
      const int64_t from = located ? gather.source(seen, row, lane) : -1;
      // Outside the guide f_j is 0, which is compared with f_i all the same; an output pixel outside
      // does not exist.
      if (!kOfCentre && from < 0) continue;
      const Pair<T> pair(f, tile.entry, kOfCentre ? to : from, kOfCentre ? from : to);
      const float squared = pair.squared();
      const int64_t output = kOfCentre ? to : from;
      float slope = to_float(grad_kernel[(tile.entry * gather.taps() + tap) * outputs + output]);
      if (f.inv())
        slope *= lambda * expf((0.5f * lambda - 1.0f) * logf(squared + kInvEpsilon));
      else
        slope *= -expf(-0.5f * squared);
      if (kOfCentre) slope = -slope;
      pair.for_differences(channel, kChannels,
                           [&](int c, float d) { sums[c] = fmaf(slope, d, sums[c]); });
    }
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      if (channel + c < f.channels) {
        const int64_t plane = tile.entry * f.channels + channel + c;
        store(gradient + plane * gather.target_pixels() + to, sums[c]);
      }
  }
}

template <class T>
__global__ void __launch_bounds__(kRowThreads, 4)
    adapting_kernel_grad_lambda_rows(const Features<T> f, int64_t rows, const T* grad_kernel,
                                     float* grad_lambda) {
  PAC_SHARED(float, sums, [kRowThreads]);
  const GatherAxis &y = f.windows.y, &x = f.windows.x;
  const int taps = f.windows.taps();
  const int64_t outputs = f.windows.target_pixels();
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const int64_t entry = row / y.target;
    const int iy = int(row % y.target);
    const float lambda = to_float(f.lambda[entry]);
    float sum = 0.0f;
    for (int ix = threadIdx.x; ix < x.target; ix += kRowThreads)
      for (int tap = 0; tap < taps; ++tap) {
        int jy, jx;
        y.locate(iy, tap / x.taps, &jy);
        x.locate(ix, tap % x.taps, &jx);
        const bool inside = jy >= 0 && jy < y.source && jx >= 0 && jx < x.source;
        const int64_t i = int64_t(iy) * x.target + ix;
        const int64_t j = inside ? int64_t(jy) * x.source + jx : -1;
        const float logarithm = logf(Pair<T>(f, entry, i, j).squared() + kInvEpsilon);
        sum += to_float(grad_kernel[(entry * taps + tap) * outputs + i]) * 0.5f * logarithm *
               expf(0.5f * lambda * logarithm);
      }
    sums[threadIdx.x] = sum;
    for (int half = kRowThreads / 2; half > 0; half /= 2) {
      __syncthreads();  // the sums of the last round are there
      if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) grad_lambda[row] = sums[0];
    __syncthreads();  // the total has been read
  }
}

template <class T, bool kOfCentre>
int launch(const Features<T>& f, const Gather& gather, int64_t batch, const T* grad_kernel,
           T* gradient, void* stream) {
  const int64_t tiles = batch * gather.tiles() * ceil_divide(f.channels, kChannels);
  if (tiles == 0) return 0;
  return PAC_LAUNCH((adapting_kernel_grad_tiles<T, kOfCentre>), blocks(tiles), dim3(kTileX, kTileY), 0,
                    stream, f, gather, tiles, grad_kernel, gradient);
}

template <class T>
int adapting_kernel_grad(const PacShape& s, const PacGuide& guide, const T* grad_kernel, T* grad_guide,
                         T* grad_centre, float* grad_lambda, void* stream) {
  if (!fits(s, &guide)) return refused("pac_cuda_adapting_kernel_grad", kTooLarge);
  const Features<T> f(guide, 1, 1);
  const Gather backward = input_from_output(guide.y, guide.x);
  if (launch<T, true>(f, f.windows, s.batch, grad_kernel, grad_centre, stream) ||
      launch<T, false>(f, backward, s.batch, grad_kernel, grad_guide, stream))
    return 1;
  const int64_t rows = s.batch * guide.y.output;
  if (!guide.inv || rows == 0) return 0;
  return PAC_LAUNCH(adapting_kernel_grad_lambda_rows<T>, blocks(rows), dim3(kRowThreads), 0, stream, f,
                    rows, grad_kernel, grad_lambda);
}

}  // namespace
}  // namespace pac

PAC_CUDA_DEFINE(adapting_kernel_grad,
                (const PacShape* s, const PacGuide* guide, PacArray grad_kernel, PacArray grad_guide,
                 PacArray grad_centre, PacArray grad_lambda, void* stream),
                *s, *guide, grad_kernel, grad_guide, grad_centre, grad_lambda, stream)
