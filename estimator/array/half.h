// The two 16-bit floating types. Both only store: arithmetic is done in float32,
// and rounding on the way back is to nearest even.
#ifndef ESTIMATOR_ARRAY_HALF_H_
#define ESTIMATOR_ARRAY_HALF_H_

#include <bit>
#include <cstdint>

namespace estimator {

// IEEE binary16: 1 sign, 5 exponent, 10 mantissa bits.
uint16_t FloatToHalfBits(float value);
float HalfBitsToFloat(uint16_t bits);

// The upper half of a float32: 1 sign, 8 exponent, 7 mantissa bits.
inline uint16_t FloatToBfloat16Bits(float value) {
  // Both results are computed and one is selected, so that compilers can vectorise loops over it.
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t nan = (bits >> 16) | 0x40u;  // NaN stays NaN
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}
inline float Bfloat16BitsToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

struct Bfloat16 {
  Bfloat16() = default;
  Bfloat16(float value) : bits(FloatToBfloat16Bits(value)) {}   // NOLINT: a number is a number
  operator float() const { return Bfloat16BitsToFloat(bits); }  // NOLINT
  uint16_t bits = 0;
};

struct Float16 {
  Float16() = default;
  Float16(float value) : bits(FloatToHalfBits(value)) {}    // NOLINT
  operator float() const { return HalfBitsToFloat(bits); }  // NOLINT
  uint16_t bits = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_ARRAY_HALF_H_
