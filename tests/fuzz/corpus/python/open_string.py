a.py(1): f
def f():
  """never closed
def g(): pass
