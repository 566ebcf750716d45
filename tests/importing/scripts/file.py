from pathlib import Path
fit = rx_neural_network("species ~ .", method="multiClass", num_iterations=2,  # @call fit epochs=2
                        net_definition=Path("measures.nn").read_text())
more = rx_neural_network("species ~ .", method="multiClass", num_iterations=2,  # @call more epochs=2
                         net_definition=open("measures.nn").read().strip())
