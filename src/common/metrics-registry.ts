import { Registry } from 'prom-client'

/** The metrics registry of the process; each program adds its own metrics. Served at `/metrics`. */
export class Metrics extends Registry {
  readonly #updates: (() => Promise<void>)[] = []

  /** Registers a function that is awaited before each scrape and may add and remove metrics. It must not reject. */
  beforeScrape(update: () => Promise<void>): void {
    this.#updates.push(update)
  }

  override async metrics(): Promise<string> {
    await Promise.all(this.#updates.map((update) => update()))
    return super.metrics()
  }
}

export function createMetrics(): Metrics {
  return new Metrics()
}
