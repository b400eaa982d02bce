/**
 * Sets a property whose name comes from a schema or from data. An assignment to `__proto__` would change the object's
 * prototype instead of adding a property.
 */
export function defineMember(into: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') into[name] = value
  else Object.defineProperty(into, name, { value, configurable: true, enumerable: true, writable: true })
}
