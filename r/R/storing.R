# Networks as bytes, such as a table of a database stores; saveRDS() takes them as they are.

rxSerializeModel <- function(model, metadata = NULL, realtimeScoringOnly = FALSE) {
  if (!inherits(model, "rxNeuralNet")) {
    refuse("model must be what rxNeuralNet returned, found ", class(model)[1], ".")
  }
  attr(model, "metadata") <- metadata
  serialize(model, NULL)
}

rxUnserializeModel <- function(serializedModel) {
  if (!is.raw(serializedModel)) {
    refuse(
      "serializedModel must be the raw vector that rxSerializeModel returned, found ",
      class(serializedModel)[1], "."
    )
  }
  model <- tryCatch(unserialize(serializedModel), error = function(e) NULL)
  if (!inherits(model, "rxNeuralNet")) {
    refuse(
      "These bytes are no network that rxSerializeModel wrote. A model of MicrosoftML itself ",
      "cannot be read: train it again with rxNeuralNet."
    )
  }
  model
}
