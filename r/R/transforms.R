# Transforms and selections of rows, which R computes itself: expressions on the columns of a frame.

# A frame with the columns that `transforms`, the expression list(name = ...), makes of it; only
# those in `wanted`, where that is given.
transformed <- function(data, transforms, objects, around, wanted = NULL) {
  if (is.null(transforms)) return(data)
  if (!is.call(transforms) || !identical(transforms[[1]], quote(list))) {
    refuse("transforms must be written as list(name = expression, ...).")
  }
  made <- as.list(transforms)[-1]
  if (is.null(names(made)) || !all(nzchar(names(made)))) {
    refuse("Each of transforms needs a name: list(name = expression, ...).")
  }
  chosen <- if (is.null(wanted)) names(made) else intersect(names(made), wanted)
  for (name in chosen) {
    data[[name]] <- computed(made[[name]], data, objects, around, paste0("The transform '", name, "'"))
  }
  data
}

# The rows of a frame for which the expression `selection` is true.
selected <- function(data, selection, objects, around) {
  if (is.null(selection)) return(data)
  if (is.character(selection)) selection <- as.name(selection)
  kept <- computed(selection, data, objects, around, "rowSelection")
  if (!is.logical(kept)) refuse("rowSelection must be TRUE or FALSE for each row.")
  data[which(kept), , drop = FALSE]
}

computed <- function(expression, data, objects, around, called) {
  place <- if (is.null(objects)) around else list2env(as.list(objects), parent = around)
  values <- tryCatch(eval(expression, data, place), error = function(e) {
    refuse(called, " cannot be computed: ", conditionMessage(e), ".")
  })
  if (!length(values) %in% c(1L, nrow(data))) {
    refuse(called, " gives ", length(values), " values for ", nrow(data), " rows.")
  }
  rep_len(values, nrow(data))
}
