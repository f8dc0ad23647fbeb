// A step of a convolutional network allocates nothing, in RunLoop too. Allocations inside of oneDNN
// do not count: its primitives make a table of their arguments in each call.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/conv.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/pooling.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/testing/network.h"

namespace {

std::atomic<bool> counts{false};
std::atomic<int64_t> num_allocations{0};

//   caller: the return address of operator new.
void Count(const void* caller) {
  if (!counts) return;
  Dl_info library;
  if (::dladdr(caller, &library) != 0 && std::strstr(library.dli_fname, "dnnl") != nullptr) return;
  ++num_allocations;
}

}  // namespace

// Not inlined: GCC would take the pair of them for a mismatch.
__attribute__((noinline)) void* operator new(size_t size) {
  Count(__builtin_return_address(0));
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
// Asan has its own where there is none: what it gives must not meet our delete.
__attribute__((noinline)) void* operator new(size_t size, const std::nothrow_t&) noexcept {
  Count(__builtin_return_address(0));
  return std::malloc(size);
}
__attribute__((noinline)) void operator delete(void* p) noexcept { std::free(p); }
__attribute__((noinline)) void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace estimator {
namespace {

using testing::Numbers;
using testing::Weights;

// Two blocks of convolution, bias, relu and max pool, and a dense layer: MNIST's network, smaller.
struct Network : testing::Network {
  Network() {
    const std::vector<Variable> variables = {
        Weights("conv1/kernel", {5, 5, 3, 16}, 0.2f),  Weights("conv1/bias", {16}, 0.2f),
        Weights("conv2/kernel", {3, 3, 16, 16}, 0.2f), Weights("conv2/bias", {16}, 0.2f),
        Weights("dense/kernel", {64, 10}, 0.2f),       Weights("dense/bias", {10}, 0.2f)};
    Tensor x = MaxPool(Relu(BiasAdd(Conv2D(images, variables[0]), variables[1])));
    x = MaxPool(Relu(BiasAdd(Conv2D(x, variables[2]), variables[3])));
    const Tensor logits = BiasAdd(MatMul(Reshape(x, {kBatch, 64}), variables[4]), variables[5]);
    Minimize(logits, variables);
  }
};

TEST(ConvolutionSteadyState, StepsOfRunLoopAllocateNothing) {
  for (const ConvAlgorithm algorithm : {ConvAlgorithm::kAuto, ConvAlgorithm::kWinograd}) {
    const Network network;
    VariableStore store;
    EST_ASSERT_OK(InitializeVariables(network.graph, store));
    const std::unique_ptr<Backend> backend = MakeCpuBackend(store, {.conv_algorithm = algorithm});
    const auto executable = backend->Compile(network.graph, network.spec());
    EST_ASSERT_OK(executable);
    const std::vector<Array> batch = {Numbers({Network::kBatch, 8, 8, 3}, 1, 1),
                                      Array(DType::kInt32, {Network::kBatch})};
    float last = 0;
    // The batches of an input are its own allocations.
    const Infeed infeed = [&batch]() -> absl::StatusOr<std::optional<StepFeeds>> {
      const bool counted = counts.exchange(false);
      std::optional<StepFeeds> feeds = StepFeeds{batch};
      counts = counted;
      return feeds;
    };
    const Outfeed outfeed = [&last](int64_t, const StepFetches& fetches) {
      last = fetches[0][0].scalar<float>();
      return absl::OkStatus();
    };
    EST_ASSERT_OK((*executable)->RunLoop(3, infeed, outfeed));
    const float before = last;
    num_allocations = 0;
    counts = true;
    const auto ran = (*executable)->RunLoop(50, infeed, outfeed);
    counts = false;
    EST_ASSERT_OK(ran);
    EXPECT_EQ(num_allocations, 0);
    EXPECT_LT(last, before) << "the network learns";
  }
}

}  // namespace
}  // namespace estimator
