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

// Copies the values of a field, and returns their number. If there are too few, the last value
// fills the missing elements.
template <typename T, typename Field>
int Spread(const Field& field, absl::Span<T> values) {
  const auto given = std::min<size_t>(static_cast<size_t>(field.size()), values.size());
  for (size_t i = 0; i < given; ++i) values[i] = static_cast<T>(field.Get(static_cast<int>(i)));
  if (given > 0)
    std::fill(values.begin() + static_cast<ptrdiff_t>(given), values.end(), values[given - 1]);
  return field.size();
}

int SpreadValues(const proto::TensorProto& in, Array& out) {
  switch (out.dtype()) {
    case DType::kFloat32:
      return Spread(in.float_val(), out.values<float>());
    case DType::kFloat64:
      return Spread(in.double_val(), out.values<double>());
    case DType::kInt32:
      return Spread(in.int_val(), out.values<int32_t>());
    case DType::kUint8:
      return Spread(in.int_val(), out.values<uint8_t>());
    case DType::kInt16:
      return Spread(in.int_val(), out.values<int16_t>());
    case DType::kInt8:
      return Spread(in.int_val(), out.values<int8_t>());
    case DType::kInt64:
      return Spread(in.int64_val(), out.values<int64_t>());
    case DType::kBool:
      return Spread(in.bool_val(), out.values<bool>());
    case DType::kString:
      return Spread(in.string_val(), out.values<std::string>());
    case DType::kBfloat16:
    case DType::kFloat16:  // the field holds their bits
      return Spread(in.half_val(), absl::MakeSpan(static_cast<uint16_t*>(out.raw()),
                                                  static_cast<size_t>(out.num_elements())));
    case DType::kInvalid:
      break;
  }
  return 0;
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
  Array value(dtype, shape);
  const int num_values = SpreadValues(in, value);
  if (num_values > shape.num_elements()) {
    return absl::InvalidArgumentError(absl::StrCat("a constant of ", DTypeShortName(dtype), " ",
                                                   shape.ToString(), " has ", num_values,
                                                   " values"));
  }
  return value;
}

}  // namespace estimator
