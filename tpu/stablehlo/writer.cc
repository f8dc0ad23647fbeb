#include "tpu/stablehlo/writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"

namespace estimator::tpu::stablehlo {
namespace {

std::string ElementType(DType dtype, bool is_unsigned) {
  if (dtype == DType::kString || dtype == DType::kInvalid)
    LOG(FATAL) << "StableHLO has no element type for " << DTypeName(dtype);
  if (dtype == DType::kBool) return "i1";
  if (dtype == DType::kUint8) return "ui8";
  return absl::StrCat(is_unsigned ? "u" : "", DTypeShortName(dtype));
}

// One element as MLIR reads it back to the same bits.
template <typename T>
std::string ElementText(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return absl::StrCat(static_cast<int64_t>(value));
  } else {
    const auto number = static_cast<double>(value);
    // 9 significant digits are enough for every float32, 17 for every float64.
    if (std::isfinite(number)) return absl::StrFormat(sizeof(T) == 8 ? "%.16e" : "%.8e", number);
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    // MLIR writes the bits of one number with the highest byte first. Memory has the lowest first.
    std::reverse(bytes.begin(), bytes.end());
    return absl::StrCat("0x", absl::BytesToHexString(bytes));
  }
}

template <typename T>
bool AllEqual(absl::Span<const T> values) {
  return std::all_of(values.begin(), values.end(), [&](const T& value) {
    // By bits: 0 equals -0 but is another constant, and a NaN does not equal itself.
    return std::memcmp(&value, values.data(), sizeof(T)) == 0;
  });
}

std::string JoinTypes(const Values& values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const Value& value) {
    out->append(value.type.ToString());
  });
}

std::string JoinTypes(const std::vector<Type>& types) {
  return absl::StrJoin(types, ", ",
                       [](std::string* out, const Type& type) { out->append(type.ToString()); });
}

std::string JoinNames(const Values& values) {
  return absl::StrJoin(values, ", ",
                       [](std::string* out, const Value& value) { out->append(value.name); });
}

Shape BroadcastOf(const Shape& a, const Shape& b) {
  const absl::StatusOr<Shape> both = BroadcastShapes(a, b);
  CHECK(both.ok()) << both.status();
  return *both;
}

Shape BroadcastOfOperands(absl::string_view op, const Value& a, const Value& b) {
  CHECK(a.dtype() == b.dtype() && a.type.is_unsigned == b.type.is_unsigned)
      << op << " of " << a.type.ToString() << " and " << b.type.ToString();
  return BroadcastOf(a.shape(), b.shape());
}

}  // namespace

Type::Type(DType dtype, Shape shape, bool is_unsigned)
    : dtype(dtype), shape(std::move(shape)), is_unsigned(is_unsigned) {}
Type::Type(const TensorSpec& spec) : dtype(spec.dtype), shape(spec.shape) {}

std::string Type::ToString() const {
  std::string text = "tensor<";
  for (const int64_t size : shape.dims()) absl::StrAppend(&text, size, "x");
  return absl::StrCat(text, ElementType(dtype, is_unsigned), ">");
}

std::string IntsAttr(absl::Span<const int64_t> values) {
  return absl::StrCat("array<i64", values.empty() ? "" : ": ", absl::StrJoin(values, ", "), ">");
}

std::string IntAttr(int64_t value) { return absl::StrCat(value, " : i64"); }

std::string MatrixAttr(const std::vector<Ints>& rows) {
  const size_t columns = rows.empty() ? 0 : rows[0].size();
  const std::string type = absl::StrCat("tensor<", rows.size(), "x", columns, "xi64>");
  if (columns == 0) return absl::StrCat("dense<> : ", type);
  return absl::StrCat("dense<[",
                      absl::StrJoin(rows, ", ",
                                    [](std::string* out, const Ints& row) {
                                      absl::StrAppend(out, "[", absl::StrJoin(row, ", "), "]");
                                    }),
                      "]> : ", type);
}

// --- Any op

