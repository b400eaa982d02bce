import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createProgressBar, renderProgressBar } from '../../../src/cli/terminal/progress-bar.ts'
import { FakeClock } from '../../support/fake-clock.ts'

function output(isTTY: boolean) {
  const written: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written.push(String(chunk))
      done()
    },
  })
  return { written, stream: Object.assign(stream, { isTTY, columns: 80 }) as unknown as NodeJS.WriteStream }
}

describe('the progress bar', () => {
  it('shows the phase, the finished steps and the estimated time left', () => {
    expect(renderProgressBar({ phase: 'reading', done: 50, total: 200, bytes: 0, elapsedMs: 2_000 })).toBe(
      `reading ${'█'.repeat(8)}${'░'.repeat(22)} 50/200, 6 s left`,
    )
    expect(renderProgressBar({ phase: 'reading', done: 0, total: 200, bytes: 0, elapsedMs: 0 })).toMatch(/ 0\/200$/)
    expect(renderProgressBar({ phase: 'reading', done: 2, total: 2, bytes: 0, elapsedMs: 9 })).toMatch(/█{30} 2\/2$/)
  })

  it('shows the received bytes instead of the time left, also of a single file', async () => {
    expect(renderProgressBar({ phase: 'downloading', done: 0, total: 1, bytes: 3 * 2 ** 20, elapsedMs: 2_000 })).toBe(
      `downloading ${'░'.repeat(30)} 0/1, 3.0 MiB`,
    )
    const { written, stream } = output(true)
    const clock = new FakeClock()
    const bar = createProgressBar(stream, clock)
    bar.begin('downloading', 1)
    bar.receive(2 ** 20)
    expect(written).toHaveLength(1)
    await clock.advance(100)
    bar.receive(2 ** 20)
    expect(written.at(-1)).toContain('2.0 MiB')
  })

  it('is drawn at most ten times a second, and after the last step', () => {
    const { written, stream } = output(true)
    const clock = new FakeClock()
    const bar = createProgressBar(stream, clock)
    bar.begin('writing', 1_000)
    for (let step = 0; step < 999; step++) bar.step()
    expect(written).toHaveLength(1)
    bar.step()
    expect(written.at(-1)).toContain('1000/1000')
    bar.end()
    expect(written.at(-1)).toContain('\x1b[?25h')
  })

  it('writes nothing to a pipe', () => {
    const { written, stream } = output(false)
    const bar = createProgressBar(stream)
    bar.begin('writing', 2)
    bar.step()
    bar.end()
    expect(written).toEqual([])
  })
})
