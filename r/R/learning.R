# rxNeuralNet: the original's call, trained in Python on columns of a data frame.

rxNeuralNet <- function(formula = NULL, data, type = c("binary", "multiClass", "regression"),
                        numHiddenNodes = 100, numIterations = 100, optimizer = sgd(),
                        netDefinition = NULL, initWtsDiameter = 0.1, maxNorm = 0,
                        acceleration = c("sse", "gpu"), miniBatchSize = 1, normalize = "auto",
                        mlTransforms = NULL, mlTransformVars = NULL, rowSelection = NULL,
                        transforms = NULL, transformObjects = NULL, transformFunc = NULL,
                        transformVars = NULL, transformPackages = NULL, transformEnvir = NULL,
                        blocksPerRead = NULL, reportProgress = NULL, verbose = 1,
                        computeContext = NULL, ensemble = NULL) {
  refuse_given(
    "rxNeuralNet", transformFunc = transformFunc, transformVars = transformVars,
    transformPackages = transformPackages, transformEnvir = transformEnvir,
    computeContext = computeContext, ensemble = ensemble
  )
  check_frame(data)
  if (!inherits(optimizer, "netsharp_optimizer")) {
    refuse("optimizer must be sgd(...) or adaDeltaSgd(...), found ", class(optimizer)[1], ".")
  }
  around <- parent.frame()
  changes <- as_expression(substitute(transforms), around)
  data <- transformed(data, changes, transformObjects, around)
  data <- selected(data, as_expression(substitute(rowSelection), around), transformObjects, around)
  vectors <- vectors_of(mlTransforms)
  opened <- opened_formula(formula, data, vectors)
  check_names(data, opened$columns)
  type <- if (missing(type)) "binary" else type
  if (identical(type, "binary")) refuse_unused_levels(formula, data)
  settings <- present(list(
    type = type, numHiddenNodes = numHiddenNodes, numIterations = numIterations,
    netDefinition = definition_of(netDefinition), initWtsDiameter = initWtsDiameter,
    maxNorm = maxNorm, miniBatchSize = miniBatchSize, normalize = normalize,
    verbose = as.integer(verbose)
  ))
  answer <- asked(
    "learned", opened$text, crossed(data, opened$columns), as.list(enc2utf8(names(data))), settings,
    present(unclass(optimizer)), lapply(vectors, as.list)
  )
  structure(
    list(
      formula = without_surroundings(formula),
      type = type,
      label = answer$label,
      features = unlist(answer$features),
      like = data[[answer$label]][0],
      transforms = changes,
      transformObjects = transformObjects,
      told = answer$told,
      definition = answer$definition,
      model = as.raw(answer$model)
    ),
    class = c("rxNeuralNet", "mlModel")
  )
}

mxNeuralNet <- rxNeuralNet

check_frame <- function(data) {
  if (!is.data.frame(data)) {
    refuse(
      "data must be a data frame, found ", class(data)[1], ". Read files and tables of a database ",
      "into one first, with read.csv() or DBI::dbGetQuery()."
    )
  }
}

check_names <- function(data, used) {
  twice <- intersect(used, names(data)[duplicated(names(data))])
  if (length(twice)) refuse("Two columns are called ", listed(twice[1]), ". Rename one of them.")
}

# Levels without a row are classes, too: of a part of a frame nobody means that.
refuse_unused_levels <- function(formula, data) {
  label <- all.vars(stats::as.formula(formula))[1]
  values <- data[[label]]
  if (is.factor(values) && nlevels(values) > 2 && nlevels(droplevels(values)) <= 2) {
    unused <- setdiff(levels(values), levels(droplevels(values)))
    refuse(
      "The label '", label, "' has ", nlevels(values), " levels; two are needed. No row has ",
      listed(unused), ": droplevels() takes such levels away."
    )
  }
}

# Settings without NA, which Python does not know.
present <- function(settings) {
  for (name in names(settings)) {
    if (anyNA(settings[[name]])) refuse(name, " is NA. Give it a value, or leave it out.")
  }
  settings
}

# An argument that is an expression on columns, or a variable of the caller's that holds one.
as_expression <- function(given, around) {
  if (!is.name(given)) return(given)
  held <- tryCatch(get(as.character(given), envir = around), error = function(e) given)
  if (is.language(held) || is.null(held)) held else given
}

# Lines of a text are one text, as readLines() and c() give them.
definition_of <- function(given) {
  if (is.null(given)) return(NULL)
  if (!is.character(given)) {
    refuse("netDefinition must be a text of Net# or the path of a file, found ", class(given)[1], ".")
  }
  enc2utf8(paste(given, collapse = "\n"))
}

# A formula that does not hold on to all that was around it: a stored model would.
without_surroundings <- function(formula) {
  if (inherits(formula, "formula")) environment(formula) <- globalenv()
  formula
}

print.rxNeuralNet <- function(x, ...) {
  cat("Neural network, ", x$type, "\n", sep = "")
  cat("formula: ", deparse1(stats::formula(x)), "\n", sep = "")
  cat(x$told, "\n", sep = "")
  invisible(x)
}

formula.rxNeuralNet <- function(x, ...) stats::as.formula(x$formula, env = globalenv())

summary.rxNeuralNet <- function(object, ...) {
  structure(list(network = object), class = "summary.rxNeuralNet")
}

print.summary.rxNeuralNet <- function(x, ...) {
  print(x$network)
  cat(x$network$definition, "\n", sep = "")
  invisible(x)
}
