const LOAD_FACTOR = 0.75
const CAPACITY_MIN = 16

/**
 * Sorts names as a Java `HashMap` that was filled with them in this order would hand them out. Kafka Connect keeps
 * configurations in such maps, so task records and answers carry this order; taking over from a Java worker without
 * rewriting every task record needs the same bytes.
 */
export function javaOrder(names: readonly string[]): readonly string[] {
  let capacity = CAPACITY_MIN
  // A map that is copied is made for one more than it holds.
  while (names.length >= capacity * LOAD_FACTOR) capacity *= 2
  const slots = names.map((name) => ({ name, slot: slotOf(name, capacity) }))
  return slots.sort((a, b) => a.slot - b.slot).map(({ name }) => name)
}

/** The same members in the order of a Java `HashMap`. */
export function inJavaOrder<Value>(members: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(javaOrder(Object.keys(members)).map((name) => [name, members[name] as Value]))
}

function slotOf(name: string, capacity: number): number {
  let hash = 0
  for (let index = 0; index < name.length; index++) hash = (31 * hash + name.charCodeAt(index)) | 0
  return (hash ^ (hash >>> 16)) & (capacity - 1)
}
