import type { Settings } from '../settings.ts'
import type { Curve } from './curve.ts'

/** One picture, whose points are measured in a process of their own. */
type MeasuredCurve = { load(): Promise<(settings: Settings) => Promise<Curve>> }

export const CURVES = {
  records: { load: async () => (await import('./worker-curves.ts')).curveOfRecords },
  tasks: { load: async () => (await import('./worker-curves.ts')).curveOfTasks },
  connectors: { load: async () => (await import('./worker-curves.ts')).curveOfConnectors },
  schemas: { load: async () => (await import('./schema-curve.ts')).curveOfSchemas },
  resources: { load: async () => (await import('./resource-curve.ts')).curveOfResources },
} as const satisfies Readonly<Record<string, MeasuredCurve>>

export type CurveName = keyof typeof CURVES
