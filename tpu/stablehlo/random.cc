// The random ops: the same Philox numbers as those of kernels/reference/random.cc, keyed by seed,
// op, step, replica and the trips of loops. Uniform numbers and integers have the same bits. Normal
// numbers differ by the rounding of the device's log, sin and cos.
//
// The lower 64 bits of the counter never carry into the upper ones here: no run draws 2^64 results.
#include "estimator/base/random.h"

#include <array>
#include <bit>
#include <numbers>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tpu/stablehlo/op_lowering.h"

namespace estimator::tpu::stablehlo {
namespace {

// kernels/reference/random_stream.h: the Philox results that a step reserves for each number.
constexpr int64_t kReservedPerNumber = 256;
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
// The results that TruncatedNormal reserves for a group of four numbers.
constexpr int64_t kResultsPerGroup = 256;

using Four = std::array<Value, 4>;

Type Unsigned(DType dtype, const Shape& shape) { return {dtype, shape, /*is_unsigned=*/true}; }

Value Bits(Writer& w, const Shape& shape, uint32_t bits) {
  return w.FillInt(Unsigned(DType::kInt32, shape), int64_t{bits});
}

Value ToUnsigned(Writer& w, const Value& x, DType dtype) {
  return w.Op("convert", {x}, Unsigned(dtype, x.shape()));
}

// The stream of an op's numbers in this step and replica.
class Stream {
 public:
  Stream(Writer& w, const LoweringArgs& args, int64_t results_per_step) : w_(w) {
    const auto seed = static_cast<uint64_t>(args.spec.attrs.i("seed"));
    const auto seed2 = static_cast<uint64_t>(args.spec.attrs.i("seed2"));
    // All replicas run the same module, so it has the keys of all of them.
    std::vector<int64_t> keys;
    for (int replica = 0; replica < args.step.num_replicas; ++replica) {
      keys.push_back(std::bit_cast<int64_t>(
          replica == 0 ? seed : HashSeed(seed, static_cast<uint64_t>(replica))));
    }
    Value key = OfReplica(keys, args.step.replica);
    if (!args.step.rows.empty()) key = Hashed(key, TripKeyOf(args.step.rows));
    key_ = {Low(key), High(key)};
    upper_ = {static_cast<uint32_t>(seed2), static_cast<uint32_t>(seed2 >> 32)};
    base_ = w.Mul(args.step.step, w.FillInt(args.step.step.type, results_per_step));
  }

  // The results at `index`, i64 of any shape: four ui32 values of that shape.
  Four At(const Value& index) const {
    constexpr uint32_t kW0 = 0x9e3779b9, kW1 = 0xbb67ae85;
    constexpr uint32_t kM0 = 0xd2511f53, kM1 = 0xcd9e8d57;
    constexpr int kRounds = 10;
    const Shape& shape = index.shape();
    const Value counter = w_.Bitcast(w_.Add(index, base_), DType::kInt64, /*is_unsigned=*/true);
    Four c = {Low(counter), High(counter), Bits(w_, shape, upper_[0]), Bits(w_, shape, upper_[1])};
    for (int round = 0; round < kRounds; ++round) {
      const auto r = static_cast<uint32_t>(round);
      const Value key0 = w_.Add(key_[0], Bits(w_, Shape{}, r * kW0));
      const Value key1 = w_.Add(key_[1], Bits(w_, Shape{}, r * kW1));
      const Value product0 = Product(c[0], kM0), product1 = Product(c[2], kM1);
      c = {Xor(Xor(High(product1), c[1]), key0), Low(product1),
           Xor(Xor(High(product0), c[3]), key1), Low(product0)};
    }
    return c;
  }

