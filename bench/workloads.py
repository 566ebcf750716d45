"""The networks that the engine is measured by, in Net#; `peer_torch` says what each is."""

from __future__ import annotations

#: A network of two wide layers, by how wide they are.
WIDE = """
input Image [28, 28];
hidden First [{width}] sigmoid from Image all;
hidden Second [{width}] sigmoid from First all;
output Digit [10] softmax from Second all;
"""

NETWORKS = {
    "1024": WIDE.format(width=1024),
    "2048": WIDE.format(width=2048),
    "W1": """
input Image [28, 28];
hidden Hidden [200] sigmoid from Image all;
output Digit [10] softmax from Hidden all;
""",
    "W2a": """
input Image [29, 29];
hidden Conv1 [5, 13, 13] tanh from Image convolve {
  InputShape = [29, 29]; KernelShape = [5, 5]; Stride = [2, 2]; MapCount = 5;
}
hidden Conv2 [50, 5, 5] tanh from Conv1 convolve {
  InputShape = [5, 13, 13]; KernelShape = [5, 5, 5]; Stride = [1, 2, 2]; MapCount = 50;
}
hidden Hid3 [100] tanh from Conv2 all;
output Digit [10] softmax from Hid3 all;
""",
    "W2b": """
input Image [29, 29];
hidden Conv1 [5, 13, 13] tanh from Image convolve {
  InputShape = [29, 29]; KernelShape = [5, 5]; Stride = [2, 2]; MapCount = 5;
}
hidden Conv2 [50, 5, 5] tanh from Conv1 convolve {
  InputShape = [5, 13, 13]; KernelShape = [1, 5, 5]; Stride = [1, 2, 2];
  Sharing = [false, true, true]; MapCount = 10;
}
hidden Hid3 [100] tanh from Conv2 all;
output Digit [10] softmax from Hid3 all;
""",
    "W3": """
input Image [28, 28];
hidden C1 [20, 24, 24] rlinear from Image convolve {
  InputShape = [28, 28]; KernelShape = [5, 5]; MapCount = 20;
}
hidden P1 [20, 12, 12] from C1 max pool {
  InputShape = [20, 24, 24]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2];
}
hidden C2 [50, 8, 8] rlinear from P1 convolve {
  InputShape = [20, 12, 12]; KernelShape = [20, 5, 5]; MapCount = 50;
}
hidden P2 [50, 4, 4] from C2 max pool {
  InputShape = [50, 8, 8]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2];
}
hidden F [500] rlinear from P2 all;
output Digit [10] softmax from F all;
""",
    "W4": """
input Image [3, 32, 32];
hidden C1 [48, 32, 32] rlinear from Image convolve {
  InputShape = [3, 32, 32]; KernelShape = [3, 5, 5]; Padding = [false, true, true]; MapCount = 48;
}
hidden N [48, 32, 32] from C1 response norm {
  InputShape = [48, 32, 32]; KernelShape = [5, 1, 1]; Padding = [true, false, false];
  Alpha = 0.001; Beta = 0.75;
}
hidden P [48, 16, 16] from N max pool {
  InputShape = [48, 32, 32]; KernelShape = [1, 2, 2]; Stride = [1, 2, 2];
}
hidden C2 [64, 16, 16] rlinear from P convolve {
  InputShape = [48, 16, 16]; KernelShape = [48, 5, 5]; Padding = [false, true, true];
  MapCount = 64;
}
hidden F [256] rlinear from C2 all;
output Digit [10] softmax from F all;
""",
    "W5": """
input Pixels [10, 20];
input MetaData [7];
hidden ByRow [10, 12] from Pixels where (s, d) => s[0] == d[0];
hidden ByCol [5, 20] from Pixels where (s, d) => abs(s[1] - d[1]) <= 1;
hidden Gather [100] { from ByRow all; from ByCol all; }
output Result [10] softmax { from Gather all; from MetaData all; }
""",
}
