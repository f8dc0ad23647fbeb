#include "estimator/graphdef/tensor_proto.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

constexpr int kMaxRank = 254;  // TensorShape::MaxDimensions of TF 2.15

// Copies the values of a field. If there are too few, the last value fills the missing elements.
template <typename T, typename Field>
void Spread(const Field& field, Array& out) {
  const absl::Span<T> values = out.values<T>();
  const auto given = std::min<size_t>(static_cast<size_t>(field.size()), values.size());
  for (size_t i = 0; i < given; ++i) values[i] = static_cast<T>(field.Get(static_cast<int>(i)));
  if (given > 0)
    std::fill(values.begin() + static_cast<ptrdiff_t>(given), values.end(), values[given - 1]);
}

// The same for bfloat16 and float16: the field holds their bits.
void SpreadHalf(const proto::TensorProto& in, Array& out) {
  auto* const bits = static_cast<uint16_t*>(out.raw());
  const auto n = static_cast<size_t>(out.num_elements());
  const auto given = std::min<size_t>(static_cast<size_t>(in.half_val_size()), n);
  for (size_t i = 0; i < n && given > 0; ++i)
    bits[i] = static_cast<uint16_t>(in.half_val(static_cast<int>(std::min(i, given - 1))));
}

int NumValues(const proto::TensorProto& in, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return in.float_val_size();
    case DType::kFloat64:
      return in.double_val_size();
    case DType::kInt64:
      return in.int64_val_size();
    case DType::kBool:
      return in.bool_val_size();
    case DType::kString:
      return in.string_val_size();
    case DType::kBfloat16:
    case DType::kFloat16:
      return in.half_val_size();
    default:
      return in.int_val_size();
  }
}

void SpreadValues(const proto::TensorProto& in, Array& out) {
  switch (out.dtype()) {
    case DType::kFloat32:
      return Spread<float>(in.float_val(), out);
    case DType::kFloat64:
      return Spread<double>(in.double_val(), out);
    case DType::kInt32:
      return Spread<int32_t>(in.int_val(), out);
    case DType::kUint8:
      return Spread<uint8_t>(in.int_val(), out);
    case DType::kInt16:
      return Spread<int16_t>(in.int_val(), out);
    case DType::kInt8:
      return Spread<int8_t>(in.int_val(), out);
    case DType::kInt64:
      return Spread<int64_t>(in.int64_val(), out);
    case DType::kBool:
      return Spread<bool>(in.bool_val(), out);
    case DType::kString:
      return Spread<std::string>(in.string_val(), out);
    case DType::kBfloat16:
    case DType::kFloat16:
      return SpreadHalf(in, out);
    case DType::kInvalid:
      return;
  }
}

}  // namespace

void WriteShapeProto(const Shape& shape, proto::TensorShapeProto* out) {
  for (const int64_t size : shape.dims()) out->add_dim()->set_size(size);
}

void WriteTensorProto(const Array& value, bool contents, proto::TensorProto* out) {
  out->set_dtype(static_cast<proto::DataType>(value.dtype()));
  WriteShapeProto(value.shape(), out->mutable_tensor_shape());
  if (!contents) return;
  if (value.dtype() == DType::kString) {
    for (const std::string& text : value.values<std::string>()) out->add_string_val(text);
    return;
  }
  // As in tf.make_tensor_proto, one number goes to the field of its dtype, which is shorter.
  if (value.num_elements() == 1) {
    switch (value.dtype()) {
      case DType::kFloat32:
        out->add_float_val(value.scalar<float>());
        return;
      case DType::kFloat64:
        out->add_double_val(value.scalar<double>());
        return;
      case DType::kInt32:
        out->add_int_val(value.scalar<int32_t>());
        return;
      case DType::kInt64:
        out->add_int64_val(value.scalar<int64_t>());
        return;
      case DType::kBool:
        out->add_bool_val(value.scalar<bool>());
        return;
      default:
        break;
    }
  }
  out->set_tensor_content(value.raw(), value.num_bytes());
}

absl::StatusOr<Shape> ReadShapeProto(const proto::TensorShapeProto& in) {
  Shape shape;
  int64_t elements = 1;
  if (in.dim_size() > kMaxRank)
    return absl::InvalidArgumentError(
        absl::StrCat("a shape has rank ", in.dim_size(), ", more than ", kMaxRank));
  for (const auto& dim : in.dim()) {
    shape.push_back(dim.size());
    if (dim.size() == Shape::kUnknownDim) continue;
    // Sizes beside a 0 are counted too, because strides are products of them.
    const int64_t size = std::max<int64_t>(dim.size(), 1);
    if (dim.size() < 0 || elements > std::numeric_limits<int64_t>::max() / size) {
      return absl::InvalidArgumentError(absl::StrCat("size ", dim.size(),
                                                     " of a shape is negative, or too large after ",
                                                     elements, " elements"));
    }
    elements *= size;
  }
  return shape;
}

DType ReadDType(proto::DataType dtype) {
  constexpr int kFirstReference = 100;
  const int number = dtype > kFirstReference ? dtype - kFirstReference : dtype;
  const auto value = static_cast<DType>(number);
  return value == DType::kString || DTypeSize(value) > 0 ? value : DType::kInvalid;
}

absl::StatusOr<Array> ReadTensorProto(const proto::TensorProto& in, int64_t max_bytes) {
  const DType dtype = ReadDType(in.dtype());
  if (dtype == DType::kInvalid) {
    const std::string name = proto::DataType_Name(in.dtype());
    return absl::UnimplementedError(
        absl::StrCat("dtype ", name.empty() ? absl::StrCat(static_cast<int>(in.dtype())) : name));
  }
  EST_ASSIGN_OR_RETURN(const Shape shape, ReadShapeProto(in.tensor_shape()));
  if (in.tensor_shape().unknown_rank() || !shape.fully_known())
    return absl::InvalidArgumentError("a constant without a shape");
  const int64_t size = std::max<int64_t>(
      1, static_cast<int64_t>(dtype == DType::kString ? sizeof(std::string) : DTypeSize(dtype)));
  if (shape.num_elements() > max_bytes / size) {
    return absl::InvalidArgumentError(absl::StrCat("a constant of ", DTypeShortName(dtype), " ",
                                                   shape.ToString(), " is larger than ", max_bytes,
                                                   " bytes"));
  }
  if (!in.tensor_content().empty() && dtype != DType::kString) {
    const auto expected = static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype);
    if (in.tensor_content().size() != expected) {
      return absl::InvalidArgumentError(
          absl::StrCat("a constant of ", DTypeShortName(dtype), " ", shape.ToString(), " has ",
                       in.tensor_content().size(), " bytes, expected ", expected));
    }
    Array value(dtype, shape);
    std::memcpy(value.raw(), in.tensor_content().data(), expected);
    if (dtype == DType::kBool) {  // a byte other than 0 and 1 is no bool
      for (int64_t i = 0; i < value.num_elements(); ++i)
        static_cast<char*>(value.raw())[i] = in.tensor_content()[static_cast<size_t>(i)] != 0;
    }
    return value;
  }
  if (NumValues(in, dtype) > shape.num_elements()) {
    return absl::InvalidArgumentError(absl::StrCat("a constant of ", DTypeShortName(dtype), " ",
                                                   shape.ToString(), " has ", NumValues(in, dtype),
                                                   " values"));
  }
  Array value(dtype, shape);
  SpreadValues(in, value);
  return value;
}

}  // namespace estimator
