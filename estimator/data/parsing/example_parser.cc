#include "estimator/data/parsing/example_parser.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/element_spec.h"
#include "estimator/data/pipeline/padding_value.h"

namespace estimator {
namespace {

using Kind = WireFeature::Kind;

// The fields of any spec.
struct SpecView {
  explicit SpecView(const FeatureSpec& spec) {
    if (const auto* f = std::get_if<FixedLenFeature>(&spec)) {
      fixed = f;
      dtype = f->dtype;
      row = &f->shape;
    } else if (const auto* r = std::get_if<FixedLenSequenceFeature>(&spec)) {
      dtype = r->dtype;
      row = &r->shape;
      max_length = r->max_length;
      padding = r->default_value;
      allow_missing = r->allow_missing;
    } else {
      const auto& v = std::get<VarLenFeature>(spec);
      dtype = v.dtype;
      max_length = v.max_length;
      padding = v.default_value;
      counted = true;
    }
    row_size = row->num_elements();
  }

  static const Shape& NoAxes() {
    static const Shape* const shape = new Shape;
    return *shape;
  }
  const FixedLenFeature* fixed = nullptr;  // if null, a feature has any number of rows
  DType dtype = DType::kInvalid;
  const Shape* row = &NoAxes();
  int64_t row_size = 1;
  int64_t max_length = -1;
  double padding = 0;
  bool allow_missing = true;
  bool counted = false;  // the number of rows is a result as well
};

Kind KindOf(DType dtype) {
  if (dtype == DType::kString) return Kind::kBytes;
  return dtype == DType::kFloat32 ? Kind::kFloat : Kind::kInt64;
}

absl::string_view KindName(Kind kind) {
  constexpr absl::string_view kNames[] = {"none", "string", "float", "int64", "none"};
  return kNames[static_cast<int>(kind)];
}

absl::Status DamagedError(absl::string_view name) {
  return FeatureError(name, "Can't parse serialized Example.");
}

absl::Status RequiredError(absl::string_view name, DType dtype) {
  return InvalidArgument("Feature: ", name, " (data type: ", FeatureKindName(dtype),
                         ") is required but could not be found.");
}

absl::Status CheckKind(absl::string_view name, const WireFeature& feature, DType dtype) {
  if (feature.kind() == KindOf(dtype)) return absl::OkStatus();
  return FeatureError(
      name, absl::StrCat("Data types don't match. Expected type: ", FeatureKindName(dtype),
                         ", got ", KindName(feature.kind())));
}

absl::Status WrongNumber(absl::string_view name, const SpecView& spec, int64_t count) {
  return FeatureError(name, absl::StrCat("Number of ", FeatureKindName(spec.dtype),
                                         " values != expected.  Values size: ", count,
                                         " but output shape: ", spec.row->ToString()));
}

// Writes the values of a feature to `out`. Returns their number, which may be larger than `out`.
template <typename T>
absl::StatusOr<int64_t> ReadValues(absl::string_view name, const WireFeature& feature,
                                   absl::Span<T> out) {
  int64_t unfit = 0, count = 0;
  if constexpr (std::is_same_v<T, int32_t>) {
    count = feature.Values(out, &unfit);
  } else {
    count = feature.Values(out);
  }
  if (count < 0) return DamagedError(name);
  if (unfit == 0) return count;
  return FeatureError(
      name, absl::StrCat("The value ", unfit, " does not fit int32; read the feature as int64"));
}

// The features of one spec in all rows.
class Column {
 public:
  Column(absl::Span<const WireFeature> features, size_t index, size_t num_specs)
      : features_(features), index_(index), num_specs_(num_specs) {}
  const WireFeature& operator[](size_t row) const { return features_[row * num_specs_ + index_]; }

