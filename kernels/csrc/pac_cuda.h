// The C interface of the PAC operators on CUDA devices: the functions of pac.h, named pac_cuda_*.
//
//     v'_i = sum over taps a of  K_a(i) W_a v_{j(i, a)} + b
//
// What differs from the CPU:
// - Functions end in _f32, _f16 or _bf16, the type of all arrays but those said to be float. Sums
//   are float in any case.
// - Pointers in arrays are to memory of the current device; the structs themselves are in host
//   memory and are not needed after the call. `PacShape::n_threads` is not looked at.
// - The last argument is a CUDA stream, null for the default one. Calls only launch kernels: they
//   do not wait, allocate or copy, so they may be captured in a CUDA graph.
// - They return 0, or 1 if a kernel could not be launched; pac_cuda_last_error() then says which,
//   with its launch shape, and why. A kernel that fails while it runs is reported by a later call.
// - Results are the same bits every time: sums have a fixed order, and there are no atomics. The
//   gradient of a bias is torch's grad_output.sum((0, 2, 3)), which keeps to that too.
#pragma once

#include "pac.h"

// One pairwise term of a PAC-CRF. Its message to the label l of pixel i is
//
//     m_i(l) = sum over l', a of  K_a(i) W_a(l, l') Q_j(l'),      j the pixel that i sees through a.
//
// `weight` and `compatibility` say what W is, weights of the term multiplied in:
//     weight (labels, labels, taps), compatibility null                 W_a(l, l') = weight
//     weight (taps) or null for ones, compatibility (labels, labels)    compatibility weight_a
//     weight (taps) or null for ones, compatibility null and potts 1    weight_a if l = l', else 0
struct PacPairwise {
  PacArray kernel;        // K (batch, 1, taps, y, x); null: of `guide`, or 1 if that is null too
  const PacGuide* guide;  // `centre` as large as the image
  PacArray weight, compatibility;
  int64_t potts;
  PacAxis y, x;  // as large as the image on both sides: up = down = 1
};

enum PacMeanFieldOutput { PAC_LOG_Q = 0, PAC_SOFTMAX = 1, PAC_LOG_SOFTMAX = 2 };
enum { PAC_MAX_PAIRWISE = 4 };

#define PAC_CUDA_DECLARE(suffix)                                                                   \
  /* K given, or null and computed tile by tile from the guide. */                                 \
  int pac_cuda_conv_##suffix(const PacShape*, const PacGuide*, PacArray kernel, PacArray input,    \
                             PacArray weight, PacArray bias, PacArray output, void* stream);       \
  int pac_cuda_conv_grad_input_##suffix(const PacShape*, PacArray kernel, PacArray grad_output,    \
                                        PacArray weight, PacArray grad_input, void* stream);       \
  int pac_cuda_conv_grad_kernel_##suffix(const PacShape*, PacArray input, PacArray grad_output,    \
                                         PacArray weight, PacArray grad_kernel, void* stream);     \
  /* `partials`: float, pac_cuda_conv_grad_weight_partials(shape) of them, null if that is 0. */   \
  int pac_cuda_conv_grad_weight_##suffix(const PacShape*, PacArray input, PacArray kernel,         \
                                         PacArray grad_output, PacArray grad_weight,               \
                                         PacArray partials, void* stream);                         \
  /* Channel by channel, kernel_channels = 1; `weight` (taps) or null for ones. */                 \
  int pac_cuda_pool_##suffix(const PacShape*, const PacGuide*, PacArray kernel, PacArray input,    \
                             PacArray weight, PacArray bias, PacArray output, void* stream);       \
  int pac_cuda_pool_grad_input_##suffix(const PacShape*, PacArray kernel, PacArray grad_output,    \
                                        PacArray weight, PacArray grad_input, void* stream);       \
  int pac_cuda_pool_grad_kernel_##suffix(const PacShape*, PacArray input, PacArray grad_output,    \
                                         PacArray weight, PacArray grad_kernel, void* stream);     \
  int pac_cuda_adapting_kernel_##suffix(const PacShape*, const PacGuide*, PacArray kernel,         \
                                        void* stream);                                             \
  /* grad_lambda: float, one sum per batch entry and output row; written for inv, else unused. */  \
  int pac_cuda_adapting_kernel_grad_##suffix(const PacShape*, const PacGuide*,                     \
                                             PacArray grad_kernel, PacArray grad_guide,            \
                                             PacArray grad_centre, PacArray grad_lambda,           \
                                             void* stream);                                        \
  /* One step: log Q' = unary - messages of all terms (at most PAC_MAX_PAIRWISE) under `marginals` \
     Q; `result` is one of PacMeanFieldOutput. unary, marginals, output (batch, labels, y, x);     \
     of the shape, batch, in_channels (labels), y.output and x.output are looked at. `output`      \
     must not be `marginals`. */                                                                   \
  int pac_cuda_mean_field_step_##suffix(const PacShape*, const PacPairwise* terms,                 \
                                        int64_t n_terms, PacArray unary, PacArray marginals,       \
                                        PacArray output, int64_t result, void* stream);

extern "C" {
PAC_CUDA_DECLARE(f32)
PAC_CUDA_DECLARE(f16)
PAC_CUDA_DECLARE(bf16)
// Sums over parts of the image, kept between the two passes of the gradient of the weight: how many
// floats. At most 8 MiB, and 0 where one pass is enough.
int64_t pac_cuda_conv_grad_weight_partials(const PacShape*);
// What the last failed call of this thread says of itself, for people.
const char* pac_cuda_last_error(void);
// The architectures that the library was built for: "750,800,900", or "emulation".
const char* pac_cuda_architectures(void);
}
