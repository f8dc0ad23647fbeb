// The ops that are plain arithmetic on each element. A row has all that is known of an op without a
// graph, and its formula:
//
//   EST_UNARY(name, x, takes, tiles, flags, formula)
//   EST_BINARY(name, x, y, takes, tiles, flags, formula)
//       takes    kFloating: floating numbers; kNumbers: also integers; kIntegers: only those
//       tiles    whether the fused kernels compute the op on tiles (kernels/fused/tile_ops.h):
//                kCheap: it costs less than reading its operands; kTile: it costs more;
//                kNone: they do not
//       flags    of elementwise_flags.h, or 0
//       formula  an expression of the operands, which are numbers of some kind
//   EST_PREDICATE(name, x, formula)
//                a bool of each floating number
//   EST_COMPARISON(name, x, y, tiles, formula)
//                a bool of two numbers; kernels/exact has kernels of its own
//   EST_FUSED_UNARY, EST_FUSED_BINARY
//                as EST_UNARY and EST_BINARY: only passes make these ops, so they are not in a
//                graph, a GraphDef or StableHLO
//
// A file that instantiates rows defines these macros and includes this file; there is no include
// guard. Macros that it does not define expand to nothing. Each kind of number has its own
// functions (Exp, Select):
//   a scalar                 kernels/reference/number.h, with the functions of the C library
//   a vector of floats       kernels/fused/tile_number-inl.h, with approximations
//   a value of StableHLO     tpu/stablehlo/ops/number.h
// So the formula is shared, and the functions are independent: the reference judges the
// approximations. A formula that is only the call of a function of its own name (Sigmoid, Softplus,
// Gelu) has no common form: vectors compute it in a way that is fast, scalars in a plain one.
//
// Operands of gradients have the order of TensorFlow's ops. `alpha` is the attribute of that name.
// As in TensorFlow, comparisons and not maxima: relu(NaN) is NaN.
// Source: TF 2.15 cwise_ops.h, relu_op_functor.h, softplus_op.h, softsign_op.h.
#ifndef EST_UNARY
#define EST_UNARY(...)
#endif
#ifndef EST_BINARY
#define EST_BINARY(...)
#endif
#ifndef EST_PREDICATE
#define EST_PREDICATE(...)
#endif
#ifndef EST_COMPARISON
#define EST_COMPARISON(...)
#endif
#ifndef EST_FUSED_UNARY
#define EST_FUSED_UNARY(...)
#endif
#ifndef EST_FUSED_BINARY
#define EST_FUSED_BINARY(...)
#endif

