/** Returns a timeout handler that fails a commit after `timeoutMs`. */
export function failLateCommit(timeoutMs: number): () => never {
  return () => {
    throw new Error(`the log did not take them within ${timeoutMs} ms (offset.flush.timeout.ms)`)
  }
}
