SELECT "it's", [a]]'b] FROM "netDefinition = 'input X [3];'";
SET QUOTED_IDENTIFIER OFF;
GO
EXEC sp_execute_external_script @language = "R", @script = "
net <- ""
  input X [3];
  hidden H [4]  from X all;
  output Y [1] from Nobody all; // it's !NS035
""
fit <- rxNeuralNet(y ~ x, data = InputDataSet, netDefinition = net)
";
GO
SET ANSI_NULLS, QUOTED_IDENTIFIER ON
GO
EXEC "sp_execute_external_script" N'R', N'
rxNeuralNet(y ~ x, data = d, netDefinition = r"---[
input X [3];
hidden H [4]  sigmoid from X all;
output Y [1] linear from H all;
]---")';
