"""What the calls of a plan take: what they do, rates of each kind of work, and how these are
measured.  Nothing here is known to plans.
"""
