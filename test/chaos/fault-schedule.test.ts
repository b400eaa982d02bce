import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BROKERS, FAULT_KINDS, faultSchedule, REGISTRIES, timelineOf } from './fault-schedule.ts'

const seeds = fc.integer({ min: 0, max: 2 ** 31 })
const kindsOf = (seed: number, minutes: number) =>
  faultSchedule(seed, minutes).steps.flatMap(({ faults }) => faults.map(({ kind }) => kind))

describe('the schedule of a seed', () => {
  it('is always the same', () => {
    expect(timelineOf(faultSchedule(7, 1))).toMatchInlineSnapshot(`
      [
        "  0.5 s  registry 2 clock jumped by 14 min for 4.2 s",
        " 12.4 s  connections reset before broker 3 for 6.7 s",
        " 25.9 s  broker 3 terminated for 2.6 s",
        " 36.3 s  broker 2 killed for 3.6 s",
        " 46.3 s  brokers 3 and 1 killed for 2.5 s; worker 2 killed for 3.7 s",
      ]
    `)
  })

  it('of a longer time begins with that of a shorter time', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const short = faultSchedule(seed, 1)
        const long = faultSchedule(seed, 3)
        expect(long.steps.slice(0, short.steps.length)).toEqual(short.steps)
      }),
    )
  })

  it('has each kind of fault before any kind has a second turn', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const kinds = kindsOf(seed, 10)
        expect(new Set(kinds.slice(0, FAULT_KINDS.length))).toEqual(new Set(FAULT_KINDS))
      }),
    )
  })

  it('has at least one step, ends in time, and begins no step before the one before it has ended', () => {
    fc.assert(
      fc.property(seeds, fc.constantFrom(0.1, 0.5, 1, 3), (seed, minutes) => {
        const { steps } = faultSchedule(seed, minutes)
        const ends = steps.map(({ atMs, faults }) => atMs + Math.max(...faults.map(({ ms }) => ms)))
        expect(steps.length).toBeGreaterThan(0)
        expect(steps.every(({ atMs }, at) => at === 0 || atMs > ends[at - 1]!)).toBe(true)
        if (steps.length > 1) expect(ends.at(-1)).toBeLessThanOrEqual(minutes * 60_000)
      }),
    )
  })

  it('names instances that exist', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { steps, workers } = faultSchedule(seed, 3)
        const faults = steps.flatMap((step) => step.faults)
        const brokers = faults.flatMap((fault) =>
          'broker' in fault ? [fault.broker] : 'brokers' in fault ? fault.brokers : [],
        )
        expect(brokers.filter((broker) => broker < 1 || broker > BROKERS)).toEqual([])
        const programs = faults.filter((fault) => 'instance' in fault)
        const countOf = (kind: string) => (kind.startsWith('worker') ? workers : REGISTRIES)
        expect(programs.filter(({ kind, instance }) => instance < 1 || instance > countOf(kind))).toEqual([])
      }),
    )
  })

  it('differs between neighboring seeds, which cover two and three workers, with and without exactly-once', () => {
    const schedules = Array.from({ length: 50 }, (_, seed) => faultSchedule(seed + 1, 1))
    expect(new Set(schedules.map((schedule) => timelineOf(schedule).join())).size).toBe(50)
    const modes = schedules.map(({ workers, isExactlyOnce }) => `${workers} ${isExactlyOnce}`)
    expect([...new Set(modes)].toSorted()).toEqual(['2 false', '2 true', '3 false', '3 true'])
    const kinds = schedules.flatMap(({ steps }) => steps.flatMap(({ faults }) => faults.map(({ kind }) => kind)))
    expect(new Set(kinds)).toEqual(new Set(FAULT_KINDS))
  })
})
