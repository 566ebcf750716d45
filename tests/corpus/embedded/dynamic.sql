DECLARE @sql nvarchar(max) = N'
EXEC sp_execute_external_script @language = N''R'', @script = N''
fit <- rxNeuralNet(y ~ x, data = InputDataSet, netDefinition = ''''
input X [3];
hidden H [4]  sigmoid from X all;
output Y [1] linear from Missing all; // !NS035
'''')
''';
EXEC sp_executesql @sql;
SET @sql = N'x <- "a"' + CHAR(13) + CHAR(10) + N'f(netDefinition = ' + CHAR(34) + N'
input X [3];
output Y [1]  linear from X all;
' + CHAR(34) + N')';
EXEC sp_execute_external_script @language = N'R', @script = @sql;
