#!/usr/bin/env python3
"""Writes interp_vectors.bin: random cases over the op table with PyTorch's results, which interp.c replays.

Needs torch. Usage: make_interp_vectors.py OUT
Per case: op name, operands, results, attributes; see the reader in interp.c.
"""
import random, struct, sys
import torch
import torch.nn.functional as F

torch.manual_seed(7); random.seed(7)
DT = {torch.float16: 0, torch.bfloat16: 1, torch.float32: 2, torch.float64: 3, torch.int8: 4, torch.int16: 5, torch.int32: 6,
      torch.int64: 7, torch.uint8: 8, torch.bool: 9}
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
f32, i64 = torch.float32, torch.int64
nan, inf = float("nan"), float("inf")
cases = []

def text(s):
    b = s.encode(); return struct.pack("<B", len(b)) + b

def tensor(t):
    t = t.detach().contiguous()
    raw = t.reshape(-1).view(torch.uint8).numpy().tobytes() if t.numel() else b""
    return struct.pack("<BB", DT[t.dtype], t.dim()) + b"".join(struct.pack("<I", d) for d in t.shape) + raw

class D(list):
    "A list of f64."

def attr(name, v):
    head = text(name)
    if isinstance(v, bool): return head + struct.pack("<Bq", 1, v)
    if isinstance(v, int): return head + struct.pack("<Bq", 0, v)
    if isinstance(v, float): return head + struct.pack("<Bd", 2, v)
    if isinstance(v, str): return head + struct.pack("<B", 3) + text(v)
    if isinstance(v, D): return head + struct.pack("<BB", 5, len(v)) + b"".join(struct.pack("<d", x) for x in v)
    if isinstance(v, (list, tuple)): return head + struct.pack("<BB", 4, len(v)) + b"".join(struct.pack("<q", x) for x in v)
    if isinstance(v, torch.dtype): return head + struct.pack("<Bq", 6, DT[v])
    return head + struct.pack("<B", 7) + tensor(v)

def case(op, ins, outs, **attrs):
    outs = list(outs) if isinstance(outs, (list, tuple)) else [outs]
    body = text(op) + struct.pack("<BBB", len(ins), len(outs), len(attrs))
    cases.append(body + b"".join(tensor(t) for t in ins) + b"".join(tensor(t) for t in outs)
                 + b"".join(attr(k, v) for k, v in attrs.items()))

def rand(shape, dt=f32, lo=-3, hi=3, special=False):
    if dt == torch.bool: return torch.rand(shape) > 0.5
    if not dt.is_floating_point: return torch.randint(0 if dt == torch.uint8 else int(lo), int(hi) + 1, shape, dtype=dt)
    t = (torch.rand(shape, dtype=torch.float64) * (hi - lo) + lo).to(dt)
    if special and t.numel() > 6:
        flat = t.view(-1)
        for i, v in enumerate([nan, inf, -inf, 0.0, -0.0]): flat[i] = v
    return t

# ---- pointwise
one = dict(abs=torch.abs, neg=torch.neg, sign=torch.sign, ceil=torch.ceil, floor=torch.floor, round=torch.round, trunc=torch.trunc,
           square=torch.square, relu=F.relu)
only_float = dict(frac=torch.frac, exp=torch.exp, exp2=torch.exp2, expm1=torch.expm1, sin=torch.sin, cos=torch.cos, tan=torch.tan,
                  atan=torch.atan, sinh=torch.sinh, cosh=torch.cosh, tanh=torch.tanh, asinh=torch.asinh, erf=torch.erf,
                  erfc=torch.erfc, sigmoid=torch.sigmoid, log_sigmoid=F.logsigmoid, silu=F.silu, gelu=F.gelu, mish=F.mish,
                  hardsigmoid=F.hardsigmoid, hardswish=F.hardswish, reciprocal=torch.reciprocal)
