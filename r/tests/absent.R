# What is not here says so by its name, and what to use; the arguments are not looked at.
library(netsharp)

said <- function(call) tryCatch(call, netsharp_error = conditionMessage)
here <- c("adaDeltaSgd", "concat", "maOptimizerAda", "maOptimizerSgd", "mxNeuralNet", "rxNeuralNet",
          "rxPredict", "rxSerializeModel", "rxUnserializeModel", "sgd")
absent <- setdiff(getNamespaceExports("netsharp"), here)
stopifnot(length(absent) > 50)
for (name in absent) {
  told <- said(get(name)(stop("looked at"), data = nowhere))
  stopifnot(startsWith(told, paste(name, "is not part of netsharp. In its place: ")))
}
stopifnot(
  grepl("ranger", said(rxFastForest(y ~ x))),
  grepl("a data frame", said(RxXdfData("a.xdf"))),
  grepl("DBI", said(RxSqlServerData(table = "t", connectionString = "c"))),
  grepl("remove the call", said(rxSetComputeContext(RxInSqlServer())))
)
