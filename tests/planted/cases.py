"""The planted changes: what each does to the program. What must be said of it is in truth.csv, which was written before a run."""

# name -> (model that is recorded, {file: [(old, new)]}, {file: its new place}, installed packages)
CASES = {}


def case(name, model, edits, moves=(), packages="fastnorm-1.0"):
    CASES[name] = (model, edits, dict(moves), packages)


# the transformer
case("added-copy", "text", {"models/text.py": [("self.feed(self.norm2(x))", "self.feed(self.norm2(x.clone()))")]})
case("item", "text", {"models/text.py": [
    ("        mixed = ", "        if weights.max().item() > 1:\n            weights = weights.clamp(max=1)\n        mixed = ")]})
case("lost-fusion", "text", {"models/layers.py": [("    return F.gelu(x)", "    return 0.5 * x * (1 + torch.erf(x / 2**0.5))")]})
case("extra-module-call", "text", {"models/text.py": [("            x = block(x)", "            x = block(self.norm(x))")]})
case("wrong-dtype", "text", {"models/text.py": [
    ("        return torch.matmul(q, k.transpose(-1, -2)) /", "        return torch.matmul(q.double(), k.double().transpose(-1, -2)).float() /")]})
case("default-of-a-callee", "text", {"models/layers.py": [("rounds=1", "rounds=4")]})
case("argument-of-a-caller", "text", {"models/text.py": [("smooth(x.mean(1))", "smooth(x.mean(1), rounds=3)")]})
case("pure-python", "text", {"data/batches.py": [
    ("import array\n", "import array\nimport hashlib\n"),
    ("    return [word.lower() for word in line.split()]",
     "    words = line.split()\n    hashlib.md5(line.encode() * 1000000).digest()\n    return [word.lower() for word in words]")]})
case("config-only", "text", {"config.json": [('"depth": 2', '"depth": 3')]})
case("dependency-only", "text", {"requirements.txt": [("fastnorm==1.0", "fastnorm==1.1")]}, packages="fastnorm-1.1")
case("build-only", "text", {"Dockerfile": [("python3-torch\n", "python3-torch\nRUN pip install fastnorm==1.1\n")]}, packages="fastnorm-1.1")
case("renamed-and-slower", "text", {
    "models/layers.py": [("def residual(x, y):\n    return x + y", "def merge(x, y):\n    return x + y.clone()")],
    "models/text.py": [("Norm, residual, smooth", "Norm, merge, smooth"), ("x = residual(x", "x = merge(x"),
                       ("return residual(x", "return merge(x")]})
case("renamed-beside", "text", {
    "models/layers.py": [("def residual(x, y):", "def merge(x, y):")],
    "models/text.py": [("Norm, residual, smooth", "Norm, merge, smooth"), ("x = residual(x", "x = merge(x"), ("return residual(x", "return merge(x"),
                       (".transpose(1, 2)\n\n    def scores", ".transpose(1, 2).clone()\n\n    def scores")]})
case("moved-file", "text", {
    "models/layers.py": [("    return F.gelu(x)", "    return F.gelu(x.clone())")],
    "models/text.py": [("from models.layers import", "from models.parts import")]}, moves={"models/layers.py": "models/parts.py"})
case("comment-and-dependency", "text", {
    "requirements.txt": [("fastnorm==1.0", "fastnorm==1.1")],
    "train.py": [("        loss = criterion", "        # mean over the batch\n        loss = criterion")]}, packages="fastnorm-1.1")
case("tidied-caller", "text", {
    "models/text.py": [("        x = residual(x, self.attention(self.norm1(x)))\n        return residual(x, self.feed(self.norm2(x)))",
                        "        mixed = residual(x, self.attention(self.norm1(x)))\n        return residual(mixed, self.feed(self.norm2(mixed)))")],
    "models/layers.py": [("self.down(activation(self.up(x)))", "self.down(activation(activation(self.up(x))))")]})
case("generator", "text", {"models/text.py": [("(self.split(part) for part", "(self.split(part.clone()) for part")]})

# the residual network
case("constructor", "vision", {"models/vision.py": [("        kernel = 3\n", "        kernel = 31\n")]})
case("constructor-width", "vision", {"models/vision.py": [("        hidden = width\n", "        hidden = width * 8\n")]})
case("backward-only", "vision", {"models/vision.py": [("self.weigh(x.mean((2, 3))).detach()", "self.weigh(x.mean((2, 3)))")]})
case("own-backward", "vision", {"models/vision.py": [("        return grad * ctx.factor, None", "        return grad.clone() * ctx.factor, None")]})
case("augmentation", "vision", {"data/batches.py": [("    return pictures.flip(-1)", "    return torch.stack([p.flip(-1) for p in pictures])")]})
case("copy-in-a-loop", "vision", {"models/vision.py": [("            x = unit(x)", "            x = unit(x.clone())")]})
case("lost-fusion-in-a-method", "vision", {"models/vision.py": [
    ("        y = F.relu(self.first(x))", "        y = self.first(x)\n        y = torch.where(y > 0, y, torch.zeros_like(y))")]})
case("logging", "vision", {"losses.py": [(".float().mean()", ".float().mean().item()")]})
case("decorator", "vision", {"losses.py": [
    ("import torch.nn.functional as F\n\n\n",
     "import torch\nimport torch.nn.functional as F\n\n\ndef finite(function):\n    def run(*args):\n        out = function(*args)\n"
     "        assert torch.isfinite(out).all()\n        return out\n\n    return run\n\n\n@finite\n")]})

# the recommender
case("loop-of-lookups", "rank", {"models/rank.py": [
    ("        offsets = torch.arange(FIELDS) * self.rows\n        return self.table(fields + offsets)",
     "        return torch.stack([self.table(fields[:, i] + i * self.rows) for i in range(FIELDS)], 1)")]})
case("sort", "rank", {"models/rank.py": [("        return products.flatten(1)", "        return products.sort(-1)[0].flatten(1)")]})
case("optimizer-loop", "rank", {"optim.py": [
    ("        torch._foreach_mul_(moments, 0.9)\n        torch._foreach_add_(moments, grads)\n",
     "        for m, g in zip(moments, grads):\n            m.copy_(m * 0.9 + g)\n")]})
case("clipping", "rank", {"train.py": [
    ("        loss.backward()\n", "        loss.backward()\n        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)\n")]})
case("wrong-dtype-between-modules", "rank",
     {"models/rank.py": [("self.interact(self.tables(fields))", "self.interact(self.tables(fields).double()).float()")]})
case("forward-twice", "rank", {"train.py": [("        return self.model(batch)\n", "        self.model(batch)\n        return self.model(batch)\n")]})
case("slow-loading", "rank", {"data/batches.py": [
    ("import os\n", "import os\nimport time\n"),
    ("    def load(self):\n        return self.rows",
     "    def load(self):\n        time.sleep(0.02)  # as long as the share takes\n        return self.rows")]})
case("zeroed-gradients", "rank", {"optim.py": [("            p.grad = None", "            p.grad = torch.zeros_like(p)")]})
case("new-function", "rank", {"train.py": [
    ("    def report(self, logits, labels):\n",
     "    def norms(self):\n        return torch.stack([p.grad.norm() for p in self.model.parameters()]).sum()\n\n"
     "    def report(self, logits, labels):\n        self.log.append(self.norms())\n")]})
case("data-only", "rank", {"data/fields.csv": [("", 300)]})  # each row 300 times
