#include "estimator/checkpoint/object_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/load.h"
#include "estimator/proto/trackable_object_graph.pb.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kSuffix = "/.ATTRIBUTES/VARIABLE_VALUE";  // NOLINT(runtime/string)

class ObjectNamesTest : public ::testing::Test {
 protected:
  void Attribute(const std::string& full_name, const std::string& key) {
    auto* const tensor = graph_.add_nodes()->add_attributes();
    tensor->set_full_name(full_name);
    tensor->set_checkpoint_key(key);
  }
  absl::StatusOr<std::unique_ptr<BundleReader>> Open(const std::string& graph) {
    const auto writer = BundleWriter::Open(prefix_).value();
    for (const char* const key : {"a", "b", "plain"})
      EST_EXPECT_OK(writer->Add(key + kSuffix, Array::Scalar(1.0f)));
    EST_EXPECT_OK(writer->Add("plain", Array::Scalar(2.0f)));
    if (!graph.empty()) {
      EST_EXPECT_OK(writer->Add(kObjectGraphKey, Array::String(graph)));
    }
    EST_EXPECT_OK(writer->Finish());
    return BundleReader::Open(prefix_);
  }
  const TempDir dir_;
  const std::string prefix_ = dir_.File("objects");
  proto::TrackableObjectGraph graph_;
};

TEST_F(ObjectNamesTest, AValueHasTheNameOfItsVariableAndIsFoundUnderItsPathToo) {
  Attribute("dense/kernel", "a" + kSuffix);
  const auto reader = Open(graph_.SerializeAsString());
  EST_ASSERT_OK(reader);
  EXPECT_THAT((*reader)->names(),
              ElementsAre("b" + kSuffix, "dense/kernel", "plain", "plain" + kSuffix));
  EXPECT_EQ((*reader)->NameOf("a" + kSuffix), "dense/kernel");
  EXPECT_TRUE((*reader)->Has("a" + kSuffix));
  EST_EXPECT_OK((*reader)->Read("a" + kSuffix));
  EST_EXPECT_OK((*reader)->Read("dense/kernel"));
  EST_EXPECT_OK((*reader)->VerifyContents());
}

TEST_F(ObjectNamesTest, NamesOfTheCheckpointComeFirstAndWhatIsNotThereOrNotOneIsLeftOut) {
  Attribute("plain", "plain" + kSuffix);
  Attribute("gone", "gone" + kSuffix);
  Attribute("twice", "a" + kSuffix);
  Attribute("twice", "b" + kSuffix);
  Attribute("shared", "b" + kSuffix);
  Attribute("shared", "b" + kSuffix);
  const auto reader = Open(graph_.SerializeAsString());
  EST_ASSERT_OK(reader);
  EXPECT_THAT((*reader)->names(), ElementsAre("a" + kSuffix, "plain", "plain" + kSuffix, "shared"));
  EXPECT_EQ((*reader)->Read("plain")->scalar<float>(), 2);
}

TEST_F(ObjectNamesTest, ACheckpointOfNamesKeepsThemAndADamagedGraphIsToldWithTheFile) {
  EXPECT_EQ((*Open(""))->names().size(), 4);
  const absl::Status status = Open("\x0a\x7f").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(prefix_ + ".index")));
}

// testdata/saved_models/generate.py: a model of Keras, saved by TensorFlow 2.15.1.
TEST(ObjectNamesOfTensorFlow, ASavedModelOfKerasHasItsLayersVariables) {
  const auto reader = LoadCheckpoint("testdata/saved_models/keras/model").value();
  for (const std::string name :
       {"conv2d/kernel", "batch_normalization/moving_mean", "probabilities/bias"})
    EXPECT_TRUE(reader->Has(name)) << name;
}

// testdata/keras/generate.py: save_weights of Keras in TensorFlow's format.
class KerasObjectsTest : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(KerasObjectsTest, HaveTheVariablesAndSlotsOfKeras) {
  const auto reader = LoadCheckpoint(std::string("testdata/keras/") + GetParam().first).value();
  const auto expected = LoadCheckpoint(std::string("testdata/keras/") + GetParam().second).value();
  for (const std::string& name : expected->names()) {
    const auto value = reader->Read(name);
    EST_ASSERT_OK(value) << name;
    const Array wanted = expected->Read(name).value();
    ASSERT_EQ(value->TypeString(), wanted.TypeString()) << name;
    EXPECT_EQ(std::memcmp(value->raw(), wanted.raw(), wanted.num_bytes()), 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, KerasObjectsTest,
                         ::testing::Values(std::pair("small_objects", "small.expected"),
                                           std::pair("legacy_objects", "legacy.expected")));

}  // namespace
}  // namespace estimator
