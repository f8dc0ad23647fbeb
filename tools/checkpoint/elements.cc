#include "tools/checkpoint/elements.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/array/half.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/proto/types.pb.h"

namespace estimator {
namespace {

// 1 sign bit, 4 exponent bits (bias 7), 3 mantissa bits. There is no infinity.
Number Float8E4M3(uint8_t bits) {
  const int exponent = (bits >> 3) & 15, mantissa = bits & 7;
  if ((bits & 0x7f) == 0x7f) return std::numeric_limits<Number>::quiet_NaN();
  const Number value = exponent == 0 ? std::ldexp(static_cast<Number>(mantissa), -9)
                                     : std::ldexp(static_cast<Number>(8 + mantissa), exponent - 10);
  return (bits & 0x80) != 0 ? -value : value;
}

// TensorFlow stores the four bits in a byte; the upper four bits are undefined.
struct Int4 {
  uint8_t bits;
  operator Number() const { return static_cast<Number>(((bits & 15) ^ 8) - 8); }  // NOLINT
};
struct Uint4 {
  uint8_t bits;
  operator Number() const { return static_cast<Number>(bits & 15); }  // NOLINT
};
struct Float8E5M2 {  // the upper half of a float16
  uint8_t bits;
  operator Number() const {  // NOLINT
    return static_cast<Number>(HalfBitsToFloat(static_cast<uint16_t>(bits << 8)));
  }
};
struct Float8E4M3Fn {
  uint8_t bits;
  operator Number() const { return Float8E4M3(bits); }  // NOLINT
};

template <typename T>
void Decode(absl::string_view bytes, std::vector<Number>* numbers) {
  numbers->resize(bytes.size() / sizeof(T));
  for (size_t i = 0; i < numbers->size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    (*numbers)[i] = static_cast<Number>(value);
  }
}

template <typename T>
void Encode(const std::vector<Number>& numbers, std::string* bytes) {
  bytes->resize(numbers.size() * sizeof(T));
  for (size_t i = 0; i < numbers.size(); ++i) {
    T value;
    if constexpr (std::is_same_v<T, double>) {
      value = static_cast<double>(numbers[i]);
    } else {
      value = T(static_cast<float>(numbers[i]));
    }
    std::memcpy(bytes->data() + i * sizeof(T), &value, sizeof(T));
  }
}

// How a dtype is stored. Complex numbers are pairs.
struct Codec {
  int dtype = proto::DT_INVALID;
  void (*decode)(absl::string_view bytes, std::vector<Number>* numbers) = nullptr;
  void (*encode)(const std::vector<Number>& numbers, std::string* bytes) = nullptr;
};

constexpr Codec kCodecs[] = {
    {proto::DT_FLOAT, Decode<float>, Encode<float>},
    {proto::DT_COMPLEX64, Decode<float>, Encode<float>},
    {proto::DT_DOUBLE, Decode<double>, Encode<double>},
    {proto::DT_COMPLEX128, Decode<double>, Encode<double>},
    {proto::DT_BFLOAT16, Decode<Bfloat16>, Encode<Bfloat16>},
    {proto::DT_HALF, Decode<Float16>, Encode<Float16>},
    {proto::DT_FLOAT8_E5M2, Decode<Float8E5M2>},
    {proto::DT_FLOAT8_E4M3FN, Decode<Float8E4M3Fn>},
    {proto::DT_INT4, Decode<Int4>},
    {proto::DT_UINT4, Decode<Uint4>},
    {proto::DT_INT8, Decode<int8_t>},
    {proto::DT_QINT8, Decode<int8_t>},
    {proto::DT_BOOL, Decode<uint8_t>},  // a byte, because a damaged one may be neither 0 nor 1
    {proto::DT_UINT8, Decode<uint8_t>},
    {proto::DT_QUINT8, Decode<uint8_t>},
    {proto::DT_INT16, Decode<int16_t>},
    {proto::DT_QINT16, Decode<int16_t>},
    {proto::DT_UINT16, Decode<uint16_t>},
    {proto::DT_QUINT16, Decode<uint16_t>},
    {proto::DT_INT32, Decode<int32_t>},
    {proto::DT_QINT32, Decode<int32_t>},
    {proto::DT_UINT32, Decode<uint32_t>},
    {proto::DT_INT64, Decode<int64_t>},
    {proto::DT_UINT64, Decode<uint64_t>},
};

// Returns an empty codec for a dtype that has no numbers.
Codec CodecOf(int dtype_on_disk) {
  for (const Codec& codec : kCodecs) {
    if (codec.dtype == dtype_on_disk) return codec;
  }
  return {};
}

std::string NumberText(int dtype_on_disk, Number number) {
  if (IsFloatingOnDisk(dtype_on_disk)) return absl::StrFormat("%.6g", static_cast<double>(number));
  return absl::StrFormat("%.0Lf", number);
}

}  // namespace

int NumbersPerElement(int dtype_on_disk) {
  if (DTypeOnDiskSize(dtype_on_disk) == 0) return 0;
  const bool is_complex =
      dtype_on_disk == proto::DT_COMPLEX64 || dtype_on_disk == proto::DT_COMPLEX128;
  return is_complex ? 2 : 1;
}

bool IsFloatingOnDisk(int dtype_on_disk) {
  return CanEncode(dtype_on_disk) || dtype_on_disk == proto::DT_FLOAT8_E5M2 ||
         dtype_on_disk == proto::DT_FLOAT8_E4M3FN;
}

bool CanEncode(int dtype_on_disk) { return CodecOf(dtype_on_disk).encode != nullptr; }

void DecodeElements(int dtype_on_disk, absl::string_view bytes, std::vector<Number>* numbers) {
  const auto decode = CodecOf(dtype_on_disk).decode;
  if (decode == nullptr) return numbers->clear();
  decode(bytes, numbers);
}

void EncodeElements(int dtype_on_disk, const std::vector<Number>& numbers, std::string* bytes) {
  const auto encode = CodecOf(dtype_on_disk).encode;
  if (encode == nullptr) return bytes->clear();
  encode(numbers, bytes);
}

std::string ElementText(int dtype_on_disk, const Number* at) {
  const std::string first = NumberText(dtype_on_disk, at[0]);
  if (NumbersPerElement(dtype_on_disk) == 1) return first;
  return absl::StrCat("(", first, std::signbit(at[1]) ? "" : "+", NumberText(dtype_on_disk, at[1]),
                      "j)");
}

}  // namespace estimator