// clang-format would take the products for pointers.
// clang-format off
// Functions of one number.
EST_UNARY(Neg, x, kNumbers, kCheap, kNeverFails | kExact, -x)
EST_UNARY(Abs, x, kNumbers, kCheap, kNeverFails | kExact, Abs(x))
EST_UNARY(Sign, x, kNumbers, kNone, kNeverFails | kNoGradient, Sign(x))
EST_UNARY(Square, x, kNumbers, kCheap, kNeverFails, Square(x))
EST_UNARY(Round, x, kNumbers, kNone, kNoGradient, HalfToEven(x))
EST_UNARY(Rint, x, kFloating, kNone, kNoGradient, HalfToEven(x))
EST_UNARY(Floor, x, kFloating, kNone, kNoGradient, Floor(x))
EST_UNARY(Ceil, x, kFloating, kNone, kNoGradient, Ceil(x))
EST_UNARY(Invert, x, kIntegers, kNone, kNoGradient, ~x)
EST_UNARY(Reciprocal, x, kFloating, kTile, 0, 1 / x)
EST_UNARY(Sqrt, x, kFloating, kTile, kNeverFails, Sqrt(x))
EST_UNARY(Rsqrt, x, kFloating, kTile, kNeverFails, Rsqrt(x))
EST_UNARY(Exp, x, kFloating, kTile, kNeverFails, Exp(x))
EST_UNARY(Expm1, x, kFloating, kNone, 0, Expm1(x))
EST_UNARY(Log, x, kFloating, kTile, kNeverFails, Log(x))
EST_UNARY(Log1p, x, kFloating, kNone, 0, Log1p(x))
EST_UNARY(Sin, x, kFloating, kNone, 0, Sin(x))
EST_UNARY(Cos, x, kFloating, kNone, 0, Cos(x))
EST_UNARY(Tan, x, kFloating, kNone, 0, Tan(x))
EST_UNARY(Erf, x, kFloating, kTile, 0, Erf(x))
EST_UNARY(Erfc, x, kFloating, kNone, 0, Erfc(x))
EST_UNARY(Asin, x, kFloating, kNone, 0, Asin(x))
EST_UNARY(Acos, x, kFloating, kNone, 0, Acos(x))
EST_UNARY(Atan, x, kFloating, kNone, 0, Atan(x))
EST_UNARY(Sinh, x, kFloating, kNone, 0, Sinh(x))
EST_UNARY(Cosh, x, kFloating, kNone, 0, Cosh(x))
EST_UNARY(Asinh, x, kFloating, kNone, 0, Asinh(x))
EST_UNARY(Acosh, x, kFloating, kNone, 0, Acosh(x))
EST_UNARY(Atanh, x, kFloating, kNone, 0, Atanh(x))
EST_PREDICATE(IsNan, x, x != x)
EST_PREDICATE(IsInf, x, Abs(x) == Infinity(x))
EST_PREDICATE(IsFinite, x, IsFinite(x))

// Activations and their gradients.
EST_UNARY(Relu, x, kFloating, kCheap, kActivation | kExact, Select(x < 0, 0, x))
EST_BINARY(ReluGrad, dy, x, kFloating, kCheap, kExact, Select(x > 0, dy, 0))
EST_UNARY(Relu6, x, kFloating, kCheap, kActivation | kExact, Select(x < 0, 0, Select(x > 6, 6, x)))
EST_BINARY(Relu6Grad, dy, x, kFloating, kCheap, kExact, Select((x > 0) & (x < 6), dy, 0))
EST_UNARY(Tanh, x, kFloating, kTile, kNeverFails | kActivation, Tanh(x))
EST_BINARY(TanhGrad, y, dy, kFloating, kCheap, 0, dy * NegMulAdd(y, y, 1))
EST_UNARY(Sigmoid, x, kFloating, kTile, kNeverFails | kActivation, Sigmoid(x))
EST_BINARY(SigmoidGrad, y, dy, kFloating, kCheap, 0, dy * y * (1 - y))
EST_UNARY(Elu, x, kFloating, kTile, kActivation, Select(x < 0, Expm1(x), x))
EST_BINARY(EluGrad, dy, y, kFloating, kCheap, 0, Select(y < 0, dy * (y + 1), dy))
EST_UNARY(Selu, x, kFloating, kTile, kActivation,
          Select(x < 0, kSeluScaleAlpha * Expm1(x), kSeluScale * x))
EST_BINARY(SeluGrad, dy, y, kFloating, kCheap, 0,
           dy * Select(y < 0, y + kSeluScaleAlpha, kSeluScale))
