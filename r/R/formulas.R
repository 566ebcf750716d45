# What a formula means of a frame: R's own terms() opens it, Python refuses what is no column.

# A formula as the text that Python takes, and the columns that it needs, as far as they are there.
# `vectors` are the columns of each vector of concat().
opened_formula <- function(formula, data, vectors) {
  if (is.character(formula) && length(formula) == 1) formula <- as_formula(formula)
  if (!inherits(formula, "formula")) {
    refuse("formula must be a formula such as y ~ a + b, found ", class(formula)[1], ".")
  }
  if (length(formula) < 3) {
    refuse("The formula has no label: write it before '~', such as y ~ a + b.")
  }
  label <- formula[[2]]
  # It warns of a column that is taken away and never was there, which is refused below.
  opened <- tryCatch(suppressWarnings(stats::terms(formula, data = data)), error = function(e) {
    refuse("The formula cannot be read: ", conditionMessage(e), ".")
  })
  terms <- lapply(attr(opened, "term.labels"), str2lang)
  offsets <- as.list(attr(opened, "variables"))[-1][attr(opened, "offset")]
  refuse_left_out(formula[[3]], c(names(data), names(vectors)), terms)
  right <- vapply(c(terms, offsets), written, "")
  if (!length(right)) refuse("There is no column beside the label to learn from.")
  named <- vapply(Filter(is.name, c(label, terms)), as.character, "")
  list(
    text = paste(written(label), "~", paste(right, collapse = " + ")),
    columns = intersect(names(data), c(named, unlist(vectors, use.names = FALSE)))
  )
}

as_formula <- function(text) {
  tryCatch(stats::as.formula(text, env = globalenv()), error = function(e) {
    refuse("'", text, "' is not a formula: write the label, '~' and columns, \"y ~ a + b\".")
  })
}

# A term as Python reads it: a column in backticks, anything else as it stands.
written <- function(term) {
  if (is.name(term)) paste0("`", enc2utf8(as.character(term)), "`") else deparse1(term)
}

# Terms that are taken away vanish in terms(), also such as were never there.
refuse_left_out <- function(right, there, terms) {
  used <- unlist(lapply(terms, all.vars))
  unknown <- setdiff(all.vars(right), c(there, used, "."))
  if (length(unknown)) {
    refuse("The data have no column ", listed(unknown[1]), ", which the formula leaves out.")
  }
}
