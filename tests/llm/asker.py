"""A program that asks: `python asker.py CACHE URL THREADS NUMBER [BUDGET]`; threads print the keys of their answers."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import workbench as wb

cache, url, threads, number, *budget = sys.argv[1:]
limit = wb.Budget(calls=int(budget[0]), name="shared") if budget else None
client = wb.Client(wb.Cache(cache), api_base=url, budget=limit, retries=0, at_once=16)
requests = [
    wb.Request(
        "direct", "openai/gpt-4o-mini", [{"role": "user", "content": f"q {n}"}], {}
    )
    for n in range(int(number))
]


def ask(thread):
    start = len(requests) * thread // int(threads)
    for request in requests[start:] + requests[:start]:
        os.write(1, f"{client.complete(request).key}\n".encode())


if threads == "1":
    client.complete_many(requests)
else:
    with ThreadPoolExecutor(int(threads)) as pool:
        list(pool.map(ask, range(int(threads))))
