#include "tpu/stablehlo/testing/scalar.h"

#include <cmath>
#include <compare>
#include <cstring>
#include <functional>
#include <limits>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/hex.h"

namespace estimator::tpu::stablehlo::testing {
namespace {

int BitWidth(const Type& type) {
  return type.dtype == DType::kBool ? 1 : static_cast<int>(DTypeSize(type.dtype)) * 8;
}
bool IsUnsigned(const Type& type) {
  return type.is_unsigned || type.dtype == DType::kUint8 || type.dtype == DType::kBool;
}
double SignOf(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }  // keeps -0 and NaN
double MaximumOf(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}

using FloatUnary = std::function<double(double)>;
const std::map<std::string, FloatUnary>& FloatUnaries() {
  static const auto* const table = new std::map<std::string, FloatUnary>{
      {"abs", [](double x) { return std::fabs(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"cosine", [](double x) { return std::cos(x); }},
      {"exponential", [](double x) { return std::exp(x); }},
      {"exponential_minus_one", [](double x) { return std::expm1(x); }},
      {"floor", [](double x) { return std::floor(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log_plus_one", [](double x) { return std::log1p(x); }},
      {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"negate", [](double x) { return -x; }},
      {"round_nearest_even", [](double x) { return std::nearbyint(x); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"sign", SignOf},
      {"sine", [](double x) { return std::sin(x); }},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
  };
  return *table;
}

using FloatBinary = std::function<double(double, double)>;
const std::map<std::string, FloatBinary>& FloatBinaries() {
  static const auto* const table = new std::map<std::string, FloatBinary>{
      {"add", [](double a, double b) { return a + b; }},
      {"atan2", [](double a, double b) { return std::atan2(a, b); }},
      {"divide", [](double a, double b) { return a / b; }},
      {"maximum", MaximumOf},
      {"minimum", [](double a, double b) { return -MaximumOf(-a, -b); }},
      {"multiply", [](double a, double b) { return a * b; }},
      {"power", [](double a, double b) { return std::pow(a, b); }},
      {"remainder", [](double a, double b) { return std::fmod(a, b); }},
      {"subtract", [](double a, double b) { return a - b; }},
  };
  return *table;
}

Bits IntPower(int64_t base, int64_t exponent) {
  // The inverse of another number than 1 and -1 is cut to 0.
  if (exponent < 0) return BitsOf(base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0l);
  Bits power = 1;
  for (Bits factor = BitsOf(base); exponent > 0; exponent >>= 1, factor *= factor)
    if ((exponent & 1) != 0) power *= factor;
  return power;
}

// As XLA defines what StableHLO leaves open: a quotient by 0 has all bits set, and a remainder by 0
// is the dividend.
Bits IntQuotient(const Type& type, Bits a, Bits b, bool remainder) {
  if (b == 0) return remainder ? a : ~Bits{0};
  if (IsUnsigned(type)) return remainder ? a % b : a / b;
  if (AsInt(b) == -1) return remainder ? 0 : -a;  // the smallest number has no positive one
  return BitsOf(remainder ? AsInt(a) % AsInt(b) : AsInt(a) / AsInt(b));
}

Bits Shifted(const std::string& op, const Type& type, Bits a, Bits b) {
  const auto width = static_cast<Bits>(BitWidth(type));
  if (op == "shift_left") return b >= width ? 0 : a << b;
  if (op == "shift_right_arithmetic") return BitsOf(AsInt(a) >> std::min<Bits>(b, 63));
  const Bits low = width == 64 ? a : a & ((Bits{1} << width) - 1);
  return b >= width ? 0 : low >> b;
}

using IntBinary = std::function<Bits(const Type&, Bits, Bits)>;
const std::map<std::string, IntBinary>& IntBinaries() {
  static const auto* const table = [] {
    auto* const made = new std::map<std::string, IntBinary>{
        {"add", [](const Type&, Bits a, Bits b) { return a + b; }},
        {"and", [](const Type&, Bits a, Bits b) { return a & b; }},
        {"divide", [](const Type& t, Bits a, Bits b) { return IntQuotient(t, a, b, false); }},
        {"maximum", [](const Type& t, Bits a, Bits b) { return Compare("GT", t, a, b) ? a : b; }},
        {"minimum", [](const Type& t, Bits a, Bits b) { return Compare("LT", t, a, b) ? a : b; }},
        {"multiply", [](const Type&, Bits a, Bits b) { return a * b; }},
        {"or", [](const Type&, Bits a, Bits b) { return a | b; }},
        {"power", [](const Type&, Bits a, Bits b) { return IntPower(AsInt(a), AsInt(b)); }},
        {"remainder", [](const Type& t, Bits a, Bits b) { return IntQuotient(t, a, b, true); }},
        {"subtract", [](const Type&, Bits a, Bits b) { return a - b; }},
        {"xor", [](const Type&, Bits a, Bits b) { return a ^ b; }},
    };
    for (const char* op : {"shift_left", "shift_right_arithmetic", "shift_right_logical"}) {
      made->emplace(op, [op](const Type& t, Bits a, Bits b) { return Shifted(op, t, a, b); });
    }
    return made;
  }();
  return *table;
}

// One element of a constant's text.
Bits ParseElement(const Type& type, absl::string_view text) {
  if (text == "true" || text == "false") return text == "true" ? 1 : 0;
  if (absl::ConsumePrefix(&text, "0x")) {
    Bits memory = 0;
    if (!absl::SimpleHexAtoi(text, &memory)) throw InvalidArgument("not a hex number: ", text);
    return FromMemory(type, memory);
  }
  if (IsFloating(type.dtype)) {
    double number = 0;
    if (!absl::SimpleAtod(text, &number)) throw InvalidArgument("not a number: ", text);
    return Rounded(type, BitsOf(number));
  }
  int64_t number = 0;
  Bits large = 0;
  if (absl::SimpleAtoi(text, &number))
    large = BitsOf(number);
  else if (!type.is_unsigned || !absl::SimpleAtoi(text, &large))
    throw InvalidArgument("not an integer: ", text);
  if (Rounded(type, large) != large) throw InvalidArgument(text, " is out of range");
  return large;
}

}  // namespace

Bits Rounded(const Type& type, Bits x) {
  switch (type.dtype) {
    case DType::kFloat64:
      return x;
    case DType::kFloat32:
      return BitsOf(double{static_cast<float>(AsFloat(x))});
    case DType::kBfloat16:
      return BitsOf(double{Bfloat16(static_cast<float>(AsFloat(x)))});
    case DType::kFloat16:
      return BitsOf(double{Float16(static_cast<float>(AsFloat(x)))});
    default:
      break;
  }
  const int unused = 64 - BitWidth(type);
  if (IsUnsigned(type)) return x << unused >> unused;
  return BitsOf(AsInt(x << unused) >> unused);
}

Tensor::Tensor(const Type& type)
    : type(type), elements(static_cast<size_t>(type.shape.num_elements()), 0) {}

Tensor FromArray(const Array& array) {
  Tensor tensor(Type(array.dtype(), array.shape()));
  VisitNumeric(array.dtype(), [&](auto tag) {
    using T = decltype(tag);
    for (size_t i = 0; i < tensor.elements.size(); ++i) {
      const T value = array.data<T>()[i];
      tensor.elements[i] = IsFloating(array.dtype()) ? BitsOf(static_cast<double>(value))
                                                     : BitsOf(static_cast<int64_t>(value));
    }
  });
  return tensor;
}

Array ToArray(const Tensor& tensor) {
  Array array(tensor.type.dtype, tensor.type.shape);
  VisitNumeric(array.dtype(), [&](auto tag) {
    using T = decltype(tag);
    for (size_t i = 0; i < tensor.elements.size(); ++i) {
      const Bits x = tensor.elements[i];
      if constexpr (std::is_integral_v<T>)
        array.data<T>()[i] = static_cast<T>(AsInt(x));
      else if constexpr (std::is_same_v<T, double>)
        array.data<T>()[i] = AsFloat(x);
      else
        array.data<T>()[i] = T(static_cast<float>(AsFloat(x)));
    }
  });
  return array;
}

Tensor ParseConstant(const Type& type, const std::string& dense) {
  Tensor tensor(type);
  absl::string_view text = dense;
  if (text.empty()) {
    if (!tensor.elements.empty()) throw InvalidArgument("a constant without numbers");
    return tensor;
  }
  if (!absl::ConsumePrefix(&text, "\"0x")) {
    const Bits element = ParseElement(type, text);
    for (Bits& x : tensor.elements) x = element;
    return tensor;
  }
  absl::ConsumeSuffix(&text, "\"");
  const std::string bytes = HexToBytes(text);
  const size_t size = DTypeSize(type.dtype);
  if (bytes.size() != size * tensor.elements.size())
    throw InvalidArgument("a constant of ", bytes.size(), " bytes for ", type.ToString());
  for (size_t i = 0; i < tensor.elements.size(); ++i) {
    Bits memory = 0;
    std::memcpy(&memory, bytes.data() + i * size, size);
    tensor.elements[i] = FromMemory(type, memory);
  }
  return tensor;
}

Bits ToMemory(const Type& type, Bits x) {
  switch (type.dtype) {
    case DType::kFloat64:
      return x;
    case DType::kFloat32:
      return std::bit_cast<uint32_t>(static_cast<float>(AsFloat(x)));
    case DType::kBfloat16:
      return Bfloat16(static_cast<float>(AsFloat(x))).bits;
    case DType::kFloat16:
      return Float16(static_cast<float>(AsFloat(x))).bits;
    default:
      return x << (64 - BitWidth(type)) >> (64 - BitWidth(type));
  }
}

Bits FromMemory(const Type& type, Bits memory) {
  switch (type.dtype) {
    case DType::kFloat64:
      return memory;
    case DType::kFloat32:
      return BitsOf(double{std::bit_cast<float>(static_cast<uint32_t>(memory))});
    case DType::kBfloat16:
      return BitsOf(double{Bfloat16BitsToFloat(static_cast<uint16_t>(memory))});
    case DType::kFloat16:
      return BitsOf(double{HalfBitsToFloat(static_cast<uint16_t>(memory))});
    default:
      return Rounded(type, memory);
  }
}

bool IsUnary(const std::string& op) {
  return op == "not" || op == "is_finite" || FloatUnaries().count(op) > 0;
}
bool IsBinary(const std::string& op) {
  return FloatBinaries().count(op) > 0 || IntBinaries().count(op) > 0;
}

Bits Unary(const std::string& op, const Type& type, Bits x) {
  if (op == "is_finite" && IsFloating(type.dtype)) return std::isfinite(AsFloat(x)) ? 1 : 0;
  if (IsFloating(type.dtype) && FloatUnaries().count(op) > 0)
    return Rounded(type, BitsOf(FloatUnaries().at(op)(AsFloat(x))));
  if (!IsFloating(type.dtype)) {
    if (op == "not") return Rounded(type, ~x);
    if (op == "negate") return Rounded(type, -x);
    if (op == "abs") return Rounded(type, AsInt(x) < 0 ? -x : x);
    if (op == "sign") return BitsOf(AsInt(x) > 0 ? 1l : AsInt(x) < 0 ? -1l : 0l);
  }
  throw Unimplemented("the interpreter has no ", op, " of ", type.ToString());
}

Bits Binary(const std::string& op, const Type& type, Bits a, Bits b) {
  if (IsFloating(type.dtype)) {
    const auto found = FloatBinaries().find(op);
    if (found != FloatBinaries().end()) return BitsOf(found->second(AsFloat(a), AsFloat(b)));
  } else {
    const auto found = IntBinaries().find(op);
    // The sum of bools is their disjunction, and the product their conjunction.
    const bool adds = type.dtype == DType::kBool && op == "add";
    if (found != IntBinaries().end()) return adds ? a | b : found->second(type, a, b);
  }
  throw Unimplemented("the interpreter has no ", op, " of ", type.ToString());
}

template <typename T>
bool Holds(const std::string& direction, T x, T y) {
  if (direction == "EQ") return x == y;
  if (direction == "NE") return x != y;
  if (direction == "LT") return x < y;
  if (direction == "LE") return x <= y;
  if (direction == "GT") return x > y;
  if (direction == "GE") return x >= y;
  throw InvalidArgument("no comparison ", direction);
}

bool Compare(const std::string& direction, const Type& type, Bits a, Bits b) {
  if (IsFloating(type.dtype)) return Holds(direction, AsFloat(a), AsFloat(b));
  return IsUnsigned(type) ? Holds(direction, a, b) : Holds(direction, AsInt(a), AsInt(b));
}

bool CompareInTotalOrder(const std::string& direction, Bits a, Bits b) {
  const auto order = std::strong_order(AsFloat(a), AsFloat(b));
  return Holds(direction, std::is_gt(order) - std::is_lt(order), 0);
}

Bits Convert(const Type& from, const Type& to, Bits x) {
  if (to.dtype == DType::kBool) return Compare("NE", from, x, 0) ? 1 : 0;
  if (IsFloating(from.dtype)) {
    if (IsFloating(to.dtype)) return Rounded(to, x);
    // StableHLO does not define what does not fit.
    const double cut = std::trunc(AsFloat(x));
    if (!(cut >= -0x1p63 && cut < 0x1p63)) return Rounded(to, BitsOf(INT64_MIN));
    return Rounded(to, BitsOf(static_cast<int64_t>(cut)));
  }
  if (!IsFloating(to.dtype)) return Rounded(to, x);
  // One rounding: a double between an int64 and a float would be a second one.
  if (to.dtype == DType::kFloat64)
    return BitsOf(IsUnsigned(from) ? static_cast<double>(x) : static_cast<double>(AsInt(x)));
  const float number = IsUnsigned(from) ? static_cast<float>(x) : static_cast<float>(AsInt(x));
  return Rounded(to, BitsOf(double{number}));
}

}  // namespace estimator::tpu::stablehlo::testing
