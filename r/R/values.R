# What calls are given that is no number: optimisers and vectors of columns.

sgd <- function(learningRate = 0.001, momentum = 0, nag = FALSE, weightDecay = 0,
                lRateRedRatio = 1, lRateRedFreq = 100, lRateRedErrorRatio = 0) {
  rule(
    "sgd", learningRate = learningRate, momentum = momentum, nag = nag, weightDecay = weightDecay,
    lRateRedRatio = lRateRedRatio, lRateRedFreq = lRateRedFreq,
    lRateRedErrorRatio = lRateRedErrorRatio
  )
}

adaDeltaSgd <- function(decay = 0.95, conditioningConst = 1e-06) {
  rule("adadelta", decay = decay, conditioningConst = conditioningConst)
}

maOptimizerSgd <- sgd

maOptimizerAda <- adaDeltaSgd

rule <- function(name, ...) structure(list(name = name, ...), class = "netsharp_optimizer")

print.netsharp_optimizer <- function(x, ...) {
  settings <- paste(names(x)[-1], vapply(x[-1], format, ""), sep = " = ", collapse = ", ")
  cat(c(sgd = "sgd", adadelta = "adaDeltaSgd")[[x$name]], "(", settings, ")\n", sep = "")
  invisible(x)
}

concat <- function(vars) {
  if (!is.list(vars) || is.null(names(vars)) || !all(nzchar(names(vars)))) {
    refuse(
      "concat needs the columns of each vector by its name: ",
      "concat(vars = list(Features = c(\"a\", \"b\")))."
    )
  }
  if (!all(vapply(vars, is.character, NA)) || any(lengths(vars) == 0)) {
    refuse("Each vector of concat needs names of columns.")
  }
  structure(list(vectors = lapply(vars, enc2utf8)), class = "netsharp_concat")
}

# The columns of each vector of some transforms.
vectors_of <- function(transforms) {
  if (inherits(transforms, "netsharp_concat")) transforms <- list(transforms)
  for (one in transforms) {
    if (!inherits(one, "netsharp_concat")) {
      refuse("mlTransforms takes what concat(...) returns, found ", class(one)[1], ".")
    }
  }
  do.call(c, c(list(list()), lapply(transforms, `[[`, "vectors")))
}
