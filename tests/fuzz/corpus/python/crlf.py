<built-in method>
class A:
	def f(self): return """
def g():
"""
	def f(self):
		pass
