// One mean-field step of PAC-CRF: the messages of all pairwise terms, the unaries and the softmax.
//
//     m^k_i(l) = sum over l', a:  K^k_a(i) W^k_a(l, l') Q_j(l')    j the pixel that i sees through a
//     log Q'_i = unary_i - sum over terms k:  m^k_i                Q' = softmax of that, if wanted
//
// Grid: a block per tile of 32 x 8 pixels, in strides of the grid, for all labels; 8 labels x 4 pixels
// per thread are summed in registers (product.cuh) over all terms, taps and labels l', so that the
// messages are never written. Terms whose W is a spatial filter w_a (and a compatibility) sum
// w_a K_a(i) Q_j(l') over their taps while they stage it, which leaves one product of matrices per
// term instead of one per tap, or with Potts none. The softmax goes through shared memory. More than
// 64 labels are done 64 at a time; log Q' then goes to the output, where the block reads it again for
// the softmax.
//
// Resources, at most (shared memory in bytes, blocks per SM of 64 KiB of it or more):
//     kernel                            threads  registers  static  dynamic  blocks
//     mean_field_tiles                      512        128   11616    32768       1
//
// Roofline, for a step of the paper's PAC-CRF, 16-64 (500 x 375 pixels, 21 labels, two terms of 5x5
// taps, one guide of 3 channels): 8.5 GFLOP and at least 50 MB of memory traffic, 171 FLOP per
// byte, bound by arithmetic. In ms (see cuda.cuh): V100 0.539, A100 0.434, H100 0.126, RTX 4090
// 0.102. 21 labels fill 24 sums, which is 14 % more; tensor cores are not used. The paper's takes
// 78 ms for 5 steps, of which each is 15 ms (its Tab. 3 and 6, on a GPU that it does not name).
#include <math.h>

#include "kernel_source.cuh"
#include "product.cuh"

namespace pac {
namespace {

// One pairwise term.
template <class T>
struct Term {
  Gather gather;
  KernelSource<T> kernel;
  const T* filter;          // w (taps), or null for ones
  FilterMatrix<T> product;  // W of the first tap, or the compatibility; null for Potts
  bool per_tap;             // W differs between taps: there is no filter
};

template <class T>
struct MeanFieldStep {
  Term<T> terms[PAC_MAX_PAIRWISE];
  int n_terms, labels;
  ChannelSplit split;  // of the labels
  int64_t tiles;
  const T *unary, *marginals;  // (batch, labels, pixels)
  T* output;
  int64_t result;
};

// The softmax over some labels, as their log Q' come by.
struct Softmax {
  float largest, sum;  // sum of exp(log Q' - largest)

  // exp(value - top), also where both are infinite.
  __device__ static float exp_below(float value, float top) {
    return value == top ? 1.0f : expf(value - top);
  }
  __device__ void add(const Softmax& more) {
    const float top = fmaxf(largest, more.largest);
    sum = sum * exp_below(largest, top) + more.sum * exp_below(more.largest, top);
    largest = top;
  }
  __device__ void add(float log_q) { add(Softmax{log_q, 1.0f}); }
  __device__ float of(float log_q) const { return exp_below(log_q, largest) / sum; }
  __device__ float log_of(float log_q) const { return log_q - largest - logf(sum); }
};
constexpr int kSoftmaxFloats = kTilePixels * int(sizeof(Softmax) / sizeof(float));  // for a group

// Each label group has two warps, one for the upper and one for the lower rows of the tile.
constexpr int kRows = kTileY / 2;
using Messages = Sums<kRows>;

// This thread's place in its block.
struct Place {
  int group, row;
  bool first_of_group;

  __device__ Place()
      : group(threadIdx.y / 2), row(threadIdx.y % 2 * kRows), first_of_group(threadIdx.y % 2 == 0) {}
};

// What a block keeps in shared memory.
struct Stage {
  float (*weights)[kWeightPitch];
  float (*values)[kTilePixels];
  float* kernel;  // K of a tap

  template <class T>
  __device__ void stage_kernel(const KernelTile<T>& k, const Tap& seen, int tap, const T* filter) {
    const float w = filter ? to_float(filter[tap]) : 1.0f;
    for (int row = threadIdx.y; row < kTileY; row += blockDim.y)
      kernel[row * kTileX + threadIdx.x] = w * k.at(seen, tap, row, threadIdx.x);
  }

