// Measures the rule of FastestTile (blocks.cc): tiles of 4x4 and of 6x6 for filters of 5x5, for a
// convolution, the gradient of its input and that of its filter, transforms of the filter included.
// Exits with 1 if the rule is slower than the other tile by more than 5 %.
//
//   bazel run //estimator/kernels/winograd:tile_benchmark
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>

#include "estimator/array/array.h"
#include "estimator/kernels/winograd/winograd.h"

namespace estimator::winograd {
namespace {

struct Case {
  int64_t images, size, in_channels, out_channels;
};
const Case kCases[] = {{1024, 14, 32, 64}, {128, 14, 32, 64},  {128, 14, 64, 128}, {64, 28, 24, 48},
                       {32, 14, 128, 128}, {32, 14, 256, 256}, {4, 14, 128, 128},  {8, 14, 20, 50},
                       {128, 12, 20, 50},  {32, 32, 32, 32},   {128, 8, 64, 64}};
constexpr int kRuns = 21;

// Memory for floats, on huge pages, as programs have it.
Array Floats(int64_t count) {
  constexpr int64_t kHugePage = int64_t{2} << 20;
  const int64_t bytes = count * static_cast<int64_t>(sizeof(float));
  Array array(DType::kFloat32, {(bytes / kHugePage + 1) * kHugePage / int64_t{sizeof(float)}});
  for (int64_t i = 0; i < count; ++i)
    array.data<float>()[i] = static_cast<float>(i * 7919 % 20011 - 10005) / 10005.0f;
  return array;
}
Array Floats(size_t count) { return Floats(static_cast<int64_t>(count)); }

double Milliseconds(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// A training step of the convolution with one kind of tiles.
class Step {
 public:
  Step(Convolution conv, int tile) : conv_(conv), transposed_(conv.Transposed()) {
    conv_.tile = transposed_.tile = tile;
    filter_ = Floats(std::max(FilterFloats(conv_), FilterFloats(transposed_)));
    scratch_ = Floats(std::max(
        {ConvolveFloats(conv_), ConvolveFloats(transposed_), FilterGradientFloats(conv_)}));
  }

  void Run(Array& x, Array& y, Array& filter) {
    const Strides in = PlainStrides(conv_.in_rows, conv_.in_columns, conv_.in_channels);
    const Strides out = PlainStrides(conv_.out_rows, conv_.out_columns, conv_.out_channels);
    float* const transformed = filter_.data<float>();
    float* const scratch = scratch_.data<float>();
    ms_ = std::min(ms_, Milliseconds([&] {
                     TransformFilter(conv_, filter.data<float>(), false, transformed);
                     Convolve(conv_, {.data = x.data<float>(), .strides = in}, transformed,
                              {.data = y.data<float>(), .strides = out}, scratch);
                     TransformFilter(transposed_, filter.data<float>(), true, transformed);
                     Convolve(transposed_, {.data = y.data<float>(), .strides = out}, transformed,
                              {.data = x.data<float>(), .strides = in}, scratch);
                     FilterGradient(conv_, {.data = x.data<float>(), .strides = in},
                                    {.data = y.data<float>(), .strides = out}, transformed, nullptr,
                                    scratch);
                   }));
    // The gradient of the input has replaced x; its numbers must not grow from run to run.
    std::fill_n(x.data<float>(), x.num_elements(), 0.5f);
  }
  double ms() const { return ms_; }

 private:
  Convolution conv_, transposed_;
  Array filter_, scratch_;
  double ms_ = 1e9;
};

// Prints the row of a case. Returns whether the rule is right.
bool Measure(const Case& c) {
  const Convolution conv{.images = c.images,
                         .in_rows = c.size,
                         .in_columns = c.size,
                         .in_channels = c.in_channels,
                         .out_rows = c.size,
                         .out_columns = c.size,
                         .out_channels = c.out_channels,
                         .filter_rows = 5,
                         .filter_columns = 5,
                         .pad_top = 2,
                         .pad_left = 2};
  const int64_t pixels = c.images * c.size * c.size;
  Array x = Floats(pixels * c.in_channels), y = Floats(pixels * c.out_channels);
  Array filter = Floats(25 * c.in_channels * c.out_channels);
  Step four(conv, 4), six(conv, 6);
  for (int run = 0; run < kRuns; ++run) {
    four.Run(x, y, filter);
    six.Run(x, y, filter);
  }
  const bool chooses_six = FastestTile(conv, /*rounds_to_bfloat16=*/true) == 6;
  const double chosen = chooses_six ? six.ms() : four.ms();
  const bool right = chosen < 1.05 * std::min(four.ms(), six.ms());
  std::printf("| %d | %d | %d, %d | %.3f | %.3f | %s | %s |\n", static_cast<int>(c.images),
              static_cast<int>(c.size), static_cast<int>(c.in_channels),
              static_cast<int>(c.out_channels), four.ms(), six.ms(), chooses_six ? "6x6" : "4x4",
              right ? "" : "wrong");
  std::fflush(stdout);
  return right;
}

int Main() {
  std::printf(
      "| images | size | channels | 4x4, ms | 6x6, ms | chosen | rule |\n"
      "|---|---|---|---|---|---|---|\n");
  int wrong = 0;
  for (const Case& c : kCases) wrong += Measure(c) ? 0 : 1;
  std::printf("\n%d choices are more than 5 %% slower than the other tile\n", wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace estimator::winograd

int main() { return estimator::winograd::Main(); }
