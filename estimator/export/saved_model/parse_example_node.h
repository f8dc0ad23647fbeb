// Adds the parsing of tf.train.Examples to a GraphDef.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_PARSE_EXAMPLE_NODE_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_PARSE_EXAMPLE_NODE_H_

#include "estimator/export/signature/input_receiver.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

// Adds the node `ParseExample/ParseExampleV2`, whose input is parsing.serialized. The placeholders
// of the features become Identity nodes of the same names, so that a caller may still feed them.
//
//   FixedLenFeature          an output of ParseExampleV2
//   FixedLenSequenceFeature  an output, which is as long as the longest of the request, and PadV2
//   VarLenFeature            SparseToDense of its sparse outputs; UnsortedSegmentSum of ones for
//                            the lengths
//
// With more than max_length values, PadV2 or SparseToDense fails. The nodes of features of variable
// length have the attributes of graphdef/parsed_feature.h.
void WriteParseExample(const ExampleParsing& parsing, proto::GraphDef* graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_PARSE_EXAMPLE_NODE_H_
