/** Returns a function that runs at most `max` tasks at the same time; further tasks wait in order of arrival. */
export function limitConcurrency(max: number) {
  let running = 0
  const waiting: (() => void)[] = []
  return async <T>(run: () => Promise<T>): Promise<T> => {
    // A task that ends passes its slot to the next one directly, so that no later task can take it.
    if (running < max) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
