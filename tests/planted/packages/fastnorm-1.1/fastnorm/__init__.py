"""An installed package outside the repository."""


def rms(x):
    wide = x.double()
    return (wide * (wide.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()).float()
