#include "estimator/graphdef/tensor_proto.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

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
  if (out.dtype() == DType::kString) return Spread(in.string_val(), out.values<std::string>());
  int num_values = 0;
  VisitNumeric(out.dtype(), [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, float>) {
      num_values = Spread(in.float_val(), out.values<T>());
    } else if constexpr (std::is_same_v<T, double>) {
      num_values = Spread(in.double_val(), out.values<T>());
    } else if constexpr (std::is_same_v<T, int64_t>) {
      num_values = Spread(in.int64_val(), out.values<T>());
    } else if constexpr (std::is_same_v<T, bool>) {
      num_values = Spread(in.bool_val(), out.values<T>());
    } else if constexpr (std::is_integral_v<T>) {
      num_values = Spread(in.int_val(), out.values<T>());
    } else {  // the field holds the bits of a 16-bit float
      num_values = Spread(in.half_val(), absl::MakeSpan(static_cast<uint16_t*>(out.raw()),
                                                        static_cast<size_t>(out.num_elements())));
    }
  });
  return num_values;
}

}  // namespace

void WriteShapeProto(const Shape& shape, proto::TensorShapeProto* out) {
  for (const int64_t size : shape.dims()) out->add_dim()->set_size(size);
}

void WriteTensorProto(const Array& value, bool contents, proto::TensorProto* out) {
  out->set_dtype(static_cast<proto::DataType>(value.dtype()));
  WriteShapeProto(value.shape(), out->mutable_tensor_shape());
  if (!contents) return;
  const DType dtype = value.dtype();
  // As in tf.make_tensor_proto, one number goes to the field of its dtype, which is shorter.
  const bool one = value.num_elements() == 1;
  if (dtype == DType::kString) {
    for (const std::string& text : value.values<std::string>()) out->add_string_val(text);
  } else if (one && dtype == DType::kFloat32) {
    out->add_float_val(value.scalar<float>());
  } else if (one && dtype == DType::kFloat64) {
    out->add_double_val(value.scalar<double>());
  } else if (one && dtype == DType::kInt32) {
    out->add_int_val(value.scalar<int32_t>());
  } else if (one && dtype == DType::kInt64) {
    out->add_int64_val(value.scalar<int64_t>());
  } else if (one && dtype == DType::kBool) {
    out->add_bool_val(value.scalar<bool>());
  } else {
    out->set_tensor_content(value.raw(), value.num_bytes());
  }
}

absl::StatusOr<Shape> ReadShapeProto(const proto::TensorShapeProto& in) {
  Shape shape;
  int64_t elements = 1;
  if (in.dim_size() > kMaxRank)
    return InvalidArgument("a shape has rank ", in.dim_size(), ", more than ", kMaxRank);
  for (const auto& dim : in.dim()) {
    shape.push_back(dim.size());
    if (dim.size() == Shape::kUnknownDim) continue;
    // Sizes beside a 0 are counted too, because strides are products of them.
    const int64_t size = std::max<int64_t>(dim.size(), 1);
    if (dim.size() < 0 || elements > std::numeric_limits<int64_t>::max() / size) {
      return InvalidArgument("size ", dim.size(), " of a shape is negative, or too large after ",
                             elements, " elements");
    }
    elements *= size;
  }
  return shape;
}

DType ReadDType(proto::DataType dtype) {
  // TensorFlow numbers the reference type of a dtype 100 higher (DT_FLOAT_REF).
  constexpr int kFirstReference = 100;
  const int number = dtype > kFirstReference ? dtype - kFirstReference : dtype;
  const auto value = static_cast<DType>(number);
  return value == DType::kString || DTypeSize(value) > 0 ? value : DType::kInvalid;
}

absl::StatusOr<Array> ReadTensorProto(const proto::TensorProto& in, int64_t max_bytes) {
  const DType dtype = ReadDType(in.dtype());
  if (dtype == DType::kInvalid) {
    const std::string name = proto::DataType_Name(in.dtype());
    return Unimplemented("dtype ",
                         name.empty() ? absl::StrCat(static_cast<int>(in.dtype())) : name);
  }
  EST_ASSIGN_OR_RETURN(const Shape shape, ReadShapeProto(in.tensor_shape()));
  if (in.tensor_shape().unknown_rank() || !shape.fully_known())
    return InvalidArgument("a constant without a shape");
  const int64_t size = std::max<int64_t>(
      1, static_cast<int64_t>(dtype == DType::kString ? sizeof(std::string) : DTypeSize(dtype)));
  const std::string what =
      absl::StrCat("a constant of ", DTypeShortName(dtype), " ", shape.ToString());
  // A division, because the product of the two may overflow.
  if (shape.num_elements() > max_bytes / size) {
    return InvalidArgument(what, " is larger than ", max_bytes, " bytes");
  }
  const auto expected = static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype);
  const bool has_content = !in.tensor_content().empty() && dtype != DType::kString;
  // Before the allocation: a small file may state a large shape.
  if (has_content && in.tensor_content().size() != expected) {
    return InvalidArgument(what, " has ", in.tensor_content().size(), " bytes, expected ",
                           expected);
  }
  Array value(dtype, shape);
  if (has_content) {
    std::memcpy(value.raw(), in.tensor_content().data(), expected);
    if (dtype == DType::kBool) {  // a byte other than 0 and 1 is no bool
      for (int64_t i = 0; i < value.num_elements(); ++i)
        static_cast<char*>(value.raw())[i] = in.tensor_content()[static_cast<size_t>(i)] != 0;
    }
    return value;
  }
  const int num_values = SpreadValues(in, value);
  if (num_values > shape.num_elements())
    return InvalidArgument(what, " has ", num_values, " values");
  return value;
}

}  // namespace estimator
