<built-in meeturn """
def g():
"""
	def f(self):
		pass
