import pandas as pd
iris = pd.read_csv("iris.csv", sep=",", nrows=100)
iris["species"] = iris["species"].astype("category")
iris["sum"] = iris["sepal_width"] + 1  # @lost data
fit = rx_neural_network("species ~ .", iris, num_hidden_nodes=3, num_iterations=2)  # @call fit rows=100 delimiter=comma
