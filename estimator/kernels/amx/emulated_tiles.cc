#include "estimator/kernels/amx/emulated_tiles.h"

#include <cmath>

namespace estimator::amx {
namespace {

float WithoutDenormals(float x) { return std::abs(x) < 0x1p-126F ? 0.0F : x; }

}  // namespace

void AddEmulatedProducts(const Bfloat16* rows, int64_t distance, const Bfloat16* panels,
                         int64_t panel, float* sums) {
  float right[32][32];  // [depth, column]
  for (int64_t k = 0; k < 32; ++k) {
    for (int64_t n = 0; n < 32; ++n) {
      const Bfloat16 number = panels[n / 16 * panel + k / 2 * 32 + n % 16 * 2 + k % 2];
      right[k][n] = WithoutDenormals(static_cast<float>(number));
    }
  }
  for (int64_t i = 0; i < 32; ++i, rows += distance, sums += 32) {
    for (int64_t k = 0; k < 32; ++k) {
      const float left = WithoutDenormals(static_cast<float>(rows[k]));
      for (int64_t n = 0; n < 32; ++n) sums[n] += left * right[k][n];
    }
    for (int64_t n = 0; n < 32; ++n) sums[n] = WithoutDenormals(sums[n]);
  }
}

}  // namespace estimator::amx
