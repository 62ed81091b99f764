"""First tokens of a closed load, followed step by step, for many rows.

As src/analysis/timing/closed_load.cc does it. `queues` tells of rows of a
closed load how many times a prompt's own time its first token waits for.
Needs numpy and numba.
"""

import numba
import numpy as np
from serving_model import ENG, model4

BATCHES = 2.0 ** np.arange(12)
LOG_BATCHES = np.log2(BATCHES)
CHUNK = 8192.0
FOLLOWED = 6000
KEYS = ("eng", "arch", "L", "h", "Wa", "We", "tp", "dp", "ep", "mtp", "C", "I", "O", "BW", "ba", "be", "kv", "sp")
KEYS += ("lo", "poll", "lenf", "si")


@numba.njit(cache=True)
def mean_first(clients, isl, osl, low, waves, bs, td, token, step, budget, mixed, poll, room):
    if waves > 1:
        waves = min(max(FOLLOWED // clients, 2), waves)
    n = clients * waves
    prompt = np.empty(n)
    answer = np.empty(n)
    for i in range(n):
        a = (i + 1) * 0.7548776662466927
        b = (i + 1) * 0.5698402909980532
        prompt[i] = max(np.floor(isl * (low + (1 - low) * (a - np.floor(a)))), 1.0)
        answer[i] = max(np.floor(osl * (low + (1 - low) * (b - np.floor(b)))), 1.0)
    arrived = np.zeros(n)
    left = np.empty(clients + 1)
    running = 0
    sent = clients
    seen = 0
    nxt = 0
    done = 0
    since = 0
    now = 0.0
    waited = 0.0
    while done < n:
        if since >= poll or running == 0:
            seen = sent
            since = 0
        since += 1
        begin = nxt
        space = budget - (running if mixed else 0)
        read = 0.0
        begun = running
        while nxt < seen and space > 0 and begun < room:
            part = min(prompt[nxt], space)
            prompt[nxt] -= part
            read += part
            space -= part
            if prompt[nxt] > 0:
                break
            nxt += 1
            begun += 1
        decodes = running > 0 and (mixed or read == 0)
        seconds = np.interp(np.log2(running * 1.0), bs, td) if decodes else 0.0
        if read > 0:
            seconds += token * read + step
        steps = 1
        if decodes and read == 0:
            least = left[0]
            for i in range(running):
                least = min(least, left[i])
            steps = int(least)
            if seen < sent:
                steps = min(steps, poll - since + 1)
            steps = max(steps, 1)
        now += seconds * steps
        since += steps - 1
        if decodes:
            kept = 0
            for i in range(running):
                rest = left[i] - steps
                if rest > 0:
                    left[kept] = rest
                    kept += 1
                else:
                    done += 1
                    if sent < n:
                        arrived[sent] = now
                        sent += 1
            running = kept
        for i in range(begin, nxt):
            waited += now - arrived[i]
            if answer[i] <= 1:
                done += 1
                if sent < n:
                    arrived[sent] = now
                    sent += 1
            else:
                left[running] = answer[i] - 1
                running += 1
    return waited / n


def queues(P, f):
    """Sets f["Q"] for rows of closed loads."""
    f["Q"] = np.zeros(len(f["y"]))
    at = np.where(f["r_closed"] > 0)[0]
    if not len(at):
        return
    _, first, back = np.unique(np.stack([f[k][at] for k in KEYS], 1), axis=0, return_index=True, return_inverse=True)
    g = {k: v[at[first]] for k, v in f.items()}
    dec, pre, cap = model4(P, g, True)
    n = g["I"] * g["lenf"]
    ctx = n + g["O"] * g["lenf"] * 0.5
    table = np.stack([dec(np.full(len(n), b), ctx) for b in BATCHES], 1)
    marginal = pre(n, n / CHUNK, np.maximum(np.minimum(n, CHUNK), 2048.0))
    alone = pre(n, np.ceil(n / CHUNK), np.minimum(n, CHUNK))
    sglang = g["eng"] == ENG.index("sglang")
    out = np.zeros(len(n))
    for i in range(len(n)):
        out[i] = mean_first(
            max(1, round(g["C"][i] / g["dp"][i])),
            g["I"][i],
            g["O"][i],
            g["lo"][i],
            10 if g["sp"][i] else 1,
            LOG_BATCHES,
            table[i],
            marginal[i] / n[i],
            max(alone[i] - marginal[i], 0) / np.ceil(n[i] / CHUNK),
            2 * CHUNK if sglang[i] else CHUNK,
            not sglang[i],
            int(g["poll"][i]),
            int(cap[i]),
        )
    f["Q"][at] = (out / alone)[back.ravel()]
