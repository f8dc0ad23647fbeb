#include "estimator/graphdef/tensor_proto.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

absl::StatusOr<Array> Read(const std::string& text) {
  proto::TensorProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return ReadTensorProto(proto, 1000);
}

void ExpectReads(const std::string& text, const Array& expected) {
  const auto value = Read(text);
  EST_ASSERT_OK(value);
  EXPECT_TRUE(SameBits(*value, expected)) << value->ToString();
}

TEST(TensorProtoTest, ReadsWhatItWrites) {
  for (const Array& value :
       {Array::Scalar(1.5f), Array::Of<int64_t>({2}, {1, -2}), Array::Of<bool>({2}, {true, false}),
        Array::Of<std::string>({2}, {"a", ""}), Array(DType::kFloat32, {0, 3}),
        Array::Scalar<uint8_t>(200), Array::Of<float>({2}, {1, 2}).Cast(DType::kBfloat16)}) {
    proto::TensorProto proto;
    WriteTensorProto(value, /*contents=*/true, &proto);
    const auto read = ReadTensorProto(proto, 1000);
    EST_ASSERT_OK(read);
    EXPECT_TRUE(SameBits(*read, value)) << value.TypeString();
  }
}

TEST(TensorProtoTest, TheLastValueStandsForThoseThatFollow) {
  ExpectReads("dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: [1, 2]",
              Array::Of<float>({3}, {1, 2, 2}));
  ExpectReads("dtype: DT_INT16 tensor_shape { dim { size: 2 } } int_val: -7",
              Array::Of<int16_t>({2}, {-7, -7}));
  ExpectReads("dtype: DT_INT32 tensor_shape { dim { size: 2 } }", Array::Of<int32_t>({2}, {0, 0}));
  ExpectReads("dtype: DT_HALF tensor_shape { dim { size: 2 } } half_val: 15360",
              Array::Of<float>({2}, {1, 1}).Cast(DType::kFloat16));
}

TEST(TensorProtoTest, BytesOfBoolsAreZeroOrOne) {
  ExpectReads("dtype: DT_BOOL tensor_shape { dim { size: 2 } } tensor_content: '\\003\\000'",
              Array::Of<bool>({2}, {true, false}));
}

TEST(TensorProtoTest, RefusesWhatDoesNotFit) {
  const auto error = [](const std::string& text) { return Read(text).status(); };
  EXPECT_THAT(error("dtype: DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: 'abcd'"),
              ErrorHas("has 4 bytes, expected 8"));
  EXPECT_THAT(error("dtype: DT_FLOAT float_val: [1, 2]"), ErrorHas("has 2 values"));
  EXPECT_THAT(error("dtype: DT_FLOAT tensor_shape { dim { size: 251 } }"),
              ErrorHas("larger than 1000 bytes"));
  EXPECT_THAT(error("dtype: DT_FLOAT tensor_shape { dim { size: -1 } }"),
              ErrorHas("without a shape"));
  EXPECT_THAT(error("dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: "
                    "4 } }"),
              ErrorHas("after 4611686018427387904 elements"));
  EXPECT_THAT(Read("dtype: DT_COMPLEX64"), StatusIs(absl::StatusCode::kUnimplemented));
}

TEST(TensorProtoTest, KnowsReferencesAndDTypesThatWeHaveNot) {
  EXPECT_EQ(ReadDType(proto::DT_FLOAT_REF), DType::kFloat32);
  EXPECT_EQ(ReadDType(proto::DT_STRING), DType::kString);
  EXPECT_EQ(ReadDType(proto::DT_RESOURCE), DType::kInvalid);
}

}  // namespace
}  // namespace estimator
