# Columns of data frames as bytes, and back: what has no bytes of its own is codes and levels.
# crossing.py is the other side.

# The columns of a frame by their names.
crossed <- function(data, names) lapply(names, function(name) crossed_column(name, data[[name]]))

crossed_column <- function(name, values) {
  if (!is.null(dim(values))) {
    refuse("Column '", name, "' holds a table. Give each of its columns a name of its own.")
  }
  if (is.factor(values)) {
    codes_of(name, "factor", values)
  } else if (is.character(values)) {
    codes_of(name, "texts", factor(values, levels = unique(values[!is.na(values)])))
  } else if (is.logical(values) || (is.numeric(values) && !is.object(values))) {
    kind <- if (is.logical(values)) "truths" else "numbers"
    bytes <- writeBin(as.double(values), raw(), endian = "little")
    list(name = enc2utf8(name), kind = kind, values = bytes, levels = list())
  } else {
    refuse(
      "Column '", name, "' holds values of class ", class(values)[1], ", which are not features. ",
      "Turn them into numbers, texts or a factor, or leave the column out."
    )
  }
}

codes_of <- function(name, kind, values) {
  codes <- as.integer(values) - 1L
  codes[is.na(codes)] <- -1L
  list(
    name = enc2utf8(name),
    kind = kind,
    values = writeBin(codes, raw(), endian = "little"),
    levels = as.list(enc2utf8(levels(values)))
  )
}

# The values of a column that Python sent.
arrived <- function(column) {
  bytes <- as.raw(column$values)
  if (column$kind == "texts") {
    codes <- readBin(bytes, "integer", length(bytes) / 4, endian = "little")
    codes[codes < 0] <- NA
    return(unlist(column$levels)[codes + 1L])
  }
  numbers <- readBin(bytes, "double", length(bytes) / 8, endian = "little")
  numbers[is.nan(numbers)] <- NA
  if (column$kind == "truths") as.logical(numbers) else numbers
}

# Values with the type of a label, of which `like` has no row: a factor has all its levels.
typed_like <- function(values, like) {
  if (is.factor(like)) {
    factor(values, levels = levels(like), ordered = is.ordered(like))
  } else {
    as.vector(values, mode = typeof(like))
  }
}
