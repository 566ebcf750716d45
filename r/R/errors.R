# How calls are refused: with a sentence, and the call of no function around it.

refuse <- function(...) {
  stop(structure(
    class = c("netsharp_error", "error", "condition"),
    list(message = paste0(...), call = NULL)
  ))
}

# Names as they stand in a sentence: 'a', 'b' and 'c'.
listed <- function(names) {
  quoted <- paste0("'", names, "'")
  if (length(quoted) == 1) return(quoted)
  last <- length(quoted)
  paste(paste(quoted[-last], collapse = ", "), "and", quoted[last])
}
