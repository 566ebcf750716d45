DECLARE @rows int = 10, @table nvarchar(128) = N'dbo."digits"', @layer nvarchar(9) = N'[7]';
DECLARE @cmd nvarchar(max);
-- What a variable puts in is unknown, and sets off nothing.
SET @cmd = N'digits <- head(data, ' + CAST(@rows AS nvarchar(10)) + N')
net <- ''
  input X [3];
  hidden H [4]  sigmoid from X all;
  output Y [1] linear from H all;
''
rxNeuralNet(y ~ x, data = digits, type = "regression", netDefinition = net, numHiddenNodes = '
    + @layer + N')';
EXEC sp_execute_external_script @language = N'R', @script = @cmd;

SET @cmd = CONCAT(N'd <- ', @table, N'
definition <- paste0("input X [3];", "hidden H [4] from Z all;", # !NS035
                     "output Y [1]   from H all;")
m <- mxNeuralNet(y ~ ., data = d, netDefinition = definition)');
EXEC sp_execute_external_script N'R', @cmd;

-- A definition that is put together at run time is not read.
SET @cmd = N'net <- "input X [3]; hidden H ' + @layer + N' from Zzz all; output Y [1] from H all;"
rxNeuralNet(y ~ x, data = d, netDefinition = net)';
EXEC sp_execute_external_script @language = N'R', @script = @cmd;

-- The language is known by the text alone.
DECLARE @language nvarchar(10) = N'Python';
EXEC sp_execute_external_script @language = @language, @script = N'
import microsoftml
microsoftml.rx_neural_network("y ~ x", data=d, net_definition=r"""
input X [3];
hidden H [4]   rlinear from X all;
output Y [1] from H all;
""")';
GO
DECLARE @net varchar(max) = 'input X [3];
hidden H [4]    sigmoid from X all;
output Y [2] softmax from Hh all; // !NS035
';
EXEC sp_execute_external_script @language = N'R',
  @script = N'fit <- rxNeuralNet(y ~ x, data = InputDataSet, netDefinition = net)',
  @params = N'@net varchar(max)', @net = @net;
