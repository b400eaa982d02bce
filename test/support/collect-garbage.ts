import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Collects all garbage once. `queryObjects` of `node:v8` takes seconds in a process that has run many test files. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // Threads that start later would have it.
  setFlagsFromString('--no-expose-gc')
  // The target of a new WeakRef stays in memory until the current turn ends.
  await nextTurn()
  collect()
}

/** Uses so many new objects, and returns how many of them are still in memory after that. */
export async function countRetained<T extends object>(
  count: number,
  create: () => T,
  use: (object: T, at: number) => Promise<void>,
): Promise<number> {
  const objects: WeakRef<T>[] = []
  const useNext = (object: T) => use(object, objects.push(new WeakRef(object)) - 1)
  while (objects.length < count) await useNext(create())
  await collectGarbage()
  return objects.filter((object) => object.deref() !== undefined).length
}
