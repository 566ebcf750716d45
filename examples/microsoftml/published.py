"""The three networks of the reference of microsoftml, in which only the package's name is another.

Run it in its folder, `python published.py`, or one of the calls from anywhere, with the log of its
host: `netsharp run published.py::cases --rx-log`.
"""

import pandas as pd

from netsharp.microsoftml import rx_neural_network, rx_predict

women = pd.read_csv("infert.csv")
cases = rx_neural_network(
    formula="isCase ~ age + parity + education + spontaneous + induced",
    data=women,
    verbose=0,
)
print(rx_predict(cases, women.head(), extra_vars_to_write=["isCase"]))

iris = pd.read_csv("../iris/iris.csv")
flowers = rx_neural_network(
    formula="species ~ sepal_length + sepal_width + petal_length + petal_width",
    data=iris,
    method="multiClass",
    verbose=0,
)
print(rx_predict(flowers, iris.head(), extra_vars_to_write=["species"]))

attitude = pd.read_csv("attitude.csv")
ratings = rx_neural_network(
    formula="rating ~ complaints + privileges + learning + raises + critical + advance",
    data=attitude,
    method="regression",
    verbose=0,
)
print(rx_predict(ratings, attitude.head(), extra_vars_to_write=["rating"]))
