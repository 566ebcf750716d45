# Types and names of scores, missing values, levels in an order of their own.
source("support/begin.R")

flowers <- iris
flowers$Species <- factor(flowers$Species, levels = c("virginica", "setosa", "versicolor"))
flowers$where <- rep(c("field", "wood", NA), 50)
flowers$late <- flowers$Species == "virginica"
flowers$days <- rep(1:3, each = 50)
flowers$Petal.Length[3] <- NA
flowers$Sepal.Width[1:2] <- NA

many <- quick(Species ~ Petal.Length + Petal.Width + where, flowers, "multiClass",
              optimizer = sgd(learningRate = 0.3))
scores <- rxPredict(many, flowers)
columns <- paste0("Score.", levels(flowers$Species))
stopifnot(
  identical(names(scores), c("PredictedLabel", columns)),
  identical(levels(scores$PredictedLabel), levels(flowers$Species)),
  is.na(scores$PredictedLabel[3]), all(is.na(scores[3, columns])),
  sum(is.na(scores)) == 4,
  identical(
    as.integer(scores$PredictedLabel[-3]),
    max.col(as.matrix(scores[-3, columns]), ties.method = "first")
  ),
  mean(scores$PredictedLabel == flowers$Species, na.rm = TRUE) > 0.5
)

# Columns of the frame come back as they are, in front.
scores <- rxPredict(many, flowers, writeModelVars = TRUE, extraVarsToWrite = c("days", "late"),
                    suffix = "_nn")
kept <- c("Species", "Petal.Length", "Petal.Width", "where", "days", "late")
stopifnot(
  identical(names(scores), c(kept, "PredictedLabel_nn", paste0(columns, "_nn"))),
  identical(scores[kept], flowers[kept])
)

# Labels keep their types; without a label rows are scored all the same.
truths <- suppressWarnings(quick(late ~ Petal.Width, flowers))
stopifnot(is.logical(rxPredict(truths, flowers["Petal.Width"])$PredictedLabel))
whole <- suppressWarnings(quick(days ~ Petal.Width, flowers, "multiClass"))
stopifnot(
  identical(names(rxPredict(whole, flowers))[-1], paste0("Score.", 1:3)),
  is.integer(rxPredict(whole, flowers)$PredictedLabel)
)
flowers$text <- as.character(flowers$Species)
texts <- suppressWarnings(quick(text ~ Petal.Width, flowers, "multiClass"))
stopifnot(
  identical(names(rxPredict(texts, flowers))[-1], paste0("Score.", sort(unique(flowers$text)))),
  is.character(rxPredict(texts, flowers[1, ])$PredictedLabel)
)
flowers$holes <- flowers$late
flowers$holes[1:20] <- NA
holes <- suppressWarnings(quick(holes ~ Petal.Width, flowers))
stopifnot(any(grepl("130 rows", holes$told)), !anyNA(rxPredict(holes, flowers)))

# Other letters than those of English, where R's own names can have them.
if (l10n_info()[["UTF-8"]]) {
  colours <- data.frame(c(1, 2, 8, 9), c("gr\u00fcn", "gr\u00fcn", "wei\u00df", "wei\u00df"))
  names(colours) <- c("Gr\u00f6\u00dfe", "Farbe")
  german <- suppressWarnings(quick("Farbe ~ `Gr\u00f6\u00dfe`", colours, miniBatchSize = 2))
  scores <- rxPredict(german, colours, writeModelVars = TRUE)
  stopifnot(
    identical(scores[1:2], colours[2:1]), all(scores$PredictedLabel %in% colours$Farbe)
  )
}

# A network of its own, the older names, rows that are selected, vectors of columns.
net <- "input Data auto; hidden H [3] tanh from Data all; output Out [3] softmax from H all;"
own <- suppressWarnings(quick(
  Species ~ Petal, flowers, "multi", netDefinition = net, optimizer = maOptimizerAda(),
  mlTransforms = list(concat(vars = list(Petal = c("Petal.Length", "Petal.Width")))),
  rowSelection = days > least, transformObjects = list(least = 1)
))
stopifnot(
  identical(own$features, c("Petal.Length", "Petal.Width")),
  any(grepl("100 rows", own$told)), any(grepl("21 parameters", own$told))
)

# What Python warns of is a warning of R's, in R's words.
told <- tryCatch(quick(late ~ Petal.Width, flowers, normalize = "warn"), warning = conditionMessage)
stopifnot(grepl("normalize='Yes'", told, fixed = TRUE))
