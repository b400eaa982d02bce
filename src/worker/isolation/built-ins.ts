// This module uses only functions that it saved before plugins were loaded, because a plugin may replace the others.
const { getOwnPropertyDescriptor, ownKeys, defineProperty, deleteProperty } = Reflect
type Lookup = (owner: object, key: PropertyKey) => unknown
const { __lookupGetter__, __lookupSetter__ } = Object.prototype as unknown as Record<string, () => unknown>
// Bound, because `call` itself may be replaced. Unlike a descriptor, their results need no memory: the check runs ten times per second.
const lookupGetter = Function.prototype.call.bind(__lookupGetter__ as Lookup) as Lookup
const lookupSetter = Function.prototype.call.bind(__lookupSetter__ as Lookup) as Lookup

/** Globals that any code in a thread uses: built-ins of the language, and those of Node that belong to no module. */
const NAMES = [
  ...[
    'Object',
    'Function',
    'Array',
    'String',
    'Number',
    'Boolean',
    'Symbol',
    'BigInt',
    'Math',
    'Date',
    'RegExp',
    'JSON',
  ],
  ...['Promise', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'Proxy', 'Reflect', 'Iterator', 'Atomics', 'Intl'],
  ...['ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Uint8Array', 'Int32Array', 'BigInt64Array', 'Float64Array'],
  ...[
    'Error',
    'TypeError',
    'RangeError',
    'SyntaxError',
    'AggregateError',
    'Buffer',
    'URL',
    'TextEncoder',
    'TextDecoder',
  ],
  ...['AbortController', 'AbortSignal', 'EventTarget', 'Event', 'MessagePort', 'MessageChannel', 'performance'],
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate', 'queueMicrotask'],
  ...['structuredClone', 'parseInt', 'parseFloat', 'isNaN', 'isFinite', 'encodeURIComponent', 'decodeURIComponent'],
]
/** Properties that V8 changes by itself, or whenever an error is created. */
const VOLATILE = new Set<PropertyKey>(['stackTraceLimit', 'prepareStackTrace'])

type Property = {
  readonly owner: object
  readonly key: PropertyKey
  readonly name: string
  readonly descriptor: PropertyDescriptor
}

/**
 * Records the built-ins of its thread when it is created, and restores those that a plugin replaces, because other code
 * in the same thread uses them. Added properties are ignored, except on `Object.prototype`, where every object inherits
 * them.
 *
 * Built-ins are not frozen for two reasons: V8 would lose its fast paths (spread becomes 25 times slower, split 9
 * times), and plugins could no longer define `toString` on their objects.
 */
export class BuiltIns {
  readonly #properties: readonly Property[]
  readonly #ofAllObjects: readonly PropertyKey[] = ownKeys(Object.prototype)

  constructor() {
    const owners = new Map<object, string>()
    const properties = NAMES.flatMap((name) => {
      const value: unknown = Reflect.get(globalThis, name)
      if (!isObject(value)) return []
      owners.set(value, name)
      if (isObject(Reflect.get(value, 'prototype'))) owners.set(Reflect.get(value, 'prototype'), `${name}.prototype`)
      return propertyOf(globalThis, name, name)
    })
    owners.set(Object.getPrototypeOf(Uint8Array), 'TypedArray')
    owners.set(Object.getPrototypeOf(Uint8Array.prototype), 'TypedArray.prototype')
    owners.set(Object.getPrototypeOf([][Symbol.iterator]()), 'ArrayIterator.prototype')
    owners.set(
      Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype)),
      'AsyncGenerator.prototype',
    )
    for (const [owner, ownerName] of owners) {
      for (const key of ownKeys(owner)) {
        if (!VOLATILE.has(key)) properties.push(...propertyOf(owner, key, `${ownerName}.${String(key)}`))
      }
    }
    this.#properties = properties
  }

  /** Restores replaced built-ins and returns their names. */
  restore(): readonly string[] {
    const changed: string[] = []
    const properties = this.#properties
    for (let at = 0; at < properties.length; at++) {
      const property = properties[at] as Property
      if (isIntact(property)) continue
      const { owner, key, name, descriptor } = property
      changed[changed.length] = name
      defineProperty(owner, key, descriptor)
    }
    const keys = ownKeys(Object.prototype)
    for (let at = 0; keys.length > this.#ofAllObjects.length && at < keys.length; at++) {
      const key = keys[at] as PropertyKey
      if (isIn(this.#ofAllObjects, key)) continue
      changed[changed.length] = `Object.prototype.${typeof key === 'string' ? key : 'a symbol'}`
      deleteProperty(Object.prototype, key)
    }
    return changed
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

/** Returns an empty list for a property that cannot be replaced. */
function propertyOf(owner: object, key: PropertyKey, name: string): Property[] {
  const descriptor = getOwnPropertyDescriptor(owner, key)
  if (!descriptor || (!descriptor.configurable && !descriptor.writable)) return []
  return [{ owner, key, name, descriptor }]
}

/** Calls no code of plugins: a value is read only if no getter replaces it, also none that is inherited. */
function isIntact({ owner, key, descriptor: { get, set, value } }: Property): boolean {
  if (lookupGetter(owner, key) !== get) return false
  if (get !== undefined || set !== undefined) return lookupSetter(owner, key) === set
  return (owner as Readonly<Record<PropertyKey, unknown>>)[key] === value
}

function isIn(keys: readonly PropertyKey[], key: PropertyKey): boolean {
  for (let at = 0; at < keys.length; at++) if (keys[at] === key) return true
  return false
}
