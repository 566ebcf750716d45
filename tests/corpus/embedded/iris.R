# The network of the documentation, in the ways that scripts write it.
library(MicrosoftML)

netDefinition <- "
input Data [4];
hidden H [10] sigmoid   from Data all;
hidden H2 [10] sigmoid from Dat all; // !NS035
output Out [3] softmax from H2 all;
"

model <- rxNeuralNet(
  Species ~ Sepal.Length + Sepal.Width + Petal.Length + Petal.Width,
  data = iris,
  type = "multiClass",
  numHiddenNodes = 20L,
  netDefinition = netDefinition
)

score <- function(data, net = NULL) {
  own <- 'input Data auto;\nhidden H auto sigmoid from Data all;\noutput R auto   sigmoid from H all; // it\'s "R" \u00e9 \u{1F600} \x41'
  fit <- rxNeuralNet(y ~ x, data = data, type = "binary", numHiddenNodes = 5, netDefinition = own)
  rxNeuralNet(y ~ x, data = data, netDefinition = net)
}

raw <- rxNeuralNet(y ~ ., data = d, type = 'regression', netDefinition = r"---(
  input Data [3];   // "quotes" and )" and \ stay
  output Out [1] linear from Data all;
)---")

parts <- paste0(
  "input Data [3];   ",
  'output Out [1] linear from Data all;'
)
rxNeuralNet(y ~ ., data = d, netDefinition = parts)

lines <- paste("input Data [3];",
               "output Out [1] linear from Dta all;", # !NS035
               sep = "\n")
neuralNet(netDefinition = lines)

"const N = 3; // to the right
input Data [N];
output Out [1] linear from Data   all;" -> right

template <- "input Data [3];   output Out [1] linear from Data all;"
sprintf(template, 3)
# language=Net#
cfg$net <- R"[input Data [3];
   output Out [1]   linear from Data all;]"