 private:
  absl::Span<const WireFeature> features_;
  size_t index_, num_specs_;
};

absl::Status InRow(absl::Status status, absl::string_view row_name, size_t row) {
  if (row_name.empty()) return status;
  return Annotate(status, absl::StrCat(row_name, " ", row));
}

// A row of exactly spec.row_size values.
template <typename T>
absl::Status DecodeFixed(absl::string_view name, const SpecView& spec, const WireFeature& feature,
                         absl::Span<T> out) {
  if (feature.kind() == Kind::kNone) {
    const std::optional<Array>& value = spec.fixed->default_value;
    if (!value) return RequiredError(name, spec.dtype);
    const absl::Span<const T> values = value->values<T>();
    std::copy(values.begin(), values.end(), out.begin());
    return absl::OkStatus();
  }
  EST_RETURN_IF_ERROR(CheckKind(name, feature, spec.dtype));
  EST_ASSIGN_OR_RETURN(const int64_t count, ReadValues(name, feature, out));
  return count == spec.row_size ? absl::OkStatus() : WrongNumber(name, spec, count);
}

// The number of rows of a feature.
absl::StatusOr<int64_t> NumRows(absl::string_view name, const SpecView& spec,
                                const WireFeature& feature) {
  if (feature.kind() == Kind::kNone) {
    if (!spec.allow_missing) return RequiredError(name, spec.dtype);
    return 0;
  }
  EST_RETURN_IF_ERROR(CheckKind(name, feature, spec.dtype));
  const int64_t count = feature.NumValues();
  if (count < 0) return DamagedError(name);
  if (count % spec.row_size != 0) {
    return FeatureError(name, absl::StrCat("Number of ", FeatureKindName(spec.dtype), " values is ",
                                           count, ", not a multiple of a row's ", spec.row_size,
                                           " (", spec.row->ToString(), ")"));
  }
  const int64_t num_rows = count / spec.row_size;
  if (spec.max_length >= 0 && num_rows > spec.max_length) {
    return FeatureError(name, absl::StrCat("It has ", num_rows, " rows, but max_length is ",
                                           spec.max_length, "; raise max_length"));
  }
  return num_rows;
}

// Calls fn(T{}) with the C++ type of a dtype that Examples have.
template <typename Fn>
absl::Status VisitFeatureType(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kString:
      return fn(std::string());
    case DType::kFloat32:
      return fn(float{});
    case DType::kInt32:
      return fn(int32_t{});
    default:
      return fn(int64_t{});
  }
}

// An array of the shape, with an axis 0 of the number of rows if it is batched.
Array MakeArray(DType dtype, bool batched, size_t num_rows, const Shape& shape) {
  return Array(dtype, batched ? WithAxis(static_cast<int64_t>(num_rows), shape) : shape);
}

template <typename T>
absl::Status Pad(double padding, DType dtype, absl::Span<T> out) {
  if constexpr (!std::is_same_v<T, std::string>) {
    if (padding == 0) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(const Array value, PaddingValue(padding, dtype));
    std::fill(out.begin(), out.end(), value.scalar<T>());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckExampleSize(absl::string_view example) {
  // TensorFlow's parser, as protobuf's, counts bytes in an int.
  if (example.size() <= std::numeric_limits<int32_t>::max()) return absl::OkStatus();
  return InvalidArgument("Could not parse example input: its ", example.size(),
                         " bytes are too many");
}

ExampleParser::ExampleParser(FeatureSpecs specs)
    : specs_(std::move(specs)), status_(CheckFeatureSpecs(specs_)) {
  size_t i = 0;
  for (const auto& [name, spec] : specs_) index_[name] = i++;
}

absl::Status ExampleParser::Find(WireMap map, absl::Span<WireFeature> found) const {
  absl::string_view name, bytes;
  while (map.Next(&name, &bytes)) {
    const auto spec = index_.find(name);
    if (spec == index_.end()) continue;
    const WireFeature feature(bytes);
    if (feature.kind() == Kind::kUnknown) {
      return FeatureError(name, "Unsupported datatype: it is no list of bytes, floats or int64s");
    }
    if (feature.kind() != Kind::kNone) found[spec->second] = feature;  // the last one counts
  }
  if (map.ok()) return absl::OkStatus();
  return InvalidArgument(
      "Could not parse example input: its bytes are not a serialized tf.train.Example");
}

absl::StatusOr<ArrayMap> ExampleParser::Parse(absl::string_view example) const {
  EST_RETURN_IF_ERROR(status_);
  EST_RETURN_IF_ERROR(CheckExampleSize(example));
  absl::InlinedVector<WireFeature, 16> features(specs_.size());
  EST_RETURN_IF_ERROR(Find(WireMap::OfExample(example), absl::MakeSpan(features)));
  return Decode(features, 1, "");
}

absl::StatusOr<ArrayMap> ExampleParser::ParseBatch(absl::Span<const std::string> examples) const {
  EST_RETURN_IF_ERROR(status_);
  constexpr absl::string_view kRowName = "example";
  std::vector<WireFeature> features(examples.size() * specs_.size());
  for (size_t row = 0; row < examples.size(); ++row) {
    absl::Status status = CheckExampleSize(examples[row]);
    if (status.ok()) {
      const auto found = absl::MakeSpan(features).subspan(row * specs_.size(), specs_.size());
      status = Find(WireMap::OfExample(examples[row]), found);
    }
    if (!status.ok()) return InRow(status, kRowName, row);
  }
  return Decode(features, examples.size(), kRowName);
}

absl::StatusOr<ArrayMap> ExampleParser::Decode(absl::Span<const WireFeature> features,
                                               size_t num_rows, absl::string_view row_name) const {
  const bool batched = !row_name.empty();
  ArrayMap out;
  size_t index = 0;
  for (const auto& [name, any_spec] : specs_) {
    const SpecView spec(any_spec);
    const Column column(features, index++, specs_.size());
    Shape shape = *spec.row;
    Array lengths;
    // The lengths are found first, so that the values are written once, into the padded array.
    if (spec.fixed == nullptr) {
      lengths = MakeArray(DType::kInt32, batched, num_rows, {});
      int64_t longest = 0;
      for (size_t row = 0; row < num_rows; ++row) {
        const absl::StatusOr<int64_t> length = NumRows(name, spec, column[row]);
        if (!length.ok()) return InRow(length.status(), row_name, row);
        lengths.data<int32_t>()[row] = static_cast<int32_t>(*length);
        longest = std::max(longest, *length);
      }
      shape = WithAxis(spec.max_length >= 0 ? spec.max_length : longest, shape);
    }
    Array array = MakeArray(spec.dtype, batched, num_rows, shape);
    const size_t stride = num_rows == 0 ? 0 : static_cast<size_t>(array.num_elements()) / num_rows;
    EST_RETURN_IF_ERROR(VisitFeatureType(spec.dtype, [&, &name = name](auto tag) -> absl::Status {
      using T = decltype(tag);
      EST_RETURN_IF_ERROR(Pad(spec.padding, spec.dtype, array.values<T>()));
      for (size_t row = 0; row < num_rows; ++row) {
        const absl::Span<T> values = array.values<T>().subspan(row * stride, stride);
        absl::Status status;
        if (spec.fixed != nullptr) {
          status = DecodeFixed<T>(name, spec, column[row], values);
        } else if (column[row].kind() != Kind::kNone) {
          status = ReadValues<T>(name, column[row], values).status();
        }
        if (!status.ok()) return InRow(std::move(status), row_name, row);
      }
      return absl::OkStatus();
    }));
    out.emplace_hint(out.end(), name, std::move(array));
    if (spec.counted) out[LengthName(name)] = std::move(lengths);
  }
  return out;
}

}  // namespace estimator
