"""What schemas/generate.py is made of: the model of the schemas, and one module for each thing generated from it."""
