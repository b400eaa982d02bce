import { expect, it } from 'vitest'
import { traceOf } from '../../../src/worker/tasks/error-trace.ts'

it('includes the error and its causes', () => {
  const error = new Error('outer', { cause: new Error('inner', { cause: 'a text' }) })
  expect(traceOf(error)).toMatch(/^Error: outer\n.*\nCaused by: Error: inner\n.*\nCaused by: a text$/s)
  expect(traceOf('a text')).toBe('a text')
})

it('ends for an error that is its own cause', () => {
  const error = new Error('again')
  error.cause = error
  expect(traceOf(error).split('Caused by').length).toBe(21)
})

it('truncates a trace that is too long for a status', () => {
  const trace = traceOf(new Error('x'.repeat(10_000_000), { cause: new Error('y'.repeat(10_000_000)) }))
  expect(trace.length).toBeLessThan(66_000)
  expect(trace).toMatch(/^Error: x+… \(\d+ more characters\)$/)
})

it('describes an error whose message cannot be read', () => {
  const mute = {
    toString() {
      throw new Error('no')
    },
  }
  expect(traceOf(mute)).toBe('an error that cannot be described')
})
