// The scheduler of emulated blocks: see emulation.h.
#include "emulation.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
constexpr size_t kStackBytes = 256 << 10;  // there is much around each variable
#else
constexpr size_t kStackBytes = 64 << 10;
#endif

Index3 threadIdx, blockIdx, blockDim, gridDim;

namespace pac_emulation {
namespace {

constexpr size_t kSharedBytes = 48 << 10;  // that a block may have without asking for more
constexpr unsigned kBlockThreads = 1024;
constexpr int kPoison = 0xff;  // floats of such bytes are NaN, ints -1

struct Fiber {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(kStackBytes);
  Index3 index;
  int waits_at;  // line of the barrier that it waits at, 0 if it is done
  void* fake_stack;
};

struct Emulator {
  std::mutex mutex;
  std::mt19937 random{0};
  std::vector<std::pair<void*, size_t>> shared_arrays;
  float* dynamic = nullptr;
  std::vector<Fiber> fibers;
  Fiber* running = nullptr;
  ucontext_t scheduler;
  void* scheduler_fake_stack = nullptr;
  const void* scheduler_stack = nullptr;
  size_t scheduler_stack_size = 0;
  const std::function<void()>* kernel = nullptr;
  size_t dynamic_bytes = 0;
  cudaError_t error = cudaSuccess;
  std::string explanation;
  bool fail_next = false;
  std::string skipped;  // the barrier left out, as file:line
};

Emulator& emulator() {
  static Emulator* const one = new Emulator;  // never destroyed: kernels may run until the very end
  return *one;
}

// The address sanitizer must be told when the stack changes.
void before_switch([[maybe_unused]] void** keep, [[maybe_unused]] const void* stack,
                   [[maybe_unused]] size_t size) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(keep, stack, size);
#endif
}
void after_switch([[maybe_unused]] void* kept, [[maybe_unused]] const void** stack,
                  [[maybe_unused]] size_t* size) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(kept, stack, size);
#endif
}

void fiber_main() {
  Emulator& e = emulator();
  after_switch(nullptr, &e.scheduler_stack, &e.scheduler_stack_size);
  (*e.kernel)();
  e.running->waits_at = 0;
  before_switch(nullptr, e.scheduler_stack, e.scheduler_stack_size);
  setcontext(&e.scheduler);
}

void resume(Fiber& fiber) {
  Emulator& e = emulator();
  e.running = &fiber;
  threadIdx = fiber.index;
  before_switch(&e.scheduler_fake_stack, fiber.stack.data(), fiber.stack.size());
  swapcontext(&e.scheduler, &fiber.context);
  after_switch(e.scheduler_fake_stack, nullptr, nullptr);
}

// Makes a fiber ready to run the kernel from its beginning. Not inlined: a compiler must fear that
// getcontext returns twice.
[[gnu::noinline]] void prepare(Fiber& fiber, const Index3& index) {
  fiber.index = index;
  fiber.fake_stack = nullptr;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.data();
  fiber.context.uc_stack.ss_size = fiber.stack.size();
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, fiber_main, 0);
}

void fail(cudaError_t error, const std::string& explanation) {
  emulator().error = error;
  emulator().explanation = explanation;
}

// Runs the fibers of a block from barrier to barrier; false if they do not reach the same one.
bool run_block(const dim3& block) {
  Emulator& e = emulator();
  for (const auto& [data, bytes] : e.shared_arrays) memset(data, kPoison, bytes);
  memset(e.dynamic, kPoison, e.dynamic_bytes);
  const size_t n = size_t(block.x) * block.y * block.z;
  if (e.fibers.size() < n) e.fibers.resize(n);
  for (size_t t = 0; t < n; ++t)
    prepare(e.fibers[t],
            {int(t % block.x), int(t / block.x % block.y), int(t / block.x / block.y)});
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  do {
    std::shuffle(order.begin(), order.end(), e.random);
    for (const size_t t : order) resume(e.fibers[t]);
    for (size_t t = 0; t < n; ++t)
      if (e.fibers[t].waits_at != e.fibers[0].waits_at) {
        fail(cudaErrorLaunchFailure, "threads of a block wait at different barriers (lines " +
                                         std::to_string(e.fibers[0].waits_at) + " and " +
                                         std::to_string(e.fibers[t].waits_at) + "; 0: none)");
        return false;
      }
  } while (e.fibers[0].waits_at != 0);
  return true;
}

Index3 index_of(const dim3& d) { return {int(d.x), int(d.y), int(d.z)}; }

}  // namespace

Shared::Shared(size_t bytes) : data_(aligned_alloc(16, (bytes + 15) / 16 * 16)) {
  memset(data_, kPoison, bytes);
  emulator().shared_arrays.emplace_back(data_, bytes);
}

float* dynamic_shared() { return emulator().dynamic; }

void barrier(const char* file, int line) {
  Emulator& e = emulator();
  if (!e.skipped.empty() && std::string(file) + ":" + std::to_string(line) == e.skipped) return;
  Fiber& fiber = *e.running;
  fiber.waits_at = line;
  before_switch(&fiber.fake_stack, e.scheduler_stack, e.scheduler_stack_size);
  swapcontext(&fiber.context, &e.scheduler);
  after_switch(fiber.fake_stack, &e.scheduler_stack, &e.scheduler_stack_size);
}

void launch(dim3 grid, dim3 block, size_t shared, const std::function<void()>& kernel) {
  Emulator& e = emulator();
  const std::lock_guard<std::mutex> lock(e.mutex);
  const size_t threads = size_t(block.x) * block.y * block.z;
  if (e.fail_next || threads == 0 || threads > kBlockThreads || shared > kSharedBytes ||
      grid.x == 0 || grid.x > 0x7fffffff || grid.y != 1 || grid.z != 1) {
    e.fail_next = false;
    return fail(cudaErrorInvalidConfiguration, "invalid configuration argument");
  }
  e.kernel = &kernel;
  gridDim = index_of(grid);
  blockDim = index_of(block);
  e.dynamic_bytes = shared;
  e.dynamic = static_cast<float*>(aligned_alloc(16, (shared + 15) / 16 * 16));
  std::vector<unsigned> order(grid.x);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), e.random);
  for (const unsigned index : order) {
    blockIdx = {int(index), 0, 0};
    if (!run_block(block)) break;
  }
  free(e.dynamic);
  e.dynamic = nullptr;
}

}  // namespace pac_emulation

using pac_emulation::emulator;

cudaError_t cudaGetLastError() {
  const cudaError_t error = emulator().error;
  emulator().error = cudaSuccess;
  return error;
}

const char* cudaGetErrorString(cudaError_t) { return emulator().explanation.c_str(); }

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration ? "cudaErrorInvalidConfiguration"
                                                : "cudaErrorLaunchFailure";
}

extern "C" void pac_emulation_seed(unsigned seed) { emulator().random.seed(seed); }
extern "C" void pac_emulation_skip_barrier(const char* place) { emulator().skipped = place; }
extern "C" void pac_emulation_fail_next_launch() { emulator().fail_next = true; }
