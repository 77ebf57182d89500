"""Small models that would take all memory, or never load, if what they compute had no limits."""

from __future__ import annotations

import itertools

from onnx import TensorProto, helper

FLOAT, INT64, BOOL, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING
node = helper.make_node


def info(name, sizes=None, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, sizes)


def numbers(name, *values):
    return helper.make_tensor(name, INT64, [len(values)], values)


def number(name, value, kind=INT64):
    return helper.make_tensor(name, kind, [], [value])


def reals(name, sizes, values):
    return helper.make_tensor(name, FLOAT, sizes, values)


def texts(name, *values):
    return helper.make_tensor(name, STRING, [len(values)], [value.encode() for value in values])


def model(nodes, *tensors, x=(2, 3), opset=20, functions=(), sparse=(), kind=FLOAT, outputs=("y",)):
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", x, kind)],
        [info(name) for name in outputs],
        tensors,
        sparse_initializer=sparse,
    )
    imports = [helper.make_opsetid(domain, version) for domain, version in (("", opset), ("own", 1))]
    imports.append(helper.make_opsetid("com.microsoft", 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=9, functions=functions)


def summed(nodes, *tensors, cast=False, **rest):
    """What ``nodes`` compute as ``c``, added to x."""
    ends = [node("Cast", ["c"], ["flat"], to=FLOAT)] if cast else []
    ends += [
        node("ReduceSum", ["flat" if cast else "c"], ["total"], keepdims=0),
        node("Add", ["x", "total"], ["y"]),
    ]
    return model([*nodes, *ends], *tensors, **rest)


def doubled(make, count, **rest):
    """A chain of nodes, each of which has the one before it twice: ``make(before, name)``."""
    nodes = [make("o" if not index else f"c{index - 1}", f"c{index}") for index in range(count)]
    return [*nodes, node("Identity", [f"c{count - 1}"], ["c"])]


counter = itertools.count()


def loop(body, states, count="m", outer=(), outputs=(), name="c", condition=True):
    """A Loop of ``count`` rounds, whose ``body`` makes ``t`` of ``s`` for each of ``states``."""
    number = next(counter)
    on = f"on{number}"
    flags = [info(f"i{number}", [], INT64), info("go", [], BOOL)]
    inside = [*([node("Identity", ["go"], [on])] if condition else []), *body]
    results = [info(f"t{place}") for place in range(len(states))]
    graph = helper.make_graph(
        inside,
        "body",
        [*flags, *(info(f"s{place}") for place in range(len(states)))],
        [info(on if condition else "go", [], BOOL), *results, *(info(item) for item in outputs)],
    )
    names = [name] if len(states) + len(outputs) == 1 else [f"{name}{n}" for n in range(len(states))]
    return node("Loop", [count, "", *states], [*names, *(f"{item}_all" for item in outputs)], body=graph)


def nested(depth, inner, count="m"):
    """Loops in loops, ``depth`` of them."""
    made = inner
    for _ in range(depth - 1):
        made = loop([made], ["s0"], count, name="t0")
    return loop([made], ["w"], count)


def function(name, nodes, inputs=("a",)):
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, list(inputs), ["b"], nodes, imports)


def calls(count, inner=None):
    """Functions of which each calls the one before it twice."""
    first = function("F0", [node("Relu", ["a"], ["b"])] if inner is None else inner)
    return [
        first,
        *(
            function(
                f"F{index}",
                [node(f"F{index - 1}", [before], [after], domain="own") for before, after in ("at", "tb")],
            )
            for index in range(1, count + 1)
        ),
    ]


