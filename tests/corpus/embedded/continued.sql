EXEC sp_execute_external_script @language = N'Python', @script = N'
import microsoftml
description = "one line, \
written as two"
model = microsoftml.rx_neural_network("y ~ x", data=InputDataSet, net_definition="""
input X [3];
hidden H [4] \
  sigmoid from   X all;
output Y [1] linear from Z all; // !NS035
""")
';
