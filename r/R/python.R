# The way to Python: where its package netsharp is, and what it answers. Nothing else of this
# package knows reticulate.

python <- new.env(parent = emptyenv())

MODULE <- "netsharp_lsp.microsoftml.crossing"

HOW <- paste0(
  "Install it with 'pip install netsharp', and name that Python before the first call: ",
  "Sys.setenv(RETICULATE_PYTHON = \"/path/to/python\")."
)

# The module of Python that answers, which is imported once in a session.
crossing <- function() {
  if (is.null(python$crossing)) python$crossing <- opened()
  python$crossing
}

opened <- function() {
  there <- tryCatch(reticulate::py_available(initialize = TRUE), error = function(e) FALSE)
  if (!there) refuse("R finds no Python, which computes for this package. ", HOW)
  tryCatch(
    reticulate::import(MODULE),
    error = function(e) refuse(
      "The Python that R uses (", reticulate::py_config()$python, ") has no package netsharp of ",
      "this version. ", HOW
    )
  )
}

# What a function of Python answers. Its warnings are R's, and so is its refusal.
asked <- function(name, ...) {
  # Arguments are worked out here: what they refuse is no failure of Python.
  given <- list(...)
  module <- crossing()
  answer <- tryCatch(
    do.call(module[[name]], given),
    error = function(e) {
      first <- strsplit(conditionMessage(e), "\n", fixed = TRUE)[[1]][1]
      refuse("Python failed, which is a fault of netsharp: ", first)
    }
  )
  for (told in answer$warnings) warning(told, call. = FALSE)
  if (!is.null(answer$error)) refuse(answer$error)
  answer
}