for n, f in one.items():
    for dt in FLOATS + INTS:
        x = rand((3, 4), dt); case(n, [x], f(x))
    x = rand((3, 4), special=n != "frac"); case(n, [x], f(x))
x = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, -2.5]); case("round", [x], torch.round(x))
for n, f in only_float.items():
    for dt in FLOATS:
        x = rand((3, 4), dt); case(n, [x], f(x.float()).to(dt) if dt in FLOATS[2:] else f(x))
    if n not in ("frac", "silu", "gelu", "mish", "hardswish"):
        x = rand((3, 4), special=True); case(n, [x], f(x))
for n in ["sqrt", "rsqrt", "log", "log2", "log10", "log1p"]:
    for dt in FLOATS:
        x = rand((3, 4), dt, 0.1, 5); case(n, [x], getattr(torch, n)(x))
    x = rand((3, 4), special=True); case(n, [x], getattr(torch, n)(x))
for n in ["asin", "acos", "atanh"]:
    x = rand((3, 4), f32, -0.95, 0.95); case(n, [x], getattr(torch, n)(x))
x = rand((3, 4), f32, 1.1, 5); case("acosh", [x], torch.acosh(x))
x = rand((9,)); case("gelu", [x], F.gelu(x, approximate="tanh"), approximate="tanh")
case("leaky_relu", [x], F.leaky_relu(x, 0.2), negative_slope=0.2)
case("elu", [x], torch.ops.aten.elu(x, 1.5, 1.1, 0.7), alpha=1.5, scale=1.1, input_scale=0.7)
case("softplus", [x], F.softplus(x, 2.0, 3.0), beta=2.0, threshold=3.0)
for kw in [dict(min=-1.0), dict(max=1.0), dict(min=-1.0, max=1.0), dict(min=2.0, max=1.0)]:
    x = rand((9,), special=True); case("clamp", [x], torch.clamp(x, **kw), **kw)
for dt in INTS:
    x = rand((9,), dt, -9, 9); case("clamp", [x], torch.clamp(x, 1, 3), min=1, max=3)
for dt in FLOATS + INTS + [torch.bool]:
    x = rand((9,), dt, -2, 2, special=True)
    case("logical_not", [x], torch.logical_not(x)); case("isnan", [x], torch.isnan(x)); case("isinf", [x], torch.isinf(x))
    case("isfinite", [x], torch.isfinite(x))
    if dt not in FLOATS: case("bitwise_not", [x], torch.bitwise_not(x))
    for to in DT:
        x = rand((5,), dt, 0 if to == torch.uint8 else -100, 100); case("cast", [x], x.to(to), dtype=to)
x = torch.tensor([2**24 + 1, 2**53 + 1, -2**62 + 1, 300, -129]); 
for to in DT: case("cast", [x], x.to(to), dtype=to)

