// The words of the rows of elementwise_table.h.
#ifndef ESTIMATOR_OP_DEF_ELEMENTWISE_FLAGS_H_
#define ESTIMATOR_OP_DEF_ELEMENTWISE_FLAGS_H_

namespace estimator {

enum class ElementwiseTakes { kFloating, kNumbers, kIntegers };

enum ElementwiseFlag : int {
  kNeverFails = 1,
  kNeverFailsOfFloats = 2,
  kActivation = 4,
  kCommutative = 8,
  kNoGradient = 16,
  kHasAlpha = 32,
  // The result is an operand or its negative, or a constant of few bits. So if the operands are
  // bfloat16 numbers, the result is one, too.
  kExact = 64,
  kDivides = 128,  // an integer divisor of 0 is an error
  kPowers = 256,   // so is a negative integer exponent
};

// selu(x) = kSeluScale * x for x >= 0, kSeluScaleAlpha * (exp(x) - 1) for x < 0.
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

}  // namespace estimator

#endif  // ESTIMATOR_OP_DEF_ELEMENTWISE_FLAGS_H_
