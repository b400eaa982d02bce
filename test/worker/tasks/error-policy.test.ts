import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { DataError, RetriableError } from '../../../src/sdk/index.ts'
import { parseTaskConfig } from '../../../src/worker/configuration/task-config.ts'
import { ErrorPolicy, type RecordFailure } from '../../../src/worker/tasks/error-policy.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import { FakeClock } from '../../support/fake-clock.ts'

function policyOf(config: Readonly<Record<string, string>>, random = 0.5) {
  const clock = new FakeClock()
  const counters = countersIn()
  const lines: Record<string, unknown>[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const ending = new AbortController()
  const { errors } = parseTaskConfig(config)
  const policy = new ErrorPolicy({ config: errors, counters, log, clock, signal: ending.signal, random: () => random })
  return { policy, clock, counters, lines, ending }
}

const FAILURE: RecordFailure = {
  stage: 'VALUE_CONVERTER',
  className: 'com.example.Converter',
  error: new DataError('not a number'),
  position: { topic: 'orders', partition: 0, offset: 7 },
  content: () => ({ value: 'abc' }),
}

describe('errors.retry', () => {
  it('retries a retriable error after 300 ms, and doubles the delay each time', async () => {
    const { policy, clock, counters } = policyOf({ 'errors.retry.timeout': '10000' })
    const triedAtMs: number[] = []
    const healing = policy.retry(new RetriableError('busy'), () => {
      triedAtMs.push(clock.monotonicMs())
      if (triedAtMs.length < 4) throw new RetriableError('busy')
      return 'done'
    })
    await clock.advance(10_000)
    expect(await healing).toBe('done')
    expect(triedAtMs).toEqual([300, 900, 2_100, 4_500])
    expect(counters.retries).toBe(4)
  })

  it('makes its last attempt when errors.retry.timeout has passed', async () => {
    const { policy, clock, counters } = policyOf({ 'errors.retry.timeout': '1000' })
    const failing = policy.retry(new RetriableError('first'), () => {
      throw new RetriableError(`after ${clock.monotonicMs()} ms`)
    })
    const outcome = failing.catch((error: unknown) => error)
    await clock.advance(10_000)
    expect(await outcome).toMatchObject({ message: 'after 1000 ms' })
    expect(counters.retries).toBe(3)
  })

  it('retries neither without errors.retry.timeout nor after a non-retriable error', async () => {
    const never = () => expect.unreachable('was tried again')
    await expect(policyOf({}).policy.retry(new RetriableError('busy'), never)).rejects.toThrow('busy')
    const { policy } = policyOf({ 'errors.retry.timeout': '-1' })
    await expect(policy.retry(new DataError('broken'), never)).rejects.toThrow('broken')
  })

  it('retries without limit when errors.retry.timeout is -1, until the task ends', async () => {
    const { policy, clock, ending, counters } = policyOf({
      'errors.retry.timeout': '-1',
      'errors.retry.delay.max.ms': '1000',
    })
    const retrying = policy.retry(new RetriableError('busy'), () => {
      throw new RetriableError('busy')
    })
    const outcome = retrying.catch((error: unknown) => error)
    await clock.advance(3_600_000)
    expect(counters.retries).toBeGreaterThan(1_000)
    ending.abort()
    expect(await outcome).toMatchObject({ name: 'AbortError' })
  })

  it('chooses a random delay between 300 ms and errors.retry.delay.max.ms once the maximum is reached', () => {
    const delays = (random: number) => {
      const { policy } = policyOf({ 'errors.retry.delay.max.ms': '2000' }, random)
      return [0, 1, 2, 3, 4].map((attempt) => policy.delayMs(attempt))
    }
    expect(delays(0)).toEqual([300, 600, 1_200, 300, 300])
    expect(delays(1)).toEqual([300, 600, 1_200, 2_000, 2_000])
    expect(policyOf({ 'errors.retry.delay.max.ms': '100' }).policy.delayMs(0)).toBe(100)
  })
})

describe('errors.tolerance', () => {
  it('fails the task with the cause when it is none', () => {
    const { policy, counters } = policyOf({})
    expect(() => policy.tolerate(FAILURE)).toThrow(
      'Tolerance exceeded in error handler: not a number (orders, partition 0, offset 7)',
    )
    expect(counters).toMatchObject({ errors: 1, skipped: 0 })
  })

  it('counts and skips the record when it is all', () => {
    const { policy, counters, clock } = policyOf({ 'errors.tolerance': 'all' })
    policy.tolerate(FAILURE)
    policy.tolerate(FAILURE)
    expect(counters).toMatchObject({ errors: 2, skipped: 2, lastErrorMs: clock.nowMs() })
  })

  it('does not skip a record that was interrupted by the end of the task', () => {
    const { policy, ending, counters } = policyOf({ 'errors.tolerance': 'all' })
    ending.abort()
    expect(() => policy.tolerate(FAILURE)).toThrow(expect.objectContaining({ name: 'AbortError' }))
    expect(counters).toMatchObject({ errors: 0, skipped: 0 })
  })
})

describe('errors.log', () => {
  const tolerant = { 'errors.tolerance': 'all' }

  it('logs nothing unless errors.log.enable is set', () => {
    const { policy, lines } = policyOf({ ...tolerant, 'errors.log.include.messages': 'true' })
    policy.tolerate(FAILURE)
    expect(lines).toEqual([])
  })

  it('logs the error and the position of the record without its content', () => {
    const { policy, lines, counters } = policyOf({ ...tolerant, 'errors.log.enable': 'true' })
    policy.tolerate(FAILURE)
    expect(lines).toEqual([
      expect.objectContaining({
        stage: 'VALUE_CONVERTER',
        className: 'com.example.Converter',
        topic: 'orders',
        offset: 7,
      }),
    ])
    expect(JSON.stringify(lines)).not.toContain('abc')
    expect(counters.errorsLogged).toBe(1)
  })

  it('logs the content of the record when errors.log.include.messages is set', () => {
    const { policy, lines } = policyOf({
      ...tolerant,
      'errors.log.enable': 'true',
      'errors.log.include.messages': 'true',
    })
    policy.tolerate(FAILURE)
    expect(lines).toEqual([expect.objectContaining({ record: { value: 'abc' } })])
  })
})
