"""A program that asks: `python asker.py CACHE URL THREADS NUMBER [BUDGET]`; each answer is printed once it is acknowledged."""

import os
import sys
import threading

import workbench as wb

cache, url, threads, number, *budget = sys.argv[1:]
limit = wb.Budget(calls=int(budget[0]), name="shared") if budget else None
client = wb.Client(wb.Cache(cache), api_base=url, budget=limit, retries=0, at_once=16)
requests = [
    wb.Request("direct", "openai/gpt-4o-mini", [{"role": "user", "content": f"q {n}"}], {})
    for n in range(int(number))
]


def ask(start):
    own = requests[start:] + requests[:start]
    if threads == "1":
        client.complete_many(own)
    for request in own if threads != "1" else ():
        os.write(1, f"{client.complete(request).key}\n".encode())


workers = [
    threading.Thread(target=ask, args=(len(requests) * n // int(threads),))
    for n in range(int(threads))
]
if threads == "1":
    ask(0)
else:
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
