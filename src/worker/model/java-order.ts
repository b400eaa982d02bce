import { inHashOrder } from '../../java-compat/hash-order.ts'

/**
 * Sorts names as Kafka Connect's copy of a map that was filled with them in this order would hand them out: task records
 * and answers carry this order, and taking over from a Java worker without rewriting every task record needs the same bytes.
 */
export function javaOrder(names: readonly string[]): readonly string[] {
  // A map that is copied is made for one more than it holds.
  return inHashOrder(names, { count: names.length + 1 })
}

/** The same members in that order. */
export function inJavaOrder<Value>(members: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(javaOrder(Object.keys(members)).map((name) => [name, members[name] as Value]))
}
