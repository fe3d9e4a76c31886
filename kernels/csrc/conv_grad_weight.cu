// The gradient of PAC's filters,
//
//     grad_W_a = sum over output pixels i:  grad_output_i (K_a(i) input_j)^T,
//
// j the pixel that i sees through tap a: a product of a matrix (output channels x pixels) and one
// (pixels x columns), a column being an input channel of a tap.
//
// Grid: a block per 32 output channels, 128 columns and part of the image. A block goes through its
// part in strips of 32 pixels of one output row, which it stages in shared memory; a thread sums 4 x 8
// products in registers. The image is cut into as many parts as bring the grid to kBlocks blocks (none
// if the filters are large); their sums are added up in order by a second kernel. These partial sums
// are the one thing kept in global memory beside the result: at most kBlocks x 32 x 128 floats, 8 MiB.
//
// Resources, at most (shared memory in bytes, blocks per SM of 64 KiB of it or more):
//     kernel                            threads  registers  static  dynamic  blocks
//     conv_grad_weight_parts                128        128   23040        0       2
//     conv_grad_weight_sum                  256         40       0        0       4
//
// Roofline, for a message of the paper's PAC-CRF (500 x 375 pixels, 21 labels, 5x5 taps): 4.2 GFLOP
// and at least 50 MB of memory traffic, 84 FLOP per byte, bound by arithmetic. In ms (see
// cuda.cuh): V100 0.270, A100 0.217, H100 0.063, RTX 4090 0.051. 21 output channels fill 32 sums,
// which is 52 % more. The paper gives no times of training.
#include "tiles.cuh"

namespace pac {
namespace {

constexpr int kOutputs = 32, kColumns = 128, kStrip = kTileX, kThreads = 128;
constexpr int kOutputThreads = 8, kColumnThreads = kThreads / kOutputThreads;
constexpr int kThreadOutputs = kOutputs / kOutputThreads, kThreadColumns = kColumns / kColumnThreads;
constexpr int kPitch = kStrip + 4;  // so that lanes read their rows without bank conflicts
constexpr int64_t kBlocks = 512;    // a few for each SM of the largest GPUs; results depend on it

// How the work is shared out; depends on the shape alone, so that results do.
struct Split {
  int64_t columns;  // taps x in_channels, of one tap adjacent
  int64_t output_blocks, column_blocks;
  int64_t strips, parts, strips_per_part;

  explicit Split(const PacShape& s)
      : columns(s.y.taps * s.x.taps * s.in_channels),
        output_blocks(ceil_divide(s.out_channels, kOutputs)),
        column_blocks(ceil_divide(columns, kColumns)) {
    const Gather gather = output_from_input(s.y, s.x);
    strips = s.batch * gather.y.target * gather.x.tiles(kStrip);
    const int64_t wanted = kBlocks / (output_blocks * column_blocks);
    parts = wanted < 1 || strips < 1 ? 1 : wanted < strips ? wanted : strips;
    strips_per_part = ceil_divide(strips, parts);
    parts = strips < 1 ? 1 : ceil_divide(strips, strips_per_part);
  }
  __host__ __device__ int64_t blocks() const { return output_blocks * column_blocks * parts; }
};

template <class T>
struct ConvGradWeight {
  Gather gather;
  Split split;
  int in_channels, out_channels, kernel_channels;
  int64_t out_stride, in_stride;  // of the filters
  const T *input, *kernel, *grad_output;
  T* grad_weight;
  float* partials;  // (parts, out_channels, columns), or null if there is one part

  // Whether pixels from (y, x) on see anything through the taps of a block's columns.
  __device__ bool sees(int y, int x, int64_t column) const {
    const int64_t last = min(column + kColumns, split.columns) - 1;
    for (int tap = int(column / in_channels); tap <= int(last / in_channels); ++tap) {
      Tap seen;
      if (gather.y.locate(y, tap / gather.x.taps, &seen.y) && seen.y >= 0 &&
          seen.y < gather.y.source && gather.x.locate(x, tap % gather.x.taps, &seen.x) &&
          seen.x < gather.x.source && seen.x + (kStrip - 1) * gather.x.target_step >= 0)
        return true;
    }
    return false;
  }

