"""Change the join order of a running query, by hand and by measurement, and prove that nothing was lost.

python examples/change_of_plan.py
"""

import random

import midstream as ms

HOUR = 3600


def query() -> ms.Stream:
    """Orders with their payments and shipments of the last hour, joined in that order."""
    orders = ms.stream("orders", id="integer", value="float").alias("o").window(HOUR)
    payments = ms.stream("payments", order="integer").alias("p").window(HOUR)
    shipments = ms.stream("shipments", order="integer").alias("s").window(HOUR)
    paid = orders.join(payments, on=[("o.id", "p.order")])
    return paid.join(shipments, on=[("p.order", "s.order")]).select("o.id", "o.value")


def recorded(seed: int = 7) -> dict[str, list]:
    """Made-up streams: almost every order is paid, few are shipped within the hour."""
    rng = random.Random(seed)
    orders = [(t, (t // 4, float(rng.randrange(100)))) for t in range(0, 20_000, 4)]
    paid = sorted((t + rng.randrange(600), (row[0],)) for t, row in orders if rng.random() < 0.9)
    shipped = sorted((t + rng.randrange(3000), (row[0],)) for t, row in orders if rng.random() < 0.05)
    rows = {"orders": orders, "payments": paid, "shipments": shipped}
    return {name: list(ms.chronons(stream)) for name, stream in rows.items()}


def main() -> None:
    """Run once with a change of plan in the middle, once without, and compare."""
    streams = recorded()
    plan = query().plan()
    results: list = []
    engine = ms.Engine(plan, results.extend)
    migration = None
    for name, batch in ms.interleave(streams, batch_size=200):
        engine.push(name, batch)
        if migration is None and engine.progress() >= 2 * HOUR:
            choice = engine.optimize()
            print(
                f"{choice.considered} plans compared; "
                f"{choice.original_cost.total:.2f} -> {choice.cost.total:.2f} µs per second"
            )
            print(choice.plan)
            migration = engine.migrate(choice.plan)
    engine.close()
    assert migration is not None
    print(ms.report(migration))
    verdict = ms.equivalent(results, ms.run(plan, streams))
    print(verdict)
    assert verdict


if __name__ == "__main__":
    main()
