"""Trains a character-level transformer, the one of `keyway train`, from Python: with an operator that is defined here.

    python examples/python/train_text.py                                learns this system's licence texts
    python examples/python/train_text.py --file book.txt --steps 3000 --svg loss.svg --save book.safetensors

Prints the loss of training and of the held-out text in nats a character, and draws both as SVG.
"""

import argparse
import math
import pathlib
import time

import keyway
import keyway.nn.functional as F
from keyway import nn, optim
from keyway.utils import data
from loss_plot import draw_svg

LICENCES = pathlib.Path("/usr/share/common-licenses")
HELD_OUT = 0.1  # of the text


# ---- an operator of one's own ----------------------------------------------------------------------------------------

@keyway.library.custom_op("demo::causal_softmax", mutates_args=())
def causal_softmax(scores: keyway.Tensor) -> keyway.Tensor:
    """The softmax of each row of [..., time, time] up to the diagonal: who attends to whom, and to nobody ahead."""
    time_steps = scores.size(-1)
    ahead = keyway.ones(time_steps, time_steps, dtype=keyway.bool, device=scores.device).triu(1)
    return scores.masked_fill(ahead, -math.inf).softmax(-1)


@causal_softmax.register_fake
def _(scores):
    return keyway.empty_like(scores)


def save_weights(ctx, inputs, output):
    ctx.save_for_backward(output)


def gradient_of_scores(ctx, grad):
    (weights,) = ctx.saved_tensors
    weighted = weights * grad
    return weighted - weights * weighted.sum(-1, keepdim=True)


causal_softmax.register_autograd(gradient_of_scores, setup_context=save_weights)


# ---- the model -------------------------------------------------------------------------------------------------------

class Attention(nn.Module):
    """[batch, time, width] to the same: each character gathers from those before it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.to_heads = nn.Linear(width, 3 * width)
        self.from_heads = nn.Linear(width, width)

    def forward(self, x):
        batch, steps, width = x.shape
        parts = self.to_heads(x).view(batch, steps, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        scores = query @ key.transpose(-2, -1) * (width // self.heads) ** -0.5
        seen = causal_softmax(scores) @ value
        return self.from_heads(seen.transpose(1, 2).reshape(batch, steps, width))


class Block(nn.Module):
    """Attends, then thinks; both read a normalised copy of the stream and add to it."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm_attention = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.thought = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU("tanh"),
                                     nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm_attention(x))
        return x + self.thought(x)


class Transformer(nn.Module):
    """Characters [batch, time] of int64, time at most the context, to logits [batch, time, alphabet]."""

    def __init__(self, alphabet, context, width, layers, heads):
        super().__init__()
        self.context = context
        self.characters = nn.Embedding(alphabet, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.reset_parameters()

    def reset_parameters(self):
        """Layers that add to the stream begin smaller, so that its variance does not grow with their number."""
        for name, parameter in self.named_parameters():
            if name.endswith(".bias"):
                nn.init.zeros_(parameter)
            elif parameter.dim() >= 2:
                adds = name.endswith(("from_heads.weight", "thought.3.weight"))
                nn.init.normal_(parameter, 0, 0.02 / math.sqrt(2 * len(self.blocks)) if adds else 0.02)

    def forward(self, characters):
        x = self.characters(characters) + self.positions(keyway.arange(characters.size(1)))
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.characters.weight)  # the table of characters is the output layer as well


# ---- the text --------------------------------------------------------------------------------------------------------

def read_text(file):
    """The bytes of a file, or the licence texts that every Debian system carries, by name."""
    if file is not None:
        return pathlib.Path(file).read_bytes()
    files = sorted(path for path in LICENCES.glob("*") if path.is_file() and not path.is_symlink())
    if not files:
        raise SystemExit(f"there are no texts in {LICENCES}: give a text with --file")
    return b"".join(path.read_bytes() + b"\n\n" for path in files)


