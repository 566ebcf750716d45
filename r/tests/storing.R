# A network outlives its session: no object of Python is in it.
source("support/begin.R")

many <- quick(Species ~ ., iris, "multiClass", transforms = list(area = Petal.Length * Petal.Width))
scores <- rxPredict(many, iris, extraVarsToWrite = "area")
stopifnot(identical(scores$area, iris$Petal.Length * iris$Petal.Width))

bytes <- rxSerializeModel(many, metadata = "flowers")
again <- rxUnserializeModel(bytes)
stopifnot(
  is.raw(bytes), identical(attr(again, "metadata"), "flowers"),
  identical(rxPredict(again, iris, extraVarsToWrite = "area"), scores)
)

# Another R has the same answers, and prints the network before it knows any Python.
files <- normalizePath(c(tempfile("model"), tempfile("scores")), mustWork = FALSE)
saveRDS(many, files[1])
other <- sprintf(
  "library(netsharp); model <- readRDS('%s'); print(model); print(summary(model));
   stopifnot(!reticulate::py_available());
   saveRDS(rxPredict(model, iris, extraVarsToWrite = 'area'), '%s')", files[1], files[2]
)
told <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(other)), stdout = TRUE)
stopifnot(
  any(grepl("Neural network, multiClass", told, fixed = TRUE)),
  identical(readRDS(files[2]), scores)
)
