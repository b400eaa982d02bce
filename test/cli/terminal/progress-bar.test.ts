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

describe('progress', () => {
  it('is a line with a bar, what is done and how long it may still take', () => {
    expect(renderProgressBar({ what: 'reading', done: 50, all: 200, passedMs: 2_000 })).toBe(
      `reading ${'█'.repeat(8)}${'░'.repeat(22)} 50/200, 6 s left`,
    )
    expect(renderProgressBar({ what: 'reading', done: 0, all: 200, passedMs: 0 })).toMatch(/ 0\/200$/)
    expect(renderProgressBar({ what: 'reading', done: 2, all: 2, passedMs: 9 })).toMatch(/█{30} 2\/2$/)
  })

  it('is drawn at most ten times a second, and at the end', () => {
    const { written, stream } = output(true)
    const clock = new FakeClock()
    const progress = createProgressBar(stream, clock)
    progress.begin('writing', 1_000)
    for (let step = 0; step < 999; step++) progress.step()
    expect(written).toHaveLength(1)
    progress.step()
    expect(written.at(-1)).toContain('1000/1000')
    progress.end()
    expect(written.at(-1)).toContain('\x1b[?25h')
  })

  it('says nothing in a pipe', () => {
    const { written, stream } = output(false)
    const progress = createProgressBar(stream)
    progress.begin('writing', 2)
    progress.step()
    progress.end()
    expect(written).toEqual([])
  })
})
