from textwrap import dedent
NET = dedent('''
    input Measures [4];
    hidden Hidden [4] sigmoid from Measures all;
    output Species [3] softmax from Hidden all;
''')
rule = adadelta_optimizer(0.9, 1e-5)
fit = rx_neural_network("species ~ .", method="multiClass", net_definition=NET,  # @call fit adadelta_decay=0.9 adadelta_constant=1e-05
                        optimizer=rule, num_iterations=2, loss_function="logloss")