  __device__ T* filter(int64_t output, int64_t column) const {
    return grad_weight + output * out_stride + column % in_channels * in_stride + column / in_channels;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads, 4) conv_grad_weight_parts(const ConvGradWeight<T> p) {
  PAC_SHARED(float, gradients, [kOutputs][kPitch]);
  PAC_SHARED(float, values, [kColumns][kPitch]);
  const Gather& gather = p.gather;
  const int lane = threadIdx.x % kStrip, warp = threadIdx.x / kStrip;
  const int my_output = threadIdx.x % kOutputThreads, my_column = threadIdx.x / kOutputThreads;
  const int64_t sources = gather.source_pixels(), targets = gather.target_pixels();
  const int columns_of_strips = gather.x.tiles(kStrip);

  for (int64_t index = blockIdx.x; index < p.split.blocks(); index += gridDim.x) {
    const int64_t part = index / (p.split.output_blocks * p.split.column_blocks);
    const int64_t output = index % p.split.output_blocks * kOutputs;
    const int64_t column = index / p.split.output_blocks % p.split.column_blocks * kColumns;
    const int64_t first = part * p.split.strips_per_part;
    const int64_t last = min(first + p.split.strips_per_part, p.split.strips);
    float sums[kThreadOutputs][kThreadColumns] = {};

    for (int64_t strip = first; strip < last; ++strip) {
      const int64_t line = strip / columns_of_strips;
      const int64_t entry = line / gather.y.target;
      const int y = int(line % gather.y.target);
      const int left = gather.x.first(int(strip % columns_of_strips), kStrip);
      if (!p.sees(y, left, column)) continue;
      const int x = left + lane * gather.x.source_step;
      const int64_t pixel = x < gather.x.target ? int64_t(y) * gather.x.target + x : -1;

      __syncthreads();  // the last strip has been used
      for (int o = warp; o < kOutputs; o += kThreads / kStrip) {
        const bool inside = pixel >= 0 && output + o < p.out_channels;
        gradients[o][lane] =
            inside ? to_float(p.grad_output[(entry * p.out_channels + output + o) * targets + pixel])
                   : 0.0f;
      }
      for (int n = warp; n < kColumns; n += kThreads / kStrip) {
        float value = 0.0f;
        if (column + n < p.split.columns && pixel >= 0) {
          const int tap = int((column + n) / p.in_channels);
          const int64_t channel = (column + n) % p.in_channels;
          int sy, sx;
          if (gather.y.locate(y, tap / gather.x.taps, &sy) &&
              gather.x.locate(x, tap % gather.x.taps, &sx) && sy >= 0 && sy < gather.y.source &&
              sx >= 0 && sx < gather.x.source) {
            const int64_t plane = p.kernel_channels == 1 ? entry : entry * p.in_channels + channel;
            value = to_float(p.kernel[(plane * gather.taps() + tap) * targets + pixel]) *
                    to_float(p.input[(entry * p.in_channels + channel) * sources +
                                     int64_t(sy) * gather.x.source + sx]);
          }
        }
        values[n][lane] = value;
      }
      __syncthreads();  // the strip is there

#pragma unroll 1
      for (int at = 0; at < kStrip; at += 4) {
        float4 v[kThreadColumns];
#pragma unroll
        for (int n = 0; n < kThreadColumns; ++n)
          v[n] = *reinterpret_cast<const float4*>(&values[my_column + n * kColumnThreads][at]);
#pragma unroll
        for (int o = 0; o < kThreadOutputs; ++o) {
          const float4 g =
              *reinterpret_cast<const float4*>(&gradients[my_output + o * kOutputThreads][at]);
#pragma unroll
          for (int n = 0; n < kThreadColumns; ++n)
            sums[o][n] =
                fmaf(g.x, v[n].x, fmaf(g.y, v[n].y, fmaf(g.z, v[n].z, fmaf(g.w, v[n].w, sums[o][n]))));
        }
      }
    }

#pragma unroll
    for (int o = 0; o < kThreadOutputs; ++o)
#pragma unroll
      for (int n = 0; n < kThreadColumns; ++n) {
        const int64_t to_output = output + my_output + o * kOutputThreads;
        const int64_t to_column = column + my_column + n * kColumnThreads;
        if (to_output >= p.out_channels || to_column >= p.split.columns) continue;
        if (p.partials)
          p.partials[(part * p.out_channels + to_output) * p.split.columns + to_column] = sums[o][n];
        else
          store(p.filter(to_output, to_column), sums[o][n]);
      }
  }
}

// A thread per weight.
template <class T>
__global__ void __launch_bounds__(256) conv_grad_weight_sum(const ConvGradWeight<T> p) {
  const int64_t size = p.out_channels * p.split.columns;
  for (int64_t n = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; n < size;
       n += int64_t(gridDim.x) * blockDim.x) {
    float sum = 0.0f;
    for (int64_t part = 0; part < p.split.parts; ++part) sum += p.partials[part * size + n];
    store(p.filter(n / p.split.columns, n % p.split.columns), sum);
  }
}

int64_t partials_size(const PacShape& s) {
  const Split split(s);
  return split.parts > 1 ? split.parts * s.out_channels * split.columns : 0;
}

template <class T>
int conv_grad_weight(const PacShape& s, const T* input, const T* kernel, const T* grad_output,
                     T* grad_weight, float* partials, void* stream) {
  if (!fits(s)) return refused("pac_cuda_conv_grad_weight", kTooLarge);
  const bool in_parts = partials_size(s) > 0;
  if (in_parts && !partials) return refused("pac_cuda_conv_grad_weight", "partials is null");
  const ConvGradWeight<T> p{output_from_input(s.y, s.x),
                            Split(s),
                            int(s.in_channels),
                            int(s.out_channels),
                            int(s.kernel_channels),
                            s.weight_out_stride,
                            s.weight_in_stride,
                            input,
                            kernel,
                            grad_output,
                            grad_weight,
                            in_parts ? partials : nullptr};
  if (PAC_LAUNCH(conv_grad_weight_parts<T>, blocks(p.split.blocks()), dim3(kThreads), 0, stream, p))
    return 1;
  if (!in_parts) return 0;
  const dim3 grid = blocks(ceil_divide(s.out_channels * p.split.columns, 256));
  return PAC_LAUNCH(conv_grad_weight_sum<T>, grid, dim3(256), 0, stream, p);
}

}  // namespace
}  // namespace pac

extern "C" int64_t pac_cuda_conv_grad_weight_partials(const PacShape* s) {
  return pac::partials_size(*s);
}

PAC_CUDA_DEFINE(conv_grad_weight,
                (const PacShape* s, PacArray input, PacArray kernel, PacArray grad_output,
                 PacArray grad_weight, PacArray partials, void* stream),
                *s, input, kernel, grad_output, grad_weight, partials, stream)
