const CAUSES_MAX = 10

/** What failed and everything that caused it, as people read it in a status. */
export function traceOf(error: unknown, causesMax = CAUSES_MAX): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? `${error.name}: ${error.message}`
  // An error may be its own cause.
  if (error.cause === undefined || causesMax === 0) return own
  return `${own}\nCaused by: ${traceOf(error.cause, causesMax - 1)}`
}
