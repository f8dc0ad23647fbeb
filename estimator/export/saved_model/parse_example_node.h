// Puts the parsing of tf.train.Examples into a GraphDef.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_PARSE_EXAMPLE_NODE_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_PARSE_EXAMPLE_NODE_H_

#include "estimator/export/signature/input_receiver.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

// Adds `ParseExample/ParseExampleV2` over parsing.serialized, and makes the placeholders that
// stand for its outputs Identity nodes of them, so that their names remain (a caller may feed
// them).
void WriteParseExample(const ExampleParsing& parsing, proto::GraphDef* graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_PARSE_EXAMPLE_NODE_H_
