"""What is measured."""


def steps(n):
    """Adds up n numbers, one after the other."""
    total = 0
    for i in range(n):
        total += i ^ (total & 1)
    return total