  // Values K_a(i) Q_j(l') of one tap, for `depth` labels from the first of `marginals` on: kept, or
  // added to those that the same thread kept before.
  template <class T>
  __device__ void stage_values(const Gather& gather, const T* marginals, const Tap& seen, int depth,
                               bool add) {
    for_staged_rows(depth, [&](int d, int row) {
      const int pixel = row * kTileX + threadIdx.x;
      const int64_t from = gather.source(seen, row, threadIdx.x);
      float value = add ? values[d][pixel] : 0.0f;
      if (from >= 0)
        value = fmaf(kernel[pixel], to_float(marginals[d * gather.source_pixels() + from]), value);
      values[d][pixel] = value;
    });
  }
};

// Adds the messages of a term whose filters differ between labels and taps, to labels from `label` on.
template <class T>
__device__ void add_messages(Messages& sums, Stage stage, const Place& at, const Term<T>& term,
                             const KernelTile<T>& kernel, const T* marginals, const Tile& tile,
                             int labels, int label, bool summing) {
  const Gather& gather = term.gather;
  for (int tap = 0; tap < gather.taps(); ++tap) {
    Tap seen;
    if (!gather.locate(tile, tap, &seen)) continue;
    stage.stage_kernel(kernel, seen, tap, term.filter);
    for (int first = 0; first < labels; first += kDepth) {
      const int depth = min(kDepth, labels - first);
      __syncthreads();  // K is there, and the last values have been used
      stage.stage_values(gather, marginals + first * gather.source_pixels(), seen, depth, false);
      if (summing && at.first_of_group)
        stage_weights(stage.weights, term.product, tap, at.group, label, first, depth);
      __syncthreads();  // values and weights are there
      if (summing) sums.add(stage.weights, stage.values, depth, at.group, at.row);
    }
  }
}

// The same for a term of a spatial filter: its taps are summed first.
template <class T>
__device__ void add_pooled_messages(Messages& sums, Stage stage, const Place& at, const Term<T>& term,
                                    const KernelTile<T>& kernel, const T* marginals, const Tile& tile,
                                    int labels, int label, bool summing) {
  const Gather& gather = term.gather;
  for (int first = 0; first < labels; first += kDepth) {
    const int depth = min(kDepth, labels - first);
    bool some = false;
    for (int tap = 0; tap < gather.taps(); ++tap) {
      Tap seen;
      if (!gather.locate(tile, tap, &seen)) continue;
      __syncthreads();  // the last K and values have been used
      stage.stage_kernel(kernel, seen, tap, term.filter);
      __syncthreads();  // K is there
      stage.stage_values(gather, marginals + first * gather.source_pixels(), seen, depth, some);
      some = true;
    }
    if (!some) return;  // no tap sees the image from this tile
    if (summing && at.first_of_group && term.product.data)
      stage_weights(stage.weights, term.product, 0, at.group, label, first, depth);
    __syncthreads();  // values and weights are there
    if (!summing) continue;
    if (term.product.data) {
      sums.add(stage.weights, stage.values, depth, at.group, at.row);
    } else if (label == first) {  // Potts: a label hears of itself alone
#pragma unroll
      for (int c = 0; c < kChannels; ++c)
#pragma unroll
        for (int r = 0; r < kRows; ++r)
          if (c < depth) sums.at[c][r] += stage.values[c][(at.row + r) * kTileX + threadIdx.x];
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kTileX* kMaxGroups * 2, 1)
    mean_field_tiles(const MeanFieldStep<T> p) {
  PAC_SHARED(float, weights, [kDepth][kWeightPitch]);
  PAC_SHARED(float, values, [kDepth][kTilePixels]);
  PAC_SHARED(float, tap_kernel, [kTilePixels]);
  PAC_SHARED(Term<T>, shared_term, [1]);  // in registers it would leave too few of them
  PAC_DYNAMIC_SHARED(dynamic);
  Softmax* softmax = reinterpret_cast<Softmax*>(dynamic);  // [group][pixel], over a group's labels
  float* halo = dynamic + p.split.groups * kSoftmaxFloats;
  const Place place;
  const int lane = threadIdx.x, group = place.group;
  const Gather& image = p.terms[0].gather;  // tiles are the same for all terms
  const int64_t pixels = image.target_pixels();

  for (int64_t index = blockIdx.x; index < p.tiles; index += gridDim.x) {
    const Tile tile = image.tile(index);
    const T* marginals = p.marginals + tile.entry * p.labels * pixels;
    Messages sums;
    for (int chunk = 0; chunk < p.split.chunks; ++chunk) {
      const int label = p.split.first(chunk, group);
      const bool summing = label < p.labels;
      sums.clear();
      for (int n = 0; n < p.n_terms; ++n) {
        __syncthreads();  // the last term has been used
        if (lane == 0 && threadIdx.y == 0) shared_term[0] = p.terms[n];
        __syncthreads();  // the term is there
        const Term<T>& term = shared_term[0];
        const KernelTile<T> kernel(term.kernel, term.gather, tile, halo);
        const Stage stage{weights, values, tap_kernel};
        if (term.per_tap)
          add_messages(sums, stage, place, term, kernel, marginals, tile, p.labels, label, summing);
        else
          add_pooled_messages(sums, stage, place, term, kernel, marginals, tile, p.labels, label,
                              summing);
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) {  // log Q' of this thread's labels, in place of messages
        const int row = place.row + r;
        const int64_t pixel = image.target(tile, row, lane);
        const int64_t at = (tile.entry * p.labels + label) * pixels + pixel;
        Softmax* all = softmax + group * kTilePixels + row * kTileX + lane;
        Softmax own = chunk == 0 ? Softmax{-INFINITY, 0.0f} : *all;
#pragma unroll
        for (int c = 0; c < kChannels; ++c) {
          if (label + c >= p.labels || pixel < 0) break;
          float log_q = to_float(p.unary[at + c * pixels]) - sums.at[c][r];
          if (p.split.chunks > 1 || p.result == PAC_LOG_Q) {
            T kept;
            store(&kept, log_q);
            p.output[at + c * pixels] = kept;
            log_q = to_float(kept);  // as it is read again: so probabilities sum to 1
          }
          sums.at[c][r] = log_q;
          own.add(log_q);
        }
        *all = own;
      }
    }
    if (p.result == PAC_LOG_Q) continue;

    __syncthreads();  // what the softmax needs of each group is there
    for (int chunk = 0; chunk < p.split.chunks; ++chunk) {
      const int label = p.split.first(chunk, group);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int row = place.row + r;
        const int64_t pixel = image.target(tile, row, lane);
        if (pixel < 0) continue;
        Softmax all{-INFINITY, 0.0f};
        for (int g = 0; g < p.split.groups; ++g)
          all.add(softmax[g * kTilePixels + row * kTileX + lane]);
        T* to = p.output + (tile.entry * p.labels + label) * pixels + pixel;
#pragma unroll
        for (int c = 0; c < kChannels; ++c) {
          if (label + c >= p.labels) break;
          const float log_q = p.split.chunks > 1 ? to_float(to[c * pixels]) : sums.at[c][r];
          store(to + c * pixels, p.result == PAC_SOFTMAX ? all.of(log_q) : all.log_of(log_q));
        }
      }
    }
    // The next tile does not write it before the barriers of its first term.
  }
}

template <class T>
Term<T> term_of(const PacPairwise& pairwise, int64_t labels) {
  Term<T> term = {};
  term.gather = output_from_input(pairwise.y, pairwise.x);
  term.kernel = KernelSource<T>::forward(pairwise.kernel, 1, pairwise.guide, term.gather);
  if (!pairwise.guide && !static_cast<const T*>(pairwise.kernel)) term.kernel.from = KernelFrom::kOnes;
  const T *weight = pairwise.weight, *compatibility = pairwise.compatibility;
  term.per_tap = !compatibility && !pairwise.potts;
  term.filter = term.per_tap ? nullptr : weight;
  if (term.per_tap)
    term.product = {weight, labels * term.gather.taps(), term.gather.taps(), int(labels)};
  else
    term.product = {compatibility, labels, 1, int(labels)};
  return term;
}

template <class T>
int mean_field_step(const PacShape& s, const PacPairwise* pairwise, int64_t n, const T* unary,
                    const T* marginals, T* output, int64_t result, void* stream) {
  constexpr const char* name = "pac_cuda_mean_field_step";
  if (n < 1 || n > PAC_MAX_PAIRWISE) return refused(name, "expected 1 to 4 pairwise terms");
  if (output == marginals) return refused(name, "output is the array of the marginals");
  const ChannelSplit split(s.in_channels);
  MeanFieldStep<T> p{{}, int(n), int(s.in_channels), split, 0, unary, marginals, output, result};
  size_t halo = 0;
  for (int64_t k = 0; k < n; ++k) {
    PacShape shape = s;
    shape.y = pairwise[k].y, shape.x = pairwise[k].x;
    if (!fits(shape, pairwise[k].guide)) return refused(name, kTooLarge);
    if (shape.y.output != s.y.output || shape.x.output != s.x.output)
      return refused(name, "a pairwise term is not as large as the image");
    p.terms[k] = term_of<T>(pairwise[k], s.in_channels);
    const size_t bytes = p.terms[k].kernel.halo_bytes();
    if (bytes > halo) halo = bytes;
  }
  p.tiles = s.batch * p.terms[0].gather.tiles();
  if (p.tiles == 0) return 0;
  const size_t shared = halo + split.groups * kSoftmaxFloats * sizeof(float);
  const dim3 block(kTileX, 2 * split.groups);
  return PAC_LAUNCH(mean_field_tiles<T>, blocks(p.tiles), block, shared, stream, p);
}

}  // namespace
}  // namespace pac

PAC_CUDA_DEFINE(mean_field_step,
                (const PacShape* s, const PacPairwise* terms, int64_t n_terms, PacArray unary,
                 PacArray marginals, PacArray output, int64_t result, void* stream),
                *s, terms, n_terms, unary, marginals, output, result, stream)
