# What cannot be is refused with a sentence, in R's words, and without a trace.
source("support/begin.R")

many <- quick(Species ~ Petal.Length + Petal.Width, iris, "multiClass")
dated <- transform(iris, day = as.Date("2016-01-01") + 1:150)
tabled <- iris
tabled$both <- as.matrix(iris[1:2])
twice <- setNames(cbind(iris, 1), c(names(iris), "Petal.Width"))

refuses(quick(Species ~ Petal.Width, iris), "3 classes; two classes are needed. type='multiClass'")
refuses(quick(Species ~ Petal.Width, iris[1:100, ]), "droplevels()")
refuses(quick(Species ~ day, dated, "multi"), "'day' holds values of class Date")
refuses(quick(Species ~ both, tabled, "multi"), "'both' holds a table")
refuses(quick(Species ~ Petal.Width, twice, "multi"), "Two columns are called 'Petal.Width'")
refuses(quick(Species ~ Petal.Width, "iris.xdf"), "must be a data frame, found character")
refuses(quick(Species ~ Petal.Width, iris, "ranks"), "type must be one of")
refuses(quick(Species ~ Petal.Width, iris, "multi", normalize = "some"), "normalize must be one of")
refuses(quick(Species ~ Petal.Width, iris, "multi", optimizer = "sgd"), "must be sgd(...)")
refuses(quick(Species ~ Petal.Width, iris, "multi", miniBatchSize = 0), "miniBatchSize")
refuses(
  quick(Species ~ Petal.Width, iris, "multi", optimizer = sgd(learningRate = -1)), "learningRate"
)
refuses(rxNeuralNet(Species ~ Petal.Width, iris, "multi", numIterations = 2.5), "numIterations: a")
refuses(rxNeuralNet(Species ~ Petal.Width, iris, "multi", numIterations = NA), "numIterations is NA")
refuses(
  quick(Species ~ Petal.Width, iris, "multi", optimizer = sgd(momentum = NA)), "momentum is NA"
)
refuses(quick(Species ~ Petal.Width, iris, "multi", netDefinition = 7), "found numeric")
refuses(
  quick(Species ~ Petal.Width, iris, "multi", netDefinition = "nowhere/a.nn"),
  "nowhere/a.nn cannot be read: No such file or directory."
)
refuses(
  quick(Sepal.Width ~ Petal.Width, iris, "regression",
        netDefinition = c("input D [0];", "output O [1] linear from D all;")),
  "line 1, column 10: NS050"
)
refuses(quick(Species ~ Petal.Width, iris, "regression"), "'Species' of a regression must be num")
refuses(quick(Species ~ Petal.Width, iris, ensemble = list()), "does not take ensemble here")
refuses(quick(Species ~ Petal.Width, iris, computeContext = "local"), "does not take computeContext")
refuses(quick(Species ~ x, iris, "multi", transforms = list(x = nowhere + 1)), "transform 'x' cannot")
refuses(quick(Species ~ x, iris, "multi", transforms = list(x = 1:7)), "gives 7 values for 150 rows")
refuses(quick(Species ~ Petal.Width, iris, "multi", rowSelection = Petal.Width), "TRUE or FALSE")
refuses(concat(c("a", "b")), "by its name")
refuses(quick(Species ~ Petal.Width, iris, mlTransforms = list("a")), "what concat(...) returns")

refuses(rxPredict(many, iris["Petal.Width"]), "no column 'Petal.Length', which the network needs")
refuses(rxPredict(many, iris, extraVarsToWrite = "colour"), "extraVarsToWrite names 'colour'")
refuses(rxPredict(many, iris, outData = "scores.xdf"), "rxPredict does not take outData here")
refuses(rxPredict(many, iris, suffix = c(".a", ".b")), "suffix must be one text")
refuses(rxPredict(iris, iris), "what rxNeuralNet returned, found data.frame")
refuses(rxPredict(many, "iris.xdf"), "must be a data frame")
refuses(rxPredict(many, transform(iris, PredictedLabel = 1), extraVarsToWrite = "PredictedLabel"),
        "a column and a score")
refuses(rxSerializeModel(iris), "what rxNeuralNet returned")
refuses(rxUnserializeModel("x"), "must be the raw vector")
refuses(rxUnserializeModel(as.raw(1:9)), "no network that rxSerializeModel wrote")
refuses(rxUnserializeModel(serialize(iris, NULL)), "no network that rxSerializeModel wrote")
broken <- many
broken$model <- many$model[1:200]
refuses(rxPredict(broken, iris), "The model is damaged")

# No call, no trace, nothing behind the sentence.
error <- tryCatch(quick(Species ~ Petal.Width, iris), error = identity)
stopifnot(
  is.null(conditionCall(error)), inherits(error, "netsharp_error"),
  !grepl("\n|Traceback|ValueError", conditionMessage(error))
)
