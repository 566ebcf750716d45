"""Migration of NDL to BrainScript: rules that edit texts, and the proof that the network is
unchanged.
"""
