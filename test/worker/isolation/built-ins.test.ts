import { afterEach, describe, expect, it } from 'vitest'
import { BuiltIns } from '../../../src/worker/isolation/built-ins.ts'

const builtIns = new BuiltIns()

describe('BuiltIns', () => {
  afterEach(() => {
    builtIns.restore()
  })

  it('reports no changes when no built-in was replaced', () => {
    expect(builtIns.restore()).toEqual([])
    expect(builtIns.restore()).toEqual([])
  })

  it.each([
    ['Array.prototype.map', () => Reflect.set(Array.prototype, 'map', () => [])],
    ['Array.prototype.Symbol(Symbol.iterator)', () => Reflect.set(Array.prototype, Symbol.iterator, undefined)],
    ['Promise', () => Reflect.set(globalThis, 'Promise', undefined)],
    ['Promise.prototype.then', () => Reflect.deleteProperty(Promise.prototype, 'then')],
    ['Map.prototype.get', () => Reflect.set(Map.prototype, 'get', () => undefined)],
    ['Map.prototype.size', () => Reflect.defineProperty(Map.prototype, 'size', { get: () => 0 })],
    ['JSON.stringify', () => Reflect.set(JSON, 'stringify', () => '')],
    ['Reflect.ownKeys', () => Reflect.set(Reflect, 'ownKeys', () => [])],
    ['Reflect.getOwnPropertyDescriptor', () => Reflect.set(Reflect, 'getOwnPropertyDescriptor', () => undefined)],
    ['Buffer.from', () => Reflect.set(Buffer, 'from', () => undefined)],
    ['Object.prototype.then', () => Reflect.set(Object.prototype, 'then', () => undefined)],
    ['setTimeout', () => Reflect.set(globalThis, 'setTimeout', () => undefined)],
    ['Set.prototype.size', () => Reflect.defineProperty(Set.prototype, 'size', { set: () => undefined })],
    ['Array.prototype.push', () => Reflect.defineProperty(Array.prototype, 'push', { set: () => undefined })],
    ['Object.prototype.__lookupGetter__', () => Reflect.set(Object.prototype, '__lookupGetter__', () => undefined)],
    ['Function.prototype.call', () => Reflect.set(Function.prototype, 'call', () => undefined)],
  ])('restores a replaced built-in: %s', (name, replace) => {
    replace()
    const restored = builtIns.restore()
    // `expect` is not called here, because it may use the replaced built-in.
    expect(restored).toEqual([name])
    expect(builtIns.restore()).toEqual([])
  })

  it('restores a built-in that a getter replaces, without calling it, whatever value it returns', () => {
    const { parse } = JSON
    let calls = 0
    Object.defineProperty(JSON, 'parse', {
      configurable: true,
      get: () => {
        calls += 1
        return parse
      },
    })
    expect(builtIns.restore()).toEqual(['JSON.parse'])
    expect(calls).toBe(0)
  })

  it('allows new properties, except on Object.prototype', () => {
    Object.defineProperty(Array.prototype, 'last', { value: () => undefined, configurable: true })
    expect(builtIns.restore()).toEqual([])
    Reflect.deleteProperty(Array.prototype, 'last')
    expect({ toString: () => 'own' }.toString()).toBe('own')
  })
})
