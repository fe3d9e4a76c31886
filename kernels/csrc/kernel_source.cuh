// Where K comes from in a sum over source pixels: K is given and read, or of a guide and computed.
#pragma once

#include "features.cuh"

namespace pac {

// K belongs to the output pixel: that is the target of a sum forward, and the source backward.
enum class KernelFrom { kTarget, kSource, kGuide, kOnes };

template <class T>
struct KernelSource {
  KernelFrom from;
  int channels;   // 1, or one K for each channel of the input
  const T* data;  // (batch, channels, taps, pixels)
  Features<T> features;

  // Of the output pixels that `gather` computes: given, or of the guide.
  static KernelSource forward(const T* kernel, int64_t channels, const PacGuide* guide,
                              const Gather& gather) {
    KernelSource k = {};
    k.from = guide ? KernelFrom::kGuide : KernelFrom::kTarget;
    k.channels = guide ? 1 : int(channels);
    k.data = kernel;
    if (guide) k.features = Features<T>(*guide, gather.y.source_step, gather.x.source_step);
    return k;
  }
  // Of the output pixels that `gather` reads.
  static KernelSource backward(const T* kernel, int64_t channels) {
    KernelSource k = {};
    k.from = KernelFrom::kSource;
    k.channels = int(channels);
    k.data = kernel;
    return k;
  }

  size_t halo_bytes() const { return from == KernelFrom::kGuide ? features.halo_bytes() : 0; }
};

// K for the pixels of a tile.
template <class T>
class KernelTile {
 public:
  // Stages what is needed of the guide in `halo`; for all threads of a block, which it brings in step.
  __device__ KernelTile(const KernelSource<T>& source, const Gather& gather, const Tile& tile,
                        float* halo)
      : source_(source), gather_(gather), tile_(tile),
        guide_(source.features, tile, gather.y.source_step, gather.x.source_step, halo) {
    if (source.from == KernelFrom::kGuide) __syncthreads();
  }

  // K of a tap for pixel (row, lane), 0 where there is none.
  __device__ float at(const Tap& seen, int tap, int row, int lane, int channel = 0) const {
    if (source_.from == KernelFrom::kOnes) return 1.0f;
    const bool at_source = source_.from == KernelFrom::kSource;
    const int64_t pixel =
        at_source ? gather_.source(seen, row, lane) : gather_.target(tile_, row, lane);
    if (pixel < 0) return 0.0f;
    if (source_.from == KernelFrom::kGuide) return guide_.kernel(row, lane, tap);
    const int64_t plane = (tile_.entry * source_.channels + channel) * gather_.taps() + tap;
    const int64_t pixels = at_source ? gather_.source_pixels() : gather_.target_pixels();
    return to_float(source_.data[plane * pixels + pixel]);
  }

 private:
  const KernelSource<T>& source_;
  const Gather& gather_;
  const Tile& tile_;
  const GuideTile<T> guide_;
};

}  // namespace pac