EST_UNARY(LeakyRelu, x, kFloating, kCheap, kActivation | kHasAlpha, Select(x > 0, x, x * alpha))
EST_BINARY(LeakyReluGrad, dy, x, kFloating, kCheap, kHasAlpha, Select(x > 0, dy, dy * alpha))
EST_UNARY(Softplus, x, kFloating, kTile, kActivation, Softplus(x))
EST_BINARY(SoftplusGrad, dy, x, kFloating, kTile, 0, dy / (Exp(-x) + 1))
EST_UNARY(Softsign, x, kFloating, kTile, kActivation, x / (Abs(x) + 1))
EST_BINARY(SoftsignGrad, dy, x, kFloating, kTile, 0, dy / Square(Abs(x) + 1))
EST_FUSED_UNARY(_Gelu, x, kFloating, kTile, kNeverFails, Gelu(x))
EST_FUSED_BINARY(_GeluGrad, dy, x, kFloating, kTile, kNeverFails, GeluGrad(dy, x))
EST_FUSED_UNARY(_GeluApproximate, x, kFloating, kTile, kNeverFails, GeluApproximate(x))
EST_FUSED_BINARY(_GeluApproximateGrad, dy, x, kFloating, kTile, kNeverFails,
                 GeluApproximateGrad(dy, x))

// Functions of two numbers. Integers wrap around, and are divided by 0 with an error.
EST_BINARY(AddV2, x, y, kNumbers, kCheap, kNeverFails | kCommutative, x + y)
EST_BINARY(Sub, x, y, kNumbers, kCheap, kNeverFails, x - y)
EST_BINARY(Mul, x, y, kNumbers, kCheap, kNeverFails | kCommutative, x * y)
EST_BINARY(RealDiv, x, y, kFloating, kTile, kNeverFailsOfFloats, x / y)
EST_BINARY(DivNoNan, x, y, kFloating, kNone, 0, Select(y == 0, 0, x / y))
EST_BINARY(Div, x, y, kNumbers, kNone, kDivides, x / y)
EST_BINARY(FloorDiv, x, y, kNumbers, kNone, kDivides | kNoGradient, FloorDiv(x, y))
EST_BINARY(FloorMod, x, y, kNumbers, kNone, kDivides, FloorMod(x, y))
EST_BINARY(TruncateDiv, x, y, kNumbers, kNone, kDivides | kNoGradient, Truncate(x / y))
EST_BINARY(TruncateMod, x, y, kNumbers, kNone, kDivides | kNoGradient, Remainder(x, y))
EST_BINARY(Maximum, x, y, kNumbers, kCheap, kNeverFails | kExact, Max(x, y))
EST_BINARY(Minimum, x, y, kNumbers, kCheap, kNeverFails | kExact, Min(x, y))
EST_BINARY(Pow, x, y, kNumbers, kTile, kPowers, Pow(x, y))
EST_BINARY(SquaredDifference, x, y, kNumbers, kCheap, 0, Square(x - y))
EST_BINARY(Atan2, y, x, kFloating, kNone, 0, Atan2(y, x))
EST_BINARY(Xdivy, x, y, kFloating, kNone, 0, Select(x == 0, 0, x / y))
EST_BINARY(Xlogy, x, y, kFloating, kNone, 0, Select(x == 0, 0, x * Log(y)))
EST_BINARY(BitwiseAnd, x, y, kIntegers, kNone, kNoGradient, x & y)
EST_BINARY(BitwiseOr, x, y, kIntegers, kNone, kNoGradient, x | y)
EST_BINARY(BitwiseXor, x, y, kIntegers, kNone, kNoGradient, x ^ y)
EST_BINARY(LeftShift, x, y, kIntegers, kNone, kNoGradient, ShiftLeft(x, y))
EST_BINARY(RightShift, x, y, kIntegers, kNone, kNoGradient, ShiftRight(x, y))
EST_COMPARISON(Equal, x, y, kNone, x == y)
EST_COMPARISON(NotEqual, x, y, kNone, x != y)
EST_COMPARISON(Less, x, y, kTile, x < y)
EST_COMPARISON(LessEqual, x, y, kTile, x <= y)
EST_COMPARISON(Greater, x, y, kTile, x > y)
EST_COMPARISON(GreaterEqual, x, y, kTile, x >= y)
// clang-format on

#undef EST_UNARY
#undef EST_BINARY
#undef EST_PREDICATE
#undef EST_COMPARISON
#undef EST_FUSED_UNARY
#undef EST_FUSED_BINARY
