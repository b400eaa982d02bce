/** What failed and everything that caused it, as people read it in a status. */
export function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? `${error.name}: ${error.message}`
  return error.cause === undefined ? own : `${own}\nCaused by: ${traceOf(error.cause)}`
}
