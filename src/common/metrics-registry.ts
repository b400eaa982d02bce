import { Registry } from 'prom-client'

/** The metrics registry of the process; each program adds its own metrics. Served at `/metrics`. */
export type Metrics = Registry

export function createMetrics(): Metrics {
  return new Registry()
}
