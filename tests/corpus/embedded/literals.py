"""Literals of every kind, in which a specification must be found, read and written back."""

A = 'input X [3];\noutput \u0059 [1] sigmoid   from X all;\n'
B = r'''input X [3];
output Y[1] sigmoid from X all; // a\b "quoted" \'''
'''
C = f"""
  input X [3];
  hidden H [4] sigmoid from X where (s,d)  => s[0] == d[0];
  output Y [1] sigmoid {{ from H all;  Biases=[0.5]; }}
"""
D: str = ("""
	input X [3];   // tabs before
		output Y [1] sigmoid from X all; // é 😀 "
	""")
E = "input X [3];\tconst   K = 2;\noutput Y [K] sigmoid from X all; // \"quoted\" \\ \x41\n"
F = U"""input X [ 3 ];
    output Y [1] sigmoid from X all;"""
# language=Net#
G = 'input X [3]; output Y [1] sigmoid from X all;'
H = """
input X [3];
output Y [1] sigmoid from X all;""".strip()
I = '''const { A = 1; }
input X [3];\
 output Y [A] sigmoid   from X all;'''