 private:
  Value Long(uint64_t bits) const {
    return w_.FillInt(Unsigned(DType::kInt64, Shape{}), std::bit_cast<int64_t>(bits));
  }
  Value OfReplica(const std::vector<int64_t>& values, const Value& replica) const {
    if (values.size() == 1) return Long(std::bit_cast<uint64_t>(values[0]));
    const Value table = w_.Bitcast(
        w_.Constant(Array::FromSpan<int64_t>({static_cast<int64_t>(values.size())}, values)),
        DType::kInt64, /*is_unsigned=*/true);
    return w_.Reshape(w_.DynamicSlice(table, {replica}, {1}), Shape{});
  }
  // TripKey of kernels/kernel.h for the loops from the outermost to the innermost one.
  Value TripKeyOf(const Values& rows) const {
    Value key = Long(0);
    for (const Value& row : rows) {
      const Value next = w_.Add(w_.Bitcast(row, DType::kInt64, /*is_unsigned=*/true), Long(1));
      key = w_.Binary("or", w_.Add(w_.Mul(key, Long(kGolden)), next), Long(uint64_t{1} << 63));
    }
    return key;
  }
  // HashSeed(a, b) of base/random.h.
  Value Hashed(const Value& a, const Value& b) const {
    const Value mixed = Mix(w_.Add(a, Long(kGolden)));
    return Mix(w_.Add(w_.Add(mixed, w_.Mul(b, Long(kGolden))), Long(1)));
  }
  Value Mix(const Value& x) const {
    const Value a = w_.Mul(XorShifted(x, 30), Long(0xbf58476d1ce4e5b9));
    const Value b = w_.Mul(XorShifted(a, 27), Long(0x94d049bb133111eb));
    return XorShifted(b, 31);
  }
  Value XorShifted(const Value& x, uint64_t by) const {
    return Xor(x, w_.Binary("shift_right_logical", x, Long(by)));
  }
  Value Xor(const Value& a, const Value& b) const { return w_.Binary("xor", a, b); }
  Value Product(const Value& x, uint32_t factor) const {
    const Value wide = ToUnsigned(w_, x, DType::kInt64);
    return w_.Mul(wide, w_.FillInt(Unsigned(DType::kInt64, Shape{}), int64_t{factor}));
  }
  Value Low(const Value& x) const { return ToUnsigned(w_, x, DType::kInt32); }
  Value High(const Value& x) const {
    const Value shift = w_.FillInt(Unsigned(DType::kInt64, Shape{}), 32);
    return ToUnsigned(w_, w_.Binary("shift_right_logical", x, shift), DType::kInt32);
  }

