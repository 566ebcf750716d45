"""Networks in integers in formats of others: ONNX with QuantizeLinear and DequantizeLinear, of the
codes, weights and scales of the compiled network.

Stands above the engine's exports; knows no C.
"""
