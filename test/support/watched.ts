/** The outcome of a promise: its value or its error; undefined while it is pending. */
export function watched(promise: Promise<unknown>): { readonly outcome?: unknown } {
  const watch: { outcome?: unknown } = {}
  const settle = (outcome: unknown) => {
    watch.outcome = outcome
  }
  promise.then(settle, settle)
  return watch
}
