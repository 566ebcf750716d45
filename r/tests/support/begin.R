# What each test begins with: the package, what it is tried on, and how a refusal is caught.

library(netsharp)
if (!reticulate::py_module_available("netsharp")) {
  cat("SKIPPED: R finds no Python with the package netsharp.\n")
  quit("no")
}

quick <- function(...) rxNeuralNet(..., numIterations = 5, verbose = 0)

# The sentence with which a call is refused.
refusal <- function(call) {
  tryCatch({
    force(call)
    stop("nothing was refused")
  }, netsharp_error = function(e) conditionMessage(e))
}

refuses <- function(call, said) {
  found <- refusal(call)
  if (grepl("^Python failed|Traceback|\n", found)) stop(found)
  if (!grepl(said, found, fixed = TRUE)) stop("'", found, "' does not say '", said, "'")
}
