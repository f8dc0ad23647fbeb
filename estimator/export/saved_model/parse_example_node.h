// Adds the parsing of tf.train.Examples to a GraphDef.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_PARSE_EXAMPLE_NODE_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_PARSE_EXAMPLE_NODE_H_

#include "estimator/export/signature/input_receiver.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

// Adds the node `ParseExample/ParseExampleV2`, whose input is parsing.serialized. The placeholders
// of its outputs become Identity nodes of the same names, so that a caller may still feed them.
void WriteParseExample(const ExampleParsing& parsing, proto::GraphDef* graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_PARSE_EXAMPLE_NODE_H_
