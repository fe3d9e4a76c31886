// The C interface of the PAC operators.
//
//     v'_i = sum over taps a of  K_a(i) W_a v_{j(i, a)} + b
//
// All arrays are contiguous, row-major: images (batch, channels, y, x), K (batch, kernel_channels,
// taps, output y, output x). Functions end in _f32 or _f64, for arrays of float or double. They
// write every element of their result and return 0, or 1 if scratch memory could not be had.
// Arguments are trusted: pacbench.kernels.arguments checks them.
#pragma once

#include <stdint.h>

// Counted up with every change of a C interface here, and with kernels/_library.py, which refuses a
// library that was built from other sources than the Python code around it.
#define PAC_ABI_VERSION 1

// A float or double array, whichever the function is for; a bare pointer to a caller.
struct PacArray {
  void* data;
  template <class T>
  operator T*() const {
    return static_cast<T*>(data);
  }
};

// One image axis: tap `a` of output pixel `o` lies at the input pixel `i` for which
//     i * up == o * down + a * dilation - pad,
// and outside the image if there is none. (up, down) is (1, stride) for a convolution and
// (stride, 1) for a transposed one.
struct PacAxis {
  int64_t input, output, taps;
  int64_t up, down, dilation, pad;
};

struct PacShape {
  int64_t batch, in_channels, out_channels;
  int64_t kernel_channels;                        // of K: 1, or in_channels
  int64_t weight_out_stride, weight_in_stride;    // elements between filters; taps are adjacent
  int64_t n_threads;
  PacAxis y, x;
};

// K of features f: gaussian exp(-|f_i - f_j|^2 / 2), or inv alpha + (|f_i - f_j|^2 + 1e-4)^(lambda/2).
// `asym` sets negative f_j - f_i to 0 first. The guide holds f_j and is 0 outside its image, `centre`
// holds f_i at the output's size. alpha and lambda have one value per batch entry.
struct PacGuide {
  PacArray guide, centre, inv_alpha, inv_lambda;
  int64_t channels;
  int64_t inv, asym;
  PacAxis y, x;  // `input` is the guide's size, `up` is 1
};

#define PAC_DECLARE(suffix)                                                                       \
  /* K given, or null and computed tile by tile from the guide. */                                \
  int pac_conv_##suffix(const PacShape*, const PacGuide*, PacArray kernel, PacArray input,         \
                        PacArray weight, PacArray bias, PacArray output);                         \
  int pac_conv_grad_input_##suffix(const PacShape*, PacArray kernel, PacArray grad_output,         \
                                   PacArray weight, PacArray grad_input);                         \
  int pac_conv_grad_kernel_##suffix(const PacShape*, PacArray input, PacArray grad_output,         \
                                    PacArray weight, PacArray grad_kernel);                       \
  int pac_conv_grad_weight_##suffix(const PacShape*, PacArray input, PacArray kernel,              \
                                    PacArray grad_output, PacArray grad_weight);                  \
  /* Channel by channel, kernel_channels = 1; `weight` (taps) or null for ones. */                \
  int pac_pool_##suffix(const PacShape*, const PacGuide*, PacArray kernel, PacArray input,         \
                        PacArray weight, PacArray bias, PacArray output);                         \
  int pac_pool_grad_input_##suffix(const PacShape*, PacArray kernel, PacArray grad_output,         \
                                   PacArray weight, PacArray grad_input);                         \
  int pac_pool_grad_kernel_##suffix(const PacShape*, PacArray input, PacArray grad_output,         \
                                    PacArray weight, PacArray grad_kernel);                       \
  int pac_adapting_kernel_##suffix(const PacShape*, const PacGuide*, PacArray kernel);             \
  /* grad_lambda: one sum per batch entry and output row. */                                      \
  int pac_adapting_kernel_grad_##suffix(const PacShape*, const PacGuide*, PacArray grad_kernel,    \
                                        PacArray grad_guide, PacArray grad_centre,                \
                                        PacArray grad_lambda);

extern "C" {
PAC_DECLARE(f32)
PAC_DECLARE(f64)
int pac_abi_version(void);
// Whether this processor runs the library built for `isa`: "baseline", "avx2" or "avx512".
int pac_supports(const char* isa);
}

// Defines both entry points of an operator as calls of the template of the same name.
#define PAC_DEFINE(name, parameters, ...)                                        \
  extern "C" int name##_f32 parameters { return pac::name<float>(__VA_ARGS__); } \
  extern "C" int name##_f64 parameters { return pac::name<double>(__VA_ARGS__); }
