"""Strings that are no specifications, or may be none: nothing here is to be touched."""

SIZE = 3
HOLES = f"input X [{SIZE}];   output Y [1] sigmoid from X all;"
PERCENT = "input X [%d];   output Y [1] sigmoid from X all;" % SIZE
TEMPLATE = "input X [3];   output Y [1] sigmoid from X all; // {name}"
FILLED = "input X [3];   output Y [1] sigmoid from X all;"
print(FILLED.format(name="x"), FILLED + "more")
BYTES = b"input X [3];   output Y [1] sigmoid from X all;"
SQL = "input X [3]; select output from input where x = [1];"
PART = "input X [3];   hidden H [4] from X all;"
PART += "output Y [1] from H all;"
PROSE = "input the data [3]; hidden layers come from the output of others;"


def build(net):
    """input X [3];   output Y [1] sigmoid from X all;"""
    return rx_neural_network("y ~ x", net_definition=net)


joined = (
    "input X [3];   "
    "output Y [1] sigmoid from X all;"
)