class Windows(data.Dataset):
    """Stretches of a text, and the characters one ahead of each."""

    def __init__(self, text, context):
        self.text = text
        self.context = context

    def __len__(self):
        return self.text.size(0) - self.context

    def __getitem__(self, i):
        return self.text[i:i + self.context], self.text[i + 1:i + 1 + self.context]


# ---- training --------------------------------------------------------------------------------------------------------

def make_optimizer(model, options):
    """Matrices decay; what scales and shifts does not. The rate rises in a line, then falls along half a cosine."""
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    optimizer = optim.AdamW([{"params": matrices}, {"params": others, "weight_decay": 0.0}], lr=options.learning_rate,
                            betas=(0.9, 0.99), weight_decay=0.1)
    warmup, floor = min(options.steps // 20, 100), 0.05

    def factor(step):
        if step < warmup:
            return (step + 1) / (warmup + 1)
        way = min(1.0, (step - warmup) / (options.steps - warmup))
        return floor + (1 - floor) * (1 + math.cos(math.pi * way)) / 2

    return optimizer, optim.lr_scheduler.LambdaLR(optimizer, factor)


def loss_of(model, inputs, targets):
    return F.cross_entropy(model(inputs).reshape(-1, model.characters.num_embeddings), targets.reshape(-1))


@keyway.no_grad()
def held_out_loss(model, text, batch, most=8):
    """The mean over windows that lie side by side in the text, of at most so many batches, spread evenly."""
    model.eval()
    windows = Windows(text, model.context)
    starts = range(0, len(windows), model.context)
    starts = starts[::max(1, len(starts) // (batch * most))]
    losses = [loss_of(model, *pair) * pair[0].size(0)
              for pair in data.DataLoader(data.Subset(windows, starts), batch_size=batch)]
    model.train()
    return sum(losses).item() / len(starts)


def train(model, text, held_out, options):
    """The losses of training and of the held-out text, as lists of (step, loss)."""
    optimizer, schedule = make_optimizer(model, options)
    windows = Windows(text, model.context)
    sampler = data.RandomSampler(windows, replacement=True, num_samples=options.steps * options.batch)
    loader = data.DataLoader(windows, options.batch, sampler=sampler, num_workers=1)
    training, held = [], [(0, held_out_loss(model, held_out, options.batch))]
    begin = time.monotonic()
    for step, (inputs, targets) in enumerate(loader, 1):
        loss = loss_of(model, inputs, targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        training.append((step, loss.item()))
        if step % max(1, options.steps // 10) == 0 or step == options.steps:
            held.append((step, held_out_loss(model, held_out, options.batch)))
            rate = step * options.batch * model.context / (time.monotonic() - begin)
            print(f"step {step:5}  loss {loss.item():.3f}  held-out {held[-1][1]:.3f}  {rate:,.0f} characters/s",
                  flush=True)
    return training, held


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", help="the text to learn")
    for name, default in (("steps", 1200), ("batch", 16), ("context", 128), ("width", 128), ("layers", 4), ("heads", 4),
                          ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--svg", default="loss.svg", help="where the plot of the loss goes")
    parser.add_argument("--save", help="where the model goes, in the safetensors format")
    options = parser.parse_args()

    keyway.manual_seed(options.seed)
    content = read_text(options.file)
    alphabet = {byte: number for number, byte in enumerate(sorted(set(content)))}
    text = keyway.tensor([alphabet[byte] for byte in content])
    split = int(text.size(0) * (1 - HELD_OUT))
    model = Transformer(len(alphabet), options.context, options.width, options.layers, options.heads)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{text.size(0):,} characters of {len(alphabet)} kinds; {count:,} parameters")

    training, held = train(model, text[:split], text[split:], options)
    pathlib.Path(options.svg).write_text(draw_svg({"training": training, "held-out": held}, "Loss, nats a character"))
    if options.save:
        keyway.save(model.state_dict(), options.save)


if __name__ == "__main__":
    main()
