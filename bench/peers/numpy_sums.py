"""NumPy adds two arrays at a time; its best is to add into the result, without new arrays."""
import numpy as np
from peer import serve, staggered_ones


def make_ways(case):
    if case.what != "add_n":
        return {"numpy": f"NumPy has nothing like {case.what}"}
    if case.dtype == "bfloat16":
        return {"numpy": "NumPy has no bfloat16"}
    out, *terms = [staggered_ones(case, i) for i in range(case.terms + 1)]

    def add_into_result():
        np.add(terms[0], terms[1], out=out)
        for term in terms[2:]:
            np.add(out, term, out=out)
        return out

    return {"numpy": add_into_result}


if __name__ == "__main__":
    serve(np.__version__, make_ways)