  Writer& w_;
  std::array<Value, 2> key_;
  std::array<uint32_t, 2> upper_;
  Value base_;  // i64 []
};

// The numbers 0, 1, 2, ... of `count` groups, times `stride`: i64 [count].
Value GroupIndices(Writer& w, int64_t count, int64_t stride) {
  const Type type{DType::kInt64, Shape{count}};
  return w.Mul(w.Iota(type, 0), w.FillInt(type, stride));
}

// Element i of the result is element i % parts.size() of group i / parts.size().
Value Interleave(Writer& w, const Values& parts, const Shape& shape) {
  const int64_t groups = parts[0].shape().num_elements();
  const auto size = static_cast<int64_t>(parts.size());
  Values columns;
  for (const Value& part : parts) columns.push_back(w.Reshape(part, Shape{groups, 1}));
  const Value all = w.Reshape(w.Concatenate(columns, 1), Shape{groups * size});
  return w.Reshape(w.Slice(all, {0}, {shape.num_elements()}, {1}), shape);
}

// A number in [0, 1) from the low `bits` of x: they are the mantissa of a number in [1, 2); less 1.
Value UniformFromBits(Writer& w, const Value& x, int bits) {
  const Value mantissa = w.Binary("and", x, Bits(w, Shape{}, (1u << bits) - 1));
  // The bits are the highest of the 23 mantissa bits of a float32.
  const auto shift = static_cast<uint32_t>(23 - bits);
  const Value shifted =
      shift == 0 ? mantissa : w.Binary("shift_left", mantissa, Bits(w, Shape{}, shift));
  const Value number = w.Binary("or", shifted, Bits(w, Shape{}, 127u << 23));
  return w.AddConst(w.Bitcast(number, DType::kFloat32), -1);
}

// Two standard normal numbers (Box-Muller): NormalPair of base/random.h.
std::array<Value, 2> NormalPair(Writer& w, const Value& x0, const Value& x1) {
  // The logarithm of 0 is infinite. TensorFlow's BoxMullerFloat has the same smallest number.
  const Value u1 = w.Max(UniformFromBits(w, x0, 23), w.Scalar(DType::kFloat32, 1.0e-7));
  const Value v1 = w.MulConst(UniformFromBits(w, x1, 23), 2.0 * std::numbers::pi);
  const Value u2 = w.Unary("sqrt", w.MulConst(w.Unary("log", u1), -2));
  return {w.Mul(w.Unary("sine", v1), u2), w.Mul(w.Unary("cosine", v1), u2)};
}

Values Normal4(Writer& w, const Four& x) {
  const auto [a, b] = NormalPair(w, x[0], x[1]);
  const auto [c, d] = NormalPair(w, x[2], x[3]);
  return {a, b, c, d};
}

Values StandardNormal4(Writer& w, const Stream& stream, int64_t groups, DType /*dtype*/) {
  return Normal4(w, stream.At(GroupIndices(w, groups, 1)));
}

Values Uniform4(Writer& w, const Stream& stream, int64_t groups, DType dtype) {
  // A 16-bit float takes as many low bits as it has mantissa bits.
  const int bits = dtype == DType::kBfloat16 ? 7 : dtype == DType::kFloat16 ? 10 : 23;
  Values parts;
  for (const Value& x : stream.At(GroupIndices(w, groups, 1)))
    parts.push_back(UniformFromBits(w, x, bits));
  return parts;
}

// For each group the first four numbers with |x| < 2, in the order in which they are drawn.
Values TruncatedNormal4(Writer& w, const Stream& stream, int64_t groups, DType /*dtype*/) {
  const Value first = GroupIndices(w, groups, kResultsPerGroup);
  const Type count_type{DType::kInt32, Shape{groups}};
  const Type kept_type{DType::kFloat32, Shape{groups}};
  // The state: the number of results that were tried, numbers kept by each group, the numbers.
  Values init = {w.FillInt({DType::kInt64, Shape{}}, 0), w.FillInt(count_type, 0)};
  init.resize(6, w.Fill(kept_type, 0));
  const auto unfinished = [&w](const Values& state) {
    const Value least = w.Reduce("minimum", state[1], {0});
    return w.Compare("LT", least, w.FillInt(least.type, 4));
  };
  const auto draw = [&w, &stream, &first](const Values& state) {
    Values next = state;
    for (const Value& x : Normal4(w, stream.At(w.Add(first, state[0])))) {
      const Value in_range = w.Compare("LT", w.Unary("abs", x), w.Scalar(DType::kFloat32, 2));
      for (int64_t i = 0; i < 4; ++i) {
        // A complete group draws until all groups are complete, but has no place for more numbers.
        const Value is_next = w.Compare("EQ", next[1], w.FillInt({DType::kInt32, Shape{}}, i));
        Value& kept = next[static_cast<size_t>(2 + i)];
        kept = w.Select(w.Binary("and", in_range, is_next), x, kept);
      }
      next[1] = w.Add(next[1], w.Convert(in_range, DType::kInt32));
    }
    next[0] = w.Add(state[0], w.FillInt(state[0].type, 1));
    return next;
  };
  const Values done = w.While(init, unfinished, draw);
  return Values(done.begin() + 2, done.end());
}

// A lowering that fills the output with groups of four f32 numbers, which `draw` returns.
OpLowering FloatLowering(Values (*draw)(Writer& w, const Stream& stream, int64_t groups, DType)) {
  return [draw](Writer& w, const LoweringArgs& args) -> LoweringResult {
    const TensorSpec& output = args.output(0);
    if (output.dtype == DType::kFloat64)
      return NotLowerable("it draws float64, which a TPU lacks: draw float32");
    const int64_t n = output.shape.num_elements();
    if (n == 0) return Values{w.Fill(output, 0)};
    const Stream stream(w, args, kReservedPerNumber * n);
    const Values parts = draw(w, stream, (n + 3) / 4, output.dtype);
    return Values{w.Convert(Interleave(w, parts, output.shape), output.dtype)};
  };
}

EST_REGISTER_STABLEHLO("RandomUniform", FloatLowering(Uniform4));
EST_REGISTER_STABLEHLO("RandomStandardNormal", FloatLowering(StandardNormal4));
EST_REGISTER_STABLEHLO("TruncatedNormal", FloatLowering(TruncatedNormal4));

// low + x mod (high - low), in unsigned arithmetic.
LoweringResult LowerRandomUniformInt(Writer& w, const LoweringArgs& args) {
  const TensorSpec& output = args.output(0);
  const int64_t n = output.shape.num_elements();
  if (n == 0) return Values{w.Fill(output, 0)};
  const Array* const low = args.constant(1);
  const Array* const high = args.constant(2);
  // Bounds that the step computes are not checked, because a device cannot report them.
  if (low != nullptr && high != nullptr && low->AsDouble() >= high->AsDouble()) {
    return NotLowerable(absl::StrCat("minval must be less than maxval, got ", low->ToString(),
                                     " and ", high->ToString()));
  }
  const bool is_long = output.dtype == DType::kInt64;
  const int64_t group_size = is_long ? 2 : 4;
  const Stream stream(w, args, kReservedPerNumber * n);
  const Four x = stream.At(GroupIndices(w, (n + group_size - 1) / group_size, 1));
  Values parts(x.begin(), x.end());
  if (is_long) {
    const Value shift = w.FillInt(Unsigned(DType::kInt64, Shape{}), 32);
    parts.clear();
    for (size_t i = 0; i < 4; i += 2) {
      const Value upper = w.Binary("shift_left", ToUnsigned(w, x[i + 1], DType::kInt64), shift);
      parts.push_back(w.Binary("or", ToUnsigned(w, x[i], DType::kInt64), upper));
    }
  }
  const auto as_unsigned = [&](const Value& value) {
    return w.Bitcast(w.Reshape(value, Shape{}), output.dtype, /*is_unsigned=*/true);
  };
  const Value first = as_unsigned(args.input(1));
  const Value range = w.Sub(as_unsigned(args.input(2)), first);
  const Value bits = Interleave(w, parts, output.shape);
  const Value drawn = w.Add(w.Binary("remainder", bits, range), first);
  return Values{w.Bitcast(drawn, output.dtype)};
}
EST_REGISTER_STABLEHLO("RandomUniformInt", LowerRandomUniformInt);

// Fisher-Yates from the front: number i of the stream chooses the row that comes to place i.
LoweringResult LowerRandomShuffle(Writer& w, const LoweringArgs& args) {
  const Value& x = args.input(0);
  const int64_t size = x.rank() == 0 ? 1 : x.dim(0);
  if (size < 2 || x.shape().num_elements() == 0) return Values{x};
  const Stream stream(w, args, (size + 2) / 4);
  const Four numbers = stream.At(GroupIndices(w, (size + 2) / 4, 1));
  const Type index_type{DType::kInt32, Shape{size - 1}};
  const Value places = w.Iota(index_type, 0);
  const Value left = w.Bitcast(w.Sub(w.FillInt(index_type, size), places), DType::kInt32,
                               /*is_unsigned=*/true);
  const Value offsets = w.Binary(
      "remainder", Interleave(w, Values(numbers.begin(), numbers.end()), Shape{size - 1}), left);
  const Value chosen = w.Add(places, w.Bitcast(offsets, DType::kInt32));

  // The loop swaps row numbers. The rows themselves are moved once, by the gather.
  const Type order_type{DType::kInt32, Shape{size}};
  const Type scalar{DType::kInt32, Shape{}};
  const Values done = w.While(
      {w.FillInt(scalar, 0), w.Iota(order_type, 0)},
      [&](const Values& state) { return w.Compare("LT", state[0], w.FillInt(scalar, size - 1)); },
      [&](const Values& state) {
        const Value& i = state[0];
        const Value j = w.Reshape(w.DynamicSlice(chosen, {i}, {1}), Shape{});
        const Value at_i = w.DynamicSlice(state[1], {i}, {1});
        const Value at_j = w.DynamicSlice(state[1], {j}, {1});
        const Value swapped =
            w.DynamicUpdateSlice(w.DynamicUpdateSlice(state[1], at_j, {i}), at_i, {j});
        return Values{w.Add(i, w.FillInt(scalar, 1)), swapped};
      });
  Ints offset_dims, sizes = {1};
  for (int axis = 1; axis < x.rank(); ++axis) {
    offset_dims.push_back(axis);
    sizes.push_back(x.dim(axis));
  }
  const std::string offset =
      offset_dims.empty()
          ? ""
          : absl::StrCat("offset_dims = [", absl::StrJoin(offset_dims, ", "), "], ");
  return Values{w.Op("gather", {x, done[1]}, x.type,
                     absl::StrCat("dimension_numbers = #stablehlo.gather<", offset,
                                  "collapsed_slice_dims = [0], start_index_map = [0], "
                                  "index_vector_dim = 1>, slice_sizes = ",
                                  IntsAttr(sizes)))};
}
EST_REGISTER_STABLEHLO("RandomShuffle", LowerRandomShuffle);

}  // namespace
}  // namespace estimator::tpu::stablehlo
