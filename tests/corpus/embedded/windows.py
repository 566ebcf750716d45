NET = """
input X [3];
  output Y [1]   sigmoid from X all;
"""
rx_neural_network(net_definition = NET, method = "regression")
rx(net_definition="input X [ 3 ];\noutput Y [1] sigmoid from Z all;") # é !NS035