Values Writer::Ops(StringArg op, const Values& operands, const std::vector<Type>& results,
                   StringArg attributes, const std::vector<Region>& regions) {
  // A name with a dialect ("func.return") is taken as it is.
  const bool has_dialect = absl::string_view(op).find('.') != absl::string_view::npos;
  // The location is read before the regions, because their ops may set another.
  const std::string location = LocationText();
  const std::string name = results.empty() ? "" : NewName();
  text_.append(static_cast<size_t>(indent_) * 2, ' ');
  if (results.size() == 1) absl::StrAppend(&text_, name, " = ");
  if (results.size() > 1) absl::StrAppend(&text_, name, ":", results.size(), " = ");
  absl::StrAppend(&text_, "\"", has_dialect ? "" : "stablehlo.", absl::string_view(op), "\"(",
                  JoinNames(operands), ")");
  for (size_t r = 0; r < regions.size(); ++r) {
    absl::StrAppend(&text_, r == 0 ? " ({\n" : ", {\n");
    WriteBlock(regions[r]);
    text_.append(static_cast<size_t>(indent_) * 2, ' ');
    absl::StrAppend(&text_, "}", r + 1 == regions.size() ? ")" : "");
  }
  if (!attributes.empty()) absl::StrAppend(&text_, " {", absl::string_view(attributes), "}");
  absl::StrAppend(&text_, " : (", JoinTypes(operands), ") -> ");
  if (results.size() == 1)
    absl::StrAppend(&text_, results[0].ToString());
  else
    absl::StrAppend(&text_, "(", JoinTypes(results), ")");
  absl::StrAppend(&text_, location, "\n");
  Values values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back({results.size() == 1 ? name : absl::StrCat(name, "#", i), results[i]});
  return values;
}

Value Writer::Op(StringArg op, const Values& operands, const Type& result, StringArg attributes) {
  return Ops(op, operands, {result}, attributes)[0];
}

void Writer::WriteBlock(const Region& region) {
  Values arguments;
  for (const Type& type : region.arguments) arguments.push_back({NewName(), type});
  text_.append(static_cast<size_t>(indent_) * 2, ' ');
  absl::StrAppend(&text_, "^bb0(",
                  absl::StrJoin(arguments, ", ",
                                [](std::string* out, const Value& value) {
                                  absl::StrAppend(out, value.name, ": ", value.type.ToString());
                                }),
                  "):\n");
  ++indent_;
  const Values results = region.body(arguments);
  Ops("return", results, {});
  --indent_;
}

std::string Writer::NewName() { return absl::StrCat("%", num_values_++); }

// --- Constants

Value Writer::DenseSplat(const Type& type, const std::string& element) {
  const std::string text = type.ToString();
  return Op("constant", {}, type, absl::StrCat("value = dense<", element, "> : ", text));
}

Value Writer::Constant(const Array& value) {
  const Type type{value.dtype(), value.shape()};
  if (value.num_elements() == 0) return DenseSplat(type, "");
  Value result;
  const bool numeric = VisitNumeric(value.dtype(), [&](auto tag) {
    using T = decltype(tag);
    const absl::Span<const T> elements(value.data<T>(), static_cast<size_t>(value.num_elements()));
    if (AllEqual(elements)) {
      result = DenseSplat(type, ElementText(elements[0]));
    } else if constexpr (std::is_same_v<T, bool>) {
      // MLIR packs the bits of bool constants; bytes are simpler and mean the same.
      std::string bytes;
      for (const bool element : elements) bytes += element ? '\1' : '\0';
      result = Convert(DenseSplat({DType::kUint8, value.shape()},
                                  absl::StrCat("\"0x", absl::BytesToHexString(bytes), "\"")),
                       DType::kBool);
    } else {
      // Unlike the bits of one number, the bytes of a blob are in the order of memory.
      const absl::string_view bytes(reinterpret_cast<const char*>(elements.data()),
                                    elements.size() * sizeof(T));
      result = DenseSplat(type, absl::StrCat("\"0x", absl::BytesToHexString(bytes), "\""));
    }
  });
  CHECK(numeric) << "a constant of " << DTypeName(value.dtype());
  return result;
}

Value Writer::Fill(const Type& type, double value) {
  if (type.shape.num_elements() == 0) return DenseSplat(type, "");
  if (IsInteger(type.dtype)) return FillInt(type, static_cast<int64_t>(value));
  Value result;
  VisitNumeric(type.dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, bool>)
      result = DenseSplat(type, ElementText(value != 0));
    else if constexpr (std::is_same_v<T, double>)
      result = DenseSplat(type, ElementText(value));
    else
      result = DenseSplat(type, ElementText(static_cast<T>(static_cast<float>(value))));
  });
  return result;
}

Value Writer::FillInt(const Type& type, int64_t value) {
  if (type.shape.num_elements() == 0) return DenseSplat(type, "");
  if (type.dtype == DType::kBool) return DenseSplat(type, ElementText(value != 0));
  if (!IsInteger(type.dtype)) return Fill(type, static_cast<double>(value));
  if (!type.is_unsigned) return DenseSplat(type, absl::StrCat(value));
  // A negative value stands for its bits: -1 is the largest unsigned number.
  const auto bits = static_cast<uint64_t>(value);
  return DenseSplat(type, absl::StrCat(type.dtype == DType::kInt32 ? bits & 0xffffffffu : bits));
}

