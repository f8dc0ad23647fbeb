#include "estimator/checkpoint/object_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/load.h"
#include "estimator/proto/trackable_object_graph.pb.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

constexpr char kSuffix[] = "/.ATTRIBUTES/VARIABLE_VALUE";

class ObjectNamesTest : public ::testing::Test {
 protected:
  void Attribute(const std::string& full_name, const std::string& key) {
    auto* const tensor = graph_.add_nodes()->add_attributes();
    tensor->set_full_name(full_name);
    tensor->set_checkpoint_key(key);
  }
  absl::StatusOr<ObjectNames> Names(const std::string& graph) {
    const auto writer = BundleWriter::Open(prefix_).value();
    for (const char* const key : {"a", "b", "plain"})
      EST_EXPECT_OK(writer->Add(std::string(key) + kSuffix, Array::Scalar(1.0f)));
    EST_EXPECT_OK(writer->Add("plain", Array::Scalar(2.0f)));
    if (!graph.empty()) {
      EST_EXPECT_OK(writer->Add(kObjectGraphKey, Array::String(graph)));
    }
    EST_EXPECT_OK(writer->Finish());
    return ObjectNames::Of(*BundleReader::Open(prefix_).value());
  }
  const TempDir dir_;
  const std::string prefix_ = dir_.File("objects");
  proto::TrackableObjectGraph graph_;
};

TEST_F(ObjectNamesTest, AVariableIsFoundUnderThePathOfItsObject) {
  Attribute("dense/kernel", std::string("a") + kSuffix);
  const auto names = Names(graph_.SerializeAsString());
  EST_ASSERT_OK(names);
  EXPECT_EQ(names->Stored("dense/kernel"), std::string("a") + kSuffix);
  EXPECT_EQ(names->Stored("dense/bias"), "dense/bias");
}

TEST_F(ObjectNamesTest, NamesOfTheCheckpointComeFirstAndWhatIsNotThereOrNotOneIsLeftOut) {
  Attribute("plain", std::string("plain") + kSuffix);
  Attribute("gone", std::string("gone") + kSuffix);
  Attribute("twice", std::string("a") + kSuffix);
  Attribute("twice", std::string("b") + kSuffix);
  Attribute("shared", std::string("b") + kSuffix);
  Attribute("shared", std::string("b") + kSuffix);
  const auto names = Names(graph_.SerializeAsString());
  EST_ASSERT_OK(names);
  for (const std::string name : {"plain", "gone", "twice"}) EXPECT_EQ(names->Stored(name), name);
  EXPECT_EQ(names->Stored("shared"), std::string("b") + kSuffix);
}

TEST_F(ObjectNamesTest, ACheckpointOfNamesHasNoneAndADamagedGraphIsToldWithTheFile) {
  EXPECT_EQ(Names("")->Stored("dense/kernel"), "dense/kernel");
  const absl::Status status = Names("\x0a\x7f").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(prefix_ + ".index")));
}

// testdata/saved_models/generate.py: a model of Keras, saved by TensorFlow 2.15.1.
TEST(ObjectNamesOfTensorFlow, ASavedModelOfKerasHasItsLayersVariables) {
  const auto reader = LoadCheckpoint("testdata/saved_models/keras/model").value();
  const auto names = ObjectNames::Of(*reader);
  EST_ASSERT_OK(names);
  for (const std::string name :
       {"conv2d/kernel", "batch_normalization/moving_mean", "probabilities/bias"}) {
    EXPECT_FALSE(reader->Has(name));
    EXPECT_TRUE(reader->Has(names->Stored(name))) << names->Stored(name);
  }
}

}  // namespace
}  // namespace estimator
