# rxPredict: scores of rows, beside columns of theirs, in a data frame.

rxPredict <- function(modelObject, data, outData = NULL, writeModelVars = FALSE,
                      extraVarsToWrite = NULL, suffix = NULL, overwrite = FALSE,
                      dataThreads = NULL, blocksPerRead = NULL, reportProgress = NULL,
                      verbose = 1, computeContext = NULL) {
  refuse_given("rxPredict", outData = outData, computeContext = computeContext)
  if (!inherits(modelObject, "rxNeuralNet")) {
    refuse("modelObject must be what rxNeuralNet returned, found ", class(modelObject)[1], ".")
  }
  check_frame(data)
  if (!is.null(suffix) && (!is.character(suffix) || length(suffix) != 1 || is.na(suffix))) {
    refuse("suffix must be one text, such as \".nn\".")
  }
  wanted <- setdiff(c(modelObject$features, extraVarsToWrite), names(data))
  data <- transformed(
    data, modelObject$transforms, modelObject$transformObjects, parent.frame(), wanted
  )
  used <- intersect(modelObject$features, names(data))
  check_names(data, c(used, extraVarsToWrite))
  answer <- asked(
    "scored", modelObject$model,
    list(
      type = modelObject$type, label = modelObject$label, features = as.list(modelObject$features)
    ),
    crossed(data, used), as.list(enc2utf8(names(data))),
    whole = isTRUE(writeModelVars), extra = as.list(enc2utf8(as.character(extraVarsToWrite))),
    suffix = if (is.null(suffix)) "" else enc2utf8(suffix)
  )
  scores <- lapply(answer$columns, function(column) {
    if (column$kind == "own") return(data[[column$name]])
    values <- arrived(column)
    if (startsWith(column$name, "PredictedLabel")) typed_like(values, modelObject$like) else values
  })
  names(scores) <- vapply(answer$columns, `[[`, "", "name")
  as.data.frame(scores, optional = TRUE, stringsAsFactors = FALSE)
}