Value Writer::Extreme(const Type& type, bool largest) {
  if (type.dtype == DType::kBool) return FillInt(type, largest ? 1 : 0);
  const double infinity = std::numeric_limits<double>::infinity();
  if (!IsInteger(type.dtype)) return Fill(type, largest ? infinity : -infinity);
  // All bits of the largest unsigned number are set.
  if (type.is_unsigned) return FillInt(type, largest ? -1 : 0);
  int64_t extreme = 0;
  VisitNumeric(type.dtype, [&](auto tag) {
    using Limits = std::numeric_limits<decltype(tag)>;
    if constexpr (Limits::is_integer)
      extreme = static_cast<int64_t>(largest ? Limits::max() : Limits::lowest());
  });
  return FillInt(type, extreme);
}

Value Writer::Iota(const Type& type, int64_t axis) {
  return Op("iota", {}, type, absl::StrCat("iota_dimension = ", IntAttr(axis)));
}

// --- Element by element

Value Writer::Unary(StringArg op, const Value& x) { return Op(op, {x}, x.type); }

Value Writer::Binary(StringArg op, const Value& a, const Value& b) {
  const Shape shape = BroadcastOfOperands(op, a, b);
  const Value x = BroadcastTo(a, shape), y = BroadcastTo(b, shape);
  return Op(op, {x, y}, x.type);
}

Value Writer::Compare(StringArg direction, const Value& a, const Value& b) {
  const Shape shape = BroadcastOfOperands(direction, a, b);
  return Op("compare", {BroadcastTo(a, shape), BroadcastTo(b, shape)}, {DType::kBool, shape},
            absl::StrCat("comparison_direction = #stablehlo<comparison_direction ",
                         absl::string_view(direction), ">"));
}

Value Writer::Select(const Value& condition, const Value& if_true, const Value& if_false) {
  const Shape shape =
      BroadcastOf(condition.shape(), BroadcastOf(if_true.shape(), if_false.shape()));
  const Value x = BroadcastTo(if_true, shape), y = BroadcastTo(if_false, shape);
  return Op("select", {BroadcastTo(condition, shape), x, y}, x.type);
}

Value Writer::Convert(const Value& x, DType dtype) {
  if (x.dtype() == dtype && !x.type.is_unsigned) return x;
  if (dtype == DType::kBool) return Compare("NE", x, Fill(x.type, 0));
  return Op("convert", {x}, {dtype, x.shape()});
}

Value Writer::Bitcast(const Value& x, DType dtype, bool is_unsigned) {
  const Type type{dtype, x.shape(), is_unsigned};
  return x.type == type ? x : Op("bitcast_convert", {x}, type);
}

Value Writer::IsFinite(const Value& x) { return Op("is_finite", {x}, {DType::kBool, x.shape()}); }

// --- For the lowering of a step

void Writer::SetLocation(StringArg name) { location_ = std::string(name); }

std::string Writer::LocationText() {
  if (location_.empty()) return "";
  // A node becomes many ops, so its name is written once and each op has an alias of it.
  const auto [it, is_new] = locations_.emplace(location_, static_cast<int>(locations_.size()));
  if (is_new) location_names_.push_back(location_);
  return absl::StrCat(" loc(#loc", it->second, ")");
}

Values Writer::BeginFunction(StringArg name, const std::vector<Type>& arguments,
                             const std::vector<std::string>& argument_attributes,
                             const std::vector<Type>& results) {
  Values values;
  std::vector<std::string> texts;
  for (size_t i = 0; i < arguments.size(); ++i) {
    values.push_back({absl::StrCat("%arg", i), arguments[i]});
    const std::string& attributes = argument_attributes[i];
    texts.push_back(absl::StrCat(values[i].name, ": ", arguments[i].ToString(),
                                 attributes.empty() ? "" : absl::StrCat(" {", attributes, "}")));
  }
  absl::StrAppend(&text_, "  func.func public @", absl::string_view(name), "(",
                  absl::StrJoin(texts, ", "), ") -> (", JoinTypes(results), ") {\n");
  indent_ = 2;
  return values;
}

void Writer::EndFunction(const Values& results) {
  location_.clear();
  Ops("func.return", results, {});
  absl::StrAppend(&text_, "  }\n");
  indent_ = 1;
}

std::string Writer::Module(StringArg name, StringArg attributes) const {
  std::string text = absl::StrCat("module @", absl::string_view(name), " attributes {",
                                  absl::string_view(attributes), "} {\n", text_, "}\n");
  for (size_t i = 0; i < location_names_.size(); ++i)
    absl::StrAppend(&text, "#loc", i, " = loc(\"", absl::CHexEscape(location_names_[i]), "\")\n");
  return text;
}

}  // namespace estimator::tpu::stablehlo