def in_branches(depth):
    """Functions of which each calls the one before it in both branches of an If."""

    def made(index):
        bodies = [
            helper.make_graph(
                [node(f"F{index - 1}", ["a"], [name], domain="own")], name, [], [info(name, [2, 3])]
            )
            for name in ("one", "two")
        ]
        nodes = [
            node("Constant", [], ["yes"], value=number("", True, BOOL)),
            node("If", ["yes"], ["b"], then_branch=bodies[0], else_branch=bodies[1]),
        ]
        return function(f"F{index}", nodes)

    return [function("F0", [node("Relu", ["a"], ["b"])]), *map(made, range(1, depth + 1))]


def scan(length):
    body = helper.make_graph(
        [node("Add", ["s", "e"], ["t"]), node("Identity", ["t"], ["u"])],
        "body",
        [info("s", []), info("e", [])],
        [info("t", []), info("u", [])],
    )
    return node("Scan", ["w", "x"], ["c", "y"], body=body, num_scan_inputs=1)


def deep(levels, both=False):
    """Branches in branches, maybe deeper than protobuf reads: written from inside out."""
    innermost = node("Identity", ["x"], ["y"]).SerializeToString()

    def field(number, content):
        length, head = len(content), bytearray([number << 3 | 2])
        while length > 127:
            head.append(length & 127 | 128)
            length >>= 7
        return bytes([*head, length]) + content

    nodes = innermost
    least = field(1, innermost) + field(2, b"b") + field(12, field(1, b"y"))
    flag = field(1, b"t") + field(2, b"y") + field(4, b"If")
    for _ in range(levels):
        graph = field(1, nodes) + field(2, b"b") + field(12, field(1, b"y"))
        branches = [
            field(5, field(1, name) + b"\xa0\x01\x05" + field(6, graph))
            for name, graph in ((b"then_branch", graph), (b"else_branch", graph if both else least))
        ]
        nodes = flag + b"".join(branches)
    whole = model([], number("t", True, BOOL)).SerializeToString()
    return whole + field(7, field(1, nodes))


def sparse(*sizes):
    values, places = reals("w", [1], [1.0]), numbers("places", 0)
    return helper.make_sparse_tensor(values, places, sizes)


BIG = 1 << 16
ONE = reals("o", [1], [1.0])
ROUNDS = number("m", 9000)
MANY = number("m", 1 << 40)
ZERO = reals("w", [2, 3], [0.0] * 6)
HUGE = numbers("s", BIG, BIG)
BODY = node("Add", ["s0", "s0"], ["t0"])
CONSTANT = node("Identity", ["s0"], ["t0"])