both = dict(sub=torch.sub, maximum=torch.maximum, minimum=torch.minimum, fmax=torch.fmax, fmin=torch.fmin, add=torch.add, mul=torch.mul)
shapes = [((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (3, 1)), ((3, 1), (1, 4)), ((), (5,)), ((2, 1, 3), (4, 1))]
for n, f in both.items():
    for k, dt in enumerate(FLOATS + INTS):
        a, b = shapes[k % 5]; a, b = rand(a, dt), rand(b, dt); case(n, [a, b], f(a, b))
    a, b = rand((3, 4), special=True), rand((3, 4)); b[1, 1] = nan; case(n, [a, b], f(a, b)); case(n, [b, a], f(b, a))
for n in ["add", "mul", "maximum", "minimum"]:
    a, b = rand((9,), torch.bool), rand((9,), torch.bool); case(n, [a, b], getattr(torch, n)(a, b))
a = torch.tensor([127, -128, 100], dtype=torch.int8); case("add", [a, a], a + a); case("mul", [a, a], a * a); case("abs", [a], a.abs())
a = torch.tensor([2**63 - 1, -2**63, 3]); case("mul", [a, a], a * a); case("sub", [a, -a - 2], a - (-a - 2))
for dt in FLOATS + INTS:
    a, b = rand((4, 5), dt, -20, 20), rand((4, 5), dt, -4, 4); b[b == 0] = 3
    case("div_floor", [a, b], torch.div(a, b, rounding_mode="floor")); case("div_trunc", [a, b], torch.div(a, b, rounding_mode="trunc"))
    case("remainder", [a, b], torch.remainder(a, b)); case("fmod", [a, b], torch.fmod(a, b))
    if dt in FLOATS: case("div", [a, b], a / b); case("atan2", [a, b], torch.atan2(a, b)); case("copysign", [a, b], torch.copysign(a, b))
    p, q = rand((9,), dt, 0.1 if dt in FLOATS else -3, 3), rand((9,), dt, -2 if dt in FLOATS else 0, 3); case("pow", [p, q], torch.pow(p, q))
    for n in ["eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"]:
        a, b = rand((3, 4), dt, -2, 2, special=n in ("eq", "lt", "ge")), rand((4,), dt, -2, 2); case(n, [a, b], getattr(torch, n)(a, b))
a, b = torch.tensor([1., -1., 0., 5., inf, nan]), torch.tensor([0., 0., 0., inf, 2., 1.])
for n, kw in [("div_floor", "floor"), ("div_trunc", "trunc")]: case(n, [a, b], torch.div(a, b, rounding_mode=kw))
case("fmod", [a, b], torch.fmod(a, b)); case("remainder", [a, b], torch.remainder(a, b)); case("div", [a, b], a / b)
a, b = torch.tensor([7, -7, 0]), torch.tensor([0, 0, 0]); z = torch.zeros(3, dtype=i64)
for n in ["div_floor", "div_trunc", "remainder", "fmod"]: case(n, [a, b], z)
a, b = torch.tensor([1, -1, -1, 2, 0]), torch.tensor([-3, -3, -2, -1, -1]); case("pow", [a, b], torch.pow(a, b))
a, b = torch.tensor([0., 0., -2., -2., inf, nan, -8.]), torch.tensor([0., -1., 2., 3., -1., 0., 1 / 3]); case("pow", [a, b], torch.pow(a, b))
for dt in INTS + [torch.bool]:
    a, b = rand((9,), dt, -9, 9), rand((9,), dt, -9, 9)
    for n in ["bitwise_and", "bitwise_or", "bitwise_xor"]: case(n, [a, b], getattr(torch, n)(a, b))
for dt in INTS:
    w = dt.itemsize * 8
    a = torch.tensor([1, 5, 100, 77, 3] if dt == torch.uint8 else [1, -5, 100, -77, 3], dtype=dt); b = torch.tensor([0, 1, w - 1, w, 3], dtype=dt)
    case("shift_left", [a, b], torch.bitwise_left_shift(a, b)); case("shift_right", [a, b], torch.bitwise_right_shift(a, b))
for dt in FLOATS + INTS + [torch.bool]:
    c, a, b = rand((2, 3, 4), torch.bool), rand((3, 1), dt), rand((4,), dt); case("where", [c, a, b], torch.where(c, a, b))

# ---- reductions and scans
for dt in FLOATS + INTS + [torch.bool]:
    for dims, keep in [([0], False), ([1], True), ([0, 2], False), ([], False), ([1, 2], True)][0 if dt in (f32, i64) else 2 if dt in FLOATS else 3:]:
        x = rand((2, 2, 3), dt, -2, 2); kw = dict(dims=dims, keepdim=keep); d = dims or [0, 1, 2]; fl = dt in FLOATS
        case("sum", [x], x.sum(d, keepdim=keep), **kw)
        case("amax", [x], x.amax(d, keepdim=keep), **kw); case("amin", [x], x.amin(d, keepdim=keep), **kw)
        y = x if not fl else x.double()
        p = y
        for k in sorted(d, reverse=True): p = p.prod(k, keepdim=keep)
        case("prod", [x], p.to(dt) if fl else p, **kw)
        a = x; o = x
        for k in sorted(d, reverse=True): a, o = a.all(k, keepdim=keep), o.any(k, keepdim=keep)
        if dt != torch.uint8: case("all", [x], a, **kw); case("any", [x], o, **kw)
        if fl:
            case("mean", [x], x.mean(d, keepdim=keep), **kw); case("logsumexp", [x], torch.logsumexp(x, d, keepdim=keep), **kw)
            case("var", [x], x.double().var(d, correction=1, keepdim=keep).to(dt), **kw)
            case("var", [x], x.double().var(d, correction=0, keepdim=keep).to(dt), correction=0.0, **kw)
            for p in [2.0, 1.0, 0.0, inf, -inf, 3.0]: case("norm", [x], torch.linalg.vector_norm(x.double(), p, d, keep).to(dt), p=p, **kw)
    x = rand((3, 4, 2), dt, -2, 2, special=True)
    if dt != torch.bool:
        for d in range(3): case("argmax", [x], x.argmax(d), dim=d); case("argmin", [x], x.argmin(d, keepdim=True), dim=d, keepdim=True)
        for d in (0, 1): case("cummax", [x], x.cummax(d), dim=d); case("cummin", [x], x.cummin(d), dim=d)
    x = rand((3, 4), dt, -2, 2)
    for d in (0, 1): case("cumsum", [x], x.double().cumsum(d).to(dt) if dt in FLOATS else x.cumsum(d), dim=d)
    case("cumprod", [x], x.double().cumprod(1).to(dt) if dt in FLOATS else x.cumprod(1), dim=1)
x = rand((3, 4), special=True)
for n in ["amax", "amin"]: case(n, [x], getattr(x, n)(1), dims=[1])
x = torch.tensor([[-inf, -inf], [inf, 1.0], [-inf, 2.0]]); case("logsumexp", [x], torch.logsumexp(x, 1), dims=[1])
x = torch.zeros((2, 0)); case("sum", [x], x.sum(1), dims=[1]); case("mean", [x], x.mean(1), dims=[1])
x = torch.ones((2, 1)); case("var", [x], torch.tensor([nan, nan]), dims=[1])

# ---- shape
for dt in [f32, torch.bfloat16, torch.int8, torch.float64]:
    x = rand((2, 3, 4), dt, -9, 9)
    case("reshape", [x], x.reshape(4, 6), shape=[4, -1]); case("unsqueeze", [x], x.unsqueeze(1), dim=1)
    y = rand((1, 3, 1), dt); case("squeeze", [y], y.squeeze(0), dims=[0]); case("permute", [x], x.permute(2, 0, 1), dims=[2, 0, 1])
    case("permute", [x], x.permute(1, 0, 2), dims=[1, 0, 2]); case("broadcast", [y], y.expand(2, 5, 3, 4), shape=[2, 5, -1, 4])
    case("slice", [x], x[:, 1:3], dim=1, start=1, end=3); case("slice", [x], x[:, :, 1::2], dim=2, start=1, step=2)
    case("slice", [x], x[:, -2:], dim=1, start=-2); case("slice", [x], x[:, 5:], dim=1, start=5)
    case("select", [x], x[:, -1], dim=1, index=-1); case("select", [x], x[..., 2], dim=2, index=2)
    v = 7.0 if dt in FLOATS else 1; case("pad", [x], F.pad(x, (1, 2, -1, 1), value=v), low=[0, -1, 1], high=[0, 1, 2], value=v)
    if dt in FLOATS:
        for m in ["reflect", "replicate", "circular"]: case("pad", [x], F.pad(x, (2, 1), mode=m), low=[0, 0, 2], high=[0, 0, 1], mode=m)
        y = rand((1, 2, 4, 3), dt)
        for m in ["reflect", "replicate", "circular"]: case("pad", [y], F.pad(y, (2, 1, 1, 2), mode=m), low=[0, 0, 1, 2], high=[0, 0, 2, 1], mode=m)
    y = rand((2, 1, 4), dt); case("concat", [x, y, x], torch.cat([x, y, x], 1), dim=1)
    case("flip", [x], x.flip(0, 2), dims=[0, 2]); case("roll", [x], x.roll((1, -3), (1, 2)), shifts=[1, -3], dims=[1, 2])
    case("repeat", [x], x.repeat(2, 1, 3, 2), repeats=[2, 1, 3, 2]); case("unfold", [x], x.unfold(2, 2, 1), dim=2, size=2, step=1)
    case("unfold", [x], x.unfold(1, 2, 2), dim=1, size=2, step=2)
    for k in (-1, 0, 2): case("diagonal", [x], x.diagonal(k, 2, 1), offset=k, dim1=2, dim2=1); case("tril", [x], x.tril(k), diagonal=k); case("triu", [x], x.triu(k), diagonal=k)
    case("constant", [], x, value=x)
for dt in DT:
    case("full", [], torch.full((2, 3), 1, dtype=dt), shape=[2, 3], value=1, dtype=dt)
    if dt != torch.bool: case("iota", [], torch.arange(3, 3 + 2 * 4, 2).to(dt).view(1, 4, 1).expand(2, 4, 3), shape=[2, 4, 3], dim=1, start=3, step=2, dtype=dt)
case("iota", [], torch.arange(0, 1, 0.25), shape=[4], start=0.0, step=0.25, dtype=f32); case("full", [], torch.full((), 2.5), shape=[], value=2.5, dtype=f32)

# ---- indexing
ix = lambda shape, n, lo=0, dt=i64: torch.randint(lo, n, shape, dtype=dt)
for dt in [f32, torch.float16, torch.int16, torch.bool]:
    x = rand((4, 5, 3), dt, -9, 9); w = rand((6, 3), dt)
    i = ix((2, 2), 6, dt=torch.int32); case("embedding", [w, i], w[i.long()])
    for d in range(3):
        i = ix((2, 4, 2), (4, 5, 3)[d]); case("gather", [x, i], x.gather(d, i), dim=d)
        i = ix((4,), (4, 5, 3)[d]); case("index_select", [x, i], x.index_select(d, i), dim=d)
    a, b = ix((3,), 4, -4), ix((2, 1), 3, -3)
    for dims, e in [([0], (a,)), ([1], (slice(None), a)), ([0, 1], (a, b)), ([0, 2], (a, slice(None), b)), ([1, 2], (slice(None), a, b))]:
        t = [v for v in e if isinstance(v, torch.Tensor)]; r = x[e]; case("index", [x] + t, r, dims=dims)
        k = torch.arange(3)[: 3]; u = [torch.tensor([0, 2, 1])] + ([torch.tensor([[0], [1]])] if len(t) > 1 else [])
        e2 = tuple(u[[j for j, q in enumerate(e) if isinstance(q, torch.Tensor)].index(j)] if isinstance(q, torch.Tensor) else q for j, q in enumerate(e))
        v = rand(x[e2].shape, dt); y = x.clone(); y[e2] = v; case("index_put", [x, v] + u, y, dims=dims)
        if dt != torch.bool:
            v = rand(r.shape[-1:], dt); y = x.clone(); y = torch.ops.aten.index_put(y, [q if isinstance(q, torch.Tensor) else None for q in e], v, True); case("index_put", [x, v] + t, y, dims=dims, accumulate=True)
    i = torch.stack([torch.randperm(5)[:3] for _ in range(6)]).view(2, 3, 3).permute(0, 2, 1).contiguous(); s = rand((3, 4, 3), dt); i = i[:, :3, :].contiguous()
    case("scatter", [x, i[:, :, :1].contiguous(), s], x.scatter(1, i[:, :, :1], s), dim=1); s0 = rand((), dt); case("scatter", [x, i[:, :, :1].contiguous(), s0], x.scatter(1, i[:, :, :1], s0.item()), dim=1)
    if dt != torch.bool:
        i = ix((3, 4, 3), 5); s = rand((3, 4, 3), dt, -2, 2)
        for m, t in dict(add="sum", mul="prod", amin="amin", amax="amax", mean="mean").items():
            for inc in (True, False): case("scatter", [x, i, s], x.scatter_reduce(1, i, s, t, include_self=inc), dim=1, reduce=m, include_self=inc)
        i = ix((4,), 5); s = rand((4, 4, 3), dt, -2, 2); case("index_add", [x, i, s], x.index_add(1, i, s, alpha=2), dim=1, alpha=2 if dt not in FLOATS else 2.0)
    m = rand((5, 3), torch.bool); s = rand((70,), dt); case("masked_scatter", [x, m, s], x.masked_scatter(m, s))
i = ix((2, 3), 5); case("one_hot", [i], F.one_hot(i, 5), classes=5)
for dt in [f32, torch.float64, i64, torch.int32]:
    s, x = rand((3, 6), dt, -4, 4).sort(-1)[0], rand((3, 5), dt, -5, 5)
    for r in (True, False): case("searchsorted", [s, x], torch.searchsorted(s, x, right=r), right=r); case("searchsorted", [s[0], x], torch.searchsorted(s[0].contiguous(), x, right=r), right=r)
for dt in [f32, torch.float64]:
    x = rand((40,), dt); case("histc", [x], torch.histc(x, 7), bins=7); case("histc", [x], torch.histc(x, 10, -1, 2), bins=10, min=-1.0, max=2.0)

# ---- contraction
for dt in [f32, torch.float64, torch.float16, torch.bfloat16, i64, torch.int32]:
    g = (lambda t: t.double()) if dt in FLOATS else (lambda t: t)
    for sa, sb in [((3, 4), (4, 3)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (3, 4, 2)), ((2, 3), (3, 66))]:
        if sb[-1] == 66 and dt not in (f32, torch.int32): continue
        a, b = rand(sa, dt), rand(sb, dt); y = (g(a) @ g(b)).to(dt); case("matmul", [a, b], y)
        case("matmul", [a.transpose(-1, -2).contiguous(), b.transpose(-1, -2).contiguous()], y, transpose_a=True, transpose_b=True)
    x, w, b = rand((2, 3, 4), dt), rand((5, 4), dt), rand((5,), dt); case("linear", [x, w, b], (g(x) @ g(w).T + g(b)).to(dt)); case("linear", [x, w], (g(x) @ g(w).T).to(dt))
for dt in [f32, torch.float64, torch.float16, torch.bfloat16]:
    for n, conv, convt in [(1, F.conv1d, F.conv_transpose1d), (2, F.conv2d, F.conv_transpose2d), (3, F.conv3d, F.conv_transpose3d)]:
        for s, p, d, gr in [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1), (3, 1, 1, 4)]:
            if (n, dt) in [(2, torch.float16), (2, torch.float64), (1, torch.bfloat16)]: continue
            sp = (7, 6, 5)[:n] if n < 3 else (5, 4, 4); k = (3, 2, 2)[:n]
            x, w, b = rand((1 if n == 3 or gr == 4 else 2, 4) + sp, dt, -1, 1), rand((4, 4 // gr) + k, dt, -1, 1), rand((4,), dt)
            kw = dict(stride=[s] * n, padding=[p] * n, dilation=[d] * n, groups=gr)
            if n < 3 or dt == f32: case("convolution", [x, w, b], conv(x.double(), w.double(), b.double(), s, p, d, gr).to(dt), **kw)
            x = x[:1, :, :3]; x = x[..., :2].contiguous(); op = 1 if max(s, d) > 1 else 0
            if n < 3 or dt == f32: case("convolution", [x, w, b], convt(x.double(), w.double(), b.double(), s, p, op, gr, d).to(dt), transposed=True, output_padding=[op] * n, **kw)
x, w = rand((1, 2, 5, 6)), rand((3, 2, 3, 3)); case("convolution", [x, w], F.conv2d(F.pad(x, (2, 0, 1, 2)), w), stride=[1, 1], padding=[1, 2, 2, 0], dilation=[1, 1])

# ---- pooling, resize
for dt in FLOATS:
    for n, mp, ap, amp, aap in [(1, F.max_pool1d, F.avg_pool1d, F.adaptive_max_pool1d, F.adaptive_avg_pool1d), (2, F.max_pool2d, F.avg_pool2d, F.adaptive_max_pool2d, F.adaptive_avg_pool2d), (3, F.max_pool3d, F.avg_pool3d, F.adaptive_max_pool3d, F.adaptive_avg_pool3d)]:
        x = rand((1, 2 if n < 3 else 1) + ((9,), (7, 6), (5, 4, 4))[n - 1], dt, special=True)
        if n == 3 and dt not in (f32, torch.bfloat16): continue
        if n == 2 and dt in (torch.float64, torch.float16): continue
        z = rand(x.shape, dt)
        for k, s, p, d, c in [(2, 2, 0, 1, False), (3, 2, 1, 1, True), (2, 3, 1, 2, False), (3, 2, 1, 1, False), (2, 2, 1, 1, True)]:
            kw = dict(kernel=[k] * n, stride=[s] * n, padding=[p] * n, ceil_mode=c); y, i = mp(x, k, s, p, d, c, return_indices=True)
            (case("max_pool", [x], y, dilation=[d] * n, **kw) if k == 3 else None); case("max_pool_with_indices", [x], [y, i], dilation=[d] * n, **kw)
            if d == 1:
                for inc in (True, False)[: 1 + (p > 0)]: case("avg_pool", [z], ap(z.double(), k, s, p, c, inc).to(dt), count_include_pad=inc, **kw)
                if n > 1: case("avg_pool", [z], ap(z.double(), k, s, p, c, True, divisor_override=3).to(dt), divisor_override=3, **kw)
        case("adaptive_avg_pool", [z], aap(z.double(), (3, 4, 2)[:n]).to(dt), output_size=list((3, 4, 2)[:n])); case("adaptive_max_pool", [z], amp(z, (3, 4, 2)[:n], return_indices=True), output_size=list((3, 4, 2)[:n]))
    x = rand((1, 2, 5, 4), dt); y = F.unfold(x, (3, 2), (1, 2), (1, 1), (2, 1)); kw = dict(kernel=[3, 2], dilation=[1, 2], padding=[1, 1], stride=[2, 1])
    case("im2col", [x], y, **kw); case("col2im", [y], F.fold(y.double(), (5, 4), (3, 2), (1, 2), (1, 1), (2, 1)).to(dt), output_size=[5, 4], **kw)
for dt in [f32, torch.float64]:
    for n, lin in [(1, "linear"), (2, "bilinear"), (3, "trilinear")]:
        x = rand((1, 1) + (5, 4, 3)[:n], dt)
        if dt == torch.float64 and n > 1: continue
        for size in [(8, 7, 4), (3, 4, 2), (1, 1, 1), (7, 3, 3)][n == 3:]:
            size = list(size[:n])
            for m in ["nearest", "nearest-exact"]: case("resize", [x], F.interpolate(x, size=size, mode=m), size=size, mode=m.replace("-", "_"))
            for ac in (True, False): case("resize", [x], F.interpolate(x, size=size, mode=lin, align_corners=ac), size=size, mode="linear", align_corners=ac)
            if n == 2:
                for ac in (True, False): case("resize", [x], F.interpolate(x, size=size, mode="bicubic", align_corners=ac), size=size, mode="bicubic", align_corners=ac)
                for m in ["bilinear", "bicubic"]: case("resize", [x], F.interpolate(x, size=size, mode=m, antialias=True), size=size, mode=m if m == "bicubic" else "linear", antialias=True)
        for sc in [1.7, 0.6]:
            for m in ["nearest", "nearest-exact", lin]:
                y = F.interpolate(x, scale_factor=sc, mode=m); case("resize", [x], y, size=list(y.shape[2:]), scales=D([sc] * n), mode="linear" if m == lin else m.replace("-", "_"))

# ---- norms, softmax, attention, sort
for dt in FLOATS:
    x = rand((2, 4, 3, 2), dt); m, v, w, b = rand((4,), dt), rand((4,), dt, 0.5, 2), rand((4,), dt), rand((4,), dt); q = lambda *t: [u.double() for u in t]
    y = lambda t: t.to(dt)
    case("batch_norm", [x, m, v, w, b], y(F.batch_norm(*q(x, m, v, w, b))), eps=1e-5); case("batch_norm", [x, m, v], y(F.batch_norm(*q(x, m, v), eps=1e-3)), eps=1e-3)
    w2, b2 = rand((3, 2), dt), rand((3, 2), dt); case("layer_norm", [x, w2, b2], y(F.layer_norm(x.double(), (3, 2), *q(w2, b2))), axes=2); case("layer_norm", [x], y(F.layer_norm(x.double(), (2,))), axes=1)
    case("rms_norm", [x, w2], y(F.rms_norm(x.double(), (3, 2), w2.double(), 1e-6)), axes=2, eps=1e-6)
    case("group_norm", [x, w, b], y(F.group_norm(x.double(), 2, *q(w, b))), groups=2); case("group_norm", [x], y(F.group_norm(x.double(), 4)), groups=4)
    for d in (0, 3): case("softmax", [x], y(x.double().softmax(d)), dim=d); case("log_softmax", [x], y(x.double().log_softmax(d)), dim=d)
    if dt == torch.float64: continue
    sd = lambda q, k, v, **kw: F.scaled_dot_product_attention(q.double(), k.double(), v.double(), **kw).to(dt)
    q1, k1, v1 = rand((2, 2, 5, 3), dt), rand((2, 2, 6, 3), dt), rand((2, 2, 6, 2), dt); case("attention", [q1, k1, v1], sd(q1, k1, v1)); case("attention", [q1, k1, v1], sd(q1, k1, v1, is_causal=True, scale=0.3), is_causal=True, scale=0.3)
    mk = rand((5, 6), torch.bool); mk[1] = False; case("attention", [q1, k1, v1, mk], sd(q1, k1, v1, attn_mask=mk))
    mf = rand((2, 1, 5, 6), dt); case("attention", [q1, k1, v1, mf], sd(q1, k1, v1, attn_mask=mf.double()))
    k2, v2 = k1[:, :1].contiguous(), v1[:, :1].contiguous(); case("attention", [q1, k2, v2], sd(q1, k2.repeat_interleave(2, 1), v2.repeat_interleave(2, 1)), enable_gqa=True)
for dt in FLOATS + INTS + [torch.bool]:
    x = rand((3, 8), dt, -3, 3, special=True); x2 = rand((5, 2), dt, -3, 3)
    for desc in (True, False): case("sort", [x], torch.sort(x, dim=1, descending=desc, stable=True), dim=1, descending=desc); case("sort", [x2], torch.sort(x2, dim=0, descending=desc, stable=True), dim=0, descending=desc)
    for big in (True, False): v, i = torch.sort(x, dim=1, descending=big, stable=True); case("topk", [x], [v[:, :3], i[:, :3]], k=3, dim=1, largest=big)

with open(sys.argv[1], "wb") as f:
    f.write(b"TCIV" + struct.pack("<I", len(cases)) + b"".join(cases))
print(len(cases), "cases,", sum(map(len, cases)), "bytes, torch", torch.__version__)
