/**
 * A function that runs actions one after another. The tools that provide parts (apt, Maven, Go) fail or waste work when
 * two parts use them at the same time: they lock or share a cache.
 */
export function takeTurns(): <Result>(action: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (action) => {
    const result = last.then(action)
    last = result.catch(() => undefined)
    return result
  }
}
