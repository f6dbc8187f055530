"""Which cases an annotator labels, and in which order.

`plan` assigns cases to annotators, `worth` orders them, `find` searches for them one by one, `shares` estimates how
often each category occurs, and `pace` measures labels an hour.
"""
