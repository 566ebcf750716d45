"""A script."""
import pandas as pd
from microsoftml import rx_neural_network
iris = pd.read_csv("iris.csv")
NET = """// @spec NET
    input Measures [4];
    hidden Hidden [5] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
"""
model = rx_neural_network("species ~ .", iris, "multiClass", net_definition=NET, num_iterations=2)  # @call model train=iris.csv epochs=2