def of_constant(kind, *inputs, sizes=(BIG // 8, BIG // 8), tensors=(), **rest):
    """An operator on 2^26 constant elements."""
    attributes = {key: rest.pop(key) for key in [*rest] if key not in ("cast", "opset")}
    nodes = [node("ConstantOfShape", ["s"], ["a"]), node(kind, ["a", *inputs], ["c"], **attributes)]
    return summed(nodes, numbers("s", *sizes), *tensors, **rest)


def table():
    """Functions that make the models, by name; each is to be refused or loaded in little time and memory."""
    return {
        **sizes_in_values(),
        **sizes_that_grow(),
        **texts_that_grow(),
        **rounds(),
        **functions(),
        **evaluator(),
        **graphs(),
    }


def sizes_in_values():
    return {
        "ConstantOfShape": lambda: summed([node("ConstantOfShape", ["s"], ["c"])], HUGE),
        "Expand": lambda: summed([node("Expand", ["o", "s"], ["c"])], HUGE, ONE),
        "Tile": lambda: summed([node("Tile", ["o", "s"], ["c"])], HUGE, reals("o", [1, 1], [1.0])),
        "Range": lambda: summed(
            [node("Range", ["a", "s", "d"], ["c"])],
            number("a", 0), number("s", 1 << 33), number("d", 1), cast=True,
        ),
        "Range of steps of 0": lambda: summed(
            [node("Range", ["a", "s", "d"], ["c"])],
            number("a", 0), number("s", 1 << 33), number("d", 0), cast=True,
        ),
        "Range of tiny steps": lambda: summed(
            [node("Range", ["a", "s", "d"], ["c"])],
            number("a", 0.0, FLOAT), number("s", 1.0, FLOAT), number("d", 1e-30, FLOAT),
        ),
        "OneHot": lambda: summed([node("OneHot", ["i", "s", "v"], ["c"])], numbers("i", *range(99)),
                         numbers("s", 1 << 31), reals("v", [2], [0.0, 1.0])),
        "Pad": lambda: summed([node("Pad", ["o", "s"], ["c"])], numbers("s", 0, 1 << 31), ONE),
        "Resize": lambda: summed([node("Resize", ["o", "", "", "s"], ["c"])],
                         numbers("s", 1, 1, BIG, BIG), reals("o", [1, 1, 1, 1], [1.0])),
        "HannWindow": lambda: summed([node("HannWindow", ["s"], ["c"])], number("s", 1 << 34)),
        "MelWeightMatrix": lambda: summed(
            [node("MelWeightMatrix", ["s", "s", "r", "l", "u"], ["c"])],
            number("s", 1 << 20), number("r", 8192), number("l", 0.0, FLOAT), number("u", 4000.0, FLOAT),
        ),
        "CenterCropPad": lambda: summed([node("CenterCropPad", ["o", "s"], ["c"])], HUGE, reals("o", [1, 1], [1.0])),
        "AffineGrid": lambda: summed([node("AffineGrid", ["o", "s"], ["c"])],
                             reals("o", [1, 2, 3], [1.0] * 6), numbers("s", 1, 1, BIG, BIG)),
        "MaxUnpool": lambda: summed([node("MaxUnpool", ["o", "i", "s"], ["c"], kernel_shape=[1, 1])],
                            reals("o", [1, 1, 1, 1], [1.0]), helper.make_tensor("i", INT64, [1] * 4, [0]),
                            numbers("s", 1, 1, BIG, BIG)),
        "EyeLike of x": lambda: summed([node("EyeLike", ["x"], ["c"])], x=(BIG, BIG)),
        "Trilu of x": lambda: model([node("Trilu", ["x"], ["y"])], x=(BIG - 1, BIG)),
        "Dropout's mask": lambda: model([node("Dropout", ["x"], ["y", "z"])], x=(BIG - 1, BIG), outputs=["y", "z"]),
        "DFT": lambda: model([node("DFT", ["x", "s"], ["y"])], number("s", 1 << 28), x=(1, 4, 1)),
        "DFT, many": lambda: model(
            [node("DFT", ["x" if not n else f"y{n - 1}"], [f"y{n}"]) for n in range(20)],
            x=(1, 4000, 2), outputs=["y19"],
        ),
        "DFT at its limit": lambda: model([node("DFT", ["x"], ["y"])], x=(1, 5700, 1)),
        "STFT": lambda: model([node("STFT", ["x", "s", "", "l"], ["y"])], number("s", 1), number("l", 5000),
                      x=(1, 10000, 1)),
        "Attention with a causal mask": lambda: model(
            [node("Attention", ["x", "x", "x"], ["y"], is_causal=1)], x=(1, 1, BIG - 1, 1), opset=23),
        "MultiHeadAttention with a causal mask": lambda: model(
            [node("MultiHeadAttention", ["x", "x", "x"], ["y"], domain="com.microsoft", num_heads=1,
                  unidirectional=1)], x=(1, BIG - 1, 4)),
        "a sparse initializer": lambda: model([node("Add", ["x", "w"], ["y"])], sparse=[sparse(1 << 18, 1 << 18)]),
        "a sparse Constant": lambda: summed([node("Constant", [], ["c"], sparse_value=sparse(1 << 18, 1 << 18))]),
        "ConstantOfShape of 0 and much": lambda: model(
            [node("ConstantOfShape", ["s"], ["y"])], numbers("s", 1 << 40, 0, 1 << 40)),
    }  # fmt: skip


def sizes_that_grow():
    return {
        "Concat": lambda: summed(doubled(lambda a, b: node("Concat", [a, a], [b], axis=0), 40), ONE),
        "Concat of x": lambda: model(
            [node("Concat", ["x" if not n else f"c{n - 1}"] * 2, [f"c{n}"], axis=0) for n in range(40)]
            + [node("Identity", ["c39"], ["y"])]
        ),
        "Add that broadcasts": lambda: summed([node("Add", ["a", "b"], ["c"])], reals("a", [5000, 1], [0.0] * 5000),
                                      reals("b", [1, 5000], [0.0] * 5000)),
        "Gather": lambda: summed(doubled(lambda a, b: node("Gather", [a, "i"], [b]), 40), ONE,
                         helper.make_tensor("i", INT64, [2, 2], [0] * 4)),
        "Tile, many": lambda: summed(doubled(lambda a, b: node("Tile", [a, "i"], [b]), 40), ONE, numbers("i", 2)),
        "Expand, many": lambda: summed(
            [node("Expand", ["o", "s"], [f"c{n}"]) for n in range(64)]
            + [node("Sum", [f"c{n}" for n in range(64)], ["c"])], numbers("s", 1 << 26), ONE),
        "Cast, many": lambda: summed(
            [node("Expand", ["o", "s"], ["c0"])]
            + [node("Cast", [f"c{n}"], [f"c{n + 1}"], to=(FLOAT, TensorProto.DOUBLE)[n % 2]) for n in range(30)]
            + [node("Cast", ["c30"], ["c"], to=FLOAT)], numbers("s", 1 << 24), ONE),
        "Transpose, many": lambda: of_constant("Transpose"),
        "NonZero": lambda: summed(
            [node("ConstantOfShape", ["s"], ["a"], value=reals("", [1], [1.0])), node("NonZero", ["a"], ["c"])],
            numbers("s", 1, 1, 1, 1, 1, 1, 1 << 13, 1 << 13), cast=True),
        "Unique": lambda: of_constant("Unique", sizes=(1 << 27,)),
        "Compress": lambda: of_constant("Compress", "k", tensors=[helper.make_tensor("k", BOOL, [4], [True] * 4)]),
        "Split": lambda: model(
            [node("ConstantOfShape", ["s"], ["c"]), node("Split", ["c"], [f"p{n}" for n in range(4000)], axis=0),
             node("Add", ["x", "p0"], ["y"])], numbers("s", 4000, 1 << 14), opset=13, x=(1, 1)),
    }  # fmt: skip


def texts_that_grow():
    a = texts("o", "a")
    ends = [node("StringSplit", ["t"], ["q", "c"])]
    return {
        "StringConcat": lambda: summed(
            [*doubled(lambda a, b: node("StringConcat", [a, a], [b]), 40)[:-1],
             node("StringSplit", ["c39"], ["q", "c"])], a, cast=True),
        "StringConcat of one long text": lambda: summed(
            [*doubled(lambda a, b: node("StringConcat", [a, a], [b]), 18)[:-1],
             node("Concat", ["c17", *["o"] * 1000], ["k"], axis=0), node("StringConcat", ["k", "k"], ["t"]), *ends],
            a, cast=True),
        "StringSplit": lambda: summed(
            [*doubled(lambda a, b: node("StringConcat", [a, a], [b]), 22)[:-1],
             node("StringSplit", ["c21"], ["q", "c"], delimiter=",")], texts("o", ","), cast=True),
        "Tile of a text": lambda: summed(
            [*doubled(lambda a, b: node("StringConcat", [a, a], [b]), 20)[:-1],
             node("Tile", ["c19", "n"], ["t"]), *ends], a, numbers("n", 5000), cast=True),
        "a pattern of repeated repetitions": lambda: summed(
            [node("RegexFullMatch", ["o"], ["c"], pattern="(a+)+$")], texts("o", "a" * 40 + "!"), cast=True),
        "a pattern of many repetitions": lambda: summed(
            [node("RegexFullMatch", ["o"], ["c"], pattern="a*" * 12 + "$")], texts("o", "a" * 200 + "!"), cast=True),
        "a pattern of choices": lambda: summed(
            [node("RegexFullMatch", ["o"], ["c"], pattern="(a|a)" * 40 + "$")], texts("o", "a" * 40 + "!"), cast=True),
        "a pattern that counts": lambda: summed(
            [node("RegexFullMatch", ["o"], ["c"], pattern="((a{1,1000}){1,1000}){1,1000}$")],
            texts("o", "a" * 40 + "!"), cast=True),
        "a pattern that refers back": lambda: summed(
            [node("RegexFullMatch", ["o"], ["c"], pattern=r"(a*)(a*)(a*)(a*)(a*)\1\2\3\4\5b")],
            texts("o", "a" * 400), cast=True),
        "Cast to text": lambda: of_constant("Cast", to=STRING),
    }  # fmt: skip


def rounds():
    return {
        "loops in loops": lambda: summed([nested(4, BODY)], ROUNDS, ZERO),
        "loops in loops of constants": lambda: summed([nested(4, CONSTANT)], ROUNDS, ZERO),
        "a loop without an end": lambda: summed([loop([BODY], ["w"], "")], ZERO),
        "a loop of nothing": lambda: summed([node("Loop", ["m", "", "w"], ["c"], body=helper.make_graph(
            [], "b", [info("i", [], INT64), info("go", [], BOOL), info("s")], [info("go", [], BOOL), info("s")]))],
            MANY, ZERO),
        "a loop that doubles": lambda: summed(
            [loop([node("Concat", ["s0", "s0"], ["t0"], axis=0)], ["w"])], ROUNDS, ZERO),
        "a loop that collects": lambda: summed(
            [node("Expand", ["w", "s"], ["big"]), loop([CONSTANT, node("Identity", ["big"], ["u"])], ["w"],
                                                       outputs=["u"], name="c"),
             node("ReduceSum", ["u_all"], ["c"], keepdims=0)], ROUNDS, ZERO, numbers("s", 1000, 2, 3)),
        "a loop over a sequence": lambda: summed(
            [node("SequenceEmpty", [], ["w"], dtype=FLOAT),
             loop([node("SequenceInsert", ["s0", "x"], ["t0"])], ["w"], name="k"),
             node("SequenceLength", ["k"], ["c"])], MANY, cast=True),
        "ConcatFromSequence that doubles": lambda: summed(
            [loop([node("SequenceConstruct", ["s0", "s0"], ["q"]), node("ConcatFromSequence", ["q"], ["t0"], axis=0)],
                  ["w"])], ROUNDS, ZERO),
        "SplitToSequence": lambda: summed([node("SplitToSequence", ["x"], ["q"]), node("SequenceLength", ["q"], ["c"])],
                                  x=(10_000_000,), cast=True),
        "Scan": lambda: model([scan(10_000_000)], reals("w", [], [0.0]), x=(10_000_000,)),
        "a Scan of little": lambda: model([scan(20_000)], reals("w", [], [0.0]), x=(60_000,)),
        "a loop of large constants": lambda: summed(
            [loop([node("Constant", [], ["k"], value=reals("", [1000], [0.0] * 1000)),
                   node("Add", ["s0", "k"], ["t0"])], ["x"])], ROUNDS, x=(1000,)),
        "a loop of transforms": lambda: model(
            [loop([node("DFT", ["s0"], ["t0"])], ["x"], name="y")], ROUNDS, x=(1, 1000, 2)),
        "a loop of branches": lambda: summed(
            [loop([node("If", ["go"], ["t0"],
                        then_branch=helper.make_graph([node("Neg", ["s0"], ["v"])], "v", [], [info("v")]),
                        else_branch=helper.make_graph([node("Abs", ["s0"], ["v"])], "v", [], [info("v")]))],
                  ["w"])], MANY, ZERO),
        "a loop of long lists": lambda: summed(
            [loop([node("Constant", [], ["k"], value_ints=[1] * 100_000), node("ReduceSum", ["k"], ["r"]),
                   node("Cast", ["r"], ["f"], to=FLOAT), node("Add", ["s0", "f"], ["t0"])], ["w"])], ROUNDS, ZERO),
        "a loop of long attributes": lambda: summed(
            [loop([node("Constant", [], ["i"], value_ints=[1]),
                   node("TfIdfVectorizer", ["i"], ["r"], mode="TF", min_gram_length=1, max_gram_length=1,
                        max_skip_count=0, ngram_counts=[0], ngram_indexes=[*range(50_000)],
                        pool_int64s=[*range(50_000)]), node("ReduceSum", ["r"], ["f"]),
                   node("Add", ["s0", "f"], ["t0"])], ["w"])], ROUNDS, ZERO),
    }  # fmt: skip


def functions():
    call = [node("F24", ["x"], ["y"], domain="own")]
    chain = [function("F0", [node("Relu", ["a"], ["b"])])]
    chain += [function(f"F{n}", [node(f"F{n - 1}", ["a"], ["b"], domain="own")]) for n in range(1, 3000)]
    own = function("F0", [loop([node("F1", ["s0"], ["t0"], domain="own")], ["a"], name="b")], ["a", "m"])
    own.node[0].input[0] = "m"
    return {
        "functions that call twice": lambda: model(call, functions=calls(24)),
        "functions that call nothing twice": lambda: model(call, functions=calls(24, [])),
        "functions that call in branches": lambda: model(call, functions=in_branches(24)),
        "a function of a large constant": lambda: model(
            [node("F14", ["x"], ["y"], domain="own")],
            functions=calls(14, [node("Constant", [], ["k"], value=reals("", [3], [0.0] * 3)),
                                 node("Constant", [], ["n"], value=reals("", [100_000], [0.0] * 100_000)),
                                 node("ReduceSum", ["n"], ["r"], keepdims=0), node("Add", ["k", "r"], ["q"]),
                                 node("Add", ["a", "q"], ["b"])])),
        "a chain of functions": lambda: model([node("F2999", ["x"], ["y"], domain="own")], functions=chain),
        "a loop in a function in a loop": lambda: summed(
            [loop([node("F0", ["s0", "m"], ["t0"], domain="own")], ["w"])], ROUNDS, ZERO,
            functions=[function("F1", [node("Neg", ["a"], ["b"])]), own]),
        "an operator that is a function in a loop": lambda: summed(
            [loop([node("HannWindow", ["n"], ["h"]), node("ReduceSum", ["h"], ["r"]), node("Add", ["s0", "r"], ["t0"])],
                  ["w"])], ROUNDS, ZERO, number("n", 1000)),
    }  # fmt: skip


def evaluator():
    """Nodes on constants that ONNX's reference evaluator computes slowly, or with much memory."""
    boxes = reals("b", [1, 3000, 4], [0.0, 0.0, 1.0, 1.0] * 3000)
    scores = reals("z", [1, 5, 3000], [index / 15000 for index in range(15000)])
    square = reals("o", [1, 1, 100, 100], [1.0] * 10000)
    ramp = reals("o", [1000], [0.0] * 1000)
    return {
        "NonMaxSuppression": lambda: summed(
            [node("NonMaxSuppression", ["b", "z", "n", "h"], ["c"])], boxes, scores, numbers("n", 3000),
            reals("h", [1], [1.0]), cast=True),
        "Einsum": lambda: summed([node("Einsum", ["o"] * 6, ["c"], equation="a,b,c,d,e,f->")], ramp),
        "MaxPool of large windows": lambda: summed(
            [node("MaxPool", ["o"], ["c"], kernel_shape=[40000, 40000], pads=[20000] * 4)], square),
        "AveragePool of large windows": lambda: summed(
            [node("AveragePool", ["o"], ["c"], kernel_shape=[99, 99], pads=[90] * 4, count_include_pad=1)], square),
        "Conv": lambda: summed([node("Conv", ["o", "k"], ["c"], pads=[49] * 4)], square,
                                reals("k", [1, 1, 99, 99], [1.0] * 9801)),
        "Resize, cubic": lambda: summed(
            [node("Resize", ["o", "", "", "s"], ["c"], mode="cubic")], square, numbers("s", 1, 1, 256, 256)),
        "GridSample": lambda: summed([node("GridSample", ["o", "k"], ["c"], mode="cubic")], square,
                             reals("k", [1, 100, 100, 2], [0.0] * 20000)),
        "LSTM": lambda: summed(
            [node("LSTM", ["o", "k", "v"], ["q", "c"], hidden_size=1)], reals("o", [60000, 1, 1], [0.0] * 60000),
            reals("k", [1, 4, 1], [0.0] * 4), reals("v", [1, 4, 1], [0.0] * 4)),
        "ScatterElements": lambda: summed(
            [node("ScatterElements", ["o", "k", "o"], ["c"])], reals("o", [60000], [0.0] * 60000),
            numbers("k", *range(60000))),
        "Det": lambda: summed([node("Det", ["o"], ["c"])], reals("o", [250, 250], [0.0] * 62500)),
        "Unique in the order of appearance": lambda: summed(
            [node("Range", ["a", "s", "d"], ["i"]), node("Unique", ["i"], ["c", "", "k"], sorted=0)],
            number("a", 0), number("s", 20_000_000), number("d", 1), cast=True),
        "matrices of matrices": lambda: summed(
            [node("Expand", ["o", "s"], ["m0"])]
            + [node("MatMul", [f"m{n}", f"m{n}"], [f"m{n + 1}"]) for n in range(500)]
            + [node("Identity", ["m500"], ["c"])], numbers("s", 256, 256), ONE),
    }  # fmt: skip


def graphs():
    return {
        "many nodes": lambda: model(
            [node("Relu", ["x" if not n else f"c{n - 1}"], [f"c{n}"]) for n in range(300_000)]
            + [node("Relu", ["c299999"], ["y"])]),
        "many nodes of constants": lambda: model(
            [node("Add", ["w" if not n else f"c{n - 1}", "w"], [f"c{n}"]) for n in range(60_000)]
            + [node("Add", ["c59999", "x"], ["y"])], ZERO),
        "branches in branches": lambda: deep(1000),
        "branches in branches, as far as they are read": lambda: deep(30),
        "both branches in both branches": lambda: deep(11, True),
        "Split of many outputs": lambda: model(
            [node("Split", ["x"], [f"y{n}" if n in (0, 299_999) else "" for n in range(300_000)], axis=0,
                  num_outputs=300_000)], x=(300_000,), outputs=["y0"]),
        "a Constant of many numbers": lambda: summed(
            [node("Constant", [], ["c"], value_ints=[1] * 1_000_000)], cast=True),
        "an attribute of many numbers": lambda: model([node("Transpose", ["x"], ["y"], perm=[0] * 1_000_000)]),
        "an axis after many": lambda: model([node("ReduceSum", ["x"], ["y"], axes=[0] * 1_000_000)], opset=11),
        "Einsum of many terms": lambda: model([node("Einsum", ["x"] * 2, ["y"], equation="...,...->" * 1000)]),
        "Concat of many inputs": lambda: model([node("Concat", ["x"] * 300_000, ["y"], axis=0)]),
        "Sum of many inputs": lambda: model([node("Sum", ["x"] * 300_000, ["y"])]),
    }  # fmt: skip


def serialized(made):
    return made if isinstance(made, bytes) else made.SerializeToString()
