# What formulas mean of a frame.
source("support/begin.R")

features <- function(formula, data = iris) {
  suppressWarnings(quick(formula, data, "multiClass", miniBatchSize = 50))$features
}
numbers <- setdiff(names(iris), "Species")
form <- Species ~ Petal.Width
odd <- iris
names(odd)[1:2] <- c("a b", "x+y")
stopifnot(
  identical(features(Species ~ .), numbers),
  identical(features("Species ~ Sepal.Width+Petal.Width"), c("Sepal.Width", "Petal.Width")),
  identical(features(Species ~ . - Sepal.Width - 1), numbers[-2]),
  identical(features(Species ~ (Petal.Width + Sepal.Width) - Sepal.Width), "Petal.Width"),
  identical(features(form), "Petal.Width"),
  identical(features(Species ~ `a b` + `x+y`, odd), c("a b", "x+y"))
)

# A model is small: its formula holds on to nothing.
made <- local({
  large <- rnorm(1e6)
  quick(as.formula("Species ~ Petal.Width"), iris, "multiClass", miniBatchSize = 50)
})
stopifnot(length(rxSerializeModel(made)) < 1e5, identical(formula(made), form))

refuses(quick(Species ~ Petal.Width:Petal.Length, iris), "term 'Petal.Width:Petal.Length' is no")
refuses(quick(Species ~ Petal.Width * Petal.Length, iris), "term 'Petal.Width:Petal.Length' is no")
refuses(quick(Species ~ log(Petal.Width), iris), "term 'log(Petal.Width)' is not a column")
refuses(quick(Species ~ offset(Petal.Width), iris), "term 'offset(Petal.Width)' is not a column")
refuses(quick(log(Petal.Width) ~ Species, iris), "term 'log(Petal.Width)' is not a column")
refuses(quick(Species ~ petal.width, iris), "no column 'petal.width', which the formula names. Did")
refuses(quick(Species ~ . - Petals, iris), "no column 'Petals', which the formula leaves out")
refuses(quick(~ Petal.Width, iris), "has no label")
refuses(quick("Species", iris), "is not a formula")
refuses(quick("Species ~ ~ +", iris), "is not a formula")
refuses(quick(7, iris), "formula must be a formula such as y ~ a + b, found numeric")
refuses(quick(data = iris), "found NULL")
refuses(quick(Species ~ 1, iris), "no column beside the label")
