"""Which cases an annotator labels and in which order: `plan` shares them out, `worth` says which come first, `shares`
estimates from the labels so far how often each category occurs, and `pace` tells how fast it goes and what is left.
"""
